"""Drafts from answer keys: for one item on demand, for a dataset where the marks add up."""

from __future__ import annotations

from decimal import Decimal as D

import pytest

from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput
from questions.models import Question, Rubric
from questions.rules.vocabulary import QuestionType
from questions.selectors.bank import accepted_rubric
from questions.selectors.rubrics import lines_of
from questions.services.rubrics import ProposedDrafts, propose_draft, propose_drafts
from tests.factories import make_question, make_rubric, make_task, make_user

pytestmark = pytest.mark.django_db


def open_question(key: str, marks: str = "5") -> Question:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    return make_question(task, marks=(marks,), reference_answer=key)


def test_the_marks_of_a_key_become_a_draft_that_does_not_count() -> None:
    question = open_question("列方程（2分）\n求得结果（3分）")
    draft = propose_draft(question, acting_user=make_user(Role.CURATOR))
    assert (draft.source, draft.accepted) == ("proposal", False)
    assert [(p.text, p.points) for p in lines_of(draft).points] == [
        ("列方程", D(2)),
        ("求得结果", D(3)),
    ]
    assert accepted_rubric(question) is None


def test_a_key_without_marks_is_told() -> None:
    with pytest.raises(BadInput, match="how points are given"):
        propose_draft(open_question("淋巴细胞"), acting_user=make_user(Role.CURATOR))


def test_a_draft_that_does_not_add_up_is_left_to_a_person() -> None:
    question = open_question("列方程（2分）")
    curator = make_user(Role.CURATOR)
    assert propose_drafts(question.task.dataset, acting_user=curator) == ProposedDrafts(1, 1, 0)
    assert propose_draft(question, acting_user=curator).version == 1


def test_a_dataset_gets_drafts_where_there_is_no_rubric() -> None:
    curator = make_user(Role.CURATOR)
    first = open_question("甲（2分）乙（3分）")
    make_rubric(open_question("甲（2分）乙（3分）"), (("all", "5"),))
    open_question("淋巴细胞")
    dataset = first.task.dataset
    assert propose_drafts(dataset, acting_user=curator) == ProposedDrafts(2, 1, 1)
    assert Rubric.objects.get(source="proposal").question == first
    assert propose_drafts(dataset, acting_user=curator) == ProposedDrafts(1, 0, 0)
    assert AuditEntry.objects.filter(tag=Tag.RUBRICS_PROPOSED).count() == 2
