"""A lead who gave or entered a mark of a response does not have its other mark given again."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.urls import reverse

from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.sheets.services.marking_sheets import return_sheet
from evaluations.marking.sheets.services.sheet_reading import RowState, save_rows
from evaluations.models import BlindAnswer, MarkingRound, MarkingSheet
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.common.refusals import BadInput, NotAllowed
from tests.conftest import logged_in
from tests.evaluations.marking.sheets.test_marking_sheets import on, row
from tests.evaluations.marking_world import answers_of, give, later, small_round
from tests.evaluations.sheet_world import taken

pytestmark = pytest.mark.django_db
REFUSED = "You gave or entered another mark of 1 of these responses."


@pytest.fixture
def made(teacher: User, other_teacher: User, third_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher, third_teacher], 1)


def returned(answer: BlindAnswer, of: User, by: User, *, to_others: bool = False) -> int:
    choice = ReturnChoice(aliases=[answer.alias])
    made = MarkingRound.objects.get(pk=answer.round_id)
    return len(
        return_marks(made, of, choice, to_others=to_others, acting_user=by, now=later(5)).marks
    )


def planned_for(answer: BlindAnswer, *people: User) -> None:
    for person, slot in zip(people, answer.slots.order_by("kind"), strict=True):
        answer.slots.filter(pk=slot.pk).update(planned=person)


def gone(teacher: User, made: MarkingRound) -> User:
    """The teacher is a lead too, and has left the round."""
    ensure_user(teacher.username, roles=[Role.TEACHER, Role.LEAD])
    person = User.objects.get(pk=teacher.pk)
    left = logged_in(person).post(f"/marking/rounds/{made.public_id}/leave/")
    assert left.status_code == 302
    return person


def test_who_marked_and_left_returns_no_mark_of_the_partner(
    made: MarkingRound, teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Nor that of who marked again in their place; another lead returns them."""
    (answer,) = answers_of(made)
    planned_for(answer, teacher, other_teacher)
    for one in (teacher, other_teacher):
        give(answer, one, ["3", "3", "6"])
    person = gone(teacher, made)
    where = reverse("monitoring:send-back", args=[made.public_id, other_teacher.public_id])
    asked = {"responses": answer.alias, "to": "same"}
    client = logged_in(person)
    preview = client.get(where, asked).text
    assert (REFUSED in preview, "Return 1 mark<" in preview) == (True, False)
    refused = client.post(where, asked)
    assert (refused.status_code, REFUSED in refused.text) == (403, True)
    assert returned(answer, other_teacher, lead) == 1
    give(answer, other_teacher, ["0", "0", "0"], now=later(6))
    assert returned(answer, teacher, lead, to_others=True) == 1
    give(answer, third_teacher, ["0", "0", "0"], now=later(7))
    with pytest.raises(NotAllowed, match="another mark"):
        returned(answer, third_teacher, person)


def test_where_nobody_is_left_for_who_left_a_teacher_is_to_be_added(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """It is not sent back to the teacher who cannot have it."""
    made = small_round([teacher, other_teacher], 1)
    (answer,) = answers_of(made)
    for one in (teacher, other_teacher):
        give(answer, one, ["3", "3", "6"])
    person = gone(teacher, made)
    with pytest.raises(BadInput, match="Return the marks to other teachers"):
        returned(answer, person, lead)
    with pytest.raises(BadInput, match=r"of these responses\. Add a teacher\.$"):
        returned(answer, person, lead, to_others=True)


def test_who_entered_a_mark_returns_it_and_no_other(
    made: MarkingRound, teacher: User, other_teacher: User, lead: User, admin: User
) -> None:
    (answer,) = answers_of(made)
    planned_for(answer, teacher, other_teacher)
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=lead, now=later(1))
    give(answer, other_teacher, ["3", "3", "6"])
    with pytest.raises(NotAllowed, match="another mark"):
        returned(answer, other_teacher, lead)
    with pytest.raises(NotAllowed, match="another mark"):  # they would enter what the partner gave
        returned(answer, teacher, lead)
    assert returned(answer, teacher, admin) == 1, "another lead returned it for them"
    assert entered(made, teacher, lead, now=later(6)) is RowState.BAD
    assert returned(answer, other_teacher, admin) == 1
    assert entered(made, teacher, lead, now=later(7)) is RowState.SAVED
    assert returned(answer, teacher, lead) == 1, "a slip of their own typing"


def entered(made: MarkingRound, teacher: User, by: User, now: datetime) -> RowState:
    """What becomes of a mark that *by* enters for *teacher* from a sheet of one response."""
    sheet = MarkingSheet.objects.filter(teacher=teacher).latest("pk")
    return_sheet(sheet, acting_user=by, now=now)
    sheet = taken(made, teacher, acting_user=by)
    (answer,) = on(sheet)
    (done,) = save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=by, now=now)
    return done.state
