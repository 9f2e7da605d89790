"""The answers behind a figure: their sums from the facts, and one page of them at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import numpy as np
from django.db.models import Count, QuerySet

from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.models import Response
from evaluations.reports.rules.paper_agibench import complete_items
from evaluations.reports.rules.paper_behind import LATER, PRINTED
from evaluations.reports.rules.paper_gaokao import LAST_YEAR
from evaluations.reports.rules.published_tables import Paper, published_paper
from evaluations.reports.selectors.cuts import questions_of_cut
from evaluations.reports.selectors.fact_groups import answer_groups
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.final_marks import FinalFacts, final_facts
from evaluations.reports.selectors.frames import frame_of, questions_frame, repeat_frame
from evaluations.reports.selectors.group_counts import counted
from evaluations.reports.selectors.scored_answers import answers_of
from evaluations.statistics.ledger import outcome_of
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from evaluations.statistics.repeats import Item
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from evaluations.statistics.tally import ALL
from questions.models import Question

if TYPE_CHECKING:
    import pandas as pd

# Of the score by the published rules.
PATTERN = f"{Response.score_field(Policy.PUBLISHED)}__extraction__pattern"
ITEM = ["model", "condition", "task", "question"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Selects the answers of a figure; an empty field matches all.

    ``cut`` has keys of report ``cuts`` with the values that questions must have. The other fields
    are of tables of papers: ``files`` are the files of GAOKAO-Bench's paper, or its questions of
    later years; ``pattern`` is the row of a published pattern of AGIBench that read the answer, 0
    for none; ``rated`` leaves out questions without a rate of people, and ``complete`` those
    without points in as many repeats as any question of the condition.
    """

    subject: str = ""
    part: str = ""
    task: str = ""
    outcome: str = ""
    unscored: bool = False
    cut: tuple[tuple[str, str], ...] = ()
    files: str = ""
    pattern: str = ""
    rated: bool = False
    complete: bool = False

    @property
    def is_of_ledger(self) -> bool:
        """Whether answers to excluded items are among those counted."""
        return bool(self.task or self.outcome or self.pattern)

    def holds(self, row: ScoredAnswer) -> bool:
        """Return whether *row* is selected, the cut aside."""
        return (
            self.subject in ("", ALL, row.subject)
            and self.part in ("", row.part)
            and self.task in ("", row.task)
            and self.outcome in ("", outcome_of(row))
            and (not self.unscored or row.points is None)
            and (self.is_of_ledger or row.outcome != LedgerOutcome.EXCLUDED)
        )


class RowsBehind:
    """The answers that *cell* selects, by model, condition, task, question and repeat.

    Its length and a slice read no more answers than they give: a ``Paginator`` takes it.
    ``frame`` is the ``question_frame`` of all of them. *groups* are those of ``groups_of`` where
    several lists of the same parameters are made.
    """

    def __init__(
        self, params: ReportParams, cell: Cell, groups: pd.DataFrame | None = None
    ) -> None:
        self.params, self.cell = params, cell
        if groups is None:
            groups = groups_of(params, cell)
        self.responses: frozenset[int] | None = None
        if cell.pattern:
            self.responses = read_by(params, cell.pattern)
            groups = groups[groups["response"].isin(self.responses)]
        if not cell.is_of_ledger:
            groups = counted(groups)
        for name, wanted in (("part", cell.part), ("task", cell.task)):
            if wanted:
                groups = groups[groups[name] == wanted]
        if cell.subject not in ("", ALL):
            groups = groups[groups["subject"] == cell.subject]
        if cell.cut:
            chosen = questions_of_cut(params.dataset, dict(cell.cut))
            groups = groups[groups["question"].isin(chosen)]
        if cell.outcome:
            groups = groups[groups["outcome"] == cell.outcome]
        if cell.unscored:
            groups = groups[groups["scored"] == 0]
        if cell.files or cell.rated:
            groups = groups[groups["question"].isin(_questions_in(params, cell))]
        if cell.complete:
            groups = groups[_is_complete(params, groups)]
        self.groups = groups

    @property
    def frame(self) -> pd.DataFrame:
        """One row per model, condition and question."""
        return frame_of(self.groups, self.params)

    def __len__(self) -> int:
        """Return the number of answers."""
        return int(self.groups["n"].sum())

    def __iter__(self) -> Iterator[ScoredAnswer]:
        """Yield all answers."""
        return iter(self[0 : len(self)])

    def __getitem__(self, wanted: slice) -> list[ScoredAnswer]:
        """Return the answers from ``wanted.start`` up to ``wanted.stop``."""
        start, stop = wanted.start or 0, wanted.stop
        numbers = self.groups.groupby(ITEM, sort=True)["n"].sum()
        ends = numbers.to_numpy().cumsum()
        first = int(np.searchsorted(ends, start, side="right"))
        last = int(np.searchsorted(ends, stop, side="left")) + 1
        items = set(numbers.index[first:last])
        if not items:
            return []
        questions = {question for *_asked, question in items}
        of_page = self.groups[self.groups["question"].isin(questions)]
        asked = {item[:2] for item in items}
        pairs = zip(of_page["model"], of_page["condition"], of_page["run"], strict=True)
        runs = {run for model, condition, run in pairs if (model, condition) in asked}
        rows = [
            row
            for row in answers_of(self.params, runs=sorted(runs), questions=sorted(questions))
            if (row.model, row.condition, row.task, row.question) in items
            and self.cell.holds(row)
            and (self.responses is None or row.response in self.responses)
        ]
        rows.sort(key=lambda row: (row.asked, row.task, row.question, row.repeat))
        before = int(ends[first - 1]) if first else 0
        return rows[start - before : stop - before]


def groups_of(params: ReportParams, cell: Cell) -> pd.DataFrame:
    """Return the groups from which the list of *cell* chooses."""
    return answer_groups(params, Detail.RESPONSES if cell.pattern else Detail.OUTCOMES)


def read_by(params: ReportParams, pattern: str = "") -> frozenset[int]:
    """Return the replies that one of AGIBench's published patterns read, by its printed row.

    "0" are those that none of them matched, "" all.
    """
    read = _read(params).values_list("pk", PATTERN)
    return frozenset(pk for pk, one in read if pattern in ("", str(_place(one))))


def pattern_counts(params: ReportParams) -> dict[int, int]:
    """Return how many replies each printed pattern matched under ``published``; 0 for none."""
    found: Counter[int] = Counter()
    for pattern, n in _read(params).values_list(PATTERN).annotate(n=Count("pk")):
        found[_place(pattern)] += n
    return found


def matched_conditions(params: ReportParams) -> frozenset[ModelCondition]:
    """Return the conditions of the replies that ``pattern_counts`` counts."""
    names = ("run__language_model__name", "run__condition__name")
    rows = _read(params).values_list(*names).distinct()
    return frozenset(ModelCondition(model, condition or "") for model, condition in rows)


def _read(params: ReportParams) -> QuerySet[Response]:
    """Return the replies that were read by the published patterns."""
    rules = f"{Response.score_field(Policy.PUBLISHED)}__published_rules"
    return Response.objects.filter(
        params.of_runs("run__"), **{rules: Paper.AGIBENCH.value}
    ).order_by()


def _place(pattern: str) -> int:
    """Return the printed row of a pattern; 0 for what no pattern read."""
    return int(pattern.rpartition(".")[2]) if pattern.startswith("agibench.") else 0


def _questions_in(params: ReportParams, cell: Cell) -> list[int]:
    """Return the questions of the files of *cell*, or those with a rate of people."""
    questions = questions_frame(params.dataset)
    if cell.rated:
        questions = questions[questions["human"].notna()]
    if cell.files == PRINTED:
        files = published_paper(Paper.GAOKAO_BENCH).table("table-8").rows
        questions = questions[questions["task"].isin(list(files))]
    elif cell.files == LATER:
        questions = questions[questions["year"].fillna(0) > LAST_YEAR]
    found: list[int] = questions["question"].tolist()
    return found


def complete_repeats(params: ReportParams) -> dict[ModelCondition, list[Item]]:
    """Return by model and condition the repeats of each question that has points in all of them."""
    repeats = repeat_frame(params)
    return {
        ModelCondition(*asked): complete_items(own)
        for asked, own in repeats.groupby(["model", "condition"])
    }


def _is_complete(params: ReportParams, groups: pd.DataFrame) -> list[bool]:
    """Return for each of *groups* whether its question has points in all repeats."""
    complete = {
        (*asked, item[0].question)
        for asked, items in complete_repeats(params).items()
        for item in items
    }
    pairs = zip(groups["model"], groups["condition"], groups["question"], strict=True)
    return [pair in complete for pair in pairs]


def responses_in(params: ReportParams, cell: Cell) -> QuerySet[Response]:
    """Return the responses that lists behind figures of *params* are about, whatever they show.

    The models, conditions and runs of *params* and the task of *cell* choose them, nothing else.
    """
    rows = Response.objects.filter(params.of_runs("run__"))
    return rows.filter(question__task__slug=cell.task) if cell.task else rows


def frames_by_part(frame: pd.DataFrame) -> dict[ModelCondition, dict[str, pd.DataFrame]]:
    """Return the rows of a ``question_frame`` by model and condition, then by part."""
    found: dict[ModelCondition, dict[str, Any]] = {}
    for (model, condition, part), own in frame.groupby(["model", "condition", "part"]):
        found.setdefault(ModelCondition(model, condition), {})[cast(str, part)] = own
    return found


@dataclass(frozen=True, slots=True)
class RowFacts:
    """An answer in a list; *response* is None if the call failed.

    *final* is that of the teachers where they are the marker.
    """

    row: ScoredAnswer
    question: Question
    response: UUID | None
    final: FinalFacts | None


def row_facts(params: ReportParams, rows: Sequence[ScoredAnswer]) -> list[RowFacts]:
    """Return *rows* with their questions, responses and final marks; four queries."""
    questions = Question.objects.select_related("task", "current").in_bulk(
        {row.question for row in rows}
    )
    answers = Response.objects.filter(pk__in=[row.response for row in rows])
    addresses = dict(answers.values_list("pk", "public_id"))
    marked = [row.response for row in rows if row.marker == TEACHERS]
    finals = final_facts(params, marked) if marked else {}
    return [
        RowFacts(
            row=row,
            question=questions[row.question],
            response=addresses.get(row.response),
            final=finals.get(row.response),
        )
        for row in rows
    ]
