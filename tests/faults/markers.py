"""Teachers at the desk over real HTTP, who send a save again until it is confirmed."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from random import Random

from bench.browsing import Browser, Page, form_in
from evaluations.models import MarkingRound
from gradeapp.accounts.models import User
from tests.faults.site import Site


@dataclass
class Marker:
    """One teacher: what was confirmed, by the key of the save, and what was answered instead."""

    name: str
    browser: Browser
    round: str
    saved: dict[str, str] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    page: str = ""
    finished: bool = False

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> Page | None:
        """One request; None where no answer came."""
        try:
            page = (
                self.browser.get(path)
                if method == "GET"
                else self.browser.post(path, form or {}, htmx=path.endswith("/save/"))
            )
        except (OSError, HTTPException):
            self.browser.connection.close()
            self.statuses.append(0)
            return None
        self.statuses.append(page.status)
        return page

    def insist(self, method: str, path: str, form: dict[str, str] | None, until: float) -> Page:
        """Ask again, as the page does, until the server answers with less than 500."""
        while True:
            page = self.ask(method, path, form)
            if page is not None and page.status < 500:
                return page
            assert time.monotonic() < until, f"{self.name}: {self.statuses[-5:]}"
            time.sleep(0.1)

    def arrive(self, until: float) -> None:
        """Take the first response."""
        found = self.insist("POST", f"/marking/rounds/{self.round}/next/", None, until)
        self.page = self.insist("GET", found.location, None, until).text

    def save(self, until: float, random: Random) -> None:
        """Fill in the form at hand and send it until it is confirmed."""
        if 'action="' not in self.page or "/save/" not in self.page:
            self.finished = True
            return
        form = form_in(self.page, "/save/")
        values = {name: value or "1" for name, value in form.fields.items()}
        values |= {name: random.choice(offer) for name, offer in form.offered.items()}
        page = self.insist("POST", form.action, values | {"comment": "步骤二缺少理由"}, until)
        assert page.status == 200, (page.status, page.text[:500])
        self.saved[values["key"]] = values["answer"]
        self.seconds.append(page.seconds)
        self.page = page.text


def at_the_desk(site: Site, made: MarkingRound, teachers: Sequence[User]) -> list[Marker]:
    """The *teachers*, each in a browser of their own."""
    round_id = str(made.public_id)
    return [Marker(one.username, site.browser(one), round_id) for one in teachers]


class Marking:
    """While this lasts the *markers* mark, each in a thread, until all is done or they are stopped.

    ``failures`` has what went wrong in a thread.
    """

    def __init__(
        self, markers: Sequence[Marker], *, patience: float = 300, pause: float = 0
    ) -> None:
        self.markers, self.patience, self.pause = markers, patience, pause
        self.failures: list[BaseException] = []
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._mark, args=(marker,), daemon=True) for marker in markers
        ]

    def __enter__(self) -> Marking:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(timeout=self.patience + 10)

    def wait(self, seconds: float) -> None:
        """Until everything is marked, at most *seconds*."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))

    @property
    def saves(self) -> int:
        """How many were confirmed."""
        return sum(len(marker.saved) for marker in self.markers)

    def _mark(self, marker: Marker) -> None:
        random = Random(marker.name)
        try:
            marker.arrive(time.monotonic() + self.patience)
            while not self._stopped.is_set() and not marker.finished:
                marker.save(time.monotonic() + self.patience, random)
                self._stopped.wait(self.pause)
        except BaseException as error:  # told in the main thread
            self.failures.append(error)
