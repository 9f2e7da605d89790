"""The lead sends marks back: those of a teacher since a moment, or those under an old rubric."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.models import BlindAnswer, Draft, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus
from evaluations.rules.marking.spreading import spread
from evaluations.selectors.round_choice import newest_rubrics
from evaluations.selectors.sending_back import (
    TEACHERS,
    Reach,
    answers_in_reach,
    checks_since,
    roles_on,
    slots_since,
)
from evaluations.services.reopening import TakenBack, batches, hold, take_back
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.refusals import BadInput, Conflict
from questions.models import Question, Rubric
from questions.rules.rubric import reachable
from questions.selectors.rubrics import lines_of


def send_back(
    marking_round: MarkingRound,
    teacher: User,
    *,
    since: datetime,
    to_others: bool,
    with_arbitrated: bool = False,
    acting_user: User,
    now: datetime,
) -> TakenBack:
    """Have the marks that *teacher* saved at *since* or later given again.

    By the same teacher, or *to_others*: spread over those of the pool who are not
    paused and have no role on the response. Final marks made with them are taken
    back and settled again when the new mark comes. Responses that the lead has
    decided are left alone unless *with_arbitrated*. Seed answers and self-repeats go
    back too, for whatever stayed marked would be known as a check; nobody else gets
    them. Every version stays; which ones stands in the audit trail.

    Raises Conflict in a closed round or when there is nothing to send back,
    BadInput where there are no others.
    """
    _check_open(marking_round)
    with transaction.atomic():
        choice = {"with_arbitrated": with_arbitrated}
        found = slots_since(marking_round, teacher, since, **choice)
        checks = checks_since(marking_round, teacher, since)
        held = hold([slot.answer_id for slot in (*found, *checks)])
        found = slots_since(marking_round, teacher, since, **choice)
        slots = [slot for slot in found if slot.answer_id in held]
        checks = [slot for slot in checks if slot.answer_id in held]
        if not slots:
            raise Conflict(
                _("There is no mark of %(name)s since then that could be sent back.")
                % {"name": teacher},
                code="nothing_to_send_back",
            )
        planned = _others(marking_round, teacher, slots) if to_others else {}
        taken = take_back(
            slots, {slot.pk: planned.get(slot.pk, teacher.pk) for slot in slots}, now=now
        )
        again = None if to_others else teacher.pk
        checked = take_back(checks, {slot.pk: again for slot in checks}, now=now)
        record(
            Tag.MARKS_SENT_BACK,
            marking_round,
            actor=acting_user,
            teacher=teacher.username,
            since=since.isoformat(),
            to="others" if to_others else "same",
            marks=taken.marks,
            checks=checked.marks,
            finals=taken.finals,
        )
    return taken


def mark_again(
    marking_round: MarkingRound,
    question: Question,
    *,
    reach: Reach,
    with_arbitrated: bool = False,
    acting_user: User,
    now: datetime,
) -> tuple[int, TakenBack]:
    """Move responses to *question* to its newest accepted rubric and have their marks given again.

    Which ones *reach* says; the others keep the version under which they were
    marked. The same teachers mark again. A response that somebody has at hand
    goes back into the queue, its draft without the points of the old rubric. The
    number of responses moved, and what no longer counts.

    Raises Conflict in a closed round or when no response is in reach, BadInput
    for a rubric that does not add up to the full marks of the round.
    """
    _check_open(marking_round)
    newest = newest_rubrics({question.pk}).get(question.pk)
    if newest is None:
        raise Conflict(_("This question has no accepted rubric."), code="no_rubric")
    with transaction.atomic():
        found = answers_in_reach(marking_round, newest, reach, with_arbitrated=with_arbitrated)
        held = hold(list(found.values_list("pk", flat=True)))
        answers = [answer for answer in found.all() if answer.pk in held]
        if not answers:
            raise Conflict(_("No response is left to be marked again."), code="nothing_to_move")
        _check_full_marks(newest, question, answers)
        taken = _move([answer.pk for answer in answers], newest, now)
        record(
            Tag.RUBRIC_MOVED,
            marking_round,
            actor=acting_user,
            question=question.external_id,
            version=newest.version,
            answers=[answer.alias for answer in answers],
            marks=taken.marks,
            finals=taken.finals,
        )
    return len(answers), taken


def _check_open(marking_round: MarkingRound) -> None:
    marking_round.refresh_from_db(fields=["status"])
    if marking_round.status == RoundStatus.CLOSED:
        raise Conflict(_("The round is closed; its marks stay as they are."), code="round_closed")


def _check_full_marks(newest: Rubric, question: Question, answers: Sequence[BlindAnswer]) -> None:
    can_be = reachable(lines_of(newest))
    for answer in answers:
        if answer.full_marks != can_be:
            raise BadInput(
                _("The rubric of %(question)s does not add up to its %(full)s points.")
                % {"question": question, "full": answer.full_marks},
                code="rubric_does_not_add_up",
            )


def _others(
    marking_round: MarkingRound, teacher: User, slots: Sequence[Slot]
) -> dict[int, int | None]:
    pool = marking_round.pool.filter(paused=False).exclude(teacher=teacher)
    others = list(pool.order_by("teacher").values_list("teacher", flat=True))
    if not others:
        raise BadInput(_("There is nobody else in the pool who could mark them."), code="no_others")
    barred: dict[int, set[int]] = {}
    for some in batches(sorted({slot.answer_id for slot in slots})):
        barred |= roles_on(some)
    return spread({slot.pk: barred[slot.answer_id] for slot in slots}, others)


def _move(answers: Sequence[int], newest: Rubric, now: datetime) -> TakenBack:
    marks: tuple[int, ...] = ()
    finals: tuple[int, ...] = ()
    for some in batches(answers):
        slots = list(Slot.objects.filter(answer__in=some, kind__in=TEACHERS, marked=True))
        taken = take_back(slots, {slot.pk: slot.holder_id for slot in slots}, now=now)
        marks, finals = marks + taken.marks, finals + taken.finals
        _give_back(some)
        moved = BlindAnswer.objects.filter(pk__in=some)
        # A self-repeat that nobody has seen yet is compared with the new mark of its first.
        repeats = BlindAnswer.objects.filter(
            repeat_of__in=some, slots__marked=False, slots__holder=None
        )
        for rows in (moved, BlindAnswer.objects.filter(pk__in=list(repeats.values_list("pk")))):
            rows.update(rubric=newest)
    return TakenBack(marks, finals)


def _give_back(answers: Sequence[int]) -> None:
    """What teachers have at hand returns; their drafts keep the comment and lose the points."""
    held = Slot.objects.filter(answer__in=answers, marked=False, holder__isnull=False)
    drafts = list(Draft.objects.filter(slot__answer__in=answers))
    for draft in drafts:
        draft.content = {**draft.content, "points": [], "total": ""}
    Draft.objects.bulk_update(drafts, ["content"])
    for slot in held:
        slot.planned_id = slot.planned_id or slot.holder_id
        slot.holder, slot.lease_until = None, None
        slot.save(update_fields=["planned", "holder", "lease_until"])
