"""The API of the bank: explicit filters, the services of the pages, a sentence when refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from gradeapp.accounts.models import User
from questions.models import HumanRate, ImportBatch, ImportProblem, ItemProblem, Question
from questions.rules.vocabulary import ProblemCode, QuestionType, Subject
from questions.services.label_rows import ensure_taxonomy
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task

API = "/api/v1/"


@pytest.fixture
def knowledge(db: None) -> str:
    """A slug of the taxonomy."""
    return sorted(ensure_taxonomy())[0]


@pytest.fixture
def question(db: None) -> Question:
    return make_question(make_task(make_dataset("exam"), slug="physics"))


def get(user: User, path: str, **query: Any) -> Any:
    return logged_in(user).get(API + path, query)


def post(user: User, path: str, body: object = None) -> Any:
    return logged_in(user).post(API + path, body, content_type="application/json")


def test_the_list_filters_as_the_page_does(curator: User, question: Question) -> None:
    make_question(make_task(make_dataset("other"), subject=Subject.HISTORY))
    assert get(curator, "questions/").json()["count"] == 2
    found = get(curator, "questions/", subject="Physics", labels="missing", sort="-year").json()
    assert [row["id"] for row in found["results"]] == [str(question.public_id)]
    assert found["results"][0]["labels"] is None
    nothing = get(curator, "questions/", q="no-such-word").json()
    assert nothing["count"] == 0


@pytest.mark.parametrize(
    "path",
    ["questions/", "knowledge/", "problems/", "imports/", "labels/bulk/", "saved-views/"],
)
def test_unknown_parameters_are_refused_in_a_sentence(curator: User, path: str) -> None:
    answer = get(curator, path, model__startswith="x")
    assert answer.status_code == 400
    assert answer.json()["detail"] == "There is no parameter called model__startswith."


def test_a_value_that_does_not_exist_is_refused(curator: User, question: Question) -> None:
    assert get(curator, "questions/", subject="Magic").status_code == 400
    assert get(curator, "problems/", code="magic").status_code == 400


def test_the_list_asks_as_much_for_many_as_for_one(
    curator: User, django_assert_max_num_queries: DjangoAssertNumQueries, settings: Any
) -> None:
    settings.READ_ALERT_ITEMS = 0  # what was read is stored now and then: tests/audit
    task = make_task()
    for _ in range(30):
        make_question(task)
    client = logged_in(curator)
    with django_assert_max_num_queries(8):
        assert client.get(f"{API}questions/").json()["count"] == 30


def test_labels_are_set_and_their_history_kept(
    curator: User, question: Question, knowledge: str
) -> None:
    path = f"questions/{question.public_id}/labels/"
    first = post(curator, path, {"difficulty": 3, "knowledge": knowledge, "reason": "read it"})
    assert first.status_code == 201
    assert first.json()["origins"] == {"difficulty": "person", "knowledge": "person"}
    again = post(curator, path, {"difficulty": 3})
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    taken = post(curator, path, {"difficulty": None, "seen": first.json()["id"]})
    assert taken.json()["difficulty"] is None
    history = get(curator, path).json()["results"]
    assert [row["difficulty"] for row in history] == [None, 3]
    assert history[1]["author"] == "chen"
    assert history[1]["reason"] == "read it"
    stale = post(curator, path, {"difficulty": 5, "seen": first.json()["id"]})
    assert stale.status_code == 409


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_text_and_null_both_take_a_label_away(
    curator: User, question: Question, knowledge: str, empty: str | None
) -> None:
    path = f"questions/{question.public_id}/labels/"
    assert post(curator, path, {"difficulty": 3, "knowledge": knowledge}).status_code == 201
    taken = post(
        curator, path, dict.fromkeys(["difficulty", "knowledge", "ability_branch", "modal"], empty)
    )
    assert taken.status_code == 201, taken.json()
    assert [taken.json()[name] for name in ("difficulty", "knowledge")] == [None, None]


def test_a_label_taken_away_where_there_is_none_changes_nothing(curator: User) -> None:
    question = make_question()
    answer = post(curator, f"questions/{question.public_id}/labels/", {"difficulty": None})
    assert (answer.status_code, answer.content) == (204, b"")
    assert get(curator, f"questions/{question.public_id}/labels/").json()["results"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"reason": "no label"},
        {"difficulty": 6},
        {"difficulty": "NaN"},
        {"modal": "smell"},
        {"knowledge": "no-such"},
        {"author": "somebody"},
        [1],
    ],
)
def test_labels_that_cannot_be(curator: User, question: Question, body: object) -> None:
    answer = post(curator, f"questions/{question.public_id}/labels/", body)
    assert answer.status_code == 400
    question.refresh_from_db()
    assert question.label is None


def test_bulk_labels_are_previewed_done_and_undone(curator: User, question: Question) -> None:
    other = make_question(question.task)
    body = {"filters": {"dataset": "exam"}, "change": {"difficulty": 2}}
    before = post(curator, "labels/bulk/preview/", body).json()
    assert before == {"questions": 2, "changing": 2, "labels": {"difficulty": 2}}
    assert not Question.objects.exclude(label=None).exists()
    done = post(curator, "labels/bulk/", body | {"reason": "same paper"})
    assert done.status_code == 201
    assert (done.json()["questions"], done.json()["query"]) == (2, "dataset=exam")
    assert set(Question.objects.values_list("label__difficulty", flat=True)) == {2}
    undone = post(curator, f"labels/bulk/{done.json()['id']}/undo/")
    assert undone.json()["undoes"] == done.json()["id"]
    other.refresh_from_db()
    assert other.label is not None
    assert other.label.difficulty is None
    assert post(curator, f"labels/bulk/{done.json()['id']}/undo/").status_code == 409
    assert [row["id"] for row in get(curator, "labels/bulk/").json()["results"]] == [
        undone.json()["id"],
        done.json()["id"],
    ]


@pytest.mark.parametrize(
    "filters", [{"colour": "red"}, {"subject": "Magic"}, {"page": "x", "a": ""}]
)
def test_a_bulk_change_by_a_filter_that_is_none_changes_nothing(
    curator: User, question: Question, filters: dict[str, str]
) -> None:
    body = {"filters": filters, "change": {"difficulty": 2}}
    for path in ("labels/bulk/preview/", "labels/bulk/"):
        assert post(curator, path, body).status_code == 400
    question.refresh_from_db()
    assert question.label is None


def test_human_rates_are_added_and_corrected(curator: User, question: Question) -> None:
    path = f"questions/{question.public_id}/human-rates/"
    asked = {"value": "0.6100", "source": "a survey", "sample_size": 80, "idempotency_key": "once"}
    rate = post(curator, path, asked)
    assert rate.status_code == 201
    assert post(curator, path, asked).json() == rate.json(), "sent again"
    question.refresh_from_db()
    assert question.label is not None
    assert question.label.difficulty == 2, "60 to 80 per cent is level 2"
    address = f"human-rates/{rate.json()['id']}/correct/"
    assert post(curator, address, {"value": "0.3", "source": "s"}).status_code == 400, "no reason"
    new = post(curator, address, {"value": "0.3", "source": "s", "reason": "a slip"})
    assert new.json()["corrects"] == rate.json()["id"]
    rows = get(curator, path).json()["results"]
    assert [(row["value"], row["counts"]) for row in rows] == [("0.6100", False), ("0.3000", True)]
    question.refresh_from_db()
    assert question.label.difficulty == 4
    for value in ("NaN", "1.1", "-0.1", "Infinity", True):
        assert post(curator, path, {"value": value, "source": "s"}).status_code == 400
    assert HumanRate.objects.count() == 2


def test_rubrics_are_drafted_and_accepted(curator: User) -> None:
    question = make_question(make_task(question_type=QuestionType.OPEN_ENDED), marks=("6",))
    path = f"questions/{question.public_id}/rubrics/"
    points = [
        {"text": "one", "points": "4", "group": 1},
        {"text": "two", "points": "4", "group": 1},
    ]
    body = {"points": points, "groups": [{"cap": "6", "text": "both"}]}
    made = post(curator, path, body)
    assert made.status_code == 201
    assert (made.json()["accepted"], made.json()["groups"][0]["cap"]) == (False, "6.00")
    assert get(curator, f"questions/{question.public_id}/").json()["rubric"] is None
    accepted = post(curator, f"rubrics/{made.json()['id']}/accept/")
    assert accepted.json()["accepted_by"] == "chen"
    whole = get(curator, f"questions/{question.public_id}/").json()
    assert [point["text"] for point in whole["rubric"]["points"]] == ["one", "two"]
    assert post(curator, f"rubrics/{made.json()['id']}/accept/").status_code == 409
    for wrong in ({"points": []}, {"points": [{"text": "x", "points": "NaN"}]}, {"lines": []}):
        assert post(curator, path, wrong).status_code == 400
    assert question.rubrics.count() == 1


def test_problems_are_listed_and_decided(curator: User, question: Question) -> None:
    problem = ItemProblem.objects.create(
        question=question,
        revision=question.current,
        code=ProblemCode.REPEATED_OPTIONS,
        quarantines=True,
    )
    (row,) = get(curator, "problems/", dataset="exam").json()["results"]
    assert (row["code"], row["question"]) == ("repeated_options", str(question.public_id))
    path = f"problems/{problem.pk}/decide/"
    assert post(curator, path, {"decision": "keep", "reason": ""}).status_code == 400
    assert post(curator, path, {"decision": "keep", "reason": "r", "seen": 9}).status_code == 400
    bad = {"decision": "repair", "reason": "r", "repair": {"answer_key": ["Z"]}}
    assert post(curator, path, bad).status_code == 400
    unknown = {"decision": "repair", "reason": "r", "repair": {"position": "1"}}
    assert post(curator, path, unknown).status_code == 400
    good = {
        "decision": "repair",
        "reason": "as printed",
        "seen": 1,
        "repair": {"answer_key": ["b"]},
    }
    made = post(curator, path, good)
    assert made.status_code == 201, made.content
    assert made.json()["revision"] == 2
    question.refresh_from_db()
    assert question.current is not None
    assert question.current.answer_key == ["B"]
    whole = get(curator, f"questions/{question.public_id}/").json()
    assert whole["revision"]["published_key"] == ["A"]


def test_a_repair_by_the_api_changes_what_was_changed_and_nothing_else(curator: User) -> None:
    stem = "  An indented question\n"
    options = [" one ", "two\n", "", "four"]
    question = make_question(stem=stem)
    question.revisions.update(options=options)
    report = {"words": "the key is B", "quarantines": False}
    problem = post(curator, f"questions/{question.public_id}/problems/", report).json()["id"]
    revision = get(curator, f"questions/{question.public_id}/").json()["revision"]
    assert revision["options"] == options
    repair = {name: revision[name] for name in ("options", "stem", "passage", "analysis")}
    repair |= {"options": [*options[:3], " 4 "], "answer_key": ["B"]}
    said = {"decision": "repair", "reason": "as printed", "repair": repair}
    assert post(curator, f"problems/{problem}/decide/", said).status_code == 201
    question.refresh_from_db()
    assert question.current is not None
    assert (question.current.stem, question.current.answer_key) == (stem, ["B"])
    assert question.current.options == [*options[:3], "4"]
    blank = said | {"repair": {"answer_key": [" "]}}
    assert post(curator, f"problems/{problem}/decide/", blank).json()["code"] == "empty_key"


def test_imports_tell_their_files_and_problems(curator: User) -> None:
    batch = ImportBatch.objects.create(kind="questions", source="a.zip", status="checked")
    ImportProblem.objects.create(batch=batch, file="a.jsonl", row=3, code="wrong_type", text="No.")
    (row,) = get(curator, "imports/").json()["results"]
    assert (row["id"], row["status"], row["problems"]) == (batch.pk, "checked", 1)
    assert get(curator, f"imports/{batch.pk}/").json()["seconds_left"] is None
    (problem,) = get(curator, f"imports/{batch.pk}/problems/").json()["results"]
    assert (problem["file"], problem["row"], problem["fatal"]) == ("a.jsonl", 3, False)
    assert get(curator, "imports/999/").status_code == 404


def test_the_taxonomy_is_given_whole(curator: User, knowledge: str) -> None:
    rows = get(curator, "knowledge/").json()
    categories = [row for row in rows if row["parent"] is None]
    assert len(categories) == 20
    assert {row["ability_branch"] for row in categories} == {
        *("common_sense", "understanding", "reasoning"),
    }
    assert all(row["english"] and row["chinese"] for row in rows)


def test_saved_views_are_ones_own(curator: User, lead: User) -> None:
    made = post(curator, "saved-views/", {"name": "hard", "query": "difficulty=5"})
    assert made.status_code == 201
    assert get(lead, "saved-views/").json()["count"] == 0
    address = f"{API}saved-views/{made.json()['id']}/"
    assert logged_in(lead).delete(address).status_code == 404
    assert logged_in(curator).delete(address).status_code == 204
    assert get(curator, "saved-views/").json()["count"] == 0


def test_agreement_without_pairs_is_empty(curator: User) -> None:
    assert get(curator, "labels/agreement/").json() == []


def test_a_lead_reads_and_changes_nothing(lead: User, question: Question) -> None:
    labels = f"questions/{question.public_id}/labels/"
    assert get(lead, labels).status_code == 200
    assert post(lead, labels, {"difficulty": 1}).status_code == 403
    assert logged_in(lead).delete(f"{API}questions/{question.public_id}/").status_code == 405


def test_without_the_token_nothing_changes(curator: User, question: Question) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(curator)
    path = f"{API}questions/{question.public_id}/labels/"
    answer = browser.post(path, {"difficulty": 1}, content_type="application/json")
    assert answer.status_code == 403
