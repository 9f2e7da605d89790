"""Teachers who mark at the desk over real HTTP, the bare view beside them, and the clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random

from bench.browsing import ROOT, Browser, Page, form_in, served
from bench.desk_world import (
    PASSWORD,
    Saved,
    World,
    make_world,
    own_share_left,
    what_went_wrong,
)
from bench.measured import percentile

BARE = "bench.bare.settings"
COMMENT = "第二步缺少理由；the unit is missing in (2)."


@dataclass(frozen=True, slots=True)
class Load:
    """Blocks of saves: so many by one teacher alone, then so many by each of eight.

    At the end one teacher, whose own share is done, makes so many for others (*helping*).
    """

    blocks: int
    alone: int
    each: int
    helping: int
    answers_a_question: int
    teachers: int = 8


@dataclass(slots=True)
class Timed:
    """Seconds of each save, and of all the blocks in which they were made."""

    saves: list[float] = field(default_factory=list)
    blocks: float = 0.0

    def ms(self, percent: float) -> float:
        """A percentile of the saves in milliseconds."""
        return percentile(self.saves, percent) * 1000

    @property
    def per_second(self) -> float:
        """Saves a second while a block ran."""
        return len(self.saves) / self.blocks


@dataclass(slots=True)
class Times:
    """The desk and the bare view, alone and together."""

    alone: Timed = field(default_factory=Timed)
    bare_alone: Timed = field(default_factory=Timed)
    together: Timed = field(default_factory=Timed)
    helping: Timed = field(default_factory=Timed)
    bare_together: Timed = field(default_factory=Timed)


class Teacher:
    """One teacher in one browser, who marks whatever comes."""

    def __init__(self, port: int, name: str) -> None:
        self.browser = Browser(port)
        self.name = name
        self.random = Random(name)
        self.page = ""
        self.saved: list[Saved] = []
        self.shown: list[tuple[str, str]] = []

    def arrive(self, world: World) -> None:
        """Log in and take the first response."""
        self.browser.get("/login/")
        login = {"username": self.name, "password": PASSWORD}
        expect(self.browser.post("/login/", login), 302)
        first = self.browser.post(f"/marking/rounds/{world.round}/next/", {})
        self.see(expect(self.browser.get(expect(first, 302).location), 200))

    def see(self, page: Page) -> None:
        """Have a response at hand."""
        self.page = page.text
        self.shown.append((form_in(self.page, "/save/").fields["answer"], self.name))

    def save(self) -> float:
        """Fill in the form of this page and save it; seconds until the next one is there."""
        form = form_in(self.page, "/save/")
        values = {name: value or "1" for name, value in form.fields.items()}
        values |= {name: self.random.choice(offer) for name, offer in form.offered.items()}
        values |= {"comment": COMMENT, "seconds": "42"}
        page = expect(self.browser.post(form.action, values, htmx=True), 200)
        self.saved.append(Saved(self.name, values["answer"], values["key"]))
        self.see(page)
        return page.seconds


def expect(page: Page, status: int) -> Page:
    """*page*, if the server answered as it should; a refusal is no measurement."""
    if page.status != status:
        raise SystemExit(f"The server answered {page.status}, not {status}: {page.text[:300]}")
    return page


def bare_save(browser: Browser) -> float:
    """A form of the same size for the bare view."""
    return expect(browser.post("/save/", {"comment": COMMENT, "total": "4.5"}), 200).seconds


def block(ways: Sequence[Callable[[], float]], times: int, timed: Timed) -> None:
    """Each way so often, a thread a way."""

    def repeat(way: Callable[[], float]) -> list[float]:
        return [way() for _ in range(times)]

    started = time.perf_counter()
    with ThreadPoolExecutor(len(ways)) as threads:
        done = [one for saves in threads.map(repeat, ways) for one in saves]
    timed.saves += done
    timed.blocks += time.perf_counter() - started


def run(load: Load) -> Times:
    """Measure both in turn, block by block; then ask whether anything was lost."""
    world = make_world(load.teachers, load.answers_a_question)
    make_bare_table()
    times = Times()
    with ExitStack() as stack:
        desk = stack.enter_context(served())
        bare = stack.enter_context(served("bench.bare"))
        teachers = [Teacher(desk, name) for name in world.teachers]
        browsers = [Browser(bare) for _ in teachers]
        for teacher, browser in zip(teachers, browsers, strict=True):
            teacher.arrive(world)
            bare_save(browser)
        saves: list[Callable[[], float]] = [teacher.save for teacher in teachers]
        bares = [lambda browser=browser: bare_save(browser) for browser in browsers]
        for _ in range(load.blocks):
            block(bares[:1], load.alone, times.bare_alone)
            block(saves[:1], load.alone, times.alone)
            block(bares, load.each, times.bare_together)
            block(saves, load.each, times.together)
        while own_share_left(teachers[0].name):
            teachers[0].save()
        block(saves[:1], load.helping, times.helping)
    check(teachers)
    return times


def make_bare_table() -> None:
    """The bare view's own table in the same database."""
    command = [sys.executable, "-m", "django", "migrate", "--run-syncdb", "--verbosity", "0"]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": BARE}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def check(teachers: Sequence[Teacher]) -> None:
    """No figure where a save was lost or a response handed out twice."""
    saved = [one for teacher in teachers for one in teacher.saved]
    shown = [one for teacher in teachers for one in teacher.shown]
    if wrong := what_went_wrong(saved, shown):
        raise SystemExit(" ".join(wrong))
