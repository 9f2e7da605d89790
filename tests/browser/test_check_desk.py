"""Readings are confirmed and corrected by keyboard alone; the pages have no barriers."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from evaluations.models import AnswerCheck, Response
from evaluations.reading.services.answer_checks import draw_sample
from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType
from tests.browser.conftest import Site
from tests.evaluations.check_world import BRACKETED, MEANT, SEVERAL, answers, check, read_by_model
from tests.factories import PASSWORD

LONG = "Some words that lead nowhere. " * 400


@pytest.fixture
def waiting(transactional_db: None) -> list[Response]:
    made = answers(LONG + BRACKETED, SEVERAL, MEANT, SEVERAL, SEVERAL)
    read_by_model(made[2])
    for response, kind, key in (
        (made[3], QuestionType.MULTIPLE_CHOICE, ["AB"]),
        (made[4], QuestionType.SEVERAL_QUESTIONS, ["A", "B", "C"]),
    ):
        response.revision.question_type, response.revision.answer_key = kind, key
        response.revision.save()
    return made


def keys(page: Page, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


def ready(page: Page, response: Response) -> None:
    expect(page).to_have_url(re.compile(str(response.public_id)))
    expect(page.locator("#check[data-ready]")).to_have_count(1)


def said() -> list[tuple[list[str | None], str, bool]]:
    rows = AnswerCheck.objects.order_by("pk")
    return list(rows.values_list("answers", "outcome", "confirmed"))


def test_a_queue_is_checked_by_keyboard_alone(
    site: Site, waiting: list[Response], curator: User
) -> None:
    low, ambiguous, meant, chosen, several = waiting
    page = site.open(curator)
    page.goto("/checks/")
    keys(page, "Enter")
    ready(page, low)
    expect(page.locator("#desk mark")).to_be_in_viewport()
    page.keyboard.down("Enter")
    ready(page, ambiguous)
    page.keyboard.down("Enter")  # held down: it saves one check
    page.wait_for_timeout(300)
    page.keyboard.up("Enter")
    ready(page, ambiguous)
    expect(page.locator("#saved-check")).to_have_text("C")
    expect(page.locator("#said")).to_contain_text("Saved. Next: question")
    keys(page, "b", "Enter")
    ready(page, meant)
    expect(page.locator(".check-read")).to_contain_text("Extracted by a model: B")
    keys(page, "n", "Enter")
    ready(page, chosen)
    keys(page, "u")
    ready(page, meant)
    expect(page.locator(".check-read")).to_contain_text("Your decision: No answer")
    keys(page, "c", "Enter")
    ready(page, chosen)
    keys(page, "a", "c", "d", "a", "Enter")
    ready(page, several)
    keys(page, "a", "b", "ArrowUp", "c", "Backspace", "1", "d", "Enter")
    expect(page).to_have_url(re.compile("/checks/$"))
    assert said() == [
        (["C"], "read", True),
        (["B"], "read", False),
        ([None], "no_answer", False),
        (["C"], "read", False),
        (["CD"], "read", False),
        (["D", "C", None], "read", False),
    ]


def test_a_letter_says_that_something_is_answered_and_no_answer_takes_it_away(
    site: Site, waiting: list[Response], curator: User
) -> None:
    page = site.open(curator)
    page.goto("/checks/next/?source=ambiguous")
    ready(page, waiting[1])
    expect(page.get_by_label("Ambiguous")).to_be_checked()
    keys(page, "d")
    expect(page.get_by_label("Answered")).to_be_checked()
    expect(page.get_by_label("D", exact=True)).to_be_checked()
    keys(page, "r")
    expect(page.get_by_label("Refused to answer")).to_be_checked()
    expect(page.locator("#check [name^=answer]:checked")).to_have_count(0)
    keys(page, "s")
    ready(page, waiting[3])
    assert said() == []
    keys(page, "?")
    expect(page.locator("dialog[open]")).to_contain_text("one key confirms the extracted answer")


def test_a_save_that_fails_loses_nothing(
    site: Site, waiting: list[Response], curator: User
) -> None:
    page = site.open(curator)
    page.goto("/checks/next/?source=ambiguous")
    ready(page, waiting[1])
    check(waiting[1], curator, "A")  # in another window
    keys(page, "b", "Enter")
    expect(page.locator("#notices")).to_contain_text("another window")
    expect(page.get_by_label("B", exact=True)).to_be_checked()
    expect(page.locator("#saved")).to_have_text("not saved")
    assert all("409" in trouble for trouble in site.troubles)
    site.troubles.clear()


def test_the_pages_have_no_barriers(
    site: Site, waiting: list[Response], curator: User, admin: User, axe: object
) -> None:
    save_endpoint(name="m", base_url="http://127.0.0.1:8099/v1", model="m", acting_user=None)
    check(waiting[1], curator, "A")
    check(waiting[1], admin, "B")
    draw_sample(waiting[0].run, 1, acting_user=admin)
    run = waiting[0].run_id
    places = ["/checks/", "/checks/differences/", f"/checks/{waiting[4].public_id}/"]
    places += [f"/checks/runs/{run}/read/", f"/runs/{run}/"]
    for theme, width, height in (("light", 1440, 900), ("dark", 390, 844)):
        page = site.open(admin, viewport={"width": width, "height": height}, color_scheme=theme)
        for address in places:
            page.goto(address)
            assert axe(page) == [], address  # type: ignore[operator]
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, f"{address} scrolls sideways by {wide}"


def test_without_javascript(site: Site, waiting: list[Response], curator: User) -> None:
    page = site.open(curator, java_script_enabled=False)
    page.goto("/checks/")
    page.get_by_role("link", name="Check 5 responses").click()
    page.get_by_role("button", name="Save & next response").click()
    page.get_by_label("Answered").check(force=True)
    page.get_by_label("D", exact=True).check(force=True)
    page.get_by_role("button", name="Save & next response").click()
    assert said() == [(["C"], "read", True), (["D"], "read", False)]
    page.get_by_role("button", name="Back").click()
    expect(page.locator(".check-read")).to_contain_text("Your decision: D")


def test_what_cannot_be_sent_is_sent_again_and_one_logs_in_again_in_place(
    site: Site, waiting: list[Response], curator: User
) -> None:
    low, ambiguous, meant = waiting[:3]
    page = site.open(curator)
    page.goto("/checks/")
    keys(page, "Enter")
    ready(page, low)
    page.route("**/checks/**", lambda route: route.abort())
    keys(page, "Enter")
    expect(page.locator("#saved")).to_have_text("not saved, retrying")
    page.unroute("**/checks/**")
    ready(page, ambiguous)  # without anybody pressing a key
    Session.objects.all().delete()
    keys(page, "Enter")
    dialog = page.get_by_role("dialog", name="Log in again")
    dialog.get_by_label("Password").fill(PASSWORD)
    keys(page, "Enter")
    ready(page, meant)
    assert AnswerCheck.objects.count() == 2
    site.troubles.clear()  # the browser itself reports the 401


def test_a_file_is_downloaded_once_for_two_clicks_and_again_a_moment_later(
    site: Site, waiting: list[Response], curator: User
) -> None:
    check(waiting[0], curator, "B")
    page = site.open(curator)
    page.goto("/checks/")
    files: list[str] = []
    page.on("download", lambda one: files.append(one.suggested_filename))
    button = page.get_by_role("button", name="Download test cases")
    with page.expect_download():
        button.dblclick()
    page.wait_for_timeout(1200)
    assert len(files) == 1
    with page.expect_download():
        button.click()


def test_who_leaves_with_something_chosen_is_asked(
    site: Site, waiting: list[Response], curator: User
) -> None:
    page = site.open(curator)
    page.goto("/checks/")
    keys(page, "Enter")
    ready(page, waiting[0])
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    keys(page, "D")
    with page.expect_event("dialog"):
        page.evaluate("() => void setTimeout(() => location.assign('/'))")
    keys(page, "Enter")
    ready(page, waiting[1])
    page.evaluate("() => void setTimeout(() => location.assign('/'))")
    page.wait_for_url(lambda url: "/checks/" not in url)
    assert asked == ["beforeunload"], "what was saved can be left"
