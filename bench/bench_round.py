"""A round of 30,000 responses beside one of 3,000: opened, claimed from, and looked through.

    python -m bench.bench_round [--quick] [--json]

The floor of opening is the insertion of the same rows by bare bulk statements. The
floor of everything else is the same on the small round, which is measured before
the large one exists: the ratio says how much a wait grows with the round, and the
detail how many queries each took.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.measured import Measured, arguments, show
from bench.own_database import client_of, engine, own_database

if TYPE_CHECKING:
    from bench.round_world import Opened


STATES = ("open", "marked", "third", "arbitration", "final")


@dataclass(frozen=True, slots=True)
class Load:
    """Responses of the small and of the large round, and who and what they are made of."""

    small: int
    large: int
    teachers: int
    questions: int
    rounds: int


FULL, QUICK = Load(3_000, 30_000, 20, 300, 7), Load(20, 60, 4, 20, 1)


@dataclass(slots=True)
class Asked:
    """Milliseconds of each time that something was asked, and the queries that it takes."""

    times: list[float] = field(default_factory=list)
    queries: int = 0

    @property
    def median(self) -> float:
        """The p50."""
        return statistics.median(self.times)

    def ask(self, way: Callable[[], object]) -> None:
        """Ask once more, by the clock, and count the queries."""
        from django.db import connection

        queries = []

        def count(execute: Any, *args: Any) -> Any:
            queries.append(args[0])
            return execute(*args)

        with connection.execute_wrapper(count):
            started = time.perf_counter()
            way()
            self.times.append(1000 * (time.perf_counter() - started))
        self.queries = max(self.queries, len(queries))


def claims(opened: Opened, people: list[Any]) -> Asked:
    """The first claim of every teacher."""
    from django.utils import timezone

    from evaluations.marking.desk.services.slots import claim_next

    asked = Asked()
    for person in people:
        asked.ask(lambda who=person: claim_next(who, round=opened.round, now=timezone.now()))  # type: ignore[misc]
    return asked


def addresses(opened: Opened, size: int) -> dict[str, str]:
    """What a lead looks through, by what it is called."""
    home = f"/rounds/{opened.round.public_id}/"
    last = -(-size // 50)
    teacher = opened.round.pool.order_by("pk").first().teacher.public_id  # type: ignore[union-attr]
    return {
        "round": home,
        "round, page 10": f"{home}?page=10",
        "round, last page": f"{home}?page={last}",
        **{f"round, {state}": f"{home}?state={state}" for state in STATES},
        "rounds": "/rounds/",
        "arbitration": f"{home}arbitration/",
        "monitor of the round": f"{home}monitoring/",
        "monitor of a teacher": f"{home}monitoring/{teacher}/",
        "monitor as CSV": f"{home}monitoring/export/",
        "tolerance": f"{home}tolerance/",
        "sheets": f"{home}sheets/",
    }


def walked_through(opened: Opened, size: int, rounds: int) -> dict[str, Asked]:
    """Every page so many times, after one time to warm up."""
    client = client_of("lead")
    found = {}
    for name, address in addresses(opened, size).items():

        def page(address: str = address) -> None:
            if client.get(address, follow=True).status_code != 200:
                raise SystemExit(f"{address} was refused")

        page()
        found[name] = asked = Asked()
        for _ in range(rounds):
            asked.ask(page)
    return found


def measured_at(size: int, people: list[Any], rounds: int) -> tuple[Opened, dict[str, Asked]]:
    """A round of *size* responses: opened, begun, marked for the most part, looked through."""
    from bench import round_world

    opened = round_world.open_round_of(size, people)
    round_world.as_after_a_while()
    first = claims(opened, people)
    round_world.mark_most(opened.round, people)
    round_world.as_after_a_while()
    middle = claims(opened, people)
    pages = walked_through(opened, size, rounds)
    return opened, {"first claim": first, "claim in the middle": middle, **pages}


def measure(load: Load) -> list[Measured]:
    """Opening against bare inserts, and everything else at both sizes."""
    from bench import round_world  # after Django is set up

    people = round_world.make_people(load.teachers)
    round_world.make_questions(load.questions)
    (_small, few), (opened, many) = [
        measured_at(size, people, load.rounds) for size in (load.small, load.large)
    ]
    where = f"{load.large:,} responses in {engine()}, {len(people)} teachers"
    rows, bare = opened.rows / opened.seconds, opened.rows / opened.bare_seconds
    detail = f"{where}; {opened.rows:,} rows in {opened.seconds:.1f} s"
    figures = [Measured.rate("open a round", rows, bare, unit="rows/s", detail=detail)]
    for name, asked in many.items():
        detail = f"{asked.queries} queries, {few[name].queries} at {load.small:,}; {where}"
        figures.append(
            Measured.time(f"{name}, p50", asked.median, few[name].median, unit="ms", detail=detail)
        )
    return figures


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__, quick="60 responses beside 20, one round")
    options = parser.parse_args()
    with own_database():
        show(measure(QUICK if options.quick else FULL), as_json=options.json)


if __name__ == "__main__":
    main()
