"""What the report page shows: every report of one choice, and the rows behind a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Exists, OuterRef

from evaluations.facts.pairs import TEACHER_PAIR, mark_pairs
from evaluations.facts.params import ReportParams
from evaluations.models import Response, Run
from evaluations.models.vocabulary import RunPurpose, RunStatus
from evaluations.reports.selectors.reports import told
from evaluations.reports.selectors.scored_answers import scored_answers, taking_part
from evaluations.statistics.accuracy import converted_report, rates
from evaluations.statistics.agreement import MarkPair, agreement_report
from evaluations.statistics.figure import Report
from evaluations.statistics.ledger import ledger, outcome_of
from evaluations.statistics.policies import Policy
from evaluations.statistics.repeats import repeats
from evaluations.statistics.rows import ScoredAnswer
from evaluations.statistics.tally import ALL
from gradeapp.common.collector import collector_paused
from questions.models import Question
from questions.rules.vocabulary import Part


@dataclass(frozen=True, slots=True)
class Overview:
    """Every report of one choice, made from the same rows."""

    rates: Report
    converted: Report
    agreement: Report
    ledger: Report
    repeats: Report
    pairs: tuple[MarkPair, ...]

    @property
    def teacher_pairs(self) -> list[MarkPair]:
        """Responses with a first and a second mark."""
        return [pair for pair in self.pairs if pair.pair == TEACHER_PAIR]

    def judge_pairs(self, marker: str) -> tuple[str, list[MarkPair]]:
        """Responses that teachers and a judge marked: *marker* if it is one, else who has most."""
        judged = [pair for pair in self.pairs if pair.pair != TEACHER_PAIR]
        kinds = [pair.pair for pair in judged]
        wanted = f"teachers-{marker}"
        if kinds and wanted not in kinds:
            wanted = max(sorted(set(kinds)), key=kinds.count)
        return wanted, [pair for pair in judged if pair.pair == wanted]


@collector_paused()
def overview(params: ReportParams) -> Overview:
    """The reports of *params* (checked, with a marker); equal to ``build_report`` of each.

    The agreement is that of all pairs, whoever the marker is.
    """
    everything = scored_answers(params)
    rows = list(taking_part(everything))
    about = told(params, everything)
    of_all_pairs = replace(params, marker="")
    pairs = mark_pairs(of_all_pairs)
    return Overview(
        rates=rates(rows, params=about),
        converted=converted_report(rows, marker=params.marker, params=about),
        agreement=agreement_report(pairs, params=of_all_pairs.as_dict()),
        ledger=ledger(everything, params=about),
        repeats=repeats(rows, params=about),
        pairs=tuple(pairs),
    )


def published_rules_meet_own_prompts(params: ReportParams) -> bool:
    """Whether *params* reads by a benchmark's rules what was asked with our own prompts.

    Runs that were started here ask with our prompts; of imported answers nothing is known.
    """
    if params.policy != Policy.PUBLISHED:
        return False
    objective = Response.objects.filter(run=OuterRef("pk"), question__part=Part.OBJECTIVE)
    runs = Run.objects.filter(Exists(objective), dataset__slug=params.dataset)
    if params.models:
        runs = runs.filter(language_model__name__in=params.models)
    return runs.filter(purpose=RunPurpose.ANSWER).exclude(status=RunStatus.IMPORTED).exists()


@dataclass(frozen=True, slots=True)
class Cell:
    """Which answers of a report a figure was made of; an empty field narrows nothing."""

    subject: str = ""
    part: str = ""
    task: str = ""
    outcome: str = ""
    unscored: bool = False

    def holds(self, row: ScoredAnswer) -> bool:
        """Whether *row* is one of them."""
        return (
            self.subject in ("", ALL, row.subject)
            and self.part in ("", row.part)
            and self.task in ("", row.task)
            and self.outcome in ("", outcome_of(row))
            and (not self.unscored or row.points is None)
        )


def rows_behind(params: ReportParams, cell: Cell) -> list[ScoredAnswer]:
    """The answers behind one figure of *params*, task by task.

    Answers to excluded items stand behind the ledger's counts only.
    """
    everything = scored_answers(params)
    in_ledger = cell.task or cell.outcome
    rows: Iterable[ScoredAnswer] = everything if in_ledger else taking_part(everything)
    found = [row for row in rows if cell.holds(row)]
    return sorted(found, key=lambda row: (row.model, row.task, row.question, row.repeat))


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What a list shows of an answer beside its points; no response where the call failed."""

    row: ScoredAnswer
    question: Question
    response: UUID | None


def row_facts(rows: Sequence[ScoredAnswer]) -> list[RowFacts]:
    """The questions and responses of one page of rows; two queries."""
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
    """The pairs of one *kind* behind a figure of agreement, the farthest apart first."""
    found = [
        pair
        for pair in mark_pairs(params)
        if pair.pair == kind and subject in ("", ALL, pair.subject)
    ]
    return sorted(found, key=lambda pair: (-abs(pair.share_difference), pair.response))


def pair_facts(pairs: Sequence[MarkPair]) -> list[PairFacts]:
    """The responses of one page of pairs; one query."""
    responses = (
        Response.objects.select_related("question__task")
        .defer("text", "reasoning")
        .in_bulk([pair.response for pair in pairs])
    )
    return [PairFacts(pair, responses[pair.response]) for pair in pairs]
