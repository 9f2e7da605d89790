"""A run's page in a real browser: what changes while one looks, and messages that can be closed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from evaluations.models import Run
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.factories import make_dataset, make_question, make_task

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_a_message_is_closed_by_keyboard(admin: User, run: Run, site: Site) -> None:
    page = site.open(admin)
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("button", name="Stop").click()
    message = page.locator(".messages .message", has_text="No new calls are sent")
    message.get_by_role("button", name="Close").focus()
    page.keyboard.press("Enter")
    expect(message).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == "main", "the keyboard goes on from there"
