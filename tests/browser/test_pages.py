"""Every page opens clean in a real browser: no error, nothing blocked, nothing axe would name."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType
from tests.browser.conftest import Site, in_both_schemes
from tests.factories import make_question, make_task


def test_login(site: Site, axe: Callable[[Page], list[str]], curator: User) -> None:
    page = site.open()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("/login/")
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        assert in_both_schemes(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    site.log_in(page, curator)
    expect(page.get_by_text(curator.display_name).first).to_be_visible()


def test_the_bank(site: Site, axe: Callable[[Page], list[str]], curator: User) -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    stem = "设 $a_{n+1}-a_n=\\frac{1}{2}$\n\n| n | value |\n|---|---|\n| $y$ | 2 |"
    make_question(task, stem=stem, rubric=(("写出 $a_n$", "6"),))
    page = site.open(curator)
    page.goto("/questions/")
    assert in_both_schemes(page, axe) == []
    page.locator("a.row-link").first.click()
    expect(page.locator(".katex").first).to_be_visible()
    assert in_both_schemes(page, axe) == []


def test_the_language_follows_the_browser_and_the_person(site: Site, curator: User) -> None:
    page = site.open(locale="zh-CN")
    site.log_in(page, curator)
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
