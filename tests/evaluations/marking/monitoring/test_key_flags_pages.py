"""Questions whose answer key teachers called wrong, for curators."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from evaluations.marking.monitoring.selectors.key_flags import flagged_questions
from evaluations.models.vocabulary import Flag
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from questions.models import Question, QuestionRevision
from tests.conftest import logged_in
from tests.evaluations.marking_world import answers_of, give, small_round

pytestmark = pytest.mark.django_db
PAGE = "/rounds/answer-keys/"


def counts() -> list[dict[str, Any]]:
    rows = flagged_questions().values("responses", "teachers")
    return list(rows)


def test_curators_see_how_many_responses_and_teachers_call_a_key_wrong(
    teacher: User, other_teacher: User, curator: User
) -> None:
    marking_round = small_round([teacher, other_teacher], responses=3)
    wrong = {"flags": (Flag.KEY_LOOKS_WRONG, Flag.REPEATS)}
    first, second, third = answers_of(marking_round)
    home = logged_in(curator).get("/")
    assert "Answer keys that look wrong" not in home.text
    give(first, teacher, ["1", "1", "1"], **wrong)
    assert counts() == [], "no final mark yet: the partner still marks"
    give(first, other_teacher, ["1", "1", "1"])
    give(second, teacher, ["1", "1", "1"], **wrong)
    give(second, other_teacher, ["1", "1", "1"], **wrong)
    give(third, teacher, ["1", "1", "1"], flags=(Flag.OFF_TOPIC,))
    give(third, other_teacher, ["1", "1", "1"])
    assert counts() == [{"responses": 2, "teachers": 2}]
    client = logged_in(curator)
    assert PAGE in client.get("/").text
    page = client.get(PAGE)
    assert '<td class="number">2</td><td class="number">2</td>' in page.text
    assert teacher.display_name not in page.text
    looks = AuditEntry.objects.filter(actor=curator, tag=Tag.ROUND_VIEWED)
    assert looks.count() == 1, "who looks while the round goes on cannot join it"
    # A corrected key is a new revision: what was said of the old one counts no more.
    question = Question.objects.get(pk=first.question_id)
    revision = QuestionRevision.objects.get(pk=question.current_id)
    revision.pk, revision.number, revision.content_hash = None, 2, "f" * 64
    revision.save()
    Question.objects.filter(pk=question.pk).update(current=revision)
    assert counts() == []


def test_who_marks_sees_nothing_of_it(teacher: User, other_teacher: User) -> None:
    ensure_user(teacher.username, roles=[Role.CURATOR, Role.TEACHER])
    both = User.objects.get(pk=teacher.pk)
    small_round([both, other_teacher])
    assert logged_in(both).get(reverse("monitoring:key-flags")).status_code == 403
    assert PAGE not in logged_in(both).get("/").text
