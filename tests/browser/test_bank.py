"""A curator in the question list: filter, search, keep a view, label ten at once, undo."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from gradeapp.accounts.models import User
from questions.models import Knowledge, LabelRevision, Question
from questions.rules.vocabulary import Subject
from tests.browser.conftest import Site, in_both_schemes
from tests.factories import make_question, make_task


@pytest.fixture
def bank(transactional_db: None) -> list[Question]:
    """Twelve items about photosynthesis, four of them labelled, and three of history."""
    logic = Knowledge.objects.create(slug="logic", english="Logic", chinese="逻辑")
    biology = make_task(subject=Subject.BIOLOGY, slug="Biology_MCQs")
    made = [
        make_question(biology, stem=f"第{n}题 光合作用吸收 $\\mathrm{{CO}}_{{2}}$")
        for n in range(12)
    ]
    for number, question in enumerate(made[:4], start=1):
        question.label = LabelRevision.objects.create(
            question=question,
            knowledge=logic,
            difficulty=number,
            modal="text",
            origins={"difficulty": "derived", "modal": "content"},
        )
        question.save(update_fields=["label"])
    history = make_task(subject=Subject.HISTORY, slug="History_MCQs")
    for n in range(3):
        make_question(history, stem=f"盐法改革 {n}")
    return made


def labels() -> dict[int, tuple[object, ...]]:
    """The labels that count and where they come from."""
    names = ("ability_branch", "knowledge", "difficulty", "modal", "origins")
    rows = Question.objects.values_list("pk", *(f"label__{name}" for name in names))
    return {key: tuple(value or None for value in rest) for key, *rest in rows}


def search(page: Page, words: str) -> None:
    """Type into the search field and wait for the rows."""
    page.locator("#bank-search").fill(words)
    expect(page.locator(".filter-chip", has_text=words)).to_be_visible()


def test_ten_questions_are_labelled_and_given_back(
    site: Site, axe: Callable[[Page], list[str]], curator: User, bank: list[Question]
) -> None:
    before = labels()
    page = site.open(curator)
    page.goto("/questions/")
    page.get_by_label("Subject").first.select_option("Biology")
    expect(page.locator("tr[data-row]")).to_have_count(12)
    expect(page).to_have_url(f"{site.address}/questions/?subject=Biology")
    search(page, "光合作用 co2")
    expect(page.locator("tr[data-row] mark").first).to_have_text("光合作用")

    page.get_by_text("Saved views", exact=True).click()
    page.get_by_placeholder("Name of the view").fill("光合")
    page.get_by_role("button", name="Save these filters").click()
    expect(page.get_by_text("The view “光合” was saved.")).to_be_visible()
    page.goto("/questions/")
    page.get_by_text("Saved views", exact=True).click()
    page.get_by_role("link", name="光合", exact=True).click()
    expect(page.locator("tr[data-row]")).to_have_count(12)

    ticks = page.locator("tr[data-row] input[name=question]")
    ticks.nth(0).click()
    ticks.nth(9).click(modifiers=["Shift"])
    bar = page.locator("form[data-bulk]")
    expect(bar.locator("[data-bulk-count]")).to_have_text("10")
    assert axe(page) == []
    bar.get_by_label("Difficulty").select_option("5")
    bar.get_by_label("Ability branch").select_option("reasoning")
    bar.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="10 questions would change")).to_be_visible()
    assert labels() == before
    assert axe(page) == []
    page.get_by_label("Reason").fill("同一知识点")
    page.get_by_role("button", name="Change 10 questions").click()
    expect(page.get_by_text("10 questions changed.")).to_be_visible()
    changed = labels()
    assert sum(changed[key] != before[key] for key in before) == 10
    assert {changed[question.pk][2] for question in bank[:10]} == {5}
    page.get_by_role("button", name="Undo change").click()
    expect(page.get_by_text("Undone: the labels of 10 questions were restored.")).to_be_visible()
    assert labels() == before


def test_the_list_by_keyboard(site: Site, curator: User, bank: list[Question]) -> None:
    page = site.open(curator)
    page.goto("/questions/?subject=Biology")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("tr.selected")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("X")
    expect(page.locator("[data-bulk-count]")).to_have_text("3")
    page.keyboard.press("/")
    page.keyboard.type("第11题")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.wait_for_url("**/#labels")
    expect(page.locator("[data-labels-edit]")).to_have_attribute("open", "")
    page.get_by_label("Difficulty").select_option("2")
    page.get_by_role("button", name="Save labels").click()
    expect(page.get_by_text("The labels were saved.")).to_be_visible()
    assert labels()[bank[11].pk][2] == 2


def test_the_pages_are_clean(
    site: Site, axe: Callable[[Page], list[str]], curator: User, bank: list[Question]
) -> None:
    page = site.open(curator)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for address in (
            "/questions/?q=光合",
            f"/questions/{bank[0].public_id}/#labels",
            "/questions/bulk/",
        ):
            page.goto(address)
            assert in_both_schemes(page, axe) == [], address
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_list_works_without_a_script(site: Site, curator: User, bank: list[Question]) -> None:
    page = site.open(curator, java_script_enabled=False)
    page.goto("/questions/")
    page.locator("#bank-search").fill("盐法")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("tr[data-row]")).to_have_count(3)
    page.locator("tr[data-row] input").first.check()
    page.locator("form[data-bulk]").get_by_label("Modality").select_option("text")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="1 question would change")).to_be_visible()
