"""x"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from evaluations.reading.rules.scoring.objective import default_partial_credit, score_objective
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from gradeapp.common.csv_cells import Cell
from gradeapp.common.named import Named
from gradeapp.common.tables import Table, table


class Reason(Named):
    """Why the two policies give different points, in the order in which they are taken away."""

    LEFT_OUT = "left_out", "Item left out", "题目未计入"
    ERROR_TEXT = "error_text", "Error text left out", "接口错误不计入"
    UNSCORED = "unscored", "No score under one policy", "一种策略下无得分"
    LENGTH = "length", "Number of answers differs", "答案个数不符"
    READING = "reading", "Read differently", "读取结果不同"
    CREDIT = "credit", "Credit rule differs", "给分规则不同"
    KEY = "key", "Key repaired", "答案已修正"


@dataclass(frozen=True, slots=True)
class PolicyScore:
    """What one policy read, how the reading ended, and its points."""

    answers: tuple[str | None, ...]
    outcome: str
    points: Decimal


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """One response under both policies; None where a policy has no score.

    ``key`` is the published one, one entry a sub-question. ``left_out``: the item
    takes no part under ``strict`` (quarantined by the gate). A program's message
    instead of an answer (outcome ``api_error``) is not counted under ``strict``. An
    item that a person excluded takes part under neither policy and is not handed over
    at all.
    """

    dataset: str
    subject: str
    question_type: str
    key: tuple[str, ...]
    sub_marks: tuple[Decimal, ...]
    published: PolicyScore | None
    strict: PolicyScore | None
    left_out: bool = False

    @property
    def counts_strictly(self) -> bool:
        """Whether ``strict`` has points of full marks for it."""
        if self.strict is None or self.left_out:
            return False
        return self.strict.outcome != LedgerOutcome.API_ERROR

    @property
    def full(self) -> Decimal:
        """Full marks of the item."""
        return sum(self.sub_marks, Decimal(0))


@dataclass(frozen=True, slots=True)
class Step:
    """What one reason changes: points earned, and full marks they are earned of."""

    reason: Reason
    points: Decimal
    full: Decimal = Decimal(0)


def steps_of(item: ScoredItem) -> list[Step]:
    """The steps from ``published`` to ``strict``, those that change nothing left out.

    An item without a score under either policy has none. Raises ValueError where
    the key and the marks differ in number.
    """
    published, strict = item.published, item.strict
    if strict is None or not item.counts_strictly:
        if published is None:
            return []
        return [Step(_why_left_out(item), -published.points, -item.full)]
    if published is None:
        return [Step(Reason.UNSCORED, strict.points, item.full)]
    as_published = _scored(item, strict, Policy.PUBLISHED)
    as_strict = _scored(item, strict, Policy.STRICT)
    aligned = len(published.answers) == len(item.key)
    steps = (
        Step(Reason.READING if aligned else Reason.LENGTH, as_published - published.points),
        Step(Reason.CREDIT, as_strict - as_published),
        Step(Reason.KEY, strict.points - as_strict),
    )
    return [step for step in steps if step.points]


def _why_left_out(item: ScoredItem) -> Reason:
    if item.left_out:
        return Reason.LEFT_OUT
    return Reason.UNSCORED if item.strict is None else Reason.ERROR_TEXT


def _scored(item: ScoredItem, given: PolicyScore, policy: Policy) -> Decimal:
    """The points of what the strict reader read, by the published key and *policy*'s rule."""
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
class Evidence:
    """What one policy read in a response, with the words around it."""

    answers: tuple[str | None, ...]
    outcome: str
    method: str
    pattern: str
    points: Decimal
    spans: Sequence[Sequence[int] | None]


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
    def leaves(self) -> bool:
        """Whether the item takes no part under ``strict``."""
        return any(step.full < 0 for step in self.steps)

    @property
    def change(self) -> Decimal:
        """Points that ``strict`` gives more (or less) than ``published``."""
        return sum((step.points for step in self.steps), Decimal(0))


@dataclass(frozen=True, slots=True)
class Movement:
    """What one reason comes to over many items, and the rate after it (None of nothing)."""

    reason: Reason
    items: int
    points: Decimal
    full: Decimal
    rate_before: Fraction | None
    rate: Fraction | None

    @property
    def change(self) -> Fraction | None:
        """How far this reason moves the rate."""
        if self.rate is None or self.rate_before is None:
            return None
        return self.rate - self.rate_before


def movements(points: Decimal, full: Decimal, steps: Iterable[Sequence[Step]]) -> list[Movement]:
    """From *points* of *full* under ``published``, reason by reason, to ``strict``.

    *steps* are those of each item. The changes of the rate add up exactly to the
    difference of the two rates.
    """
    flat = [step for one in steps for step in one]
    found = []
    rate = _rate(points, full)
    for reason in Reason:
        own = [step for step in flat if step.reason is reason]
        gained = sum((step.points for step in own), Decimal(0))
        widened = sum((step.full for step in own), Decimal(0))
        points, full = points + gained, full + widened
        before, rate = rate, _rate(points, full)
        found.append(Movement(reason, len(own), gained, widened, before, rate))
    return found


def _rate(points: Decimal, full: Decimal) -> Fraction | None:
    return Fraction(points) / Fraction(full) if full else None


COLUMNS = (
    *("run", "task", "question", "repeat", "response", "key", "full"),
    *("published_read", "published_words", "published_points"),
    *("strict_read", "strict_outcome", "strict_method", "strict_words", "strict_points"),
    *(f"change_{reason.value}" for reason in Reason),
    "change",
)


def ablation_table(
    run: int, items: Iterable[MovedItem], words: Mapping[int, Mapping[str, str]]
) -> Table:
    """One row a response of *run*; the reasons' columns add up to ``change``, in points.

    *words* are what each policy read, by response and policy.
    """
    return table(COLUMNS, (_row(run, one, words.get(one.response, {})) for one in items))


def spelled(evidence: Evidence | None) -> str:
    """What was read, ``A - BD`` with a gap; empty where nothing was."""
    if evidence is None or not any(evidence.answers):
        return ""
    return " ".join(answer or "-" for answer in evidence.answers)


def _row(run: int, one: MovedItem, words: Mapping[str, str]) -> list[Cell]:
    strict = one.strict
    by_reason = {step.reason: float(step.points) for step in one.steps}
    return [
        *(run, one.task, one.external_id, one.repeat, str(one.public_id)),
        *(" ".join(one.key), float(one.full)),
        spelled(one.published),
        words.get(Policy.PUBLISHED, ""),
        float(one.published.points) if one.published else None,
        spelled(strict),
        *((strict.outcome, f"{strict.method} {strict.pattern}".strip()) if strict else ("", "")),
        words.get(Policy.STRICT, ""),
        float(strict.points) if strict else None,
        *(by_reason.get(reason) for reason in Reason),
        float(one.change),
    ]
