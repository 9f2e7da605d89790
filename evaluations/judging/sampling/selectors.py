"""Read the responses of a sample, whether its judge may be used, its estimates and its cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

import numpy as np
from django.db.models import Count, QuerySet, Sum

from evaluations.facts.judged_marks import judged_marks
from evaluations.facts.params import JUDGE_PREFIX, ReportParams
from evaluations.marking.rounds.selectors.round_choice import markable
from evaluations.models import (
    Attempt,
    FinalMark,
    Judge,
    Judgement,
    Mark,
    MarkingSample,
    Response,
    Run,
)
from evaluations.models.vocabulary import AnswerRole, RoundStatus
from evaluations.reading.selectors.repaired_keys import of_run_to_score_again
from evaluations.statistics.calibration import JudgedMark, calibration
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.sample_plan import Stratum, widths
from evaluations.statistics.total_estimate import (
    SampledRow,
    TotalEstimate,
    estimated_total,
    of_stream,
    strata_of,
)
from gradeapp.common.casts import real
from questions.rules.vocabulary import ItemStatus, Part, Stream, Subject

# A judge of whom more replies have no total is not used.
MOST_UNREADABLE = 0.1
# Fewer pairs with teachers say nothing of what a judge saves.
FEWEST_PAIRS = 30
# Minutes of a mark where nobody has marked anything yet.
USUAL_MINUTES = 3.0
MOST_TIMES = 5000
RANDOM_SEED = 20251017


@dataclass(frozen=True, slots=True)
class Fitness:
    """Whether a judge may help: the ``reason`` why not, or "".

    ``correlation`` is Pearson's with teachers' final marks, as shares of full marks, over the
    ``pairs`` of one model and condition; 0 where these are too few to promise anything.
    """

    reason: str
    correlation: float
    pairs: int
    unreadable: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What marking costs: minutes of a mark (measured or usual), and the price of a judgement.

    ``price`` is in ``currency``, that of the judge's endpoint.
    """

    minutes: float
    measured: bool
    price: Decimal | None
    currency: str = ""

    def hours(self, marks: int) -> float:
        """Return the teachers' hours for so many *marks*."""
        return marks * self.minutes / 60


@dataclass(frozen=True, slots=True)
class SampleState:
    """A sample with all that it is followed by: its questions, marks and estimates.

    ``drawn`` counts the questions of all parts. Those in ``waiting`` have no final mark yet, and
    those in ``left`` have none because their round was closed before.
    """

    sample: MarkingSample
    parts: tuple[MarkingSample, ...]
    rows: tuple[SampledRow, ...]
    fitness: Fitness | None
    drawn: int
    waiting: frozenset[int]
    left: frozenset[int]
    totals: tuple[TotalEstimate, ...]
    objective: dict[Subject, float]

    @property
    def marked(self) -> int:
        """The questions that teachers have marked."""
        return len(_marked(self.rows))

    @property
    def half_width(self) -> float | None:
        """Half the width of the widest interval of a total in points; None where one has none."""
        figures = [one.human_only if one.aided.value is None else one.aided for one in self.totals]
        widths = [
            (one.high - one.low) / 2
            for one in figures
            if one.high is not None and one.low is not None
        ]
        return max(widths) if widths and len(widths) == len(figures) else None


def _marked(rows: Iterable[SampledRow]) -> frozenset[int]:
    return frozenset(row.question for row in rows if row.human is not None)


def samples() -> QuerySet[MarkingSample]:
    """Return the first sample of each chain, newest first."""
    related = MarkingSample.objects.filter(follows=None)
    return related.select_related("run__language_model", "run__dataset", "judge", "round").order_by(
        "-pk"
    )


def rows_of(run: Run, judge: Judge | None, rounds: Collection[int] = ()) -> list[SampledRow]:
    """Return the subjective responses of *run* with the points of *judge* and of *rounds*."""
    judged: dict[int, float] = {}
    if judge is not None and judge.suspended_at is None:
        counting = Judgement.objects.counting().filter(
            judge=judge, response__run=run, total__isnull=False
        )
        judged = dict(counting.values_list("response", real("total")))
    finals = FinalMark.objects.official().filter(
        answer__round__in=rounds, answer__response__run=run, answer__role=AnswerRole.ANSWER
    )
    human = dict(finals.values_list("answer__response", real("value")))
    responses = Response.objects.filter(markable(), run=run).order_by("pk")
    columns = ("pk", "question__subject", "question__task__slug", "question")
    return [
        SampledRow(Subject(subject), task, question, full, judged.get(pk), human.get(pk))
        for pk, subject, task, question, full in responses.values_list(
            *columns, real("revision__full_marks")
        )
        if subject
    ]


def objective_rates(run: Run) -> dict[Subject, float]:
    """Return the scoring rate (0 to 1) of the objective answers of *run* by subject, strict.

    Without those whose key was repaired after they were scored, as in reports.
    """
    scored = Response.objects.filter(
        run=run,
        question__part=Part.OBJECTIVE,
        question__status=ItemStatus.ACTIVE,
        strict_score__points__isnull=False,
    ).exclude(pk__in=of_run_to_score_again(run))
    sums = scored.order_by().values_list("question__subject")
    rates = sums.annotate(points=Sum("strict_score__points"), full=Sum("strict_score__full"))
    return {
        Subject(subject): float(points / full)
        for subject, points, full in rates
        if subject and full
    }


def fitness_of(judge: Judge, run: Run) -> Fitness:
    """Return whether *judge* may help with *run*, and what it may save."""
    rows = rows_of(run, judge)
    unread = sum(row.judge is None for row in rows) / len(rows) if rows else 1.0
    marks = _compared(judge, run)
    correlation, reason = 0.0, ""
    if len(marks) >= FEWEST_PAIRS:
        shares = np.array([(one.final / one.full, one.points / one.full) for one in marks])
        if np.ptp(shares, axis=0).min() > 0:
            correlation = float(np.corrcoef(shares.T)[0, 1])
        figure = calibration(marks, rng=np.random.default_rng(RANDOM_SEED))["spearman"]
        if figure.value is None or (figure.low or 0.0) <= 0:
            reason = "judge_not_calibrated"
    if unread > MOST_UNREADABLE:
        reason = "judge_unreadable"
    if judge.suspended_at is not None:
        reason = "judge_suspended"
    return Fitness(reason, 0.0 if reason else max(correlation, 0.0), len(marks), unread)


def _compared(judge: Judge, run: Run) -> list[JudgedMark]:
    """Return the marks of *judge* that teachers marked too, of one model under one condition.

    Those of the model and condition of *run* if they are enough, else of the largest group.
    """
    groups: dict[ModelCondition, list[JudgedMark]] = defaultdict(list)
    for one in judged_marks(ReportParams(run.dataset.slug, marker=f"{JUDGE_PREFIX}{judge.name}")):
        groups[one.asked].append(one)
    condition = run.condition.name if run.condition else ""
    own = groups.get(ModelCondition(run.language_model.name, condition), [])
    if len(own) >= FEWEST_PAIRS:
        return own
    return max(groups.values(), key=len, default=[])


def chain_of(sample: MarkingSample) -> tuple[MarkingSample, ...]:
    """Return *sample* and those that follow it, in order."""
    parts = [sample]
    while following := MarkingSample.objects.filter(follows=parts[-1]).first():
        parts.append(following)
    return tuple(parts)


def state_of(sample: MarkingSample) -> SampleState:
    """Return how far *sample*, the first of its chain, is, and what it says of the totals."""
    parts = chain_of(sample)
    rows = rows_of(sample.run, sample.judge, [part.round_id for part in parts])
    fitness = fitness_of(sample.judge, sample.run) if sample.judge else None
    refused = fitness.reason if fitness else "without_judge"
    objective = objective_rates(sample.run)
    drawn, first = drawn_questions(parts), drawn_questions(parts[:1])
    going_on = [part for part in parts if part.round.status != RoundStatus.CLOSED]
    marked = _marked(rows)
    waiting = frozenset(drawn_questions(going_on) - marked if going_on else ())
    totals = tuple(
        estimated_total(
            rows,
            objective,
            Stream(stream),
            planned=len(first & {row.question for row in of_stream(rows, Stream(stream))}),
            refused=refused,
        )
        for stream in sample.streams
    )
    return SampleState(
        sample=sample,
        parts=parts,
        rows=tuple(rows),
        fitness=fitness,
        drawn=len(drawn),
        waiting=waiting,
        left=frozenset(drawn - marked - waiting),
        totals=totals,
        objective=objective,
    )


def drawn_questions(parts: Sequence[MarkingSample]) -> set[int]:
    """Return the questions that were drawn for the samples *parts*."""
    answers = Response.objects.filter(
        blind_answers__round__in=[part.round_id for part in parts],
        blind_answers__role=AnswerRole.ANSWER,
    )
    return set(answers.values_list("question", flat=True))


def cost_of_marking(run: Run, judge: Judge | None) -> Cost:
    """Return the minutes of a mark in the dataset of *run*, and the price of a reply of *judge*."""
    times = Mark.objects.counting().filter(
        slot__answer__round__dataset=run.dataset, seconds__isnull=False
    )
    newest = times.order_by("-pk").values_list("seconds", flat=True)[:MOST_TIMES]
    seconds = [taken for taken in newest if taken is not None]
    minutes = median(seconds) / 60 if seconds else USUAL_MINUTES
    price = None
    if judge is not None:
        calls = Attempt.objects.filter(job__run__judge=judge).aggregate(
            spent=Sum("cost"), replies=Count("judgement")
        )
        price = calls["spent"] / calls["replies"] if calls["replies"] else None
    currency = judge.endpoint.currency if judge is not None and judge.endpoint else ""
    return Cost(minutes, bool(seconds), price, currency)


def width_curve(
    rows: Sequence[SampledRow], stream: Stream, correlation: float
) -> list[tuple[int, float, float]]:
    """Return questions marked, and half widths without and with the judge, for the chart."""
    lines: list[Stratum] = strata_of(of_stream(rows, stream))
    return widths(lines, correlation=correlation) if lines else []
