"""The labelling queue in a browser: fifty questions by keyboard alone, history, undo."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import LabelOpinion, LabelRevision, Question
from questions.selectors.labels import UNLABELLED
from questions.services.imports import import_questions
from questions.services.label_rows import ensure_taxonomy
from questions.services.opinions import give_opinion
from questions.services.suggestions import import_suggestions
from tests.browser.conftest import Site, in_both_schemes
from tests.factories import make_question, make_task, make_user

SAMPLE = Path(__file__).parents[2] / "questions" / "sample" / "gradeapp-sample"
MANY = 20


@pytest.fixture
def taxonomy(transactional_db: None) -> None:
    ensure_taxonomy()


@pytest.fixture
def three(taxonomy: None) -> list[Question]:
    task = make_task()
    return [make_question(task, stem=f"question number {n}") for n in (1, 2, 3)]


def keys(page: Page, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


def item(page: Page) -> str:
    return page.locator("#labels").get_attribute("data-item") or ""


def ready(page: Page, *, after: str = "") -> str:
    """Wait for another question than *after*; its key."""
    if after:
        expect(page.locator("#labels")).not_to_have_attribute("data-item", after)
    expect(page.locator("#labels[data-ready]")).to_have_count(1)
    return item(page)


def start(page: Page, query: str = "") -> str:
    """From the overview by Enter to the first question."""
    page.goto(f"/questions/labelling/{query}")
    page.keyboard.press("Enter")
    return ready(page)


def test_twenty_questions_are_labelled_by_keyboard_alone(
    site: Site, taxonomy: None, curator: User
) -> None:
    import_questions("jsonl", SAMPLE, acting_user=None)
    Question.objects.update(label=None)  # as if nothing had been found in the content
    assert Question.objects.filter(UNLABELLED).count() >= MANY
    page = site.open(curator)
    now = start(page)
    done = []
    for count in range(MANY):
        level = str(count % 5 + 1)
        keys(page, "3")
        page.keyboard.type("逻辑" if count % 2 else "logic")
        expect(page.locator("#knowledge-list [aria-selected=true]")).to_have_count(1)
        keys(page, "Enter", level, "1", "Enter")
        done.append((int(now), int(level)))
        now = ready(page, after=now)
    for key, level in done:
        row = LabelRevision.objects.get(question=key, author=curator)
        assert (row.ability_branch, row.difficulty, row.modal) == ("reasoning", level, "text")
        assert row.knowledge is not None
        assert set(row.origins.values()) == {"person"}
    expect(page.locator("#said")).to_contain_text("Level 5 · Text. Next question")
    page.goto(f"/questions/labelling/{Question.objects.get(pk=done[7][0]).public_id}/history/")
    expect(page.locator(".label-history")).to_contain_text("chen")
    expect(page.locator(".label-history")).to_contain_text("Level 3")


def test_undo_skip_and_history_have_their_keys(
    site: Site, three: list[Question], curator: User
) -> None:
    page = site.open(curator)
    first = start(page)
    keys(page, "3")
    page.keyboard.type("ljpd")  # by the initials of its pinyin
    keys(page, "ArrowDown", "ArrowUp", "Enter", "4", "1", "Enter")
    second = ready(page, after=first)
    keys(page, "s")
    third = ready(page, after=second)
    assert len({first, second, third}) == 3
    keys(page, "u")
    assert ready(page, after=third) == first
    expect(page.locator("#said")).to_contain_text("Undone")
    expect(page.locator("input[name=difficulty][value='4']")).to_be_checked()
    keys(page, "h")
    history = page.locator("#label-history")
    expect(history.locator("li")).to_have_count(2)
    expect(history).to_contain_text("undone")
    assert Question.objects.filter(UNLABELLED).count() == 3
    keys(page, "l", "2", "Enter")  # all the other labels are still in the form
    ready(page, after=first)
    label = Question.objects.get(pk=int(first)).label
    assert label is not None
    assert (label.difficulty, label.modal) == (2, "text")
    keys(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_what_is_missing_is_said_once(site: Site, three: list[Question], curator: User) -> None:
    page = site.open(curator)
    first = start(page)
    keys(page, "Enter")
    expect(page.locator("#notices")).to_contain_text("Give at least one label.")
    keys(page, "3", "Escape", "4", "1")
    page.locator(".desk-save").focus()
    keys(page, "Enter")
    expect(page.locator("#notices")).to_contain_text("No value yet: Knowledge.")
    assert not LabelOpinion.objects.exists()
    keys(page, "Enter")
    ready(page, after=first)
    opinion = LabelOpinion.objects.get()
    given = (opinion.ability_branch, opinion.knowledge, opinion.difficulty, opinion.modal)
    assert given == ("reasoning", None, 4, "text")


def test_a_suggestion_is_taken_by_a_key(site: Site, three: list[Question], curator: User) -> None:
    line = (
        f'{{"id": "{three[0].public_id}", "model": "canary-m", "ability_branch": "reasoning", '
        '"knowledge": "logical-judgment", "difficulty": 5, "modal": "text"}'
    )
    import_suggestions(BytesIO(line.encode()), acting_user=curator)
    page = site.open(curator)
    first = start(page)
    expect(page.locator("#suggestion")).to_contain_text("canary-m suggests")
    keys(page, "a", "Enter")
    ready(page, after=first)
    opinion = LabelOpinion.objects.filter(author=curator).latest("pk")
    assert (opinion.difficulty, opinion.seen_suggestion) == (5, True)


def test_the_second_labelling_is_blind_and_keys_work(
    site: Site, three: list[Question], curator: User
) -> None:
    other = make_user(Role.CURATOR, "zhao")
    give_opinion(three[0], {"difficulty": 5, "modal": "image"}, acting_user=other, sets_labels=True)
    page = site.open(curator)
    page.goto("/questions/labelling/")
    page.get_by_role("link", name="Label 1 question a second time").click()
    ready(page)
    expect(page.locator("#labels input:checked")).to_have_count(0)
    keys(page, "3", "Escape", "2", "1", "Enter", "Enter")
    expect(page).to_have_url(re.compile(r"/labelling/\?mode=second$"))
    assert LabelOpinion.objects.get(author=curator).difficulty == 2
    three[0].refresh_from_db()
    assert three[0].label is not None
    assert three[0].label.difficulty == 5


def test_without_scripts_the_desk_is_a_form(
    site: Site, three: list[Question], curator: User
) -> None:
    page = site.open(curator, java_script_enabled=False)
    page.goto("/questions/labelling/")
    page.get_by_role("link", name="Label 3 questions").click()
    page.get_by_label("Reasoning").check(force=True)
    page.locator("select[name=knowledge]").select_option("logical-judgment")
    page.locator("input[name=difficulty][value='2']").check(force=True)
    page.locator("input[name=modal][value=text]").check(force=True)
    page.get_by_role("button", name="Save & next question").click()
    expect(page.locator(".desk-question")).to_contain_text("question number 2")
    assert not Question.objects.filter(UNLABELLED, pk=three[0].pk).exists()


def test_the_pages_have_no_barriers(
    site: Site, three: list[Question], curator: User, axe: Callable[[Page], list[str]]
) -> None:
    give_opinion(three[0], {"difficulty": 5}, acting_user=curator, sets_labels=True)
    other = make_user(Role.CURATOR, "zhao")
    give_opinion(three[0], {"difficulty": 2}, acting_user=other, sets_labels=False)
    for size in ({"width": 1440, "height": 900}, {"width": 390, "height": 844}):
        page = site.open(curator, viewport=size)
        places = [
            "/questions/labelling/",
            f"/questions/labelling/{three[1].public_id}/",
            "/questions/labelling/agreement/",
            "/questions/labelling/differences/",
            "/questions/labelling/suggestions/",
            f"/questions/labelling/{three[0].public_id}/history/",
            f"/questions/{three[0].public_id}/rates/",
        ]
        for place in places:
            page.goto(place)
            assert in_both_schemes(page, axe) == [], place
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, f"{place} scrolls sideways by {wide} at {size}"


def test_who_leaves_with_something_chosen_is_asked(
    site: Site, three: list[Question], curator: User
) -> None:
    page = site.open(curator)
    start(page)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    keys(page, "2")
    with page.expect_event("dialog"):
        page.evaluate("() => void setTimeout(() => location.assign('/'))")
    assert asked == ["beforeunload"]
    expect(page.locator("#labels input:checked")).to_have_count(1)
