"""What a teacher sees at the desk: one blind response and their own figures, nothing else.

Everything here is read from the question, the round and the teacher's own
rows. No other slot, mark, judgement or final mark may be looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from math import ceil
from uuid import UUID

from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from evaluations.marking.desk import sql
from evaluations.marking.rules.blinding import BlindItem
from evaluations.models import BlindAnswer, Draft, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import LIVE, RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.plain_number import plain
from questions.rules.question_parts import split_passage
from questions.rules.rubric import RubricLines
from questions.selectors.bank import image_addresses
from questions.selectors.rubrics import frozen

IDLE_SECONDS = 300
# Nobody reads and marks a response faster: such times say nothing of the work that is left.
FEWEST_SECONDS = 3
RECENT_MARKS = 20
ENOUGH_MARKS = 3
# What the desk shows of a slot's response, in one query.
WHOLE = ("answer__question", "answer__revision", "answer__rubric", "answer__response")


@dataclass(frozen=True, slots=True)
class OwnProgress:
    """Own counts in a round or review; speed and time left are None until they are known."""

    marked: int
    total: int
    per_hour: int | None
    minutes_left: int | None
    saved_at: datetime | None

    @classmethod
    def of(cls, done: int, left: int, recent: Sequence[tuple[int | None, datetime]]) -> OwnProgress:
        """Return the progress; *recent*: seconds and times of the last saves, newest first."""
        seconds = [min(one, IDLE_SECONDS) for one, _at in recent if one and one >= FEWEST_SECONDS]
        pace = sum(seconds) / len(seconds) if len(seconds) >= ENOUGH_MARKS else None
        return cls(
            marked=done,
            total=done + left,
            per_hour=round(3600 / pace) if pace else None,
            minutes_left=ceil(pace * left / 60) if pace else None,
            saved_at=recent[0][1] if recent else None,
        )


@dataclass(frozen=True, slots=True)
class OwnRound:
    """A round as one of its teachers sees it; ``paused`` for all, or on the home for them alone."""

    public_id: str
    name: str
    marking_notes: str
    progress: OwnProgress
    paused: bool
    practice: bool
    deadline: datetime | None


@dataclass(frozen=True, slots=True)
class Given:
    """What stands in the form: a draft, an own mark, or nothing yet. All as text."""

    points: tuple[str, ...]
    total: str
    comment: str
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeskItem:
    """One response at the desk: the blind item, and the teacher's own state on it.

    ``version`` is that of the own mark, 0 for none that counts; ``saves`` counts
    the versions that this teacher ever saved, also those that were returned for re-marking.
    ``given`` is what the form shows: the draft (of ``drafted_at``), else the own
    mark, and ``rubric_changed`` whether its points were given for another rubric; ``saved``
    is the own mark as it is stored, ``entered_by`` who entered it for the teacher.
    """

    item: BlindItem
    images: dict[str, str]
    language: str
    version: int
    saves: int
    marked_at: datetime | None
    entered_by: str
    draft_sequence: int
    drafted_at: datetime | None
    given: Given
    saved: Given | None
    rubric_changed: bool = False

    @property
    def passage(self) -> str:
        """What stands before the first numbered question; it may be folded."""
        return split_passage(self.item.stem)[0]

    @property
    def questions(self) -> str:
        """The questions, or the whole text where they are not numbered; never folded."""
        return split_passage(self.item.stem)[1]

    @property
    def was_returned(self) -> bool:
        """Whether this teacher marked the response before and is to mark it again."""
        return self.version == 0 and self.saves > 0

    @property
    def digest(self) -> str:
        """The same as long as the page of this response would be: 16 hexadecimal digits."""
        return _digest(repr(self))

    @property
    def question_digest(self) -> str:
        """The same for every response to one question, as far as it is shown beside them."""
        item = self.item
        shown = (item.stem, item.answer_key, item.analysis, item.marking_notes, item.full_marks)
        return _digest(repr((shown, item.year, item.paper, self.images)))


def own_slot(teacher: User, answer: UUID) -> Slot | None:
    """The slot that *teacher* holds on the response called *answer*, with all that the desk shows.

    None alike for a response of somebody else, one that does not exist, one
    that was withdrawn, and one of a closed round; but not of a paused one: what
    has been typed stays in sight.
    """
    rows = whole_slots().select_related("answer__round").filter(answer__round__status__in=LIVE)
    return _held(rows, teacher, answer).first()


def slot_to_save(teacher: User, answer: UUID) -> Slot | None:
    """The same with no more than saving needs, in a closed round too: then a draft is kept.

    The round is not read: saving reads it again with the response, under its lock.
    """
    return sql.slot_to_save(teacher.pk, answer)


def _held(rows: QuerySet[Slot], teacher: User, answer: UUID) -> QuerySet[Slot]:
    """The constraint ``one_role_per_person_and_response`` leaves one at most."""
    in_pool = Q(answer__round__pool__teacher=teacher, answer__round__pool__left_at=None)
    return rows.filter(in_pool, answer__public_id=answer, holder=teacher)


def whole_slots() -> QuerySet[Slot]:
    """Slots with all of their response that the desk shows, in one query."""
    return Slot.objects.select_related(*WHOLE).order_by()


def own_round(teacher: User, public_id: UUID) -> MarkingRound | None:
    """An open or paused round that *teacher* is in the pool of."""
    return open_rounds(teacher).filter(public_id=public_id).first()


def has_left(teacher: User, public_id: UUID) -> bool:
    """Whether *teacher* left the round or was taken out of it."""
    return teacher.pools.filter(round__public_id=public_id, left_at__isnull=False).exists()


def open_rounds(teacher: User) -> QuerySet[MarkingRound]:
    """The open and paused rounds of *teacher*, oldest first."""
    own = MarkingRound.objects.filter(pool__teacher=teacher, pool__left_at=None)
    return own.filter(status__in=LIVE).order_by("id")


def own_rounds(teacher: User) -> list[OwnRound]:
    """The home of the desk: first the rounds that can be marked now, then the paused ones."""
    paused = set(teacher.pools.filter(paused=True).values_list("round", flat=True))
    rounds = [
        replace(shown, paused=shown.paused or marking_round.pk in paused)
        for marking_round in open_rounds(teacher)
        for shown in [round_for(teacher, marking_round)]
    ]
    return sorted(rounds, key=lambda one: one.paused)


def round_for(teacher: User, marking_round: MarkingRound) -> OwnRound:
    """One round with own counts only."""
    progress = own_progress(teacher, marking_round)
    notes = marking_round.marking_notes
    paused = marking_round.status == RoundStatus.PAUSED
    return OwnRound(
        public_id=str(marking_round.public_id),
        name=marking_round.name,
        marking_notes=notes,
        progress=progress,
        paused=paused,
        practice=marking_round.practice,
        deadline=marking_round.deadline,
    )


def own_progress(
    teacher: User, marking_round: MarkingRound, now: datetime | None = None
) -> OwnProgress:
    """How far *teacher* is: own marks, over these and what they hold or are planned for.

    An intra-rater check counts while its first may still come to them, or if they were shown it.
    """
    counts = sql.own_counts(teacher.pk, now or timezone.now())
    done, left = counts.get(marking_round.pk, (0, 0))
    return OwnProgress.of(done, left, sql.recent_marks(teacher.pk, marking_round.pk, RECENT_MARKS))


def own_windows_end(teacher: User, marking_round: MarkingRound, now: datetime) -> datetime | None:
    """Until when *teacher* can revise the last of their marks in the round; None if none."""
    own = Slot.objects.filter(holder=teacher, answer__round=marking_round, revisable_until__gt=now)
    end: datetime | None = own.aggregate(end=Max("revisable_until"))["end"]
    return end


def own_marks(
    teacher: User, round: UUID | None = None, response: UUID | None = None
) -> QuerySet[Mark]:
    """Every version of every mark of *teacher*, newest first; of one round or response if named."""
    marks = Mark.objects.filter(teacher=teacher)
    marks = marks.select_related("slot__answer__round", "rubric", "entered_by")
    if round is not None:
        marks = marks.filter(slot__answer__round__public_id=round)
    if response is not None:
        marks = marks.filter(slot__answer__public_id=response)
    return marks.prefetch_related("points").order_by("-id")


def last_own_mark(teacher: User, marking_round: MarkingRound, before: Slot | None) -> Slot | None:
    """The slot of the newest own mark; of the one before it while *before* is being revised."""
    marks = Mark.objects.filter(teacher=teacher, slot__answer__round=marking_round, stale=False)
    first = marks.filter(version=F("slot__void_version") + 1)
    marks = first.filter(slot__holder=teacher, slot__marked=True).order_by("-id")
    if before is not None and (revised := marks.filter(slot=before).first()):
        marks = marks.filter(pk__lt=revised.pk)
    newest = marks.select_related(*(f"slot__{part}" for part in WHOLE)).first()
    return newest.slot if newest else None


def desk_item(slot: Slot, teacher: User) -> DeskItem:
    """The response of *slot* for the teacher who holds it."""
    revision = slot.answer.revision
    marks = Mark.objects.filter(slot=slot, teacher=teacher, stale=False)
    own = list(marks.select_related("entered_by").order_by("version"))
    mark = own[-1] if own and slot.marked else None
    version = mark.version - slot.void_version if mark else 0
    draft = sql.own_draft(slot.pk, teacher.pk)
    if draft and draft.content.get("version", 0) != version:
        draft = None  # for a mark that has another version now, or was returned
    item = blind_item(slot.answer)
    lines = len(item.scoring_points)
    saved = _from_mark(mark, lines) if mark else None
    changed = draft is not None and draft.content.get("rubric", "") not in ("", item.rubric)
    if draft and changed:
        draft.content = {**draft.content, "points": [], "total": ""}  # given for another rubric
    drafted = _from_draft(draft, lines)
    return DeskItem(
        item=item,
        images=image_addresses(slot.answer.round.dataset_id, revision.images),
        language=revision.language,
        version=version,
        saves=len(own),
        marked_at=mark.created_at if mark else None,
        entered_by=str(mark.entered_by) if mark and mark.entered_by else "",
        draft_sequence=draft.sequence if draft else 0,
        drafted_at=draft.updated_at if draft else None,
        given=saved if saved and not draft else drafted,
        saved=saved,
        rubric_changed=changed,
    )


def blind_item(answer: BlindAnswer) -> BlindItem:
    """The allow-list of what a marker may know of a response."""
    question, revision = answer.question, answer.revision
    rubric = frozen(answer.rubric).lines if answer.rubric else RubricLines()
    return BlindItem(
        public_id=str(answer.public_id),
        alias=answer.alias,
        subject=question.subject,
        question_type=revision.question_type,
        year=question.year,
        paper=question.paper,
        stem=revision.asked,
        answer_key=revision.reference_answer,
        analysis=revision.analysis,
        full_marks=answer.full_marks,
        step=answer.round.mark_step,
        tolerance=answer.tolerance,
        scoring_points=rubric.points,
        point_groups=rubric.groups,
        response_text=answer.response.text,
        marking_notes=answer.round.marking_notes,
    )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _from_mark(mark: Mark, points: int) -> Given:
    """A mark as the form shows it; without points under a rubric, as imported, its total."""
    values = tuple(plain(point.points) for point in mark.points.all())
    if not points or len(values) != points:
        return Given(("",) * points, plain(mark.total), mark.comment, tuple(mark.flags))
    return Given(values, "", mark.comment, tuple(mark.flags))


def nothing_given(item: BlindItem) -> Given:
    """The empty form of *item*."""
    return _from_draft(None, len(item.scoring_points))


def _from_draft(draft: Draft | None, points: int) -> Given:
    """A draft as the form shows it; one with another number of points loses them."""
    content = draft.content if draft else {}
    values = tuple(content.get("points", ()))
    return Given(
        points=values if len(values) == points else ("",) * points,
        total=content.get("total", ""),
        comment=content.get("comment", ""),
        flags=tuple(content.get("flags", ())),
    )
