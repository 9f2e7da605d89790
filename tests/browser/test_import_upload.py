"""A curator brings the sample exam in as a .zip: checked, imported, seen in the list."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection
from playwright.sync_api import Page, expect

from gradeapp.accounts.models import User
from questions.models import Question
from questions.services import import_jobs
from questions.tasks import work_on_import
from tests.browser.conftest import Site
from tests.questions.upload_world import lines, sample_zip
from tests.questions.upload_world import var as var

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A worker beside the site: it looks for uploads as the clock does."""
    monkeypatch.setattr(work_on_import, "apply_async", lambda *_, **__: None)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            for batch in import_jobs.look_for_imports():
                import_jobs.work_on_import(batch)
            time.sleep(0.2)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join()


def zip_file(folder: Path) -> Path:
    file = folder / "sample-exam.zip"
    file.write_bytes(sample_zip())
    return file


def at_rest(page: Page) -> None:
    """Wait until the page asks for nothing more: while it does, it may be loaded anew."""
    expect(page.locator("#progress:not([hx-get])")).to_have_count(1, timeout=30_000)


def test_upload_check_import_and_see(
    site: Site,
    axe: Callable[[Page], list[str]],
    curator: User,
    var: Path,
    worker: None,
    tmp_path: Path,
) -> None:
    page = site.open(curator)
    page.goto("/questions/imports/")
    assert axe(page) == []
    page.get_by_label("Files").set_input_files(zip_file(tmp_path))
    page.get_by_role("button", name="Check files").click()
    expect(page.get_by_text("An import would add 90 questions")).to_be_visible(timeout=30_000)
    assert not Question.objects.exists()
    at_rest(page)
    assert axe(page) == []
    page.locator(".page-actions").get_by_role("button", name="Import").click()
    expect(page.locator(".page-head .pill")).to_have_text("imported", timeout=30_000)
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "10")
    page.get_by_role("link", name="Show questions").click()
    page.wait_for_url(re.compile("dataset=sample-exam"))
    expect(page.get_by_text("90 questions").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export JSONL").click()
    assert download.value.suggested_filename == "sample-exam.zip"


@pytest.mark.parametrize(("scheme", "locale"), [("light", "zh-CN"), ("dark", "en-GB")])
def test_what_is_refused_is_traced_on_a_phone(
    site: Site,
    axe: Callable[[Page], list[str]],
    curator: User,
    var: Path,
    worker: None,
    tmp_path: Path,
    scheme: str,
    locale: str,
) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(lines(1, 2) + b"\n{broken\n")
    size = {"width": 390, "height": 844}
    page = site.open(curator, color_scheme=scheme, locale=locale, viewport=size)
    page.goto("/questions/imports/")
    page.set_input_files("input[type=file]", file)
    page.locator("form[data-upload] button").click()
    at_rest(page)
    expect(page.locator("code", has_text="broken_json")).to_be_visible()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_too_large_is_said_before_it_is_sent(
    site: Site, curator: User, var: Path, tmp_path: Path
) -> None:
    page = site.open(curator)
    page.goto("/questions/imports/")
    page.evaluate("document.querySelector('form[data-upload]').dataset.mostBytes = '10'")
    file = tmp_path / "large.jsonl"
    file.write_bytes(lines(1, 2))
    page.set_input_files("input[type=file]", file)
    message = page.locator("input[type=file]").evaluate("field => field.validationMessage")
    assert "larger than the limit of 100 MB" in message
