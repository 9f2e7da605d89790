"""Bulk labelling through its pages: preview, confirm, undo; and what was done."""

from __future__ import annotations

import pytest
from django.urls import reverse

from gradeapp.accounts.models import User
from questions.models import Knowledge, LabelBatch, LabelRevision, Question
from questions.rules.vocabulary import Subject
from questions.services.labels import set_labels
from tests.conftest import logged_in
from tests.factories import make_question, make_task

PREVIEW, APPLY = reverse("questions:bulk-preview"), reverse("questions:bulk-apply")


@pytest.fixture
def questions(db: None) -> list[Question]:
    """Six of physics, the first with a level, and one of history."""
    Knowledge.objects.create(slug="logic", english="Logic", chinese="逻辑")
    task = make_task()
    made = [make_question(task) for _ in range(6)]
    made[0].label = LabelRevision.objects.create(
        question=made[0], difficulty=2, origins={"difficulty": "derived"}
    )
    made[0].save(update_fields=["label"])
    return [*made, make_question(make_task(subject=Subject.HISTORY))]


def labels() -> dict[int, tuple[object, ...]]:
    """The labels that count, of every question."""
    names = ("pk", "label__difficulty", "label__knowledge__slug", "label__origins")
    return {key: tuple(rest) for key, *rest in Question.objects.values_list(*names)}


def test_ticked_questions_are_changed_and_given_back(
    questions: list[Question], curator: User
) -> None:
    client, before = logged_in(curator), labels()
    ticked = [question.pk for question in questions[:3]]
    sent = {"question": ticked, "difficulty": "4", "knowledge": "logic", "query": "q=Which"}
    seen = client.post(PREVIEW, sent)
    assert "3 questions would change" in seen.text
    assert "Level 2" in seen.text
    assert labels() == before
    confirmed = {
        **sent,
        "questions": ",".join(map(str, ticked)),
        "state": seen.context["preview"].state,
        "reason": "同一套卷",
    }
    done = client.post(APPLY, confirmed, follow=True)
    assert "3 questions changed." in done.text
    assert "同一套卷" in done.text
    assert {labels()[key][:2] for key in ticked} == {(4, "logic")}
    assert labels()[questions[3].pk] == before[questions[3].pk]
    batch = LabelBatch.objects.get()
    undone = client.post(reverse("questions:bulk-undo", args=[batch.pk]), follow=True)
    assert "Undone: the labels of 3 questions were restored." in undone.text
    after = labels()
    assert after[questions[0].pk] == before[questions[0].pk]
    assert {after[key][:2] for key in ticked[1:]} == {(None, None)}
    assert "undone" in client.get(reverse("questions:bulk")).text
    again = client.post(reverse("questions:bulk-undo", args=[batch.pk]))
    assert again.status_code == 409


def test_the_whole_result_is_what_the_filters_choose(
    questions: list[Question], curator: User
) -> None:
    sent = {"whole": "1", "query": "subject=Physics&sort=-year", "modal": "text"}
    seen = logged_in(curator).post(PREVIEW, sent)
    assert "6 questions would change" in seen.text
    keys = {int(key) for key in seen.context["keys"].split(",")}
    assert keys == {question.pk for question in questions[:6]}


@pytest.mark.parametrize("query", ["dataset=nonexistent", "year=1800", "foo=1"])
@pytest.mark.parametrize("address", [PREVIEW, APPLY])
def test_the_whole_result_of_no_such_filter_is_refused(
    questions: list[Question], curator: User, address: str, query: str
) -> None:
    """It is not the whole bank."""
    before = labels()
    sent = {"whole": "1", "query": query, "difficulty": "3", "reason": "x"}
    answer = logged_in(curator).post(address, sent)
    assert answer.status_code == 400
    name = query.partition("=")[0]
    assert any(
        sentence in answer.text
        for sentence in (
            f"The filter {name} has no such value.",
            f"There is no parameter called {name}.",
        )
    )
    assert (labels(), LabelBatch.objects.exists()) == (before, False)


def test_a_label_can_be_taken_away(questions: list[Question], curator: User) -> None:
    client, sent = logged_in(curator), {"question": [questions[0].pk], "difficulty": "-"}
    state = client.post(PREVIEW, sent).context["preview"].state
    client.post(APPLY, {**sent, "state": state, "reason": "误标"})
    assert labels()[questions[0].pk][0] is None


def test_what_moved_since_the_preview_is_shown_again(
    questions: list[Question], curator: User
) -> None:
    """As many would change: from another value than the preview showed."""
    client, first = logged_in(curator), questions[0]
    sent = {"question": [first.pk, questions[1].pk], "difficulty": "4", "reason": "x"}
    seen = client.post(PREVIEW, sent).context["preview"]
    set_labels(first, {"difficulty": 5}, acting_user=curator)
    for state in (seen.state, ""):
        answer = client.post(APPLY, {**sent, "state": state})
        assert answer.status_code == 409
        assert "Labels have changed since the preview" in answer.text
    again = answer.context["preview"]
    assert (again.changing, again.state == seen.state) == (seen.changing, False)
    assert not LabelBatch.objects.exists()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"difficulty": "4"}, "Select at least one question."),
        ({"difficulty": "4", "question": ["x", "-1", "9" * 40]}, "Select at least one question."),
        ({"question": ["1"], "difficulty": "9"}, "Choose again"),
        ({"question": ["1"]}, "Choose at least one label to set."),
    ],
)
def test_what_cannot_be_done_is_said(
    sent: dict[str, object], said: str, questions: list[Question], curator: User
) -> None:
    answer = logged_in(curator).post(PREVIEW, sent)
    assert answer.status_code == 400
    assert said in answer.text
