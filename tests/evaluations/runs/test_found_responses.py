"""The search over responses, its file and API, and one question side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from evaluations.imports.services.published_answers import imported_run
from evaluations.models import Response
from evaluations.reading.services.scoring import score_responses
from evaluations.runs.rules.differences import around, differing, sentences
from evaluations.runs.selectors import found_responses
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.models import Question
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task


@pytest.fixture
def question(db: None) -> Question:
    """One of two questions, with four responses by two models; the answer is A."""
    task = make_task(make_dataset())
    made = [make_question(task, stem=f"Item {n}?\nA. a\nB. b\nC. c\nD. d") for n in (1, 2)]
    texts = ["I add them. The answer is A.", "I add them.\nThe answer is B.", "Nothing"]
    for model, condition, repeat, text in (
        ("alpha", "", 1, texts[0]),
        ("alpha", "", 2, texts[1]),
        ("beta", "website", 1, texts[1]),
    ):
        run = imported_run(task.dataset, model, "", condition)
        respond(run, made[0], repeat, text)
    respond(imported_run(task.dataset, "alpha"), made[1], 1, texts[2])
    score_responses(Response.objects.all())
    return made[0]


def respond(run: Any, question: Question, repeat: int, text: str) -> Response:
    return Response.objects.create(
        run=run, question=question, revision=question.current, repeat=repeat, text=text
    )


def test_a_search_finds_words_page_by_page(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = found_responses.searchable()
    found = found_responses.search(rows, "ANSWER is", page=2)
    assert [one.repeat for one in found.rows] == [1, 2]
    rest = found_responses.search(rows, "answer is", before=found.before, page=2)
    assert ([one.repeat for one in rest.rows], rest.before) == ([1], None)
    # A search looks at a part of the responses; the next one goes on with the others.
    monkeypatch.setattr(found_responses, "MOST_SEARCHED", 2)
    first = found_responses.search(rows, "is A")
    assert (list(first.rows), first.all_searched) == ([], False)
    second = found_responses.search(rows, "is A", before=first.before)
    assert [one.run.language_model.name for one in second.rows] == ["alpha"]
    assert [one.text for one in found_responses.all_found(rows, "is A")] == [second.rows[0].text]


def test_the_page_and_the_api_find_the_same(question: Question, lead: User) -> None:
    client = logged_in(lead)
    page = client.get(reverse("runs:search"), {"q": "answer is b", "model": "beta"})
    assert [one.text for one, _part in page.context["rows"]] == ["I add them.\nThe answer is B."]
    assert "<mark>answer is B</mark>" in page.content.decode()
    api = reverse("api-responses")
    rows = client.get(api, {"q": "answer is b", "condition": "website"}).json()
    assert rows["next"] is None
    assert [(one["model"], one["outcome"]) for one in rows["results"]] == [("beta", "wrong")]
    of_question = client.get(api, {"question": str(question.public_id)}).json()["results"]
    assert len(of_question) == 3
    assert client.get(api, {"words": "x"}).status_code == 400
    # Larger than any key: it gave 500.
    for address in (api, reverse("runs:search"), reverse("runs:search-export")):
        assert client.get(address, {"run": 10**30}).status_code in (200, 400)
    assert client.get(api, {"run": 10**30}).status_code == 400
    nothing = client.get(reverse("runs:search"), {"q": "<b>"})
    assert "<b>" not in nothing.content.decode()


def test_what_is_found_is_a_file_and_the_export_is_recorded(question: Question, lead: User) -> None:
    answer = logged_in(lead).get(reverse("runs:search-export"), {"q": "answer", "outcome": "wrong"})
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert [(one["model"], one["repeat"], one["points"]) for one in lines] == [
        ("beta", 1, "0.00"),
        ("alpha", 2, "0.00"),
    ]
    begun, ended = AuditEntry.objects.filter(tag="report.exported").order_by("pk")
    assert begun.detail["parameters"] == ended.detail["parameters"]
    assert begun.detail["parameters"] == {"q": "answer", "outcome": "wrong"}
    assert (ended.detail["rows"], ended.detail["whole"]) == (2, True)


def test_responses_to_one_question_stand_side_by_side(question: Question, lead: User) -> None:
    alpha, beta = (
        imported_run(question.task.dataset, "alpha"),
        Response.objects.get(run__language_model__name="beta"),
    )
    beside = found_responses.side_by_side(question, [alpha.pk, beta.run_id], None)
    assert [(one.response.run_id, one.response.repeat) for one in beside] == [
        (alpha.pk, 1),
        (alpha.pk, 2),
        (beta.run_id, 1),
    ]
    assert [list(one.read or ()) for one in beside] == [["A"], ["B"], ["B"]]
    marked = [piece.text for piece in beside[1].pieces if piece.differs]
    assert marked == ["The answer is B."]
    address = reverse("runs:compare", args=[question.public_id])
    client = logged_in(lead)
    text = client.get(address).content.decode()
    assert text.count("<mark>") == 2
    only = client.get(address, {"run": [str(alpha.pk), "x"], "repeat": "2"})
    assert [one.response.repeat for one in only.context["beside"]] == [2]


def test_differences_are_whole_sentences() -> None:
    assert sentences("一。二！3.5 is\nend") == ["一。", "二！", "3.", "5 is\n", "end"]
    text = "Yes. It is 3. 因为甲。所以乙"
    assert "".join(piece.text for piece in differing(text, "因为甲。")) == text
    assert [one.text for one in differing(text, "Yes.\n因为甲。") if one.differs] == [
        " It is 3.",
        "所以乙",
    ]
    assert differing("same", "same")[0].differs is False
    assert list(differing("", "x")) == []


def test_a_hit_is_shown_with_what_is_around_it() -> None:
    assert around("a long way to Rome", "TO", each_side=4) == ("…way ", "to", " Rom…")
    assert around("way to go", "to", each_side=4) == ("way ", "to", " go")
    assert around("nothing here", "x", each_side=4) == ("", "", "nothing …")
