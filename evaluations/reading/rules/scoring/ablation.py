"""The change of an item's points from policy ``published`` to ``strict``, reason by reason.

Each step changes one thing: first the reading (the released rule applied to the strict
reading), then the rule of credit, then the key. The steps of an item add up to its
difference, so the reasons of a run add up to the difference of its rates. The order of
the steps is ours: another order would give the same sum and other parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from evaluations.reading.rules.scoring.objective import (
    default_partial_credit,
    has_key,
    score_objective,
)
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from gradeapp.common.csv_cells import Cell
from gradeapp.common.named import Named
from gradeapp.common.tables import Table, table


class Reason(Named):
    """Why the two policies give different points, in the order of the steps."""

    LEFT_OUT = "left_out", "Question left out", "试题未计入"
    ERROR_TEXT = "error_text", "Error text left out", "接口错误不计入"
    UNSCORED = "unscored", "No score under one policy", "一种口径下无得分"
    LENGTH = "length", "Number of answers differs", "答案个数不符"
    READING = "reading", "Extracted differently", "提取结果不同"
    CREDIT = "credit", "Credit rule differs", "给分规则不同"
    KEY = "key", "Answer key corrected", "参考答案已修正"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one policy read in a response and where, how the reading ended, and its points.

    ``key`` is the key that gave the points.
    """

    answers: tuple[str | None, ...]
    outcome: str
    points: Decimal
    method: str = ""
    pattern: str = ""
    spans: Sequence[Sequence[int] | None] = ()
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """One response under both policies; None if a policy has no score.

    ``key`` is the published key, one entry per sub-question. ``left_out``: the item
    is not counted under ``strict`` (quarantined by the gate). An error message instead
    of an answer (outcome ``api_error``) is not counted under ``strict`` either. Items
    that a person excluded are not passed in.
    """

    dataset: str
    subject: str
    question_type: str
    key: tuple[str, ...]
    sub_marks: tuple[Decimal, ...]
    published: Evidence | None
    strict: Evidence | None
    left_out: bool = False

    @property
    def counts_strictly(self) -> bool:
        """Return whether the item counts under ``strict``."""
        if self.strict is None or self.left_out:
            return False
        return self.strict.outcome != LedgerOutcome.API_ERROR

    @property
    def full(self) -> Decimal:
        """Return the full marks of the item."""
        return sum(self.sub_marks, Decimal(0))


@dataclass(frozen=True, slots=True)
class Step:
    """The change by one reason: of the points, and of the full marks."""

    reason: Reason
    points: Decimal
    full: Decimal = Decimal(0)


def steps_of(item: ScoredItem) -> list[Step]:
    """Return the steps from ``published`` to ``strict`` that change something.

    Empty without a score under either policy. Raises ValueError if key and marks
    differ in number.
    """
    published, strict = item.published, item.strict
    if strict is None or not item.counts_strictly:
        if published is None:
            return []
        reason = Reason.UNSCORED if strict is None else Reason.ERROR_TEXT
        reason = Reason.LEFT_OUT if item.left_out else reason
        return [Step(reason, -published.points, -item.full)]
    if published is None:
        return [Step(Reason.UNSCORED, strict.points, item.full)]
    if not has_key(item.key):  # wrong as published: the strict score is by a key that was added
        gained = strict.points - published.points
        return [Step(Reason.KEY, gained)] if gained else []
    as_published = _scored(item, strict, Policy.PUBLISHED)
    as_strict = _scored(item, strict, Policy.STRICT)
    aligned = len(published.answers) == len(item.key)
    steps = (
        Step(Reason.READING if aligned else Reason.LENGTH, as_published - published.points),
        Step(Reason.CREDIT, as_strict - as_published),
        Step(Reason.KEY, strict.points - as_strict),
    )
    return [step for step in steps if step.points]


def _scored(item: ScoredItem, given: Evidence, policy: Policy) -> Decimal:
    """Return the points of the strict reading by the published key and the rule of *policy*."""
    return score_objective(
        answers=given.answers,
        key=item.key,
        sub_marks=item.sub_marks,
        question_type=item.question_type,
        outcome=given.outcome,
        policy=policy,
        partial_credit=default_partial_credit(
            item.question_type, item.dataset, subject=item.subject, policy=policy
        ),
    ).points


@dataclass(frozen=True, slots=True)
class MovedItem:
    """A response that the two policies score differently, and why."""

    response: int
    public_id: UUID
    task: str
    external_id: str
    repeat: int
    key: tuple[str, ...]
    full: Decimal
    published: Evidence | None
    strict: Evidence | None
    steps: tuple[Step, ...]

    @property
    def strict_key(self) -> tuple[str, ...]:
        """Return the key of the strict score where it is not the published one, else ()."""
        return self.strict.key if self.strict is not None and self.strict.key != self.key else ()

    @property
    def leaves(self) -> bool:
        """Return whether the item is not counted under ``strict``."""
        return any(step.full < 0 for step in self.steps)

    @property
    def change(self) -> Decimal:
        """Return the points under ``strict`` minus those under ``published``."""
        return sum((step.points for step in self.steps), Decimal(0))


@dataclass(frozen=True, slots=True)
class Movement:
    """The sum of one reason over many items, and the rate before and after it."""

    reason: Reason
    items: int
    points: Decimal
    full: Decimal
    rate_before: Fraction | None
    rate: Fraction | None

    @property
    def change(self) -> Fraction | None:
        """Return the change of the rate by this reason; None if a rate has no value."""
        if self.rate is None or self.rate_before is None:
            return None
        return self.rate - self.rate_before


def movements(points: Decimal, full: Decimal, steps: Iterable[Sequence[Step]]) -> list[Movement]:
    """Return the movement from *points* of *full* under ``published`` to ``strict`` by reason.

    *steps* are those of each item. The changes of the rate add up exactly to the
    difference of the two rates.
    """
    flat = [step for one in steps for step in one]
    found = []
    current = rate(points, full)
    for reason in Reason:
        own = [step for step in flat if step.reason is reason]
        gained = sum((step.points for step in own), Decimal(0))
        widened = sum((step.full for step in own), Decimal(0))
        points, full = points + gained, full + widened
        before, current = current, rate(points, full)
        found.append(Movement(reason, len(own), gained, widened, before, current))
    return found


def rate(points: Decimal, full: Decimal) -> Fraction | None:
    """Return points of full marks as a share, None without full marks."""
    return Fraction(points) / Fraction(full) if full else None


COLUMNS = (
    *("run", "task", "question", "repeat", "response", "key", "strict_key", "full"),
    *("published_read", "published_words", "published_points"),
    *("strict_read", "strict_outcome", "strict_method", "strict_words", "strict_points"),
    *(f"change_{reason.value}" for reason in Reason),
    "change",
)


def ablation_table(
    run: int, items: Iterable[MovedItem], words: Mapping[int, Mapping[str, str]]
) -> Table:
    """Return a table with one row per response of *run* that moves between the policies.

    The columns of the reasons add up to ``change``, in points. *words* are the quotations
    by response and policy.
    """
    return table(COLUMNS, (_row(run, one, words.get(one.response, {})) for one in items))


def _row(run: int, one: MovedItem, words: Mapping[str, str]) -> list[Cell]:
    published, strict = one.published, one.strict
    # A gap is "-"; nothing is written where nothing was read.
    spelled = [
        " ".join(answer or "-" for answer in read.answers) if read and any(read.answers) else ""
        for read in (published, strict)
    ]
    by_reason = {step.reason: float(step.points) for step in one.steps}
    return [
        *(run, one.task, one.external_id, one.repeat, str(one.public_id)),
        *(" ".join(one.key), " ".join(one.strict_key or one.key), float(one.full)),
        *(spelled[0], words.get(Policy.PUBLISHED, "")),
        float(published.points) if published else None,
        spelled[1],
        *((strict.outcome, f"{strict.method} {strict.pattern}".strip()) if strict else ("", "")),
        words.get(Policy.STRICT, ""),
        float(strict.points) if strict else None,
        *(by_reason.get(reason) for reason in Reason),
        float(one.change),
    ]
