"""What a person sees and no check finds: it is reported, waits, and is decided like a finding."""

from __future__ import annotations

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Question, QuestionRevision
from questions.rules.vocabulary import Decision
from questions.services.decisions import Repair, decide
from questions.services.gate import check_items
from questions.services.reported import report_problem
from tests.conftest import logged_in
from tests.factories import make_question
from tests.questions.test_gate_service import status

pytestmark = pytest.mark.django_db


def test_a_wrong_key_is_reported_and_repaired(curator: User) -> None:
    """The checks find nothing in B, and the paper says C."""
    question = make_question(key=("B",))
    check_items([question.pk])
    assert not question.problems.exists()
    page = reverse("questions:question", args=[question.public_id])
    client = logged_in(curator)
    assert reverse("questions:report", args=[question.public_id]) in client.get(page).text
    answer = client.post(
        reverse("questions:report", args=[question.public_id]),
        {"words": "the paper says C", "quarantines": "on", "seen": question.current_id},
    )
    problem = question.problems.get(code="reported")
    decided = reverse("questions:problem", args=[problem.pk])
    assert answer.headers["Location"] == decided
    assert status(question) == "quarantined"
    assert "the paper says C" in client.get(decided).text
    check_items([question.pk])
    assert status(question) == "quarantined", "a later look of the checks keeps it"
    client.post(
        decided,
        {
            "decision": "repair",
            "reason": "errata",
            "seen": question.current_id,
            "seen_decision": 0,
            "key-0": "C",
            "stem": current(question).stem,
            "analysis": "",
            **{f"option-{n}": text for n, text in enumerate(current(question).options)},
        },
    )
    assert current(question).answer_key == ["C"]
    assert status(question) == "active"
    entry = AuditEntry.objects.get(tag="item.reported")
    assert (entry.actor, entry.detail["words"]) == (curator, "the paper says C")


def test_a_report_waits_through_other_changes(curator: User) -> None:
    """Another problem is repaired meanwhile: what nobody decided is still there."""
    question = make_question(key=("F",))
    check_items([question.pk])
    found = question.problems.get(code="key_outside_options")
    report = report_problem(question, "two options", quarantines=True, acting_user=curator)
    repair = Repair(answer_key=("A",))
    decide(found, Decision.REPAIR, "as printed", acting_user=curator, repair=repair)
    report.refresh_from_db()
    assert report.revision == current(question)
    assert status(question) == "quarantined"
    decide(report, Decision.KEEP, "they differ", acting_user=curator)
    assert status(question) == "active"


def test_one_problem_holds_what_is_said_of_a_revision(curator: User, admin: User) -> None:
    question = make_question(key=("B",))
    first = report_problem(question, "blurred", quarantines=False, acting_user=curator)
    assert status(question) == "active"
    for _twice in range(2):
        again = report_problem(question, "key is C", quarantines=True, acting_user=admin)
    assert again == first
    assert again.detail == {"words": ["blurred", "key is C"]}
    assert status(question) == "quarantined"
    assert AuditEntry.objects.filter(tag="item.reported").count() == 2


def test_a_report_after_a_decision_waits_again(curator: User, admin: User) -> None:
    """Who kept the item had not read it; who excluded the item is not overruled by it."""
    question = make_question(key=("B",))
    first = report_problem(question, "blurred", quarantines=False, acting_user=curator)
    decide(first, Decision.KEEP, "it can be read", acting_user=curator)
    report_problem(question, "blurred", quarantines=True, acting_user=admin)
    assert status(question) == "active", "the same words were decided"
    again = report_problem(question, "the key is C", quarantines=True, acting_user=admin)
    assert (again, again.decision) == (first, None)
    assert status(question) == "quarantined"
    assert again.decisions.count() == 1, "what was decided stays in the history"
    decide(again, Decision.EXCLUDE, "no right key", acting_user=curator)
    report_problem(question, "and no figure", quarantines=True, acting_user=admin)
    assert status(question) == "excluded"


def test_a_report_that_cannot_be_kept_keeps_its_words(curator: User) -> None:
    question = make_question(key=("B",))
    with pytest.raises(BadInput):
        report_problem(question, " \u200b ", quarantines=True, acting_user=curator)
    with pytest.raises(Conflict):
        report_problem(question, "wrong", quarantines=True, acting_user=curator, seen=0)
    address = reverse("questions:report", args=[question.public_id])
    answer = logged_in(curator).post(address, {"words": "the figure is cut", "seen": 0})
    assert answer.status_code == 409
    assert "the figure is cut" in answer.text
    assert f'name="seen" value="{question.current_id}"' in answer.text
    assert not question.problems.exists()


def test_the_api_reports(curator: User, teacher: User) -> None:
    question = make_question(key=("B",))
    address = reverse("api-problem-report", args=[question.public_id])
    client = APIClient()
    client.force_authenticate(teacher)
    assert client.post(address, {"words": "wrong"}, format="json").status_code == 403
    client.force_authenticate(curator)
    answer = client.post(address, {"words": "the key is C", "seen": 1}, format="json")
    assert answer.status_code == 201
    assert (answer.json()["code"], answer.json()["quarantines"]) == ("reported", True)
    assert client.post(address, {"words": "x", "seen": 9}, format="json").status_code == 400


def current(question: Question) -> QuestionRevision:
    question.refresh_from_db()
    assert question.current is not None
    return question.current
