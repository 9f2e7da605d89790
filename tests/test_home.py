"""The home page: what waits for whom, with counts, by few queries whatever there is."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluations.models import MarkingRound
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.waiting import waiting_for
from questions.models import ImportBatch, Question
from questions.rules.vocabulary import QuestionType
from questions.services.rubrics import propose_draft
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task, make_user

pytestmark = pytest.mark.django_db


def counts(user: User) -> dict[str, int]:
    return {str(one.label): one.count for one in waiting_for(user)}


def fill(curator: User) -> None:
    """One more of everything that waits."""
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    question = make_question(task, marks=("5",), reference_answer="甲（2分）乙（3分）")
    propose_draft(question, acting_user=curator)
    Question.objects.filter(pk=make_question().pk).update(status="quarantined")
    for kind in ("questions", "answers"):
        ImportBatch.objects.create(kind=kind, reader="jsonl", folder="f", status="checked")
    name = f"round {question.pk}"
    MarkingRound.objects.create(
        name=name, dataset=make_dataset(), random_seed=1, status="planned", scheme="1"
    )


def test_each_role_sees_its_own_and_queries_do_not_grow(curator: User, lead: User) -> None:
    admin = make_user(Role.ADMIN)
    assert counts(curator) == counts(lead) == counts(admin) == {}
    assert "Nothing to do." in logged_in(lead).get("/").text
    fill(curator)
    of_bank = {"Quarantined questions": 1, "Imports of questions to confirm": 1, "Rubric drafts": 1}
    assert counts(curator) == of_bank
    of_lead = {"Rubric drafts": 1, "Rounds ready to start": 1, "Imports of responses to confirm": 1}
    assert counts(lead) == of_lead
    assert counts(admin) == of_bank | of_lead
    with CaptureQueriesContext(
        connection,
    ) as few:
        waiting_for(admin)
    for _ in range(3):
        fill(curator)
    with CaptureQueriesContext(connection) as many:
        waiting_for(admin)
    assert len(many) == len(few) <= 20
    assert counts(lead)["Rounds ready to start"] == 4
    assert "Rounds ready to start" in logged_in(lead).get("/").text


def test_nobody_else_is_told_anything(teacher: User, outsider: User) -> None:
    assert counts(outsider) == counts(teacher) == {}
