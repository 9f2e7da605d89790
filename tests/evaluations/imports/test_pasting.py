"""Answers that a person pastes: asked word for word, stored once, under their own condition."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from evaluations.conditions import Asking, PromptSetting
from evaluations.facts.looks import refuse_who_looked
from evaluations.imports.pasting.selectors import asked, next_number, progress_of
from evaluations.imports.pasting.services import make_paste_list, paste_answer
from evaluations.imports.services.published_answers import imported_run
from evaluations.marking.rounds.services.rounds import add_teachers
from evaluations.models import AnswerFact, PasteList, Response, Run
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.services.dry_runs import dry_calls
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Dataset, Question
from tests.conftest import logged_in
from tests.evaluations.marking_world import round_over, subjective_question
from tests.factories import make_dataset, make_question, make_task, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset() -> Dataset:
    """Three choice questions, the answer to each of which is A."""
    task = make_task(make_dataset())
    for number in range(1, 4):
        make_question(task, stem=f"Which one is right in item {number}?\nA. a\nB. b\nC. c\nD. d")
    return task.dataset


def made(dataset: Dataset, user: User, **options: Any) -> PasteList:
    given = {"model": "web-chat", "condition": "website", "asking": Asking(), "repeat": 1}
    given |= {"choice": QuestionChoice(), **options}
    return make_paste_list(dataset=dataset, acting_user=user, **given)


def question_of(paste_list: PasteList, number: int) -> Question:
    return Question.objects.get(pk=paste_list.questions[number - 1])


def test_the_website_is_asked_what_a_run_would_ask(dataset: Dataset, lead: User) -> None:
    paste_list = made(dataset, lead)
    calls = list(dry_calls(dataset, Asking(), QuestionChoice()))
    for number, call in enumerate(calls, 1):
        text = asked(paste_list, question_of(paste_list, number)).text
        assert text == "\n\n".join(message["content"] for message in call.messages)


def test_a_pasted_answer_is_scored_under_its_own_condition(dataset: Dataset, lead: User) -> None:
    paste_list = made(dataset, lead)
    question = question_of(paste_list, 2)
    given = {"revision_id": question.current_id, "acting_user": lead}
    response = paste_answer(paste_list, question, text=" The answer is A.\r\nSure. ", **given)
    assert response.text == "The answer is A.\nSure."
    assert (response.run.status, response.run.condition.name) == ("imported", "website")
    response.refresh_from_db()
    assert response.strict_score is not None
    assert AnswerFact.objects.filter(response=response, marker="key").exists()
    assert [(one.done, one.total) for one in progress_of([paste_list])] == [(1, 3)]
    assert [next_number(paste_list, after) for after in (0, 1, 3)] == [1, 3, 1]
    # The same text again changes nothing, another one is refused, and a file finds the same run.
    assert paste_answer(paste_list, question, text="The answer is A.\nSure.", **given) == response
    with pytest.raises(Conflict, match="another answer"):
        paste_answer(paste_list, question, text="The answer is B.", **given)
    assert imported_run(dataset, "web-chat", "zero-shot", "website") == response.run
    assert Response.objects.count() == 1


def test_what_cannot_be_stored_has_a_sentence(dataset: Dataset, lead: User) -> None:
    paste_list = made(dataset, lead)
    question = question_of(paste_list, 1)
    with pytest.raises(BadInput, match="Paste the answer first"):
        paste_answer(
            *(paste_list, question), revision_id=question.current_id, text=" ", acting_user=lead
        )
    with pytest.raises(Conflict, match="was edited"):
        paste_answer(paste_list, question, revision_id=0, text="A", acting_user=lead)
    assert not Response.objects.exists()


def test_one_name_is_one_way_of_asking(dataset: Dataset, lead: User) -> None:
    first = made(dataset, lead)
    assert made(dataset, lead) == first
    with pytest.raises(Conflict, match="another name"):
        made(dataset, lead, asking=Asking(max_prompt_tokens=9))
    other = made(dataset, lead, condition="website, second account", repeat=2)
    assert other.run != first.run
    assert Run.objects.count() == 2
    for change in ({"model": "Web-chat"}, {"condition": "ｗebsite"}):
        with pytest.raises(BadInput, match="already"):
            made(dataset, lead, **change)
    for change in ({"model": "web-\u0441hat"}, {"condition": "website\u200b"}):
        with pytest.raises(BadInput, match="must not"):
            made(dataset, lead, **change)
    in_two_steps = Asking(setting=PromptSetting.ZERO_SHOT_COT)
    with pytest.raises(BadInput, match="two steps"):
        made(dataset, lead, condition="cot", asking=in_two_steps)


def test_a_person_pastes_leaves_and_goes_on(dataset: Dataset, lead: User) -> None:
    client = logged_in(lead)
    lists = reverse("answer-imports:paste-lists")
    form = {"dataset": dataset.slug, "model": "web-chat", "condition": "website", "repeat": 1}
    assert client.post(lists, {**form, "model": ""}).status_code == 400
    page = client.post(lists, form)
    address = page["Location"]
    shown = client.get(address)
    assert shown.context["number"] == 1
    assert "Which one is right in item 1?" in shown.content.decode()
    data = {"revision": shown.context["question"].current_id, "text": "The answer is A."}
    assert client.post(f"{address}?n=1", {**data, "text": ""}).status_code == 400
    refused = client.post(f"{address}?n=1", {**data, "revision": "x", "text": "kept <b>"})
    assert refused.status_code == 409
    assert "kept &lt;b&gt;" in refused.content.decode()
    assert client.post(f"{address}?n=1", data)["Location"] == f"{address}?n=2"
    assert client.get(address).context["number"] == 2
    assert "The answer is A." in client.get(f"{address}?n=1").content.decode()
    assert client.get(f"{address}?n=4").status_code == 404
    assert "1 / 3" in client.get(lists).content.decode()
    for number in (2, 3):
        revision = client.get(f"{address}?n={number}").context["question"].current_id
        client.post(f"{address}?n={number}", {"revision": revision, "text": "B"})
    assert "All questions are answered" in client.get(address).content.decode()


def test_who_pasted_answers_marks_none_of_their_run(lead: User, teacher: User) -> None:
    """They know its model: at the plan, when they join, and when they open a stored answer."""
    question = subjective_question()
    paste_list = made(question.task.dataset, lead)
    given = {"revision_id": question.current_id, "acting_user": lead}
    response = paste_answer(paste_list, question, text="t = 1", **given)
    people = {"scheme": Scheme.SINGLE, "repeat_share": Decimal(0)}
    ensure_user(lead.username, roles=[Role.LEAD, Role.TEACHER])
    for practice in (False, True):
        options = {**people, "practice": practice}
        if practice:
            assert round_over([response], [lead], **options).pool.get().teacher == lead
        else:
            with pytest.raises(BadInput, match="has pasted or imported answers of this round"):
                round_over([response], [lead], **options)
    opened = round_over([response], [teacher], **people)
    with pytest.raises(BadInput, match="has pasted or imported answers of this round"):
        add_teachers(opened, [lead], acting_user=None)
    other = make_user(Role.LEAD, "ou")
    number = paste_list.questions.index(question.pk) + 1
    logged_in(other).get(f"/runs/imports/paste/{paste_list.public_id}/?n={number}")
    with pytest.raises(BadInput, match="has looked"):
        refuse_who_looked(opened, [other])


def test_whether_a_text_is_stored_already_tells_its_model(lead: User, teacher: User) -> None:
    """The same text again is accepted and another one refused: both are looks at the run."""
    question = subjective_question()
    paste_list = made(question.task.dataset, lead)
    given = {"revision_id": question.current_id}
    response = paste_answer(paste_list, question, text="t = 1", acting_user=lead, **given)
    number = paste_list.questions.index(question.pk) + 1
    opened = round_over([response], [teacher], scheme=Scheme.SINGLE, repeat_share=Decimal(0))
    for name, text, status in (("ou", "t = 1", 302), ("qi", "t = 2", 409)):
        other = make_user(Role.LEAD, name)
        ensure_user(name, roles=[Role.LEAD, Role.TEACHER])
        sent = {"revision": question.current_id, "text": text}
        page = f"/runs/imports/paste/{paste_list.public_id}/?n={number}"
        assert logged_in(other).post(page, sent).status_code == status
        with pytest.raises(BadInput, match=r"has (pasted|looked)"):
            add_teachers(opened, [other], acting_user=None)
