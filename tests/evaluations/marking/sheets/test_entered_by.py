"""Marks that somebody enters for a teacher: who did it is stored, and they get no second say."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction

from evaluations.marking.arbitration.services import arbitrate, claim_case
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.same_rubric import rubric_code
from evaluations.marking.desk.services.slots import claim_next
from evaluations.marking.desk.sql import claim_own
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.selectors.exports import MARK_COLUMNS, marks_of_round
from evaluations.marking.services.finalizing import newest_marks
from evaluations.marking.sheets.services.sheet_reading import check_rows, save_rows
from evaluations.models import Mark, MarkingRound, MarkingSheet, Slot
from evaluations.models.vocabulary import ArbitrationReason
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, NotAllowed
from tests.conftest import logged_in
from tests.evaluations.marking.sheets.test_marking_sheets import on, row
from tests.evaluations.marking_world import answers_of, give, later, round_over, small_round
from tests.evaluations.sheet_world import taken

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """One response that both teachers mark."""
    return small_round([teacher, other_teacher], 1)


def test_who_enters_the_marks_of_one_teacher_enters_no_others(
    made: MarkingRound, teacher: User, other_teacher: User, lead: User
) -> None:
    """A lead uploads the sheets of two teachers: the second mark is refused, the first is named."""
    states, previews = [], []
    for person in (teacher, other_teacher):
        sheet = taken(made, person)
        (answer,) = on(sheet)
        filled = [row(sheet, answer, "3", "3", "6")]
        previews += check_rows(sheet, filled, now=later(1), acting_user=lead)
        states += save_rows(sheet, filled, acting_user=lead, now=later(1))
    assert [one.state for one in previews] == ["new", "bad"], "seen before it is saved"
    assert [one.state for one in states] == ["saved", "bad"]
    assert "entered another mark" in states[1].sentence
    mark = Mark.objects.get()
    assert (mark.teacher, mark.entered_by) == (teacher, lead)
    saved = AuditEntry.objects.get(tag="mark.saved")
    assert (saved.actor, saved.detail["teacher"]) == (lead, teacher.username)
    (line,) = marks_of_round(made)
    assert dict(zip(MARK_COLUMNS, line, strict=True))["entered_by"] == lead.username
    theirs = answer.slots.get(holder=other_teacher)
    theirs.entered_by = lead
    with pytest.raises(IntegrityError), transaction.atomic():
        theirs.save()


def test_who_entered_a_mark_does_not_decide(
    made: MarkingRound, teacher: User, other_teacher: User, lead: User, admin: User
) -> None:
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=lead, now=later(1))
    give(answer, other_teacher, ["0", "0", "0"])
    seen = [mark.pk for mark in newest_marks(answer).values()]
    with pytest.raises(NotAllowed, match="entered a mark"):
        claim_case(answer, lead, now=later(2))
    with pytest.raises(NotAllowed, match="entered a mark"):
        arbitrate(
            answer, lead, key=uuid.uuid4(), seen=seen, points=(Decimal(1),) * 3,
            reason=ArbitrationReason.SLIP, now=later(2),
        )  # fmt: skip
    where = f"/rounds/{made.public_id}/responses/{answer.public_id}/"
    pages = [logged_in(person).get(where).text for person in (lead, admin)]
    assert [f"entered by {lead}" in page for page in pages] == [True, True]
    assert ['name="decision"' in page for page in pages] == [False, True]
    assert "You entered a mark of this response. Another lead has to decide." in pages[0]
    assert "You marked this response yourself" not in pages[0]


def test_who_entered_a_mark_in_another_round_reads_that_they_entered_it(
    made: MarkingRound, teacher: User, other_teacher: User, lead: User
) -> None:
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=lead, now=later(1))
    other = round_over([answer.response], [teacher, other_teacher])
    (again,) = answers_of(other)
    give(again, teacher, ["3", "3", "6"])
    give(again, other_teacher, ["0", "0", "0"])
    with pytest.raises(NotAllowed, match="You entered a mark"):
        claim_case(again, lead, now=later(2))
    case = f"/rounds/{other.public_id}/responses/{again.public_id}/"
    assert "You entered a mark of this response" in logged_in(lead).get(case).text


def test_a_teachers_own_sheet_is_entered_by_nobody_else(made: MarkingRound, teacher: User) -> None:
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=teacher, now=later(1))
    assert Mark.objects.get().entered_by is None
    assert Slot.objects.get(holder=teacher).entered_by is None


@pytest.mark.parametrize("version", ["0", "1"])
def test_nobody_else_changes_what_the_teacher_gave_at_the_desk(
    version: str, made: MarkingRound, teacher: User, lead: User
) -> None:
    """In its window, whatever version the row names, and also where it was given meanwhile."""
    MarkingRound.objects.update(window_minutes=15)
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    filled = [row(sheet, answer, "3", "3", "6", version=version)]
    give(answer, teacher, ["1", "1", "1"])
    (read,) = check_rows(sheet, filled, now=later(2), acting_user=lead)
    (done,) = save_rows(sheet, filled, now=later(2), acting_user=lead)
    sentence = "The teacher gave this mark. Only the teacher can change it."
    assert [(one.state, one.sentence) for one in (read, done)] == [("bad", sentence)] * 2
    slot = Slot.objects.get(holder=teacher)
    fields = {"based_on_version": int(version), "points": (Decimal(3),) * 3, "now": later(2)}
    with pytest.raises(NotAllowed, match="Only the teacher"):
        save_mark(
            slot, teacher, key=uuid.uuid4(), from_sheet=True, entered_by=lead,
            rubric=rubric_code(slot.answer), **fields,
        )  # fmt: skip
    assert [mark.total for mark in Mark.objects.all()] == [Decimal(3)]


@pytest.mark.parametrize("by_lead", [True, False])
def test_the_teacher_reads_who_entered_a_mark(
    by_lead: bool, made: MarkingRound, teacher: User, lead: User
) -> None:
    """Where that was somebody else."""
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    filled = [row(sheet, answer, "3", "3", "6")]
    save_rows(sheet, filled, acting_user=lead if by_lead else teacher, now=later(1))
    client = logged_in(teacher)
    desk = client.get(f"/marking/responses/{answer.public_id}/").text
    (own,) = client.get("/api/v1/marks/").json()["results"]
    named = f"entered by {lead}" in client.get("/marking/marks/").text
    assert (named, f"{lead} entered this mark for you" in desk) == (by_lead, by_lead)
    assert own["entered_by"] == (lead.username if by_lead else "")


def test_the_queue_passes_over_a_response_whose_other_mark_one_entered(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    """The save would be refused, so the response is not given out at all."""
    Slot.objects.filter(planned=teacher).update(
        holder=teacher, marked=True, entered_by=other_teacher
    )
    assert claim_own(other_teacher.pk, made.pk, until=later(30), now=later(1)) is None
    assert claim_next(other_teacher, round=made, now=later(1)) is None


def test_who_entered_a_mark_that_was_given_again_enters_no_other(
    made: MarkingRound, teacher: User, other_teacher: User, lead: User
) -> None:
    """The teacher gave it anew at the desk; the lead still knows what they typed in."""
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=lead, now=later(1))
    given_again(made, teacher, lead)
    other = taken(made, other_teacher)
    (state,) = save_rows(other, [row(other, answer, "3", "3", "6")], acting_user=lead, now=later(4))
    assert (state.state, Mark.objects.filter(teacher=other_teacher).count()) == ("bad", 0)
    assert "entered another mark" in state.sentence


def test_the_queue_passes_over_what_one_entered_before_it_was_given_again(
    made: MarkingRound, teacher: User, other_teacher: User, lead: User
) -> None:
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=other_teacher, now=later(1))
    given_again(made, teacher, lead)
    assert Slot.objects.get(holder=teacher).entered_by is None
    assert claim_own(other_teacher.pk, made.pk, until=later(30), now=later(4)) is None
    assert claim_next(other_teacher, round=made, now=later(4)) is None


@pytest.mark.parametrize("deactivated", [False, True])
def test_nobody_enters_a_mark_for_who_may_not_mark_any_more(
    deactivated: bool, made: MarkingRound, teacher: User, lead: User
) -> None:
    sheet = taken(made, teacher)
    (answer,) = on(sheet)
    if deactivated:
        User.objects.filter(pk=teacher.pk).update(is_active=False)
    else:
        teacher.groups.clear()
    sheet = MarkingSheet.objects.get()
    with pytest.raises(BadInput, match="not allowed to mark"):
        save_rows(sheet, [row(sheet, answer, "3", "3", "6")], acting_user=lead, now=later(1))
    with pytest.raises(BadInput, match="not allowed to mark"):
        taken(made, sheet.teacher, acting_user=lead)
    assert not Mark.objects.exists()


def given_again(made: MarkingRound, teacher: User, lead: User) -> None:
    """The lead returns the marks of *teacher*, who gives them at the desk."""
    choice = ReturnChoice(aliases=made.answers.values_list("alias", flat=True))
    return_marks(made, teacher, choice, to_others=False, acting_user=lead, now=later(2))
    for answer in made.answers.all():
        give(answer, teacher, ["0", "0", "0"], now=later(3))
