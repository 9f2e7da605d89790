"""A reviewer judges wrong answers by keyboard alone; the pages have no barriers."""

from __future__ import annotations

from itertools import product

import pytest
from playwright.sync_api import Page, expect

from evaluations.models import CapabilityJudgement, CapabilityReview
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.evaluations.review_world import called, items_of, review_of, say, wrong_answers


@pytest.fixture
def review(transactional_db: None, teacher: User, other_teacher: User) -> CapabilityReview:
    return review_of(wrong_answers(3), [teacher, other_teacher], reviewers_each=2)


def keys(page: Page, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


def ready(page: Page, *, after: str = "") -> str:
    """Wait for another answer than *after*; its id."""
    panel = page.locator("#judgement")
    if after:
        expect(panel).not_to_have_attribute("data-answer", after)
    expect(page.locator("#judgement[data-ready]")).to_have_count(1)
    return panel.get_attribute("data-answer") or ""


def given(answer: str, reviewer: User) -> tuple[object, ...]:
    rows = CapabilityJudgement.objects.filter(slot__item__public_id=answer, reviewer=reviewer)
    row = rows.latest("version")
    values = (row.understanding, row.knowledge, row.reasoning, row.calculation)
    return (row.version, values, row.weaknesses, row.note)


def test_answers_are_judged_by_keyboard_alone(
    site: Site, review: CapabilityReview, teacher: User
) -> None:
    page = site.open(teacher)
    page.goto("/reviewing/")
    keys(page, "Enter")
    first = ready(page)
    keys(page, "Enter")
    expect(page.locator("#notices")).to_contain_text("No value yet: Understanding.")
    assert not CapabilityJudgement.objects.exists()
    keys(page, "1", "2", "2", "3", "3", "4", "4", "4", "h", "f", "x", "x", "c")
    page.keyboard.type("a sign is lost")
    keys(page, "Enter")
    second = ready(page, after=first)
    said = (1, (1, 0, 0, None), ["formulas", "multi_hop"], "a sign is lost")
    assert given(first, teacher) == said
    expect(page.locator("#said")).to_contain_text("Saved. Next response")
    expect(page.locator("#desk-context")).to_contain_text("1 / 3 judged")
    keys(page, "r")
    expect(page.locator(".desk-response pre.raw")).to_be_visible()
    keys(page, "u")
    assert ready(page, after=second) == first
    expect(page.locator("#note")).to_have_value("a sign is lost")
    keys(page, "1", "Enter")  # from 1 to 0
    ready(page, after=first)
    assert given(first, teacher) == (2, (0, 0, 0, None), ["formulas", "multi_hop"], said[3])
    keys(page, "s")
    third = ready(page, after=second)
    keys(page, "1", "2", "3", "4", "Enter")
    assert ready(page, after=third) == second
    keys(page, "1", "2", "3", "4", "Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    assert given(second, teacher)[1] == (1, 1, 1, 1)


def test_what_is_not_saved_is_not_left_without_a_word(
    site: Site, review: CapabilityReview, teacher: User
) -> None:
    page = site.open(teacher)
    page.goto("/reviewing/")
    keys(page, "Enter")
    first = ready(page)
    page.locator("#note").fill("a sign is lost")
    keys(page, "Escape", "s")
    expect(page.locator("#notices")).to_contain_text("is not saved")
    expect(page.locator("#judgement")).to_have_attribute("data-answer", first)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.evaluate("() => void setTimeout(() => location.assign('/'))")
    expect(page.locator("#note")).to_have_value("a sign is lost")
    keys(page, "s")
    ready(page, after=first)
    assert asked == ["beforeunload"]


def test_the_pages_have_no_barriers(
    site: Site, review: CapabilityReview, lead: User, teacher: User, axe: object
) -> None:
    first = items_of(review)[0]
    for who in review.reviewers.all():
        say(first, who, "u" if who == teacher else "", "multi_hop", note="why")
    places = {lead: ["/reviews/", "/reviews/new/"], teacher: ["/reviewing/"]}
    places[lead] += [f"/reviews/{review.public_id}/", f"/reviews/{review.public_id}/answers/"]
    places[teacher].append(f"/reviewing/answers/{first.public_id}/")
    looks = (("light", 1440, 900), ("dark", 390, 844))
    for (who, addresses), (theme, width, height) in product(places.items(), looks):
        page = site.open(who, viewport={"width": width, "height": height}, color_scheme=theme)
        for address in addresses:
            page.goto(address)
            assert axe(page) == [], address  # type: ignore[operator]
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, f"{address} scrolls sideways by {wide}"


def test_the_chart_writes_long_names_of_tasks_whole(
    site: Site, review: CapabilityReview, lead: User, teacher: User
) -> None:
    first = items_of(review)[0]
    called("2010-2022_Chinese_Lang_and_Usage_MCQs", first.question.task)
    say(first, teacher, "uk")
    page = site.open(lead, viewport={"width": 390, "height": 844})
    page.goto(f"/reviews/{review.public_id}/")
    chart = page.locator(".chart-plot svg")
    words = ("2010-2022", "Chinese", "Lang", "Usage", "MCQs", "Understanding", "Calculation")
    for word in words:
        expect(chart).to_contain_text(word)
    expect(chart).not_to_contain_text("...")
