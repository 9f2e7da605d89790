"""What another tolerance would have cost: third marks, decisions, and points of final marks.

Asked of marks that were given. A tolerance changes no mark that is there, so
what lies within it is known; beyond it only what a third mark or the lead has
said already is known, and nothing is invented for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluations.marking.rules.arbitration import Finalized, NeedsArbitration, next_step
from evaluations.marking.rules.tolerance import tolerance, within
from evaluations.schemes import Scheme

PERCENTS = tuple(
    Decimal(text)
    for text in ("0", "2.5", "5", "7.5", "10", "12.5", "15", "20", "25", "30", "40", "50")
)
POINTS = tuple(
    Decimal(text)
    for text in ("0", "0.5", "1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10", "15", "20")
)


@dataclass(frozen=True, slots=True)
class MarkedTwice:
    """A response with its first two marks, and what came after them, in points.

    ``tolerance`` is the one that the round gave it. ``answer`` leads back to the
    row, ``task`` names its group. With ``corrected`` nobody had called the lead, whose
    mark took the place of a final mark; with ``one_more`` a third mark was asked for because
    judges were far off.
    """

    answer: int
    task: str
    first: Decimal
    second: Decimal
    full: Decimal
    tolerance: Decimal
    third: Decimal | None = None
    lead: Decimal | None = None
    final: Decimal | None = None
    corrected: bool = False
    one_more: bool = False

    @property
    def difference(self) -> Decimal:
        """Between the first two marks, 0 or more."""
        return abs(self.first - self.second)


@dataclass(frozen=True, slots=True)
class Setting:
    """A tolerance to try: the larger of ``share`` of full marks (0 to 1) and ``points``.

    Rounded down to the mark ``step``, as a round does it. With ``own`` each
    response keeps the tolerance that its round gave it.
    """

    share: Decimal = Decimal(0)
    points: Decimal = Decimal(0)
    step: Decimal = Decimal("0.01")
    own: bool = False

    def of(self, response: MarkedTwice) -> Decimal:
        """The tolerance of one response, in points."""
        if self.own:
            return response.tolerance
        return tolerance(response.full, self.step, points=self.points, share=self.share)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one setting leads to, in numbers of responses and in points.

    ``pairs`` have two marks; ``beyond`` of them differ by more than the
    tolerance and ask for a third mark. Of these ``answered`` have one, and
    ``undecided`` of the answered would go on to the lead; under ``2+1`` all of
    them do. ``known`` have a final mark that can be told for both settings;
    ``moved`` of these would have another, by ``change`` points together (signed)
    and ``distance`` (each without its sign), of ``full`` marks.
    """

    pairs: int
    beyond: int
    answered: int
    undecided: int
    known: int
    moved: int
    change: Decimal
    distance: Decimal
    full: Decimal


def simulate(responses: Iterable[MarkedTwice], scheme: Scheme, setting: Setting) -> Outcome:
    """Finalize all *responses* again under another tolerance and compare with what counts now.

    A round that always takes the mean, or has one mark only, is tried as
    ``2+1+1``. Within the tolerance the mean of two counts; beyond it the third
    mark that was given, then the lead's. Where those were never asked for, the
    final mark is not known, and the response takes no part in what moves. A final
    mark that the lead corrected uncalled stays under every tolerance, and so does a decision
    beside marks that would not call the lead any more. Exact.
    """
    tried = Scheme.TWO_AND_LEAD if scheme is Scheme.TWO_AND_LEAD else Scheme.THREE_AND_LEAD
    pairs = beyond = answered = undecided = known = moved = 0
    change = distance = full = Decimal(0)
    for one in responses:
        limit = setting.of(one)
        pairs += 1
        if not within(one.first, one.second, limit):
            beyond += 1
            answered += one.third is not None or tried is Scheme.TWO_AND_LEAD
            undecided += _goes_to_lead(one, tried, limit)
        value = _final(one, tried, limit)
        if value is None or one.final is None:
            continue
        known += 1
        moved += value != one.final
        change += value - one.final
        distance += abs(value - one.final)
        full += one.full
    return Outcome(pairs, beyond, answered, undecided, known, moved, change, distance, full)


def grid(in_points: bool, *, least: Decimal, step: Decimal, full: Decimal) -> list[Setting]:
    """The settings to try: 0 to 50 % of full marks with *least* points, or points up to half.

    *full* are the highest full marks of any response.
    """
    if in_points:
        return [Setting(points=points, step=step) for points in POINTS if points <= full / 2]
    return [Setting(share=percent / 100, points=least, step=step) for percent in PERCENTS]


def beyond(responses: Sequence[MarkedTwice], setting: Setting) -> list[MarkedTwice]:
    """The responses whose two marks differ by more than the tolerance, the farthest apart first."""
    found = [one for one in responses if not within(one.first, one.second, setting.of(one))]
    return sorted(found, key=lambda one: (-one.difference, one.answer))


def _goes_to_lead(one: MarkedTwice, scheme: Scheme, limit: Decimal) -> bool:
    if scheme is Scheme.TWO_AND_LEAD:
        return True
    if one.third is None:
        return False
    step = next_step(scheme, (one.first, one.second, one.third), limit, None)
    return isinstance(step, NeedsArbitration)


def _final(one: MarkedTwice, scheme: Scheme, limit: Decimal) -> Decimal | None:
    """The final mark under *limit*; None where somebody would have to mark first."""
    stays = one.lead is not None and one.final == one.lead
    if one.corrected or (stays and _by_marks(one, scheme, one.tolerance) != one.lead):
        return one.lead
    return _by_marks(one, scheme, limit)


def _by_marks(one: MarkedTwice, scheme: Scheme, limit: Decimal) -> Decimal | None:
    """What the marks lead to under *limit*, whatever was decided beside others."""
    marks = [one.first, one.second]
    one_more = one.one_more and one.third is not None
    if one.third is not None and (one_more or scheme is Scheme.THREE_AND_LEAD):
        marks.append(one.third)
    step = next_step(scheme, marks, limit, None, one_more=one_more)
    if isinstance(step, Finalized):
        return step.value
    return one.lead if isinstance(step, NeedsArbitration) else None
