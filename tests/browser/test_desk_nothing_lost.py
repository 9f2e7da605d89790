"""Nothing that was typed is lost: an ended session, a server away, a second window."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import BlindAnswer, Draft, Mark, MarkingRound, Slot
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.browser.test_marking_desk import alias, expect_another, keys, start
from tests.evaluations.marking.monitoring.test_new_rubric import replaced
from tests.evaluations.marking_world import small_round
from tests.factories import PASSWORD

HOUR = timedelta(hours=1)
DRAFTED = re.compile(r"^saved \d\d:\d\d; unsaved draft of a change \d\d:\d\d:\d\d$")


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 6, window_minutes=15)


def give_all(page: Page, comment: str) -> None:
    """3 + 2 + 6 points and a comment; the focus stays in the comment."""
    keys(page, "3", "ArrowDown", "2", "ArrowDown", "6", "c")
    page.keyboard.type(comment)


def end_session(page: Page) -> None:
    """Take the session out of the browser, and nothing else.

    Without its CSRF cookie the request that the desk sends for the next response would get a new
    one, at a moment when the login form beside it may hold another.
    """
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)


def log_in_again(page: Page, password: str) -> None:
    page.get_by_role("dialog").get_by_label("Password").fill(password)
    keys(page, "Enter")


def test_one_logs_in_again_in_place_and_goes_on(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    Session.objects.all().delete()
    give_all(page, "a long comment")
    dialog = page.get_by_role("dialog", name="Log in again")
    expect(dialog).to_be_visible()  # the draft could not be kept
    expect(page.locator(".saved[data-state=failed]")).to_have_text("draft not saved, retrying")
    log_in_again(page, "wrong")
    expect(dialog.get_by_role("alert")).to_contain_text("correct username and password")
    log_in_again(page, PASSWORD)
    expect(dialog).to_be_hidden()
    expect(page.locator(".saved")).to_contain_text("draft saved")
    assert Draft.objects.get().content["comment"] == "a long comment"
    Session.objects.all().delete()
    page.locator("#comment").focus()
    keys(page, "Control+Enter")
    expect(dialog).to_be_visible()
    expect(page.locator("#comment")).to_have_value("a long comment")
    assert alias(page) == now
    assert Mark.objects.count() == 0
    log_in_again(page, PASSWORD)
    expect_another(page, now)
    assert (Mark.objects.get().total, Mark.objects.get().comment) == (11, "a long comment")
    site.troubles.clear()  # the browser itself reports the 401


def test_what_one_typed_is_never_sent_as_that_of_another(
    site: Site, made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    """Both hold the response; the second one logs in beside the first, in the same browser."""
    page = site.open(teacher)
    now = start(page)
    answer = BlindAnswer.objects.get(alias=now)
    answer.slots.filter(holder=None).update(holder=other_teacher, lease_until=timezone.now() + HOUR)
    beside = page.context.new_page()
    end_session(page)
    site.log_in(beside, other_teacher)
    give_all(page, "typed by the first")
    keys(page, "Enter")
    dialog = page.get_by_role("dialog", name="Log in again")
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody else has logged in")
    log_in_again(page, PASSWORD)
    expect(dialog.get_by_label("Password")).to_have_value("")  # the attempt is over
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody else has logged in")
    assert not Draft.objects.exists()
    assert not Mark.objects.exists()
    page.context.clear_cookies()
    log_in_again(page, PASSWORD)
    expect_another(page, now)
    assert (Mark.objects.get().teacher, Mark.objects.get().comment) == (
        teacher,
        "typed by the first",
    )
    site.troubles.clear()  # the browser itself reports the 403


def test_who_leaves_while_something_waits_for_a_login_is_asked(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    Session.objects.all().delete()
    page.locator("#comment").fill("typed after that")
    dialog = page.get_by_role("dialog", name="Log in again")
    expect(dialog).to_be_visible()
    page.on("dialog", lambda one: one.dismiss())
    with page.expect_event("dialog") as asked:
        page.evaluate("() => void setTimeout(() => location.assign('/'))")
    assert asked.value.type == "beforeunload"
    expect(page.locator("#comment")).to_have_value("typed after that")
    log_in_again(page, PASSWORD)
    expect(dialog).to_be_hidden()
    expect(page.locator(".saved")).to_contain_text("draft saved")
    assert Draft.objects.get().content["comment"] == "typed after that"


def test_what_a_person_has_to_do_first_takes_nothing_typed_away(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    """An operator gives a new first password while the teacher marks."""
    page = site.open(teacher)
    now = start(page)
    User.objects.filter(pk=teacher.pk).update(must_change_password=True)
    give_all(page, "typed before")
    keys(page, "Enter")
    dialog = page.get_by_role("dialog", name="Log in again")
    expect(dialog.get_by_role("alert")).to_contain_text("Change your first password")
    expect(dialog).not_to_contain_text("Your session has expired", use_inner_text=True)
    assert not Draft.objects.exists()
    tab = page.context.new_page()
    tab.goto("/")
    expect(tab.get_by_role("heading", name="Change password")).to_be_visible()
    User.objects.filter(pk=teacher.pk).update(must_change_password=False)  # as that page does
    page.bring_to_front()
    page.evaluate("() => void dispatchEvent(new Event('focus'))")
    expect_another(page, now)
    assert Mark.objects.get().comment == "typed before"


def test_leaving_at_once_after_a_login_in_another_tab_loses_nothing(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    first = start(page)
    token = page.locator("#marks [name=csrfmiddlewaretoken]").input_value()
    beside = page.context.new_page()
    end_session(page)
    site.log_in(beside, teacher)
    beside.close()
    # A browser without a screen hides no tab, so nothing says that this one is shown again.
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#marks [name=csrfmiddlewaretoken]")).not_to_have_value(token)
    give_all(page, "typed at once")
    page.goto("/marking/")
    page.go_back()
    expect(page.locator("#comment")).to_have_value("typed at once")
    expect(page.locator("#marks[data-ready]")).to_have_count(1)
    keys(page, "Enter")
    expect_another(page, first)
    assert Mark.objects.get().comment == "typed at once"


def test_a_page_that_is_loaded_again_at_once_shows_what_was_typed(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    """The draft that a closing page sends may come after the request for the next one."""
    page = site.open(teacher)
    start(page)
    for number in range(3):
        page.locator("#comment").fill(f"typed {number}")
        page.reload()
        expect(page.locator("#comment")).to_have_value(f"typed {number}")


def test_back_between_two_responses_keeps_what_was_just_typed(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    first = start(page)
    give_all(page, "of the first")
    keys(page, "Enter")
    expect_another(page, first)
    second = alias(page)
    keys(page, "1", ".", "ArrowDown", "2", "c")
    page.keyboard.type("of the second")
    page.go_back()
    expect(page.get_by_role("button", name="Earlier mark")).to_be_visible()
    page.go_forward()
    expect(page.locator("#marks[data-ready]")).to_have_attribute("data-alias", second)
    expect(page.locator("#comment")).to_have_value("of the second")
    assert Draft.objects.get().slot.answer.alias == second
    points = page.locator(".point")  # as after a reload
    expect(points.nth(0).locator(".chip-on")).to_have_text(["1", "½"])
    expect(points.nth(2)).to_have_attribute("data-active", "")
    keys(page, "c", "Enter")
    expect(page.locator("#notices")).to_contain_text("Scoring point 3 has no mark yet.")
    # Another language shows the same response.
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    expect(page.locator("#marks")).to_have_attribute("data-alias", second)


def test_enter_that_belongs_to_an_input_method_saves_nothing(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    """Safari ends the composition before it, and gives it the key code 229."""
    page = site.open(teacher)
    now = start(page)
    give_all(page, "shu")
    page.evaluate(
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', "
        "{key: 'Enter', keyCode: 229, bubbles: true, cancelable: true}))"
    )
    page.keyboard.type(" ru")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    assert (alias(page), Mark.objects.count()) == (now, 0)
    keys(page, "Enter")
    expect_another(page, now)
    assert Mark.objects.get().comment == "shu ru"


def test_what_cannot_be_sent_is_sent_again_until_it_is(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    asked: list[str] = []

    def away(route: Route) -> None:
        """The network is gone, then a proxy answers for a server that starts again."""
        asked.append(route.request.url)
        route.abort() if len(asked) % 2 else route.fulfill(status=502, body="bad gateway")

    page.route("**/draft/", away)
    page.route("**/save/", away)
    give_all(page, "typed in a tunnel")
    expect(page.locator(".saved[data-state=failed]")).to_contain_text("draft not saved")
    expect(page.locator("#said")).to_contain_text("draft not saved")
    keys(page, "Enter")
    expect(page.locator(".saved")).to_have_text("not saved, retrying")
    expect(page.locator("#notices")).to_contain_text("Nothing on this page is lost")
    assert alias(page) == now
    expect(page.locator("#comment")).to_have_value("typed in a tunnel")
    assert Mark.objects.count() == 0
    page.unroute("**/save/")
    page.unroute("**/draft/")
    expect_another(page, now)  # without anybody pressing a key
    assert Mark.objects.get().comment == "typed in a tunnel"
    assert len(asked) >= 2
    site.troubles.clear()  # the browser itself reports the 502


def test_what_is_typed_after_a_save_that_could_not_be_sent_is_drafted(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    page.route("**/draft/", lambda route: route.abort())
    page.route("**/save/", lambda route: route.abort())
    give_all(page, "before")
    expect(page.locator(".saved")).to_contain_text("draft not saved")
    keys(page, "Enter")
    expect(page.locator(".saved")).to_have_text("not saved, retrying")
    page.keyboard.type(" and after")
    expect(page.locator("#notices")).to_contain_text("you have changed the form since")
    page.unroute("**/save/")
    page.unroute("**/draft/")
    expect(page.locator(".saved")).to_contain_text("draft saved", timeout=60_000)
    assert Draft.objects.get().content["comment"] == "before and after"
    assert Mark.objects.count() == 0
    site.troubles.clear()


def test_what_is_typed_after_a_stored_save_whose_answer_is_lost_is_drafted(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    """The server has the mark, and the page does not know it: the response is then put aside."""
    page = site.open(teacher)
    first = start(page)

    def store_and_break(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/save/", store_and_break, times=1)
    give_all(page, "before")
    keys(page, "Enter")
    expect(page.locator(".saved")).to_have_text("not saved, retrying")
    page.keyboard.type(" and after")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    assert Mark.objects.get().comment == "before"
    page.goto("/marking/")
    page.goto(f"/marking/responses/{BlindAnswer.objects.get(alias=first).public_id}/")
    expect(page.locator("#comment")).to_have_value("before and after")
    expect(page.locator("#saved")).to_have_text(DRAFTED)
    site.troubles.clear()


def test_a_change_is_drafted_and_logging_out_at_once_loses_nothing(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    first = start(page)
    give_all(page, "as saved")
    keys(page, "Enter")
    expect_another(page, first)
    pill = page.locator("#saved")
    second = alias(page)
    keys(page, "u")
    expect_another(page, second)
    assert alias(page) == first
    keys(page, "0", "c")
    page.keyboard.type(", then changed")
    expect(pill).to_have_text("not saved yet")
    expect(pill).to_have_text(DRAFTED)
    page.reload()
    expect(pill).to_have_text(DRAFTED)
    expect(page.locator("#marks .message")).to_contain_text("It is not saved yet.")
    expect(page.locator("#comment")).to_have_value("as saved, then changed")
    expect(page.locator("#sum")).to_have_text("8")
    page.locator("#comment").focus()
    page.keyboard.press("End")
    page.keyboard.type("!")
    page.get_by_text("Log out").evaluate("button => button.closest('form').requestSubmit(button)")
    page.wait_for_url("**/login/**")
    draft = Draft.objects.get()
    assert (draft.content["comment"], draft.content["version"]) == ("as saved, then changed!", 1)
    page = site.open(teacher)
    page.goto(f"/marking/responses/{draft.slot.answer.public_id}/")
    expect(page.locator("#comment")).to_have_value("as saved, then changed!")
    page.locator("#comment").press("?")
    page.goto("/marking/")  # at once, by a link or the address
    page.goto(f"/marking/responses/{draft.slot.answer.public_id}/")
    expect(page.locator("#comment")).to_have_value("?as saved, then changed!")
    page.get_by_role("button", name="Keep saved mark").click()
    expect_another(page, first)
    assert Draft.objects.count() == 0
    assert [mark.comment for mark in Mark.objects.all()] == ["as saved"]


def test_two_windows_show_both_marks_side_by_side(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    second, third = page.context.new_page(), page.context.new_page()
    for window in (second, third):
        window.goto(page.url)
    give_all(page, "first window")
    keys(page, "Control+Enter")
    expect_another(page, now)
    for window, words in ((second, "second window"), (third, "third window")):
        window.bring_to_front()
        expect(window.locator(".point:focus-within")).to_have_count(1)
        keys(window, "0", "ArrowDown", "2", "ArrowDown", "0", "c")
        window.keyboard.type(words)
        keys(window, "Control+Enter")
        both = window.locator("table.both")
        expect(both.locator("tr", has_text="Total")).to_have_text("Total112")
        expect(both.locator(".differs")).to_have_count(3)
        expect(both.locator("tr", has_text="Comment")).to_contain_text(f"first window{words}")
        expect(window.locator("#comment")).to_have_value(words)
        expect(window.locator("#said")).to_have_text(f"Response {now}")  # and not that it was saved
        if window is second:
            window.get_by_role("button", name="Keep saved mark").first.click()
        else:
            window.get_by_role("button", name="Use this mark").click()
        expect_another(window, now)
    counting = Mark.objects.filter(stale=False).order_by("version")
    assert [(mark.total, mark.comment) for mark in counting] == [
        (Decimal(11), "first window"),
        (Decimal(2), "third window"),
    ]
    assert Mark.objects.filter(stale=True).count() == 2
    site.troubles.clear()  # the browser itself reports the 409


def test_what_is_typed_after_another_window_saved_is_the_draft_of_a_change(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    second = page.context.new_page()
    second.goto(page.url)
    give_all(page, "first window")
    keys(page, "Control+Enter")
    expect_another(page, now)
    second.bring_to_front()
    keys(second, "c")
    second.keyboard.type("second window")
    expect(second.locator(".saved")).to_contain_text("draft saved")
    second.reload()
    expect(second.locator("#comment")).to_have_value("second window")
    expect(second.locator(".saved")).to_have_text(DRAFTED)
    assert [mark.comment for mark in Mark.objects.all()] == ["first window"]
    site.troubles.clear()  # the browser itself reports the 409


def test_a_draft_counts_after_one_of_a_browser_whose_clock_is_ahead(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    first = start(page)
    ahead = 4_000_000_000_000  # in the year 2096
    slot = Slot.objects.get(holder=teacher, answer__alias=alias(page))
    Draft.objects.create(slot=slot, teacher=teacher, sequence=ahead, content={"comment": "older"})
    give_all(page, "typed last")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    kept = Draft.objects.get()
    assert (kept.content["comment"], kept.sequence > ahead) == ("typed last", True)
    keys(page, "Control+Enter")
    expect_another(page, first)
    assert Draft.objects.count() == 0, "a save ends the draft of its own page"


@pytest.mark.parametrize("under_way", [False, True])
def test_a_page_that_is_closed_at_once_keeps_its_draft_whatever_the_clock_says(
    under_way: bool, site: Site, made: MarkingRound, teacher: User
) -> None:
    """Also where a draft has been sent already and is not answered yet."""
    page = site.open(teacher)
    start(page)
    slot = Slot.objects.get(holder=teacher, answer__alias=alias(page))
    ahead = 4_000_000_000_000  # in the year 2096
    Draft.objects.create(slot=slot, teacher=teacher, sequence=ahead, content={"comment": "older"})
    keys(page, "c")
    if under_way:
        page.route("**/draft/", lambda _route: None, times=1)
        with page.expect_request("**/draft/"):
            page.keyboard.type("typed last")
    else:
        page.keyboard.type("typed last")
    page.close(run_before_unload=True)
    end = time.monotonic() + 10
    while time.monotonic() < end and Draft.objects.get().content["comment"] == "older":
        time.sleep(0.1)
    assert Draft.objects.get().content["comment"] == "typed last"
    site.troubles.clear()  # a page that is still there is told the number


def test_what_is_refused_as_a_mark_is_kept_as_a_draft(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    give_all(page, "typed just before")
    page.locator("#marks input[name=key]").evaluate("field => { field.value = 'no key'; }")
    keys(page, "Control+Enter")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    assert Draft.objects.get().content["comment"] == "typed just before"
    assert Mark.objects.count() == 0
    site.troubles.clear()  # the browser itself reports the 400


def test_in_a_round_closed_meanwhile_nothing_can_be_saved(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    give_all(page, "too late")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    close_round(made, acting_user=None, now=timezone.now())
    keys(page, "Control+Enter")
    expect(page.locator("#marks .message-warning")).to_contain_text("The round was closed.")
    expect(page.get_by_role("button", name="Save & next")).to_be_disabled()
    expect(page.locator("#comment")).to_have_value("too late")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    keys(page, "Control+Enter")
    page.wait_for_load_state("networkidle")
    assert not [url for url in sent if url.endswith("/save/")], "it would be refused again"
    expect(page.locator("#marks .message-warning")).to_have_count(1)
    assert Mark.objects.count() == 0
    assert Draft.objects.get().content["comment"] == "too late"
    site.troubles.clear()  # the browser itself reports the 409


def test_what_is_typed_after_the_close_is_a_draft_for_the_lead(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    give_all(page, "typed before")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    close_round(made, acting_user=None, now=timezone.now())
    page.keyboard.type(" and after")
    expect(page.locator("#marks [data-way-on]")).to_contain_text("The round was closed.")
    expect(page.locator("#marks [data-way-on] button")).to_have_count(0)
    expect(page.locator("#comment")).to_have_value("typed before and after")
    assert Draft.objects.get().content["comment"] == "typed before and after"
    site.troubles.clear()  # the browser itself reports the 409


def test_a_new_rubric_under_an_open_page_is_said_and_leads_on(
    site: Site, made: MarkingRound, teacher: User, lead: User
) -> None:
    page = site.open(teacher)
    start(page)
    give_all(page, "typed before")
    expect(page.locator(".saved")).to_contain_text("draft saved")
    replaced(made, BlindAnswer.objects.first().question, lead)  # type: ignore[union-attr]
    page.keyboard.type(" and after")
    expect(page.locator("#marks [data-way-on]")).to_contain_text("The rubric has changed")
    page.get_by_role("button", name="Load the response again").click()
    expect(page.locator("[data-rubric-changed]")).to_contain_text("Give the points again")
    expect(page.locator("#comment")).to_have_value("typed before and after")
    expect(page.locator(".point").nth(1)).to_contain_text("unit")
    expect(page.locator("#sum")).to_have_text("–")
    site.troubles.clear()  # the browser itself reports the 409


def test_a_response_that_is_somebody_elses_by_now_leads_on(
    site: Site, made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    held = Slot.objects.filter(answer__alias=now, holder=teacher)
    held.update(holder=None, lease_until=None, planned=None)
    Slot.objects.filter(answer__alias=now).delete()
    give_all(page, "too late")
    expect(page.locator("#marks [data-way-on]")).to_contain_text("no longer assigned to you")
    expect(page.locator("#comment")).to_have_value("too late")
    page.get_by_role("button", name="Next response").click()
    expect_another(page, now)
    site.troubles.clear()  # the browser itself reports the 404
