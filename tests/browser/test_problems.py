"""The problems page in a browser: from its code to a decision, by keyboard."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from gradeapp.accounts.models import User
from questions.models import ItemDecision, ItemProblem, Question
from questions.services.gate import check_duplicates, check_items
from questions.views import problems
from tests.browser.conftest import Site
from tests.factories import make_dataset, make_question, make_task
from tests.questions.test_gate_service import same_question

WHY = "官方公布的答案是 C"


HEAD_AND_BODY = ("thead", "tbody")


@pytest.fixture
def conflict(transactional_db: None) -> ItemProblem:
    """Two keys for one question, and an item whose key is not on offer."""
    bad = make_question(make_task(make_dataset("agibench")), key=("F",), stem="哪个质数？")
    one, _two = same_question("one", "C"), same_question("two", "D")
    check_items([bad.pk])
    check_duplicates(make_dataset("one"))
    return one.problems.get(code="conflicting_key")


def test_a_conflict_is_found_by_its_code_read_and_decided(
    site: Site, axe: Callable[[Page], list[str]], curator: User, conflict: ItemProblem
) -> None:
    page = site.open(curator)
    page.goto("/questions/problems/")
    rows = page.locator(".problem-table tbody tr")
    expect(rows).to_have_count(4)
    assert axe(page) == []
    head, first = (page.locator(f".codes {part} th").first.bounding_box() for part in HEAD_AND_BODY)
    assert head is not None
    assert first is not None
    assert head["x"] == first["x"], "the names of the columns stand over them"
    page.locator(".codes").get_by_role(
        "link", name="Same question with different answer keys"
    ).click()
    page.wait_for_url("**/?code=conflicting_key")
    expect(rows).to_have_count(2)
    expect(page.locator(".codes tr.selected .number")).to_have_text(["2", "0"])
    page.locator(f".problem-table a[href*='/{conflict.pk}/']").click()
    expect(page.locator(".page-head")).to_contain_text("Quarantined")
    left, right = page.locator(".versions > *").all()
    expect(left).to_contain_text("one")
    expect(right).to_contain_text("two")
    first, second = left.bounding_box(), right.bounding_box()
    assert first is not None
    assert second is not None
    assert first["y"] == second["y"], "side by side"
    assert first["x"] + first["width"] <= second["x"]
    assert axe(page) == []
    page.keyboard.press("k")
    expect(page.get_by_role("radio", name="Keep")).to_be_checked()
    page.keyboard.press("w")
    page.keyboard.type(WHY)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: f"/{conflict.pk}/" not in url)
    expect(page.locator(".messages")).to_contain_text("The decision was saved.")
    decision = ItemDecision.objects.get()
    assert (decision.problem, decision.reason, decision.author) == (conflict, WHY, curator)
    assert Question.objects.get(pk=conflict.question_id).status == "active"
    page.goto("/questions/problems/?code=conflicting_key&state=all")
    expect(page.locator(".codes tr.selected .number")).to_have_text(["1", "1"])
    expect(rows.filter(has_text="Keep as it is")).to_have_count(1)


def answer_as(status: int, body: str, route: Route) -> None:
    route.fulfill(status=status, body=body)


def test_what_was_typed_stays_when_a_plain_form_cannot_be_sent(
    site: Site, curator: User, conflict: ItemProblem
) -> None:
    """Neither an ended session nor a cable that is out leads to a page without it."""
    page = site.open(curator)
    page.goto(f"/questions/problems/{conflict.pk}/")
    page.get_by_role("radio", name="Keep").check()
    reason = page.locator("form [name=reason]")
    reason.fill(WHY)
    page.context.set_offline(True)
    reason.press("Enter")
    notice = page.locator("#notices")
    expect(notice).to_contain_text("The server cannot be reached")
    page.context.set_offline(False)
    for status, body, words in (  # a proxy answers
        (200, "<h1>", "cannot be reached"),
        (200, "null", "Server error"),
        (502, "<h1>", "Server error"),
    ):
        page.route("**/session/", partial(answer_as, status, body))
        reason.press("Enter")
        expect(notice).to_contain_text(words)
        page.unroute("**/session/")
    Session.objects.all().delete()
    reason.press("Enter")
    expect(notice).to_contain_text("Your session has expired")
    expect(reason).to_have_value(WHY)
    tab = page.context.new_page()
    site.log_in(tab, curator)
    page.bring_to_front()
    page.evaluate("() => void dispatchEvent(new Event('focus'))")
    expect(notice).to_contain_text("You are logged in again")
    reason.press("Enter")
    expect(page.locator(".messages")).to_contain_text("The decision was saved.")
    assert ItemDecision.objects.get().reason == WHY


def test_a_form_that_is_clicked_twice_is_sent_once_and_works_after_back(
    site: Site, curator: User, conflict: ItemProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = problems.save_decision

    def slowly(*given: object) -> object:
        time.sleep(1)
        return save(*given)

    monkeypatch.setattr(problems, "save_decision", slowly)
    page = site.open(curator)
    path = f"/questions/problems/{conflict.pk}/"
    page.goto(path)
    sent: list[str] = []
    page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    for times in (1, 2):
        page.get_by_role("radio", name="Keep").check()
        page.locator("form [name=reason]").fill(f"{WHY} {times}")
        with page.expect_request(lambda one: one.method == "POST"):
            page.keyboard.press("Enter")
        page.wait_for_timeout(200)
        page.keyboard.press("Enter")
        expect(page.locator(".messages")).to_contain_text("The decision was saved.")
        assert len(sent) == times
        assert ItemDecision.objects.latest("pk").reason == f"{WHY} {times}"
        page.go_back()
        page.wait_for_url(f"**{path}")
