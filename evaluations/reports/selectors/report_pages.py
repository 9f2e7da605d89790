"""The reports of the report page, and the rows of a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Exists, OuterRef

from evaluations.facts.pairs import mark_pair_frame, pairs_state
from evaluations.facts.params import ReportParams
from evaluations.facts.points import left_out
from evaluations.facts.published import how_asked
from evaluations.models import Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reports.selectors.answered import questions_by_subject, with_answered
from evaluations.reports.selectors.fact_groups import answer_groups
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.frames import frame_of
from evaluations.reports.selectors.group_counts import About, counted, parts_of, task_outcomes
from evaluations.reports.selectors.kept_reports import (
    State,
    found_value,
    kept_value,
    size_of,
    state_of,
)
from evaluations.reports.selectors.pair_sums import PairSums, pair_sums
from evaluations.reports.selectors.reports import asked_params, changed_models
from evaluations.reports.selectors.small_cells import (
    OF_OVERVIEW,
    Item,
    few_marked,
    responses_to,
)
from evaluations.statistics.accuracy import converted_of, rates_of
from evaluations.statistics.agreement import MarkPair, frame_agreement, pairs_of
from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.ledger import ledger_of
from evaluations.statistics.policies import Policy
from evaluations.statistics.repeat_sums import repeats_of
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL
from gradeapp.common.collector import collector_paused
from gradeapp.common.snapshot import one_snapshot, sees_only_committed
from questions.models import Question
from questions.rules.vocabulary import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The reports at the top of the page, made from the same rows.

    ``answered`` has the number of questions with an answer by model and condition, of all
    ``questions`` that count. ``few`` are the responses in figures of too few marks
    (``SMALL_CELL``).
    ``state`` is all that they were made from; None in a transaction that may not be committed.
    """

    rates: Report
    converted: Report
    answered: Mapping[ModelCondition, int]
    questions: int
    few: frozenset[int]
    state: State | None = None

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return size_of((self.rates, self.converted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Opening):
    """All reports of the page. ``agreement`` has all pairs, of any marker."""

    agreement: Report
    ledger: Report
    repeats: Report
    pairs: PairSums

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        reports = (self.rates, self.converted, self.agreement, self.ledger, self.repeats)
        return size_of(reports) + self.pairs.size


def overview(params: ReportParams) -> Overview:
    """Return the reports of *params* (valid, with a marker), equal to those of ``build_report``.

    From memory if nothing changed since; the caller changes nothing of it.
    """
    may_keep = sees_only_committed()
    with one_snapshot():
        if not may_keep:
            return _overview(params)
        state = _state(params)
        made = kept_value(("overview", state), lambda: _overview(params), lambda made: made.size)
    return replace(made, state=state)


def opening(params: ReportParams) -> Opening:
    """Return the ``overview`` if it is in memory, else the reports at the top of the page alone.

    Those take a third of the time of all.
    """
    may_keep = sees_only_committed()
    with one_snapshot():
        if not may_keep:
            return _opening(params)
        state = _state(params)
        made: Opening | None = found_value(("overview", state))
        if made is None:
            made = kept_value(("opening", state), lambda: _opening(params), lambda made: made.size)
    return replace(made, state=state)


def _state(params: ReportParams) -> State:
    return state_of(params, (changed_models(params), pairs_state(params)))


@collector_paused()
def _opening(params: ReportParams) -> Opening:
    reports, few, answered = _from_facts(params, parts_of(params), AT_THE_TOP)
    return Opening(
        rates=reports["rates"],
        converted=reports["converted"],
        answered=answered,
        questions=_questions(params),
        few=frozenset(responses_to(few)),
    )


@collector_paused()
def _overview(params: ReportParams) -> Overview:
    of_all_pairs = replace(params, marker="")
    parts = parts_of(params)
    pairs = pair_sums(replace(part, marker="") for part in parts)
    reports, few, answered = _from_facts(params, parts, FROM_FACTS)
    return Overview(
        rates=reports["rates"],
        converted=reports["converted"],
        ledger=reports["ledger"],
        repeats=reports["repeats"],
        agreement=Report("agreement", asked_params(of_all_pairs), pairs.rows),
        pairs=pairs,
        answered=answered,
        questions=_questions(params),
        few=frozenset(responses_to(few) | pairs.few),
    )


AT_THE_TOP = ("rates", "converted")
FROM_FACTS = (*AT_THE_TOP, "ledger", "repeats")


def _from_facts(
    params: ReportParams, parts: Sequence[ReportParams], names: Sequence[str]
) -> tuple[dict[str, Report], set[Item], dict[ModelCondition, int]]:
    """Return the reports *names* of ``FROM_FACTS``, what few marks tell, and how many questions
    each model answered.
    """
    about, few = About(), set[Item]()
    answered: dict[ModelCondition, int] = {}
    rows: dict[str, list[ReportRow]] = {name: [] for name in names}
    there = questions_by_subject(params)
    for part in parts:
        groups = answer_groups(part, Detail.LEDGER)
        about.add(groups)
        frame = frame_of(counted(groups), part)
        different = counted(groups).groupby(["model", "condition"])["question"].nunique()
        answered |= {ModelCondition(*asked): int(n) for asked, n in different.items()}
        few |= few_marked(frame, counted(groups), OF_OVERVIEW)
        rows["rates"] += rates_of(frame).rows
        converted = converted_of([frame], marker=params.marker).rows
        rows["converted"] += with_answered(converted, frame, there)
        if "ledger" in names:
            rows["ledger"] += ledger_of(task_outcomes(groups)).rows
        if "repeats" in names:
            is_repeated = bool((frame["n"] + frame["unscored"] > 1).any())
            nothing = [((None, None),)] * len(groups)  # nobody needs to know single answers
            answers = (
                answer_groups(part, Detail.ANSWERS)
                if is_repeated
                else groups.assign(answers=nothing)
            )
            rows["repeats"] += repeats_of(counted(answers)).rows
    numbers = asked_params(params) | about.numbers()
    return {name: Report(name, dict(numbers), own) for name, own in rows.items()}, few, answered


def _questions(params: ReportParams) -> int:
    """Return how many questions of the dataset, and of the year that is asked for, count."""
    questions = Question.objects.filter(task__dataset__slug=params.dataset)
    if params.year is not None:
        questions = questions.filter(year=params.year)
    return questions.exclude(status__in=left_out(params.policy)).count()


def asked_by_other_prompts(params: ReportParams) -> bool:
    """Return whether *params* asks for published rules, and some answers were asked otherwise."""
    if params.policy != Policy.PUBLISHED:
        return False
    objective = Response.objects.filter(run=OuterRef("pk"), question__part=Part.OBJECTIVE)
    runs = Run.objects.filter(Exists(objective), params.of_runs(), purpose=RunPurpose.ANSWER)
    return any(not how.offered for how in how_asked(runs.values_list("pk", flat=True)).values())


@dataclass(frozen=True, slots=True)
class PairFacts:
    """A pair of marks with the response that was marked."""

    pair: MarkPair
    response: Response


class PairsBehind:
    """The pairs of one *kind* behind a figure of agreement, the largest difference first.

    Its length and a slice make an object of no other pair: a ``Paginator`` takes it.
    """

    def __init__(self, params: ReportParams, kind: str, subject: str) -> None:
        pairs = mark_pair_frame(params)
        pairs = pairs[pairs["pair"] == kind]
        if subject not in ("", ALL):
            pairs = pairs[pairs["subject"] == subject]
        apart = ((pairs["y"] - pairs["x"]) / pairs["full"]).abs()
        order = np.lexsort((pairs["response"].to_numpy(), -apart.to_numpy()))
        self.frame = pairs.iloc[order]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.frame)

    def __getitem__(self, wanted: slice) -> list[MarkPair]:
        """Return the pairs in *wanted*."""
        return pairs_of(self.frame[wanted])

    def agreement(self) -> list[tuple[ModelCondition, dict[str, Figure]]]:
        """Return the figures of agreement by model and condition."""
        return [
            (ModelCondition(*asked), frame_agreement(own))
            for asked, own in self.frame.groupby(["model", "condition"])
        ]


def pair_facts(pairs: Sequence[MarkPair]) -> list[PairFacts]:
    """Return *pairs* with their responses; one query."""
    responses = (
        Response.objects.select_related("question__task")
        .defer("text", "reasoning")
        .in_bulk([pair.response for pair in pairs])
    )
    return [PairFacts(pair, responses[pair.response]) for pair in pairs]
