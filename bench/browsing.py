"""A server as ``serve`` starts it, and a small browser that talks to it over real HTTP."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from evaluations.management.commands.serve import free_port, port_is_free, web

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
FIRST_PORT = 18400
READY_SECONDS = 30.0
# Gunicorn hangs up after 2 s of silence; like a browser, we do not write into such a line.
IDLE_SECONDS = 1.0


@contextmanager
def served(application: str = "gradeapp.wsgi:application") -> Iterator[int]:
    """The port of a gunicorn that serves *application* with the product's own options."""
    port = free_port(HOST, FIRST_PORT)
    command = [
        part.replace("gradeapp.wsgi:application", application) for part in web(HOST, port).command
    ]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        deadline = time.monotonic() + READY_SECONDS
        while port_is_free(HOST, port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{application} did not come up")
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


@dataclass(slots=True)
class Page:
    """What came back, and how long it took from the first byte sent to the last one read."""

    status: int
    text: str
    seconds: float
    location: str = ""


class Browser:
    """Keeps its cookies and its connection; follows no redirect by itself."""

    def __init__(self, port: int) -> None:
        self.connection = HTTPConnection(HOST, port, timeout=60)
        self.cookies: dict[str, str] = {}
        self.used = 0.0

    def get(self, path: str) -> Page:
        """Fetch a page."""
        return self._send("GET", path, None, {})

    def post(self, path: str, form: dict[str, str], *, htmx: bool = False) -> Page:
        """Send a form; with *htmx*, as the desk's script does."""
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        headers["X-CSRFToken"] = self.cookies.get("csrftoken", "")
        if htmx:
            headers["HX-Request"] = "true"
        return self._send("POST", path, urlencode(form), headers)

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Page:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if time.perf_counter() - self.used > IDLE_SECONDS:
            self.connection.close()
        started = time.perf_counter()
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        text = response.read()
        self.used = time.perf_counter()
        for line in response.headers.get_all("Set-Cookie", []):
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        location = urlsplit(response.headers.get("Location", "")).path
        return Page(response.status, text.decode(), self.used - started, location)


@dataclass(slots=True)
class Form(HTMLParser):
    """The first form of a page whose address ends like *ending*: fields and offered values."""

    ending: str
    action: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    offered: dict[str, list[str]] = field(default_factory=dict)
    inside: bool = False

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the form, then what stands in it."""
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = not self.action and given.get("action", "").endswith(self.ending)
            self.action = given["action"] if self.inside else self.action
        elif self.inside and tag in ("input", "textarea") and "name" in given:
            self._note(given)

    def handle_endtag(self, tag: str) -> None:
        """Leave the form."""
        if tag == "form":
            self.inside = False

    def _note(self, given: dict[str, str]) -> None:
        name, kind = given["name"], given.get("type", "text")
        if kind == "radio":
            self.offered.setdefault(name, []).append(given.get("value", ""))
        elif kind != "checkbox":
            self.fields[name] = given.get("value", "")


def form_in(page: str, ending: str) -> Form:
    """The form of *page* that is sent to an address ending in *ending*."""
    form = Form(ending)
    form.feed(page)
    return form
