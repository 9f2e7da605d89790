"""Opening and closing a marking round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.models import BlindAnswer, MarkingRound, Response, RoundTeacher, Run, Slot
from evaluations.models.vocabulary import AnswerRole, RoundStatus, SlotKind
from evaluations.rules.marking.assignment_plan import plan
from evaluations.rules.marking.blinding import alias
from evaluations.rules.marking.drawing import shuffled
from evaluations.rules.marking.scheme import (
    DEFAULT_SCHEME,
    DEFAULT_STEP,
    DEFAULT_TOLERANCE_POINTS,
    DEFAULT_TOLERANCE_SHARE,
    Scheme,
)
from evaluations.rules.marking.tolerance import tolerance
from evaluations.selectors.round_choice import ResponseChoice, chosen_responses, newest_rubrics
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.refusals import BadInput, Conflict
from questions.models import Rubric
from questions.rules.rubric import reachable
from questions.selectors.rubrics import lines_of

KIND_OF_SLOT = {1: SlotKind.FIRST, 2: SlotKind.SECOND, 3: SlotKind.THIRD}


def open_round(
    *,
    name: str,
    responses: ResponseChoice,
    teachers: Sequence[User],
    scheme: Scheme = DEFAULT_SCHEME,
    tolerance_points: Decimal = DEFAULT_TOLERANCE_POINTS,
    tolerance_share: Decimal = DEFAULT_TOLERANCE_SHARE,
    mark_step: Decimal = DEFAULT_STEP,
    lease_minutes: int = 30,
    house_rulings: str = "",
    random_seed: int,
    acting_user: User | None,
) -> MarkingRound:
    """Open a round: freeze what is marked, under which key, rubric and tolerance, and by whom.

    Every response gets an alias in shuffled order and its first and second
    slots, planned evenly over *teachers*. ``tolerance_points`` are points,
    ``tolerance_share`` is a share of full marks from 0 to 1, ``mark_step`` is in
    points. Raises BadInput with one sentence where the round could not work.
    """
    chosen = chosen_responses(responses, random_seed)
    rubrics = newest_rubrics({response.question_id for response in chosen})
    _check_people(teachers, scheme)
    _check_numbers(mark_step, tolerance_points, tolerance_share, lease_minutes)
    _check_responses(chosen, rubrics, responses)
    with transaction.atomic():
        made = MarkingRound.objects.create(
            name=_checked_name(name),
            dataset_id=Run.objects.values_list("dataset", flat=True).get(pk=chosen[0].run_id),
            scheme=scheme,
            tolerance_points=tolerance_points,
            tolerance_share=tolerance_share,
            mark_step=mark_step,
            lease_minutes=lease_minutes,
            random_seed=random_seed,
            house_rulings=house_rulings.strip(),
            created_by=acting_user,
        )
        RoundTeacher.objects.bulk_create(
            RoundTeacher(round=made, teacher=teacher) for teacher in teachers
        )
        answers = _blind_answers(made, chosen, rubrics)
        _plan_slots(made, answers, [teacher.pk for teacher in teachers], scheme)
        detail = {"responses": len(chosen), "teachers": len(teachers), "scheme": scheme.value}
        record(Tag.ROUND_OPENED, made, actor=acting_user, **detail)
    return made


def close_round(marking_round: MarkingRound, *, acting_user: User | None, now: datetime) -> None:
    """Close a round: nothing more is given out or counted; marks and drafts stay.

    Raises Conflict when it is closed already.
    """
    with transaction.atomic():
        still_open = MarkingRound.objects.filter(pk=marking_round.pk, status=RoundStatus.OPEN)
        if not still_open.update(status=RoundStatus.CLOSED, closed_at=now):
            raise Conflict(_("This round is closed already."), code="round_closed")
        unsettled = BlindAnswer.objects.filter(
            round=marking_round, final=None, role=AnswerRole.ANSWER
        ).count()
        record(Tag.ROUND_CLOSED, marking_round, actor=acting_user, unsettled=unsettled)
    marking_round.refresh_from_db()


def look_at_round(marking_round: MarkingRound, *, acting_user: User, page: str) -> None:
    """Write down that somebody looked at what markers may not see."""
    record(Tag.ROUND_LOOKED_AT, marking_round, actor=acting_user, page=page)


def _checked_name(name: str) -> str:
    if not (name := name.strip()) or len(name) > 100:
        raise BadInput(_("Give the round a name of 1 to 100 characters."))
    return name


def too_few_teachers(teachers: int, scheme: Scheme) -> str:
    """The sentence that says that so many *teachers* cannot carry *scheme*; empty if they can."""
    if teachers >= scheme.most_marks:
        return ""
    language = get_language() or "en"
    return _(
        "The scheme “%(scheme)s” needs %(needed)s teachers; %(given)s chosen. "
        "Choose more teachers, or the scheme “%(fits)s”."
    ) % {
        "scheme": scheme.label(language),
        "needed": scheme.most_marks,
        "given": teachers,
        "fits": Scheme.fitting(teachers).label(language),
    }


def _check_people(teachers: Sequence[User], scheme: Scheme) -> None:
    if len({teacher.pk for teacher in teachers}) != len(teachers):
        raise BadInput(_("A teacher is in the list twice."))
    if sentence := too_few_teachers(len(teachers), scheme):
        raise BadInput(sentence, code="too_few_teachers")
    for teacher in teachers:
        if not teacher.may(Capability.MARK):
            raise BadInput(_("%(name)s may not mark.") % {"name": teacher}, code="not_a_marker")


def _check_numbers(step: Decimal, points: Decimal, share: Decimal, lease_minutes: int) -> None:
    numbers = (step, points, share)
    fits = all(number.is_finite() for number in numbers) and step > 0 and points >= 0
    if not fits or not 0 <= share <= 1 or not 1 <= lease_minutes <= 24 * 60:
        raise BadInput(
            _(
                "The mark step must be above 0, the tolerance 0 or more points and 0 to 100 % "
                "of full marks, the time for one response 1 minute to 24 hours."
            )
        )


def _check_responses(
    chosen: Sequence[Response], rubrics: Mapping[int, Rubric], choice: ResponseChoice
) -> None:
    if not chosen:
        raise BadInput(_("No subjective response fits this choice."), code="no_responses")
    datasets = Run.objects.filter(pk__in=choice.runs).values_list("dataset", flat=True)
    if len(set(datasets)) > 1:
        raise BadInput(_("A round holds responses to one dataset; choose its runs only."))
    for response in chosen:
        rubric = rubrics.get(response.question_id)
        full = response.revision.full_marks
        if rubric and reachable(lines_of(rubric)) != full:
            raise BadInput(
                _("The rubric of %(question)s does not add up to its %(full)s points.")
                % {"question": response.question, "full": full},
                code="rubric_does_not_add_up",
            )


def _blind_answers(
    made: MarkingRound, chosen: Sequence[Response], rubrics: Mapping[int, Rubric]
) -> list[BlindAnswer]:
    """The responses under aliases whose order says nothing of the run they come from."""
    order = shuffled((response.pk for response in chosen), made.random_seed, "alias")
    numbers = {key: number for number, key in enumerate(order, start=1)}
    rows = [
        BlindAnswer(
            round=made,
            response=response,
            question=response.question,
            revision=response.revision,
            rubric=rubrics.get(response.question_id),
            alias=alias(numbers[response.pk]),
            full_marks=response.revision.full_marks,
            tolerance=tolerance(
                response.revision.full_marks,
                made.mark_step,
                points=made.tolerance_points,
                share=made.tolerance_share,
            ),
        )
        for response in chosen
    ]
    return BlindAnswer.objects.bulk_create(rows)


def _plan_slots(
    made: MarkingRound, answers: Sequence[BlindAnswer], teachers: Sequence[int], scheme: Scheme
) -> None:
    """First and second slots by the plan; questions are the blocks of everybody's queue."""
    items = [(answer.pk, answer.question_id) for answer in answers]
    planned = plan(items, teachers, scheme.planned_marks, made.random_seed)
    Slot.objects.bulk_create(
        Slot(
            answer_id=int(mark.item),
            kind=KIND_OF_SLOT[mark.slot],
            planned_id=int(mark.teacher),
            order=mark.order,
        )
        for mark in planned
    )
