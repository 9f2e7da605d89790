"""Every page opens clean in a real browser: no error, nothing blocked, nothing axe would name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType
from tests.browser.conftest import Site
from tests.factories import make_question, make_task

SCHEMES = ["light", "dark"]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1440, 390])
def test_login(site: Site, axe: Callable[[Page], list[str]], scheme: str, width: int) -> None:
    page = site.open(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto("/login/")
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_bank(site: Site, axe: Callable[[Page], list[str]], curator: User, scheme: str) -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    stem = "设 $a_{n+1}-a_n=\\frac{1}{2}$\n\n| n | value |\n|---|---|\n| $y$ | 2 |"
    make_question(task, stem=stem, rubric=(("写出 $a_n$", "6"),))
    page = site.open(curator, color_scheme=scheme)
    page.goto("/questions/")
    assert axe(page) == []
    page.locator("a.row-link").first.click()
    expect(page.locator(".katex").first).to_be_visible()
    assert axe(page) == []


def test_the_language_follows_the_browser_and_the_person(site: Site, curator: User) -> None:
    page = site.open(curator, locale="zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
