"""The reports of the report page, and the rows of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Exists, OuterRef

from evaluations.facts.pairs import TEACHER_PAIR, mark_pairs
from evaluations.facts.params import ReportParams
from evaluations.facts.published import how_asked
from evaluations.models import Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reports.selectors.cuts import questions_of_cut
from evaluations.reports.selectors.fact_groups import (
    about_groups,
    answer_groups,
    counted,
    task_outcomes,
)
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.frames import frame_of
from evaluations.reports.selectors.reports import asked_params
from evaluations.reports.selectors.scored_answers import included, scored_answers
from evaluations.statistics.accuracy import converted_of, rates_of
from evaluations.statistics.agreement import MarkPair, agreement_report
from evaluations.statistics.figure import Report
from evaluations.statistics.ledger import ledger_of, outcome_of
from evaluations.statistics.policies import Policy
from evaluations.statistics.repeat_sums import repeats_of
from evaluations.statistics.rows import ScoredAnswer
from evaluations.statistics.tally import ALL
from gradeapp.common.collector import collector_paused
from questions.models import Question
from questions.rules.vocabulary import Part


@dataclass(frozen=True, slots=True)
class Overview:
    """All reports of the same parameters, made from the same rows."""

    rates: Report
    converted: Report
    agreement: Report
    ledger: Report
    repeats: Report
    pairs: tuple[MarkPair, ...]

    @property
    def teacher_pairs(self) -> list[MarkPair]:
        """The pairs of first and second marks."""
        return [pair for pair in self.pairs if pair.pair == TEACHER_PAIR]

    def judge_pairs(self, marker: str) -> tuple[str, list[MarkPair]]:
        """Return the pairs of teachers and a judge: *marker*, or the judge with the most pairs."""
        judged = [pair for pair in self.pairs if pair.pair != TEACHER_PAIR]
        kinds = [pair.pair for pair in judged]
        wanted = f"teachers-{marker}"
        if kinds and wanted not in kinds:
            wanted = max(sorted(set(kinds)), key=kinds.count)
        return wanted, [pair for pair in judged if pair.pair == wanted]


@collector_paused()
def overview(params: ReportParams) -> Overview:
    """Return the reports of *params* (valid, with a marker), equal to those of ``build_report``.

    The agreement report has all pairs, of any marker.
    """
    groups = answer_groups(params)
    about = asked_params(params) | about_groups(groups)
    frame = frame_of(counted(groups), params)
    is_repeated = bool((frame["n"] + frame["unscored"] > 1).any())
    answers = answer_groups(params, Detail.ANSWERS) if is_repeated else groups.assign(answer=None)
    of_all_pairs = replace(params, marker="")
    pairs = mark_pairs(of_all_pairs)
    return Overview(
        rates=rates_of(frame, params=about),
        converted=converted_of([frame], marker=params.marker, params=about),
        agreement=agreement_report(pairs, params=asked_params(of_all_pairs)),
        ledger=ledger_of(task_outcomes(groups), params=about),
        repeats=repeats_of(counted(answers), params=about),
        pairs=tuple(pairs),
    )


def asked_by_other_prompts(params: ReportParams) -> bool:
    """Return whether *params* asks for published rules, and some answers were asked otherwise."""
    if params.policy != Policy.PUBLISHED:
        return False
    objective = Response.objects.filter(run=OuterRef("pk"), question__part=Part.OBJECTIVE)
    runs = Run.objects.filter(Exists(objective), params.of_runs(), purpose=RunPurpose.ANSWER)
    return any(not how.offered for how in how_asked(runs.values_list("pk", flat=True)).values())


@dataclass(frozen=True, slots=True)
class Cell:
    """Selects the answers of a figure; an empty field matches all.

    ``cut`` has keys of report ``cuts`` with the values that questions must have.
    """

    subject: str = ""
    part: str = ""
    task: str = ""
    outcome: str = ""
    unscored: bool = False
    cut: tuple[tuple[str, str], ...] = ()

    def holds(self, row: ScoredAnswer) -> bool:
        """Return whether *row* is selected."""
        return (
            self.subject in ("", ALL, row.subject)
            and self.part in ("", row.part)
            and self.task in ("", row.task)
            and self.outcome in ("", outcome_of(row))
            and (not self.unscored or row.points is None)
        )


def rows_behind(params: ReportParams, cell: Cell) -> list[ScoredAnswer]:
    """Return the answers of one figure of *params*, by model, condition and task.

    Answers to excluded items are part of the counts of the ledger only.
    """
    everything = scored_answers(params)
    in_ledger = cell.task or cell.outcome
    rows: Iterable[ScoredAnswer] = everything if in_ledger else included(everything)
    if cell.cut:
        questions = questions_of_cut(params.dataset, dict(cell.cut))
        rows = (row for row in rows if row.question in questions)
    return sorted(
        filter(cell.holds, rows), key=lambda row: (row.asked, row.task, row.question, row.repeat)
    )


@dataclass(frozen=True, slots=True)
class RowFacts:
    """An answer in a list; *response* is None if the call failed."""

    row: ScoredAnswer
    question: Question
    response: UUID | None


def row_facts(rows: Sequence[ScoredAnswer]) -> list[RowFacts]:
    """Return *rows* with their questions and responses; two queries."""
    questions = Question.objects.select_related("task", "current").in_bulk(
        {row.question for row in rows}
    )
    answers = Response.objects.filter(pk__in=[row.response for row in rows])
    addresses = dict(answers.values_list("pk", "public_id"))
    return [RowFacts(row, questions[row.question], addresses.get(row.response)) for row in rows]


@dataclass(frozen=True, slots=True)
class PairFacts:
    """A pair of marks with the response that was marked."""

    pair: MarkPair
    response: Response


def pairs_behind(params: ReportParams, kind: str, subject: str) -> list[MarkPair]:
    """Return the pairs of one *kind* of a figure of agreement, the largest difference first."""
    pairs = (
        pair
        for pair in mark_pairs(params)
        if pair.pair == kind and subject in ("", ALL, pair.subject)
    )
    return sorted(pairs, key=lambda pair: (-abs(pair.share_difference), pair.response))


def pair_facts(pairs: Sequence[MarkPair]) -> list[PairFacts]:
    """Return *pairs* with their responses; one query."""
    responses = (
        Response.objects.select_related("question__task")
        .defer("text", "reasoning")
        .in_bulk([pair.response for pair in pairs])
    )
    return [PairFacts(pair, responses[pair.response]) for pair in pairs]
