"""One response with all its marks, for the lead, and the queue of those that wait for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from statistics import median
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, Max, OuterRef, QuerySet

from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.marking.arbitration.rules.closest_pair import (
    ClosestPair,
    TeacherMark,
    closest_pairs,
)
from evaluations.marking.arbitration.selectors.seen_marks import may_have_seen
from evaluations.marking.desk.selectors.desk import blind_item
from evaluations.marking.desk.selectors.queue import free_for
from evaluations.marking.desk.selectors.roles import OwnRole, own_role, own_slots
from evaluations.marking.rules.blinding import BlindItem, self_mention
from evaluations.marking.rules.tolerance import within
from evaluations.models import ArbiterMark, BlindAnswer, Mark, MarkingNotes, MarkingRound, Slot
from evaluations.models.vocabulary import LIVE, AnswerRole, RoundStatus, SlotKind
from gradeapp.accounts.models import User
from gradeapp.common.plain_number import plain
from questions.rules.rubric import PointGroup, RubricLines
from questions.selectors.bank import image_addresses


@dataclass(frozen=True, slots=True)
class GivenMark:
    """The counting mark of one marker, who is called by the slot's kind and never by name.

    ``other_rubric`` is the version of the rubric that it was given under where that is not the
    present one, 0 for none.
    """

    pk: int
    kind: str
    total: Decimal
    points: tuple[Decimal, ...]
    comment: str
    flags: tuple[str, ...]
    reason: str
    versions: int
    entered_by: str = ""
    other_rubric: int | None = None

    @property
    def joined(self) -> str:
        """Its points in one string, for the page's script."""
        return ",".join(plain(value) for value in self.points)


@dataclass(frozen=True, slots=True)
class PointRow:
    """One scoring point with what each marker, by kind of mark, and at last the lead gave.

    None for a mark that has a total only, as imported marks may.
    """

    number: int
    text: str
    full: Decimal
    given: tuple[tuple[str, Decimal | None], ...]
    decided: Decimal | None
    place: int | None = None
    group: PointGroup | None = None
    first_of_group: bool = False

    @property
    def name(self) -> str:
        """Its field in the form."""
        return f"point-{self.number}"

    @property
    def spread(self) -> Decimal:
        """How far the markers are apart on this point."""
        values = [value for _, value in self.given if value is not None]
        return max(values, default=Decimal(0)) - min(values, default=Decimal(0))

    @property
    def cells(self) -> list[tuple[str, Decimal | None, str]]:
        """Kind and value of each mark; "up" or "down" for those farthest from the middle."""
        known = [value for _, value in self.given if value is not None]
        middle = median(known) if known else Decimal(0)
        most = max((abs(value - middle) for value in known), default=Decimal(0))
        far = {value for value in known if most and abs(value - middle) == most}
        return [
            (kind, value, _way(value - middle) if value is not None and value in far else "")
            for kind, value in self.given
        ]


def _way(difference: Decimal) -> str:
    return "up" if difference > 0 else "down"


@dataclass(frozen=True, slots=True)
class PastFinal:
    """A final mark that counts or once did."""

    number: int
    value: Decimal
    rule: str
    made_at: datetime
    counts: bool


@dataclass(frozen=True, slots=True)
class DisputedCase:
    """A response as the lead sees it: marks side by side, and whether it can be decided.

    ``mentions`` are passages in which the response names its own model or maker;
    ``held_until`` is set while another lead has the response. With ``marks_first`` the lead has
    to give a mark before any other is shown, and nothing of them stands here; ``before`` is that
    mark afterwards. Nor does it while they are ``hidden``: the response may still come to the lead.
    ``may_have_seen``: the response had a final mark before that mark, so nothing says "before
    seeing" of it.
    """

    public_id: UUID
    item: BlindItem
    images: dict[str, str]
    language: str
    marks: tuple[GivenMark, ...]
    points: tuple[PointRow, ...]
    decision: GivenMark | None
    waits: bool
    own: OwnRole
    is_open: bool
    is_check: bool
    held_until: datetime | None
    pairs: tuple[ClosestPair, ...]
    finals: tuple[PastFinal, ...]
    notes_changed_at: datetime | None
    mentions: tuple[str, ...]
    marks_first: bool = False
    hidden: bool = False
    before: ArbiterMark | None = None
    may_have_seen: bool = False

    @property
    def difference(self) -> Decimal | None:
        """Between the first two marks."""
        if len(self.marks) < 2:
            return None
        return abs(self.marks[0].total - self.marks[1].total)

    @property
    def acceptable(self) -> tuple[GivenMark, ...]:
        """The marks that can be accepted as they are: those with a mark for each scoring point."""
        return tuple(mark for mark in self.marks if len(mark.points) == len(self.points))

    @property
    def final(self) -> PastFinal | None:
        """The final mark that counts now."""
        return next((final for final in self.finals if final.counts), None)

    @property
    def may_decide(self) -> bool:
        """The round goes on, and this lead gave and entered no mark of the response."""
        return self.is_open and self.own is OwnRole.NONE

    @property
    def entered(self) -> bool:
        """This lead gave no mark, but entered one for a teacher."""
        return self.own is OwnRole.ENTERED

    @property
    def gave(self) -> bool:
        """This lead gave a mark."""
        return self.own is OwnRole.GAVE

    @property
    def can_be_decided(self) -> bool:
        """It waits for a lead, this lead has not marked it, and no other lead is at it."""
        return self.waits and self.may_decide and self.held_until is None

    @property
    def can_be_corrected(self) -> bool:
        """It has a final mark that this lead may put another in the place of."""
        return self.final is not None and self.may_decide and not self.is_check

    @property
    def pair(self) -> ClosestPair | None:
        """The one pair that lies closest; None where two are equally close."""
        return self.pairs[0] if len(self.pairs) == 1 else None

    @property
    def pair_passes(self) -> bool:
        """Whether two marks are within the tolerance of each other."""
        if not self.pairs:
            return False
        one, other = (self.marks[place].total for place in self.pairs[0].places)
        return within(one, other, self.item.tolerance)

    @property
    def named_pairs(self) -> tuple[tuple[str, str, ClosestPair], ...]:
        """Each pair that lies closest after the kinds of its two marks."""
        return tuple(
            (self.marks[pair.places[0]].kind, self.marks[pair.places[1]].kind, pair)
            for pair in self.pairs
        )


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits for this lead in a round: how much, since when, and the neighbours of one."""

    waiting: int
    oldest: datetime | None
    previous: UUID | None
    following: UUID | None


def waiting_for(lead: User, marking_round: MarkingRound, now: datetime) -> QuerySet[Any]:
    """Responses that wait for a decision of *lead*, the longest waiting first.

    Left out are those that *lead* marked and those that another lead has at hand. Last come those
    without a mark. In a closed round nothing waits.
    """
    own = own_slots(lead, OuterRef("pk"), OuterRef("response"))
    waits = Slot.objects.filter(free_for(lead, now), kind=SlotKind.ARBITRATION, marked=False)
    waiting = waits.order_by().values("answer")
    answers = marking_round.answers.filter(
        ~Exists(own), pk__in=waiting, final=None, round__status__in=LIVE
    )
    return answers.annotate(since=Max("slots__marks__created_at")).order_by(
        F("since").asc(nulls_last=True), "id"
    )


def queue_around(
    lead: User, marking_round: MarkingRound, current: UUID | None, now: datetime
) -> Queue:
    """The queue, and what stands before and after *current* in it."""
    rows = list(waiting_for(lead, marking_round, now).values_list("public_id", "since"))
    ids = [public_id for public_id, _ in rows]
    place = ids.index(current) if current in ids else -1
    return Queue(
        waiting=len(ids),
        oldest=rows[0][1] if rows else None,
        previous=ids[place - 1] if place > 0 else None,
        following=ids[place + 1] if place + 1 < len(ids) else None,
    )


def case_of(answer: BlindAnswer, lead: User, now: datetime) -> DisputedCase:
    """Everything of one response, in a fixed number of queries."""
    slots = list(answer.slots.all())
    marks = _newest_marks(slots, answer.rubric_id)
    teachers = tuple(marks[kind] for kind in _TEACHERS if kind in marks)
    decision = marks.get(SlotKind.ARBITRATION.value)
    waiting = [slot for slot in slots if slot.kind == SlotKind.ARBITRATION and not slot.marked]
    item = blind_item(answer)
    before = mark_before(answer, lead)
    case = DisputedCase(
        public_id=answer.public_id,
        item=item,
        images=image_addresses(answer.round.dataset, answer.revision.images),
        language=answer.revision.language,
        marks=teachers,
        points=_point_rows(item, teachers, decision),
        decision=decision,
        waits=bool(waiting),
        own=own_role(lead, answer),
        is_open=answer.round.status in (RoundStatus.OPEN, RoundStatus.PAUSED),
        is_check=answer.role != AnswerRole.ANSWER,
        held_until=next((_held_until(slot, lead, now) for slot in waiting), None),
        pairs=pairs_of(teachers, RubricLines(item.scoring_points, item.point_groups)),
        finals=_finals(answer),
        notes_changed_at=_notes_changed_at(answer.round) if item.marking_notes else None,
        mentions=tuple(dict.fromkeys(self_mention(item.response_text))),
        before=before,
        may_have_seen=before is not None and may_have_seen(answer, lead, before.created_at),
    )
    late = BlindAnswer.objects.filter(marks_wait_for_the_lead(), pk=answer.pk)
    if before or not answer.round.arbiter_marks_first or not late.exists():
        return case
    unseen: dict[str, Any] = {"marks": (), "decision": None, "pairs": (), "finals": ()}
    unseen |= {"points": _point_rows(item, (), None), "marks_first": case.can_be_decided}
    return replace(case, hidden=True, may_have_seen=may_have_seen(answer, lead), **unseen)


def mark_before(answer: BlindAnswer, lead: User) -> ArbiterMark | None:
    """What *lead* gave before the other marks were shown, under the present rubric."""
    return answer.arbiter_marks.filter(lead=lead, rubric=answer.rubric_id).first()


def pairs_of(marks: Sequence[GivenMark], rubric: RubricLines) -> tuple[ClosestPair, ...]:
    """The two of the teachers' *marks* that lie closest, or each two that are equally close."""
    return closest_pairs([TeacherMark(mark.total, mark.points) for mark in marks], rubric)


def _held_until(slot: Slot, lead: User, now: datetime) -> datetime | None:
    """Until when another lead has the response; None where nobody else has it now."""
    if slot.holder_id in (None, lead.pk) or slot.lease_until is None or slot.lease_until <= now:
        return None
    return slot.lease_until


def _finals(answer: BlindAnswer) -> tuple[PastFinal, ...]:
    """Every final mark of the response, the newest first."""
    return tuple(
        PastFinal(
            final.number, final.value, final.rule, final.created_at, final.pk == answer.final_id
        )
        for final in answer.finals.order_by("-number")
    )


def _notes_changed_at(marking_round: MarkingRound) -> datetime | None:
    """When the newest marking notes were written, where that is known."""
    versions = MarkingNotes.objects.filter(round=marking_round).order_by("-number")
    return versions.values_list("created_at", flat=True).first()


def answer_called(marking_round: MarkingRound, public_id: UUID) -> BlindAnswer | None:
    """A response of this round with what its page needs."""
    rows = marking_round.answers.select_related(
        "round__dataset", "question", "revision", "rubric", "response"
    )
    return rows.filter(public_id=public_id).first()


_TEACHERS = (SlotKind.FIRST.value, SlotKind.SECOND.value, SlotKind.THIRD.value)


def _newest_marks(slots: Sequence[Slot], rubric: int | None) -> dict[str, GivenMark]:
    """By kind of slot; a decision that stayed when the *rubric* changed is a total only."""
    kinds = {slot.pk: slot.kind for slot in slots}
    counting = Mark.objects.counting().filter(slot__in=list(kinds))
    rows = counting.select_related("entered_by", "rubric").prefetch_related("points")
    newest: dict[str, GivenMark] = {}
    for mark in rows.order_by("version"):
        under = mark.rubric.version if mark.rubric else 0
        newest[kinds[mark.slot_id]] = GivenMark(
            pk=mark.pk,
            kind=kinds[mark.slot_id],
            total=mark.total,
            points=tuple(point.points for point in mark.points.all())
            if mark.rubric_id == rubric
            else (),
            comment=mark.comment,
            flags=tuple(mark.flags),
            reason=mark.reason,
            versions=mark.version,
            entered_by=str(mark.entered_by) if mark.entered_by else "",
            other_rubric=None if mark.rubric_id == rubric else under,
        )
    return newest


def _point_rows(
    item: BlindItem, marks: Sequence[GivenMark], decision: GivenMark | None
) -> tuple[PointRow, ...]:
    def at(mark: GivenMark, place: int) -> Decimal | None:
        return mark.points[place] if len(mark.points) == len(item.scoring_points) else None

    groups = [line.group for line in item.scoring_points]
    return tuple(
        PointRow(
            number=place + 1,
            text=line.text,
            full=line.points,
            given=tuple((mark.kind, at(mark, place)) for mark in marks),
            decided=at(decision, place) if decision else None,
            place=line.group,
            group=item.point_groups[line.group - 1] if line.group else None,
            first_of_group=line.group is not None and line.group != before,
        )
        for place, (line, before) in enumerate(
            zip(item.scoring_points, [None, *groups], strict=False)
        )
    )
