"""What is taken away on a sheet: the desk's next, in one go, and nothing that is open there."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from evaluations.marking.desk.services.many_slots import next_slots
from evaluations.marking.desk.services.slots import claim_next, skip
from evaluations.marking.sheets.selectors import slots_on
from evaluations.marking.sheets.services import marking_sheets
from evaluations.marking.sheets.services.marking_sheets import return_sheet
from evaluations.models import HelpOffer, MarkingRound, MarkingSheet, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import Conflict
from tests.evaluations.marking_world import (
    NOW,
    claimed,
    give,
    later,
    responses_to,
    round_over,
    small_round,
    subjective_question,
)
from tests.evaluations.sheet_world import taken

pytestmark = pytest.mark.django_db


def questions_round(people: list[User], questions: int, each: int = 1) -> MarkingRound:
    """A round of one mark for each response, over so many *questions*."""
    asked = [subjective_question() for _n in range(questions)]
    chosen = [one for question in asked for one in responses_to(question, each)]
    return round_over(chosen, people, scheme=Scheme.SINGLE)


def through_with_own(teacher: User, made: MarkingRound) -> None:
    """Nothing is left that was planned for *teacher*."""
    Slot.objects.filter(planned=teacher, answer__round=made).update(marked=True, holder=teacher)


def one_by_one(made: MarkingRound, teacher: User, number: int) -> list[int]:
    """What the desk gives, each put on a sheet so that the next one comes."""
    sheet = MarkingSheet.objects.create(
        round=made, teacher=teacher, responses=number, held_until=NOW + timedelta(days=1)
    )
    given = []
    while len(given) < number and (slot := claim_next(teacher, round=made, now=later(2))):
        given.append(slot.pk)
        Slot.objects.filter(pk=slot.pk).update(lease_until=sheet.held_until)
    return given


@pytest.mark.parametrize(("own_left", "aside"), [(True, 2), (False, 0), (False, 5)])
def test_a_sheet_holds_what_the_desk_would_give_one_by_one(
    own_left: bool, aside: int, teacher: User, other_teacher: User
) -> None:
    """In its order; of what was put aside, too; and the same checks of others are passed."""
    made = questions_round([teacher, other_teacher], 10, 3)
    theirs = Slot.objects.filter(planned=other_teacher, answer__round=made)
    checks = list(theirs.order_by("pk").values_list("pk", flat=True)[::3])
    Slot.objects.filter(pk__in=checks).update(kind=SlotKind.SEED)
    own = list(Slot.objects.filter(planned=teacher, answer__round=made).order_by("order"))
    if aside:  # as a sheet that was given back
        gone = list(theirs.exclude(pk__in=checks).order_by("-pk")[:aside])
        offers = {"teacher": teacher, "helping": True, "extra": False, "at": NOW}
        HelpOffer.objects.bulk_create(HelpOffer(answer=slot.answer, **offers) for slot in gone)
    if not own_left:
        through_with_own(teacher, made)
    number = 30
    before = transaction.savepoint()
    expected = one_by_one(made, teacher, number)
    passing = Slot.objects.filter(passed_with__isnull=False)
    passed = set(passing.values_list("pk", flat=True))
    transaction.savepoint_rollback(before)
    assert len(expected) == 10 + own_left * len(own)
    assert passed == set(checks)
    found = next_slots(teacher, made, number, now=later(2))
    assert [one.slot for one, _passed in found.slots] == expected
    sheet = taken(made, teacher, number, now=later(2))
    assert set(slots_on(sheet, NOW).values_list("pk", flat=True)) == set(expected)
    assert set(passing.values_list("pk", flat=True)) == passed
    assert set(passing.values_list("passed_by", flat=True)) == {teacher.pk}


def test_who_helps_out_reads_the_queue_once_for_a_sheet(teacher: User, other_teacher: User) -> None:
    """It was read anew for each response: a minute for 30 of them in a round of 687 questions."""
    made = questions_round([teacher, other_teacher], 40)
    through_with_own(teacher, made)
    statements = []
    for responses in (2, 18):
        with CaptureQueriesContext(connection) as asked:
            sheet = taken(made, teacher, responses)
        assert slots_on(sheet, NOW).count() == responses
        statements.append(len(asked))
        return_sheet(sheet, acting_user=teacher, now=NOW)
        HelpOffer.objects.all().delete()
    assert statements[1] <= statements[0] + 12, statements


def test_who_helps_out_and_finds_nothing_asks_seldom(teacher: User, other_teacher: User) -> None:
    """Each of the first 16 blocks was looked into by itself."""
    made = questions_round([teacher, other_teacher], 40)
    through_with_own(teacher, made)
    through_with_own(other_teacher, made)
    with CaptureQueriesContext(connection) as asked:
        assert claim_next(teacher, round=made, now=NOW) is None
    assert len(asked) <= 30


def test_a_sheet_that_fails_in_the_middle_holds_nothing(
    teacher: User, other_teacher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its responses were held until the day ended, without a word in the audit trail."""
    made = small_round([teacher, other_teacher], 6)

    def fails(*args: object, **fields: object) -> None:
        raise RuntimeError("the server stops")

    monkeypatch.setattr(marking_sheets, "record", fails)
    with pytest.raises(RuntimeError):
        taken(made, teacher, 4)
    assert not Slot.objects.filter(holder=teacher).exists()
    assert not MarkingSheet.objects.exists()
    monkeypatch.undo()
    assert taken(made, teacher, 4).responses == 4
    assert AuditEntry.objects.get(tag="sheet.taken").detail["responses"] == 4


def test_a_lead_takes_nothing_that_is_open_at_the_desk(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The mark that the lead entered counted as the teacher's, and theirs was refused and lost."""
    made = small_round([teacher, other_teacher], 4)
    at_desk = claimed(teacher, made)
    sheet = taken(made, teacher, 4, acting_user=lead)
    assert (sheet.responses, slots_on(sheet, NOW).count()) == (3, 3)
    assert at_desk not in slots_on(sheet, NOW)
    with pytest.raises(Conflict, match="no responses to download"):
        taken(made, teacher, 1, acting_user=lead)
    assert claimed(teacher, made, later(1)) == at_desk
    give(at_desk.answer, teacher, ["3", "3", "6"])


def test_a_lead_takes_what_was_left_at_the_desk(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Its lease has ended, or the teacher put it aside; and a teacher takes their own open one."""
    made = small_round([teacher, other_teacher], 3)
    left = claimed(teacher, made)
    sheet = taken(made, teacher, 3, acting_user=lead, now=later(31))
    assert left in slots_on(sheet, NOW)
    theirs = claimed(other_teacher, made)
    assert theirs in slots_on(taken(made, other_teacher, 1), NOW)
    assert skip(theirs, other_teacher, now=later(1))
    sheet = taken(made, other_teacher, 3, acting_user=lead)
    assert theirs in slots_on(sheet, NOW)
