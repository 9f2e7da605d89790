"""A lead who marks first and may have seen marks of the response: nothing claims the contrary."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.urls import reverse

from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.models import ArbiterMark, BlindAnswer
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db
MAY_HAVE_SEEN = "you may have seen marks of it"
KEPT = "7.25"


@pytest.fixture
def answer(teacher: User, other_teacher: User) -> BlindAnswer:
    """A response with a final mark, in a round that asks for the lead's mark first."""
    question = subjective_question(())
    settings = {"arbiter_marks_first": True, "mark_step": Decimal("0.25"), "question": question}
    made = small_round([teacher, other_teacher], 1, **settings)
    (answer,) = answers_of(made)
    for person in (teacher, other_teacher):
        give(answer, person, KEPT)
    answer.refresh_from_db()
    assert answer.final is not None
    return answer


def returned_and_given_again(answer: BlindAnswer, teacher: User, lead: User) -> None:
    """The mark of *teacher* is another one now; that of the partner still counts."""
    choice = ReturnChoice(aliases=[answer.alias], with_arbitrated=True)
    made = answer.round
    return_marks(made, teacher, choice, to_others=False, acting_user=lead, now=later(2))
    give(answer, teacher, "1", now=later(3))


def case(answer: BlindAnswer) -> str:
    return reverse("rounds:response", args=[answer.round.public_id, answer.public_id])


@pytest.mark.parametrize("looked_at", ["case", "marks.csv", "monitoring"])
def test_who_has_looked_may_have_seen_the_marks(
    looked_at: str, answer: BlindAnswer, teacher: User, lead: User
) -> None:
    client, base = logged_in(lead), f"/rounds/{answer.round.public_id}/"
    looked = {"case": case(answer), "marks.csv": f"{base}marks.csv"}
    got = client.get(looked.get(looked_at, f"{base}monitoring/{teacher.public_id}/"))
    assert KEPT in got.getvalue().decode(), "shown while the response is final"
    returned_and_given_again(answer, teacher, lead)
    asked = client.get(case(answer)).text
    assert MAY_HAVE_SEEN in asked
    assert "marks before seeing the other marks" not in asked
    assert KEPT not in asked, "but nothing is shown before the own mark"
    own = {"answer": answer.public_id, "key": uuid.uuid4(), "total": "7"}
    shown = client.post(case(answer), own, follow=True).text
    assert "Your mark before the decision: 7" in shown
    assert "You may have seen the others before." in shown
    assert "before seeing" not in shown
    assert AuditEntry.objects.get(tag="mark.arbiter_marked").detail["may_have_seen"] is True


def test_who_has_looked_at_nothing_marks_before_seeing(
    answer: BlindAnswer, teacher: User, lead: User, admin: User
) -> None:
    logged_in(lead).get(case(answer))
    returned_and_given_again(answer, teacher, lead)
    client = logged_in(admin)
    for _ in range(2):  # the look at this page is none at marks
        asked = client.get(case(answer)).text
        assert MAY_HAVE_SEEN not in asked
        assert KEPT not in asked
    own = {"answer": answer.public_id, "key": uuid.uuid4(), "total": "5"}
    shown = client.post(case(answer), own, follow=True).text
    assert "Your mark before seeing the others: 5" in shown
    assert "may_have_seen" not in AuditEntry.objects.get(tag="mark.arbiter_marked").detail


def test_a_mark_from_before_the_first_final_one_stays_one_before_seeing(
    answer: BlindAnswer, teacher: User, lead: User
) -> None:
    """Whatever was shown and returned after it."""
    returned_and_given_again(answer, teacher, lead)
    own = {"answer": answer.public_id, "key": uuid.uuid4(), "total": "5"}
    client = logged_in(lead)
    assert (
        "Your mark before seeing the others: 5" in client.post(case(answer), own, follow=True).text
    )
    give_final = {"answer": answer.public_id, "key": uuid.uuid4(), "decision": "own", "total": "5"}
    seen = ",".join(str(mark.pk) for mark in client.get(case(answer)).context["case"].marks)
    client.post(case(answer), give_final | {"reason": "slip", "seen": seen})
    answer.refresh_from_db()
    assert answer.final is not None
    returned_and_given_again(answer, teacher, lead)
    assert "Your mark before seeing the others: 5" in client.get(case(answer)).text
    assert ArbiterMark.objects.count() == 1
