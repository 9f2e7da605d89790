"""Move responses of a round to a newer rubric of their question, and have them marked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from evaluations.marking.desk.selectors.queue import passed
from evaluations.marking.monitoring.selectors.new_rubric import (
    RemarkScope,
    answers_in_scope,
    outdated_checks,
    scopes_of,
)
from evaluations.marking.monitoring.selectors.returning import TEACHER_KINDS
from evaluations.marking.monitoring.services.returning import check_open
from evaluations.marking.services.finalizing import ask_the_lead
from evaluations.marking.services.places import draw_places
from evaluations.marking.services.reopening import (
    Withdrawn,
    batches,
    leave_plans,
    lock_answers,
    reopen_slots,
)
from evaluations.marking.services.showing import note_shown
from evaluations.models import BlindAnswer, Draft, MarkingRound, SeedAnswer, Slot
from evaluations.models.vocabulary import CHECK_KINDS, SlotKind
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.leases import SLOT
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Question, Rubric
from questions.rules.rubric import reachable
from questions.selectors.rubrics import counting_versions, lines_of


@dataclass(frozen=True, slots=True)
class NewRubricResult:
    """How many responses moved, what was withdrawn, and how many reference marks were dropped."""

    responses: int
    withdrawn: Withdrawn
    references: int


def use_new_rubric(
    marking_round: MarkingRound,
    question: Question,
    *,
    scope: RemarkScope,
    version: int | None = None,
    with_arbitrated: bool = False,
    acting_user: User,
    now: datetime,
) -> NewRubricResult:
    """Move responses to *question* to its newest accepted rubric and have them marked again.

    *scope* says which; the others keep the version under which they were marked. *version* is
    the one that the lead has seen, None not to compare. The same teachers mark again, also where
    the lead has decided: the decision is withdrawn only *with_arbitrated*. A response that a
    teacher is marking returns to the queue, its draft without the points of the old rubric. All
    seed answers and intra-rater checks move too: a teacher would recognize whatever keeps its mark
    or its old rubric as a check. The reference mark of a seed answer is dropped until a lead gives
    a new one.

    Raises Conflict in a closed round, when *scope* has no response or another version than
    *version* counts; BadInput for a scope that the scheme of the round does not allow
    (``scopes_of``) and for a rubric that does not add up to the full marks of the round.
    """
    check_open(marking_round)
    _check_scope(marking_round, scope)
    with transaction.atomic():
        newest = _newest_rubric(question, version)
        found = answers_in_scope(marking_round, newest, scope)
        checks = BlindAnswer.objects.filter(
            round=marking_round, question=question, slots__kind__in=CHECK_KINDS
        )
        locked = lock_answers(
            [*found.values_list("pk", flat=True), *checks.values_list("pk", flat=True)]
        )
        check_open(marking_round)
        answers = [answer for answer in found.all() if answer.pk in locked]
        if not answers:
            raise Conflict(_("No responses left to re-mark."), code="nothing_to_move")
        _check_full_marks(newest, question, answers)
        moving = sorted(answer.pk for answer in answers)
        moving_checks = [one.pk for one in outdated_checks(marking_round, newest)]
        references = _drop_references(moving_checks)
        withdrawn = _move(moving, newest, now, with_decisions=with_arbitrated)
        withdrawn_checks = _move(moving_checks, newest, now)
        record(
            Tag.RUBRIC_REPLACED,
            marking_round,
            actor=acting_user,
            question=question.external_id,
            version=newest.version,
            answers=[answer.alias for answer in answers],
            marks=withdrawn.marks,
            checks=withdrawn_checks.marks,
            finals=withdrawn.finals,
            references=references,
        )
    ask_the_lead(marking_round, now=now)
    return NewRubricResult(len(answers), withdrawn, len(references))


def _check_scope(marking_round: MarkingRound, scope: RemarkScope) -> None:
    if scope not in scopes_of(marking_round):
        raise BadInput(
            _("In this round, all responses to a question move to its new rubric together."),
            code="whole_question",
        )


def _newest_rubric(question: Question, version: int | None) -> Rubric:
    """The accepted rubric, which is *version* (if given) until the transaction ends."""
    held = Question.objects.select_for_update(of=("self",), no_key=True).filter(pk=question.pk)
    newest = counting_versions(held.values_list("pk", flat=True)).get(question.pk)
    if newest is None:
        raise Conflict(_("This question has no accepted rubric."), code="no_rubric")
    if version is not None and newest.version != version:
        raise Conflict(
            _("A newer rubric has been accepted since you opened this page. Review it again."),
            code="newer_rubric",
        )
    return newest


def _check_full_marks(newest: Rubric, question: Question, answers: Sequence[BlindAnswer]) -> None:
    can_be = reachable(lines_of(newest))
    for answer in answers:
        if answer.full_marks != can_be:
            raise BadInput(
                _("The rubric of %(question)s does not add up to the full marks of %(full)s.")
                % {"question": question, "full": answer.full_marks},
                code="rubric_does_not_add_up",
            )


def _move(
    answers: Sequence[int], newest: Rubric, now: datetime, *, with_decisions: bool = False
) -> Withdrawn:
    marks: tuple[int, ...] = ()
    finals: tuple[int, ...] = ()
    returned = 0
    for some in batches(answers):
        again = Slot.objects.filter(answer__in=some, kind__in=(*TEACHER_KINDS, *CHECK_KINDS))
        slots = list(again.filter(marked=True))
        same = {slot.pk: slot.holder_id for slot in slots}
        # Before the marks are reopened: a third slot that somebody had at hand stays theirs.
        _release_held(some, now)
        withdrawn = reopen_slots(slots, same, with_decisions=with_decisions, now=now)
        marks, finals = marks + withdrawn.marks, finals + withdrawn.finals
        returned += withdrawn.returned
        BlindAnswer.objects.filter(pk__in=some).update(rubric=newest)
    return Withdrawn(marks, finals, returned)


def _release_held(answers: Sequence[int], now: datetime) -> None:
    """Release slots that teachers hold; drafts keep the comment and lose the points.

    Each is planned for who held it from then on, also where they were helping out and where it is
    a third mark: it comes back to them in the same way. They have been shown the response.
    """
    held = Slot.objects.filter(~passed(now), answer__in=answers, marked=False)
    held = held.filter(holder__isnull=False)
    held.filter(kind=SlotKind.ARBITRATION).update(**SLOT.released())
    slots = list(held.exclude(kind=SlotKind.ARBITRATION))
    drafts = list(Draft.objects.filter(slot__answer__in=answers))
    for draft in drafts:
        draft.content = {**draft.content, "points": [], "total": ""}
    Draft.objects.bulk_update(drafts, ["content"])
    _note_holders(held, now)
    leave_plans([slot.pk for slot in slots if slot.planned_id != slot.holder_id], now)
    places = draw_places(slots, {slot.pk: slot.holder_id for slot in slots})
    for slot in slots:
        slot.planned_id, slot.order = slot.holder_id, places.get(slot.pk, slot.order)
        slot.holder, slot.lease_until = None, None
    Slot.objects.bulk_update(slots, ["planned", "order", "holder", "lease_until"])


def _note_holders(slots: QuerySet[Slot], now: datetime) -> None:
    """Keep who was shown the responses of *slots* before they are released."""
    held = slots.filter(holder__isnull=False).select_related("answer__round")
    note_shown([(slot, slot.holder_id) for slot in held if slot.holder_id], now)


def _drop_references(checks: Sequence[int]) -> list[dict[str, object]]:
    """Delete the reference marks of seed answers among *checks*; return what they said.

    They were given under another rubric.
    """
    references = SeedAnswer.objects.filter(answer__in=checks).select_related("answer")
    said: list[dict[str, object]] = [
        {
            "answer": one.answer.alias,
            "total": str(one.total),
            "points": one.points,
            "comment": one.comment,
            "taken_from": one.taken_from_id,
            "author": one.author_id,
        }
        for one in references
    ]
    references.delete()
    return said
