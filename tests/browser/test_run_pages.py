"""A run's page in a real browser: what changes while one looks, and messages that can be closed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from evaluations.models import Run, Worker
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def run(transactional_db: None) -> Run:
    task = make_task(make_dataset())
    make_question(task)
    endpoint = save_endpoint(
        name="slowed", base_url="http://127.0.0.1:9999/v1", model="m", acting_user=None
    )
    return start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None)


def test_the_sentence_changes_and_the_page_stays(admin: User, run: Run, site: Site) -> None:
    """Also the page of a run that waits asks for itself, and is not loaded anew for each try."""
    waiting = Run.objects.filter(pk=run.pk)
    waiting.update(
        status=RunStatus.PAUSED,
        pause_reason=PauseReason.ASKED_TO_WAIT,
        resume_at=timezone.now() + timedelta(minutes=1),
    )
    tomorrow = timezone.now() + timedelta(days=1)
    Worker.objects.create(name="w", host="h", started_at=tomorrow, seen_at=tomorrow)
    page = site.open(admin)
    page.goto(f"/runs/{run.pk}/")
    said = page.locator("#run-notice")
    expect(said).to_contain_text("Waiting calls: 1. Next attempt at")
    page.evaluate("window.stays = true")
    waiting.update(status=RunStatus.QUEUED, resume_at=None)
    expect(said).to_contain_text("Retrying one of them now")
    assert page.evaluate("window.stays")
    waiting.update(status=RunStatus.FINISHED, pause_reason="")
    expect(said).to_be_empty()
    assert not page.evaluate("window.stays"), "another state has other buttons: a new page"


def test_an_estimate_of_the_choice_before_is_marked_as_such(
    admin: User, server: ScriptedServer, site: Site
) -> None:
    """One request for a choice; until its answer the figures before it are marked."""
    for slug, questions in (("short", 3), ("long", 40)):
        task = make_task(make_dataset(slug), slug=slug)
        for _ in range(questions):
            make_question(task)
    scripted_endpoint(server)
    page = site.open(admin)
    held: list[Route] = []
    page.goto("/runs/new/")
    page.get_by_label("Dataset").select_option("short")
    calls = page.locator("#estimate dt", has_text="Calls").locator("+ dd")
    expect(calls).to_have_text("3")
    before, estimate = page.locator("[data-before]"), page.locator("#estimate")
    expect(before).to_be_hidden()
    page.route("**/runs/new/?*", lambda route: held.append(route))
    page.get_by_label("Dataset").select_option("long")
    page.get_by_label("Dataset").blur()
    expect(before).to_be_visible()
    expect(estimate).to_have_attribute("aria-busy", "true")
    expect(calls).to_have_text("3")
    page.wait_for_timeout(600)  # longer than a form waits for more input
    assert len(held) == 1
    held[0].continue_()
    expect(calls).to_have_text("40")
    expect(before).to_be_hidden()
    expect(estimate).not_to_have_attribute("aria-busy", "true")
    page.unroute("**/runs/new/?*")
    page.route("**/runs/new/?*", lambda route: route.abort())
    page.get_by_label("Dataset").select_option("short")
    expect(page.locator("#notices")).not_to_be_empty()
    expect(before).to_be_visible()
    site.troubles.clear()  # the console says that the request failed


WAY = {
    "en-GB": ("New run", "Start run", "Stop", "Close", "Resume", "Finished", "Responses"),
    "zh-CN": ("新建运行", "启动运行", "停止", "关闭", "继续", "已完成", "作答"),
}
SENT = {"en-GB": "Messages sent", "zh-CN": "发送的消息"}


@pytest.mark.parametrize("language", WAY)
def test_a_newcomer_launches_stops_resumes_and_reads_what_was_sent(
    admin: User, server: ScriptedServer, site: Site, language: str
) -> None:
    """By buttons and links alone, as the README tells it, in both languages."""
    new, start, stop, close, resume, finished, responses = WAY[language]
    make_question(make_task(make_dataset()), stem="Which one?\nA. a\nB. b\nC. c\nD. d")
    scripted_endpoint(server)
    page = site.open(admin, locale=language)
    page.goto("/runs/")
    page.get_by_role("link", name=new, exact=True).first.click()
    page.get_by_role("button", name=start, exact=True).click()
    page.get_by_role("button", name=stop, exact=True).click()
    resumes = page.get_by_role("button", name=resume, exact=True)
    expect(resumes).to_be_visible()
    message = page.locator(".messages .message").first
    message.get_by_role("button", name=close).focus()
    page.keyboard.press("Enter")
    expect(message).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == "main", "the keyboard goes on from there"
    resumes.click()
    expect(page.get_by_role("button", name=stop, exact=True)).to_be_visible()
    worked(Run.objects.get())
    expect(page.locator(".page-head .pill")).to_have_text(finished)  # the page asked for itself
    page.get_by_role("link", name=responses, exact=True).click()
    page.locator("a.row-link").click()
    page.get_by_text(SENT[language]).click()
    (asked,) = server.requests
    shown = page.locator("details[open] pre.raw")
    assert shown.all_text_contents() == [
        one["content"] for one in json.loads(asked.body)["messages"]
    ]
