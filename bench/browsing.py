"""A server as ``serve`` starts it, and a small browser that talks to it over real HTTP."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from evaluations.management.commands.serve import free_port, port_is_free, web

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
FIRST_PORT = 18400 + os.getpid() % 1000 * 4  # two benchmarks may run at once
READY_SECONDS = 30.0
# Gunicorn hangs up after 2 s of silence; like a browser, we do not write into such a line.
IDLE_SECONDS = 1.0


@contextmanager
def served(site: str = "gradeapp") -> Iterator[int]:
    """The port of a gunicorn that serves the package *site* with the product's own options."""
    port = free_port(HOST, FIRST_PORT)
    command = [*web(HOST, port).command, f"{site}.wsgi:application"]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": f"{site}.settings"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        deadline = time.monotonic() + READY_SECONDS
        while port_is_free(HOST, port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{site} did not come up")
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


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a page: where it is sent, its fields as they stand, and what radios offer."""

    action: str
    fields: dict[str, str]
    offered: dict[str, list[str]]


FORM = re.compile(r'<form\b[^>]*\baction="([^"]*)"[^>]*>(.*?)</form>', re.DOTALL)
FIELD = re.compile(r"<(?:input|textarea)\b[^>]*>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


def form_in(page: str, ending: str) -> Form:
    """The first form of *page* that is sent to an address ending in *ending*.

    By patterns, not by a parser: what the browser costs is taken from the server
    on the same cores.
    """
    for action, inside in FORM.findall(page):
        if action.endswith(ending):
            return _form(action, [dict(ATTRIBUTE.findall(tag)) for tag in FIELD.findall(inside)])
    raise SystemExit(f"The page holds no form that is sent to {ending}")


def _form(action: str, found: list[dict[str, str]]) -> Form:
    form = Form(action, {}, {})
    for given in found:
        name, kind, value = given.get("name"), given.get("type"), given.get("value", "")
        if name and kind == "radio":
            form.offered.setdefault(name, []).append(value)
        elif name and kind != "checkbox":
            form.fields[name] = value
    return form
