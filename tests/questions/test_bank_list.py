"""The question list: its filters, sorts, chips, and what htmx gets."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from gradeapp.accounts.models import User
from questions.models import HumanRate, ItemProblem, Knowledge, LabelRevision, Question
from questions.rules.vocabulary import ProblemCode, QuestionType, Subject
from questions.selectors.bank import by_place, ordered
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task

LIST = "/questions/"


def label(question: Question, **labels: object) -> None:
    """Labels that count."""
    question.label = LabelRevision.objects.create(question=question, **labels)
    question.save(update_fields=["label"])


@pytest.fixture
def bank(db: None) -> dict[str, Question]:
    """Three items that differ in everything a filter asks for."""
    reasoning = Knowledge.objects.create(slug="logic", english="Logic", chinese="逻辑")
    below = Knowledge.objects.create(slug="sets", english="Sets", chinese="集合", parent=reasoning)
    physics = make_question(make_task(make_dataset("one"), slug="Physics_MCQs"), year=2012)
    history = make_question(
        make_task(
            make_dataset("two"), subject=Subject.HISTORY, question_type=QuestionType.OPEN_ENDED
        ),
        stem="盐法改革",
        rubric=(("增加财政收入", "6"),),
        year=2020,
    )
    bare = make_question(physics.task, stem="纯文字", year=None)
    label(physics, ability_branch="reasoning", knowledge=below, difficulty=2, modal="text_image")
    label(history, ability_branch="understanding", difficulty=5)
    HumanRate.objects.create(question=physics, value=Decimal("0.6"), source="a", weight=3)
    HumanRate.objects.create(question=physics, value=Decimal("0.2"), source="b", weight=1)
    HumanRate.objects.create(question=history, value=Decimal("0.1"), source="a")
    ItemProblem.objects.create(
        question=bare, revision=bare.current, code=ProblemCode.MISSING_FIGURE
    )
    Question.objects.filter(pk=bare.pk).update(status="quarantined")
    return {"physics": physics, "history": history, "bare": bare}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"physics", "history", "bare"}),
        ("dataset=two", {"history"}),
        ("task=Physics_MCQs", {"physics", "bare"}),
        ("subject=History", {"history"}),
        ("type=single_choice", {"physics", "bare"}),
        ("part=subjective", {"history"}),
        ("year=2012", {"physics"}),
        ("branch=reasoning", {"physics"}),
        ("knowledge=sets", {"physics"}),
        ("knowledge=logic", {"physics"}),
        ("difficulty=5", {"history"}),
        ("modal=text_image", {"physics"}),
        ("rubric=yes", {"history"}),
        ("rubric=no", {"physics", "bare"}),
        ("problems=any", {"bare"}),
        ("problems=none", {"physics", "history"}),
        ("problems=missing_figure", {"bare"}),
        ("problems=empty_key", set()),
        ("labels=missing", {"history", "bare"}),
        ("labels=complete", {"physics"}),
        ("labels=no_branch", {"bare"}),
        ("labels=no_knowledge", {"history", "bare"}),
        ("labels=no_modal", {"history", "bare"}),
        ("status=quarantined", {"bare"}),
        ("language=en", set()),
        ("q=盐法", {"history"}),
        ("dataset=one&difficulty=2", {"physics"}),
        ("dataset=one&difficulty=5", set()),
    ],
)
def test_each_filter_chooses(
    query: str, expected: set[str], bank: dict[str, Question], curator: User
) -> None:
    page = logged_in(curator).get(f"{LIST}?{query}")
    shown = {row.pk for row, *_ in page.context["rows"]}
    assert shown == {bank[name].pk for name in expected}


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("year", ["physics", "history", "bare"]),
        ("-year", ["history", "physics", "bare"]),
        ("difficulty", ["physics", "history", "bare"]),
        ("-difficulty", ["history", "physics", "bare"]),
        ("rate", ["history", "physics", "bare"]),
        ("-rate", ["physics", "history", "bare"]),
        ("changed", ["history", "physics", "bare"]),
    ],
)
def test_each_sort_puts_what_has_no_value_last(
    sort: str, expected: list[str], bank: dict[str, Question]
) -> None:
    assert list(ordered(by_place(), sort)) == [bank[name] for name in expected]


def test_a_rate_is_joined_by_its_weights_and_without_corrected_ones(
    bank: dict[str, Question], curator: User
) -> None:
    # (0.6 * 3 + 0.2 * 1) / 4 = 0.5
    page = logged_in(curator).get(f"{LIST}?q=Which")
    assert page.context["rows"][0][0].human_rate == pytest.approx(0.5)
    assert "50 %" in page.text
    wrong = HumanRate.objects.get(source="b")
    HumanRate.objects.create(
        question=wrong.question, value=Decimal("0.4"), source="b", corrects=wrong
    )
    # (0.6 * 3 + 0.4 * 1) / 4 = 0.55
    page = logged_in(curator).get(f"{LIST}?q=Which")
    assert page.context["rows"][0][0].human_rate == pytest.approx(0.55)


def test_a_chip_takes_its_filter_away_and_leaves_the_others(
    bank: dict[str, Question], curator: User
) -> None:
    page = logged_in(curator).get(f"{LIST}?q=盐法&subject=History&sort=year&page=1")
    chips = {chip.name: chip for chip in page.context["chips"]}
    assert set(chips) == {"q", "subject"}
    assert chips["subject"].shown == "History"
    assert chips["q"].without == "subject=History&sort=year"


def test_a_value_that_does_not_exist_is_said_and_left_out(
    bank: dict[str, Question], curator: User
) -> None:
    page = logged_in(curator).get(f"{LIST}?subject=Alchemy&page=x&difficulty=9")
    assert page.status_code == 200
    assert len(page.context["rows"]) == 3
    assert "was ignored" in page.text


def test_htmx_gets_the_results_alone_and_a_clean_address(
    bank: dict[str, Question], curator: User
) -> None:
    headers = {"HX-Request": "true", "HX-Target": "questions"}
    client = logged_in(curator)
    found = client.get(f"{LIST}?q=盐法&subject=&task=", headers=headers)
    assert found.text.lstrip().startswith('<div id="questions"')
    assert found["HX-Push-Url"] == f"{LIST}?q=%E7%9B%90%E6%B3%95"
    back = client.get(LIST, headers={**headers, "HX-History-Restore-Request": "true"})
    assert "<!doctype html>" in back.text


def test_the_word_is_marked_where_it_stands(bank: dict[str, Question], curator: User) -> None:
    found = logged_in(curator).get(f"{LIST}?q=改革")
    assert "盐法<mark>改革</mark>" in found.text
    assert 'class="snippet"' not in found.text
    elsewhere = logged_in(curator).get(f"{LIST}?q=because 盐法")
    assert "<mark>because</mark>" not in elsewhere.text  # the title's own hit is enough
    analysis = logged_in(curator).get(f"{LIST}?q=because")
    assert "<mark>because</mark>" in analysis.text


def test_an_empty_bank_says_so(curator: User) -> None:
    assert "The bank is empty" in logged_in(curator).get(LIST).text


def test_a_reader_cannot_select(bank: dict[str, Question], lead: User, curator: User) -> None:
    assert 'id="bulk"' not in logged_in(lead).get(LIST).text
    assert 'id="bulk"' in logged_in(curator).get(LIST).text


def test_a_page_takes_a_fixed_number_of_queries(
    bank: dict[str, Question], curator: User, django_assert_max_num_queries: object
) -> None:
    client = logged_in(curator)
    for _ in range(20):
        make_question(bank["physics"].task)
    with django_assert_max_num_queries(16):  # type: ignore[operator]
        client.get(LIST)


def test_views_are_saved_renamed_and_deleted_by_their_owner(
    bank: dict[str, Question], curator: User, lead: User
) -> None:
    client = logged_in(curator)
    query = "subject=History&q=%E7%9B%90%E6%B3%95"
    saved = client.post(reverse("questions:view-save"), {"name": " 盐 法 ", "query": query})
    assert saved["Location"] == f"{LIST}?{query}"
    view = curator.saved_views.get()
    assert (view.name, view.query) == ("盐 法", query)
    assert "盐 法" in client.get(LIST).text
    assert "盐 法" not in logged_in(lead).get(LIST).text
    rename = reverse("questions:view-rename", args=[view.pk])
    assert logged_in(lead).post(rename, {"name": "mine"}).status_code == 404
    for unseen in ("", "\u200b"):
        assert client.post(rename, {"name": unseen}).status_code == 400
    client.post(rename, {"name": "History"})
    client.post(reverse("questions:view-save"), {"name": "other", "query": ""})
    assert client.post(rename, {"name": "other"}).status_code == 409
    delete = reverse("questions:view-delete", args=[view.pk])
    assert logged_in(lead).post(delete).status_code == 404
    client.post(delete)
    assert list(curator.saved_views.values_list("name", flat=True)) == ["other"]


def test_a_view_leads_only_to_the_list(curator: User, db: None) -> None:
    client: Client = logged_in(curator)
    sent = {"name": "x", "query": "https://example.org/?a=b"}
    answer = client.post(reverse("questions:view-save"), sent)
    assert answer["Location"].startswith(f"{LIST}?")
