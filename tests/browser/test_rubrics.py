"""A rubric with a cap, written and accepted by keyboard, then used at the desk."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal as D

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from evaluations.models import Mark
from gradeapp.accounts.models import User
from questions.models import Question, Rubric
from questions.rules.rubric import PointGroup
from questions.selectors.bank import accepted_rubric
from questions.selectors.rubrics import lines_of
from tests.browser.conftest import Site, in_both_schemes
from tests.evaluations.marking_world import small_round, subjective_question


@pytest.fixture
def question(transactional_db: None) -> Question:
    return subjective_question(rubric=(), full="8", stem="Name the law and two of its effects.")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def write_line(page: Page, text: str, points: str) -> None:
    page.keyboard.type(text)
    press(page, "Tab")
    page.keyboard.type(points)


def write_capped(page: Page, question: Question) -> None:
    """From the page of versions: 4 points for the law, and the best two of three effects."""
    page.goto(reverse("questions:rubrics", args=[question.public_id]))
    press(page, "n")
    expect(page.locator("textarea:focus")).to_have_count(1)
    write_line(page, "the law", "4")
    total = page.locator("[data-sub-sum] strong")
    expect(total).to_have_text("4")
    press(page, "Enter")
    write_line(page, "effect one", "2")
    press(page, "Alt+g", "Enter")  # a group of its own; the next lines begin in it
    write_line(page, "effect two", "2")
    press(page, "Enter")
    write_line(page, "effect three", "2")
    expect(page.locator("li.in-group")).to_have_count(3)
    expect(total).to_have_text("–")  # the group has no cap yet
    page.get_by_label("Cap of group 1").focus()
    page.keyboard.type("4")
    expect(total).to_have_text("8")
    press(page, "Tab")
    page.keyboard.type("the best 2")
    expect(page.locator(".rubric-fits")).to_have_count(1)


def test_a_capped_rubric_goes_from_the_keyboard_to_the_mark(
    site: Site, question: Question, curator: User, teacher: User, other_teacher: User
) -> None:
    page = site.open(curator)
    write_capped(page, question)
    press(page, "Control+Enter")
    expect(page.locator("h2").first).to_have_text("Version 1")
    assert accepted_rubric(question) is None
    press(page, "a")
    expect(page.locator(".pill-green")).to_have_text("accepted")
    rubric = accepted_rubric(question)
    assert rubric is not None
    assert lines_of(rubric).groups == (PointGroup(D(4), "", 1, 2),)
    assert rubric.accepted_by == curator

    small_round([teacher, other_teacher], 1, question=question)
    desk = site.open(teacher)
    desk.goto("/marking/")
    press(desk, "Enter")
    expect(desk.locator(".point:focus-within")).to_have_count(1)
    expect(desk.locator(".point-cap")).to_have_text("the best 2 count, at most 4")
    press(desk, "3", "ArrowDown", "2", "ArrowDown", "2")
    expect(desk.locator("#sum")).to_have_text("7")
    press(desk, "ArrowDown", "1")
    expect(desk.locator("#sum")).to_have_text("7")  # a third effect gives nothing more
    press(desk, "Enter")
    expect(desk.locator("#marks")).to_have_count(0)
    mark = Mark.objects.get()
    assert mark.total == 7
    assert [point.points for point in mark.points.all()] == [3, 2, 2, 1]


def test_who_leaves_the_editor_with_something_typed_is_asked(
    site: Site, question: Question, curator: User
) -> None:
    page = site.open(curator)
    write_capped(page, question)
    page.on("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog") as asked:
        page.evaluate("() => void setTimeout(() => location.assign('/'))")
    assert asked.value.type == "beforeunload"
    expect(page.locator("[data-row] textarea").first).not_to_have_value("")
    press(page, "Control+Enter")
    expect(page.locator("h2").first).to_have_text("Version 1")
    page.goto(reverse("questions:rubrics", args=[question.public_id]))
    press(page, "n")
    page.locator("[data-row] textarea").first.focus()
    press(page, "Alt+ArrowDown")
    with page.expect_event("dialog"):
        page.evaluate("() => void setTimeout(() => location.assign('/'))")
    expect(page.locator("#rubric")).to_be_visible()


def test_lines_are_moved_and_removed_by_keyboard(
    site: Site, question: Question, curator: User
) -> None:
    page = site.open(curator)
    write_capped(page, question)
    lines = page.locator("[data-row] textarea")
    lines.first.focus()
    press(page, "Alt+ArrowDown")
    expect(lines.nth(1)).to_be_focused()
    expect(lines.nth(0)).to_have_value("effect one")
    expect(lines.nth(1)).to_have_attribute("name", "text-2")
    press(page, "Alt+Delete")
    expect(lines).to_have_count(3)
    expect(page.locator("[data-sub-sum] strong")).to_have_text("4")
    press(page, "Alt+g")
    expect(page.locator("[data-sub-sum] strong")).to_have_text("6")
    press(page, "Control+Enter")
    expect(page.locator("h2").first).to_have_text("Version 1")
    points = lines_of(Rubric.objects.get()).points
    assert [(point.text, point.group) for point in points] == [
        ("effect one", 1),
        ("effect three", 1),
        ("effect two", None),
    ]


def test_the_editor_works_without_a_script(site: Site, question: Question, curator: User) -> None:
    page = site.open(curator, java_script_enabled=False)
    page.goto(reverse("questions:rubric-new", args=[question.public_id]))
    page.get_by_label("Text of scoring point 1").fill("the law")
    page.get_by_label("Points of scoring point 1").fill("4")
    page.get_by_label("Text of scoring point 3").fill("its effect")
    page.get_by_label("Points of scoring point 3").fill("4")
    page.get_by_role("button", name="Add rows").click()
    page.get_by_role("button", name="Move scoring point 3 up").click()
    page.get_by_role("button", name="Save and accept").click()
    rubric = accepted_rubric(question)
    assert rubric is not None
    assert [point.text for point in lines_of(rubric).points] == ["the law", "its effect"]


def test_the_pages_of_rubrics_are_accessible(
    site: Site, question: Question, curator: User, axe: Callable[[Page], list[str]]
) -> None:
    page = site.open(curator, viewport={"width": 390, "height": 844})
    write_capped(page, question)
    assert in_both_schemes(page, axe) == []
    press(page, "Control+Enter")
    expect(page.locator("h2").first).to_have_text("Version 1")
    assert in_both_schemes(page, axe) == []
    page.goto(reverse("questions:rubric-bank"))
    assert in_both_schemes(page, axe) == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
