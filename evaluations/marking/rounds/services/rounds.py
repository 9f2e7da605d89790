"""The life of a round: it starts, may be paused, gets time and teachers, and is closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.facts.answer_facts import record_finals
from evaluations.facts.looks import refuse_who_looked
from evaluations.facts.several_plans import refuse_teachers, refuse_who_can_tell
from evaluations.marking.desk.services.passing import keep_what_waits
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.selectors.round_counts import without_final
from evaluations.marking.rounds.selectors.seed_answers import seeds_without_final
from evaluations.marking.rounds.services.round_planning import BATCH, NO_KEY, MadeBy, plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings, check_deadline
from evaluations.marking.rounds.services.round_slots import create_slots, share_out
from evaluations.marking.services.finalizing import ask_the_lead, close_windows, finalize_due
from evaluations.models import BlindAnswer, FinalMark, MarkingRound, RoundTeacher, Slot
from evaluations.models.vocabulary import NOT_CLOSED, AnswerRole, RoundStatus
from evaluations.schemes import FinalRule
from gradeapp.accounts.markers import check_markers, check_other_roles, present_markers
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict


def open_round(
    *,
    responses: ResponseChoice,
    teachers: Sequence[User],
    acting_user: User | None,
    made_by: MadeBy = NO_KEY,
    **settings: Any,
) -> MarkingRound:
    """Plan a round and start it at once; *settings* are those of ``RoundSettings``.

    Seed answers that would wait for the lead's mark are marked like the others.
    Raises BadInput with one sentence where the round could not work.
    """
    with transaction.atomic():
        made = plan_round(
            RoundSettings(**settings),
            responses=responses,
            teachers=teachers,
            acting_user=acting_user,
            made_by=made_by,
        )
        start_round(made, acting_user=acting_user)
    return made


def start_round(marking_round: MarkingRound, *, acting_user: User | None) -> None:
    """Lay down who marks what, and let the teachers begin.

    First and second marks are spread evenly over the pool, with the seed answers
    and intra-rater checks among them. A seed answer without a reference mark is marked
    like the others. Raises Conflict when the round was started before, and BadInput if one of its
    teachers may not mark any more, saw models or marks of its responses, or can tell models by the
    plans they know.
    """
    with transaction.atomic():
        _change(marking_round, (RoundStatus.PLANNED,), RoundStatus.OPEN)
        pool = User.objects.filter(pools__in=marking_round.pool.filter(left_at=None))
        if gone := pool.exclude(pk__in=present_markers().values("pk")).first():
            words = _(
                "%(name)s is not allowed to mark any more. Plan the round again without them."
            )
            raise BadInput(words % {"name": gone}, code="not_a_marker")
        if not marking_round.practice:
            check_other_roles(pool)
        without = marking_round.answers.filter(role=AnswerRole.SEED, seed_answer=None)
        ordinary = without.update(role=AnswerRole.ANSWER)
        slots = create_slots(marking_round)
        # At the end: until then pages of marks are still open to them.
        refuse_teachers(marking_round, [teacher.pk for teacher in pool])
        detail = {
            "responses": marking_round.answers.filter(role=AnswerRole.ANSWER).count(),
            "teachers": marking_round.pool.count(),
            "scheme": marking_round.scheme,
            "slots": slots,
            "without_reference": ordinary,
        }
        record(Tag.ROUND_OPENED, marking_round, actor=acting_user, **detail)


def pause_round(
    marking_round: MarkingRound, *, acting_user: User | None, now: datetime | None = None
) -> None:
    """Give nothing out and save nothing until it is resumed; what is typed is kept as drafts.

    Raises Conflict unless the round is open.
    """
    with transaction.atomic():
        _change(marking_round, (RoundStatus.OPEN,), RoundStatus.PAUSED)
        keep_what_waits(marking_round, now=now or timezone.now())
        record(Tag.ROUND_PAUSED, marking_round, actor=acting_user)


def resume_round(marking_round: MarkingRound, *, acting_user: User | None) -> None:
    """Let a paused round go on; everybody finds first what they had at hand.

    Raises Conflict unless the round is paused.
    """
    with transaction.atomic():
        _change(marking_round, (RoundStatus.PAUSED,), RoundStatus.OPEN)
        record(Tag.ROUND_RESUMED, marking_round, actor=acting_user)


def set_deadline(
    marking_round: MarkingRound,
    deadline: datetime | None,
    *,
    acting_user: User | None,
    now: datetime,
) -> None:
    """Say until when the round should be done; None takes the deadline away.

    A deadline that passes warns and closes nothing. Raises BadInput for one that is
    over already or too far ahead, Conflict for a closed round.
    """
    check_deadline(deadline, now)
    with transaction.atomic():
        live = MarkingRound.objects.filter(pk=marking_round.pk, status__in=NOT_CLOSED)
        if not live.update(deadline=deadline):
            raise round_is_closed()
        deadlines = {"before": marking_round.deadline, "after": deadline}
        detail = {name: at.isoformat() if at else None for name, at in deadlines.items()}
        record(Tag.ROUND_DEADLINE, marking_round, actor=acting_user, **detail)
    marking_round.refresh_from_db()


def add_teachers(
    marking_round: MarkingRound,
    teachers: Sequence[User],
    *,
    acting_user: User | None,
    now: datetime | None = None,
) -> int:
    """Take *teachers* into the pool; the number of responses that they get from the others.

    In a round that has begun they share what nobody holds yet, with seed answers
    and intra-rater checks of their own; what the lead was asked as nobody else could mark it is
    theirs to mark. Raises BadInput for nobody, for somebody who may not mark, is in the pool
    already, has left it, or has looked at marks of the round; Conflict for a closed round.
    """
    if not teachers:
        raise BadInput(_("Choose at least one teacher."))
    check_markers(teachers)
    keys = sorted({teacher.pk for teacher in teachers})
    with transaction.atomic():
        locked = MarkingRound.objects.select_for_update().get(pk=marking_round.pk)
        if locked.status == RoundStatus.CLOSED:
            raise round_is_closed()
        if known := marking_round.pool.filter(teacher__in=keys).first():
            if known.left_at is not None:
                raise BadInput(
                    _("%(name)s has left this round and cannot come back.")
                    % {"name": known.teacher},
                    code="left",
                )
            raise BadInput(_("%(name)s is already in this round.") % {"name": known.teacher})
        _refuse_who_planned_or_looked(locked, teachers)
        RoundTeacher.objects.bulk_create(
            RoundTeacher(round=marking_round, teacher_id=key) for key in keys
        )
        begun = locked.status != RoundStatus.PLANNED
        moved = share_out(marking_round, keys, now=now or timezone.now()) if begun else 0
        # Again: to share out takes a while, in which pages of marks are still open to them.
        _refuse_who_planned_or_looked(locked, teachers)
        detail = {"added": [str(teacher) for teacher in teachers], "responses": moved}
        record(Tag.ROUND_TEACHERS, marking_round, actor=acting_user, **detail)
    if begun:
        ask_the_lead(marking_round, now=now or timezone.now())
    return moved


def close_round(
    marking_round: MarkingRound,
    *,
    acting_user: User | None,
    now: datetime,
    only_planned: bool = False,
    shown: int | None = None,
) -> None:
    """Close a round: nothing more is given out or counted; marks and drafts stay.

    Marks that could still be revised count as they are. A seed answer that the lead
    marked for this round gets its reference mark as its final one. The others are finalized after
    the commit, so that who saves meanwhile is told at once; the worker's clock finalizes what is
    left if the process ends before. Raises Conflict when the round is closed already, or has
    begun while *only_planned* discards it: who saw the plan has not seen its marks; or when more
    responses than *shown* (``without_final``) are left without a final mark by now.
    """
    with transaction.atomic():
        before = (RoundStatus.PLANNED,) if only_planned else NOT_CLOSED
        begun = _change(marking_round, before, RoundStatus.CLOSED) != RoundStatus.PLANNED
        if begun and shown is not None and (left := without_final(marking_round, now)) > shown:
            words = _(
                "Meanwhile %(left)s responses have no final mark, and your page said %(shown)s. "
                "Read the page of the round again before you close it."
            )
            raise Conflict(words % {"left": left, "shown": shown}, code="changed_meanwhile")
        MarkingRound.objects.filter(pk=marking_round.pk).update(closed_at=now)
        close_windows(Slot.objects.filter(answer__round=marking_round), now=now)
        references = _finalize_by_reference(marking_round) if begun else 0
        detail = {"references": references} if references else {}
        record(Tag.ROUND_CLOSED, marking_round, actor=acting_user, **detail)
    finalize_due(marking_round, now=now)
    not_final = BlindAnswer.objects.filter(round=marking_round, final=None, role=AnswerRole.ANSWER)
    lost = seeds_without_final(marking_round).count() if begun else 0
    record(
        Tag.ROUND_FINALIZED, marking_round, actor=acting_user, unsettled=not_final.count() + lost
    )
    marking_round.refresh_from_db()


def _refuse_who_planned_or_looked(marking_round: MarkingRound, teachers: Sequence[User]) -> None:
    """Raise BadInput for who planned the round, or looked at its marks or took them away."""
    if marking_round.created_by in teachers:
        raise BadInput(
            _("%(name)s has planned this round and knows how it was drawn, so cannot join it.")
            % {"name": marking_round.created_by},
            code="planned",
        )
    refuse_who_looked(marking_round, teachers)
    refuse_who_can_tell(marking_round, [teacher.pk for teacher in teachers])


def _change(marking_round: MarkingRound, before: Sequence[str], after: RoundStatus) -> str:
    """Change the status, if it is one of *before*; what it was. Raises Conflict otherwise."""
    locked = MarkingRound.objects.select_for_update().get(pk=marking_round.pk)
    if locked.status not in before:
        raise _refused(RoundStatus(locked.status), after)
    MarkingRound.objects.filter(pk=marking_round.pk).update(status=after)
    marking_round.refresh_from_db()
    return locked.status


def _refused(status: RoundStatus, wished: RoundStatus) -> Conflict:
    """Why a round in *status* cannot become what was *wished*."""
    if status == RoundStatus.CLOSED:
        return round_is_closed()
    if wished == RoundStatus.CLOSED:
        return Conflict(
            _("The round has started in the meantime. Look at it before you close it."),
            code="round_begun",
        )
    if wished == RoundStatus.PAUSED and status == RoundStatus.PLANNED:
        return Conflict(_("This round has not started yet."), code="round_planned")
    if status == RoundStatus.PAUSED:
        return Conflict(_("This round is already paused."), code="round_paused")
    return Conflict(_("This round has already started."), code="round_open")


def round_is_closed() -> Conflict:
    """Return the refusal of what only a round that is not closed takes."""
    return Conflict(_("This round is already closed."), code="round_closed")


def _finalize_by_reference(marking_round: MarkingRound) -> int:
    """The reference mark of each seed answer that the lead marked becomes final; how many."""
    seeds = marking_round.answers.filter(
        role=AnswerRole.SEED, final=None, seed_answer__author__isnull=False
    )
    answers = list(seeds.select_related("seed_answer"))
    finals = FinalMark.objects.bulk_create(
        [
            FinalMark(
                answer=answer,
                value=answer.seed_answer.total,
                full=answer.full_marks,
                rule=FinalRule.REFERENCE,
            )
            for answer in answers
        ],
        batch_size=BATCH,
    )
    for answer, final in zip(answers, finals, strict=True):
        answer.final = final
    BlindAnswer.objects.bulk_update(answers, ["final"], batch_size=BATCH)
    record_finals(answer.response_id for answer in answers)
    return len(answers)
