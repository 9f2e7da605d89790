"""A real Chromium against a real server; nothing is fetched from elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.factories import PASSWORD

# Playwright's loop runs in the test's thread; the tests use the database around it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "yes"
# The same names as in .ci/browser: the shell opens no window of its own, with pages that cost time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    # No renderer is started before it is asked for, and none of the graphics card's is imitated.
    *("--renderer-process-limit=1", "--disable-software-rasterizer"),
]
# A commit waits for seconds while the disk of a small machine writes other databases.
expect.set_options(timeout=15_000)
AXE = Path(__file__).parent / "vendor" / "axe-core-4.14.1" / "axe.min.js"


# Stories in which browsers, server and worker write at once: a second database is asked these.
STORIES = frozenset({"test_whole_story.py", "test_import_upload.py"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here; without a Chromium leave it out, unless it is required."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if item.path.name not in STORIES:
                item.add_marker(pytest.mark.looks)
            if CHROMIUM is None and os.environ.get("GRADEAPP_BROWSER") != "required":
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": QUIET}


@pytest.fixture(scope="session")
def django_db_setup(playwright: Playwright, django_db_setup: None) -> None:
    """Start Playwright's loop before the database: outside of it, a connection is another one."""


class Site:
    """The server under test, and browsers in which somebody is logged in."""

    def __init__(self, address: str, browser: Browser) -> None:
        self.address = address
        self.browser = browser
        self.contexts: list[BrowserContext] = []
        self.troubles: list[str] = []

    def open(self, user: User | None = None, **options: Any) -> Page:
        """A page in a browser of its own, in which *user* is logged in; nothing is loaded yet."""
        options = {"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", **options}
        context = self.browser.new_context(base_url=self.address, **options)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.set_default_navigation_timeout(30_000)  # the first page of a process loads a lot
        page.on("pageerror", lambda error: self.troubles.append(f"{page.url}: {error}"))
        page.on("console", lambda message: self.heard(page, message.type, message.text))
        if user is not None:
            session = logged_in(user).cookies[settings.SESSION_COOKIE_NAME].value
            cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": self.address}
            context.add_cookies([cookie])  # type: ignore[list-item]
        return page

    def log_in(self, page: Page, user: User) -> None:
        """Log *user* in through the login form."""
        page.goto("/login/")
        page.fill("input[name=username]", user.username)
        page.fill("input[name=password]", PASSWORD)
        page.press("input[name=password]", "Enter")
        page.wait_for_url(lambda url: "/login/" not in url)

    def heard(self, page: Page, kind: str, text: str) -> None:
        """Errors of the console are troubles; what the policy blocks is one of them.

        A refusal (4xx) is none: htmx writes it down too, at a moment of its own. Nor is a request
        that a newer one has replaced, which happens on a slow machine; one that failed has an
        ``htmx:sendError`` beside its ``htmx:afterRequest``.
        """
        refused = "Failed to load resource" in text or "Response Status Error Code 4" in text
        replaced = text.startswith(("htmx:afterRequest", "htmx:sendAbort"))
        if kind == "error" and not refused and not replaced:
            self.troubles.append(f"{page.url}: {text}")


@pytest.fixture
def site(live_server: Any, browser: Browser) -> Iterator[Site]:
    """The site; at the end no page may have had an error or a blocked script."""
    made = Site(live_server.url, browser)
    yield made
    for context in made.contexts:
        context.close()
    assert made.troubles == []


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """What axe-core finds on a page: one line a finding."""

    def look(page: Page) -> list[str]:
        # The policy of the page allows no inline script, so axe is evaluated, not inserted.
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{violation['id']}: {node['target']} {node['failureSummary']}"
            for violation in found["violations"]
            for node in violation["nodes"]
        ]

    return look


# When the page has drawn what the change of a scheme asks for, and no colour is on its way.
DRAWN = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const moving = document.getAnimations().filter((one) => one instanceof CSSTransition);
  await Promise.allSettled(moving.map((one) => one.finished));
}"""


def in_both_schemes(page: Page, axe: Callable[[Page], list[str]]) -> list[str]:
    """What axe finds in light and in dark colours on the page as it is, not loaded again."""
    found: list[str] = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.evaluate(DRAWN)
        seen = axe(page)
        if seen:  # what is drawn late is right at the second look; what is wrong stays so
            page.wait_for_timeout(500)
            seen = axe(page)
        found += [f"{scheme}: {one}" for one in seen]
    return found
