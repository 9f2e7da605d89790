"""The question list and its search on 12,000 questions, as a curator waits for them.

    python -m bench.bench_bank [--quick] [--json] [--size 12000]

Each address is asked through the whole stack but the socket, in turn with its
floor on the same connection: for the list, one bare statement that sorts the
items and fetches the texts of fifty; for search, one bare scan of the texts for
the same words. p50 and p95 are over all addresses and rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from bench.measured import Measured, arguments, percentile, show
from bench.own_database import engine, own_database

LISTS: tuple[dict[str, str], ...] = (
    {},
    {"page": "2"},
    {"page": "120"},
    {"dataset": "bench-1"},
    {"subject": "Physics"},
    {"labels": "missing"},
    {"knowledge": "bench-3", "difficulty": "4"},
    {"problems": "any"},
    {"rubric": "no", "branch": "reasoning", "modal": "text"},
    {"sort": "-year"},
    {"sort": "rate"},
    {"sort": "changed"},
)
SEARCHES = (
    "光合作用",
    "函数 导数",
    "the passage",
    "农业 政策 经济",
    "CO2",
    "没有这样的词语",
    "的",
    "Which of the following",
)
PAGE_TEXTS = """
SELECT r.stem, r.passage, r.analysis FROM questions_question q
JOIN questions_task t ON t.id = q.task_id JOIN questions_dataset d ON d.id = t.dataset_id
JOIN questions_questionrevision r ON r.id = q.current_id
ORDER BY d.slug, t.slug, q.position LIMIT 50"""


def milliseconds(way: Callable[[], object]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    way()
    return 1000 * (time.perf_counter() - started)


def scan(query: str) -> None:
    """Read the texts once for every word of *query*, with a bare statement."""
    from django.db import connection

    words = [f"%{word}%" for word in query.casefold().split()]
    clause = " AND ".join(["text LIKE %s"] * len(words))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM questions_searchtext WHERE {clause}", words)
        cursor.fetchall()


def first_fifty() -> None:
    """The texts of the first page, with a bare statement."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(PAGE_TEXTS)
        cursor.fetchall()


def curator() -> Any:
    """A browser in which a curator is logged in."""
    from django.test import Client

    from gradeapp.accounts.roles import Role
    from gradeapp.accounts.services import ensure_user, sync_roles

    sync_roles()
    client = Client(headers={"host": "localhost"})
    roles = [Role.CURATOR]
    client.force_login(ensure_user("bench-curator", roles=roles, password="bench-curator-pass"))
    return client


def times(
    client: Any, queries: list[tuple[dict[str, str], Callable[[], None]]], rounds: int
) -> tuple[list[float], list[float]]:
    """Milliseconds of every address and of its floor, in turn, after one round to warm up."""
    pages, floors = [], []
    for number in range(rounds + 1):
        for parameters, floor in queries:
            address = f"/questions/?{urlencode(parameters)}"

            def page(address: str = address) -> None:
                if client.get(address).status_code != 200:
                    raise SystemExit(f"{address} was refused")

            page_time, floor_time = milliseconds(page), milliseconds(floor)
            if number:
                pages.append(page_time)
                floors.append(floor_time)
    return pages, floors


def measure(size: int, rounds: int) -> list[Measured]:
    """The list and the search, each p50 and p95."""
    from bench.bank_world import make_bank  # after Django is set up

    name = make_bank(size)
    client = curator()
    lists = [(parameters, first_fifty) for parameters in LISTS]
    searches: list[tuple[dict[str, str], Callable[[], None]]] = [
        ({"q": query}, lambda query=query: scan(query))  # type: ignore[misc]
        for query in SEARCHES
    ]
    figures = []
    for what, queries in (("question list", lists), ("question search", searches)):
        pages, floors = times(client, queries, rounds)
        detail = f"{size:,} questions from {name} in {engine()}, {len(pages)} pages"
        for percent in (50, 95):
            figures.append(
                Measured.time(
                    f"{what}, p{percent}",
                    percentile(pages, percent),
                    percentile(floors, percent),
                    unit="ms",
                    detail=detail,
                )
            )
    return figures


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__, quick="200 questions, one round")
    parser.add_argument("--size", type=int, default=12_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    size, rounds = (200, 1) if options.quick else (options.size, options.rounds)
    with own_database():
        show(measure(size, rounds), as_json=options.json)


if __name__ == "__main__":
    main()
