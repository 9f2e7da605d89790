"""Response times of the question list and its search on 12,000 questions.

    python -m bench.bench_bank [--quick] [--json] [--size 12000]

Each address is asked through the whole stack but the socket, in turn with its
floor on the same connection: for the list, one bare statement that sorts the
items and fetches the texts of fifty; for search, one bare scan of the texts for
the same words. p50 and p95 are over all addresses and rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from bench.measured import Measured, arguments, percentile, seconds_of, show
from bench.own_database import client_of, engine, own_database

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
    *("光合作用", "函数 导数", "the passage", "农业 政策 经济", "CO2", "没有这样的词语", "的"),
    "Which of the following",
)
PAGE_TEXTS = """
SELECT r.stem, r.passage, r.analysis FROM questions_question q
JOIN questions_task t ON t.id = q.task_id JOIN questions_dataset d ON d.id = t.dataset_id
JOIN questions_questionrevision r ON r.id = q.current_id
ORDER BY d.slug, t.slug, q.position LIMIT 50"""


def scan(query: str) -> None:
    """Scan the texts for every word of *query* with one SQL statement."""
    from django.db import connection

    words = [f"%{word}%" for word in query.casefold().split()]
    clause = " AND ".join(["text LIKE %s"] * len(words))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM questions_searchtext WHERE {clause}", words)
        cursor.fetchall()


def first_fifty() -> None:
    """Fetch the texts of the first page with one SQL statement."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(PAGE_TEXTS)
        cursor.fetchall()


def times(
    client: Any, queries: list[tuple[dict[str, str], Callable[[], None]]], rounds: int
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of every address and of its floor, after a warm-up round."""
    pages, floors = [], []
    for number in range(rounds + 1):
        for parameters, floor in queries:
            address = f"/questions/?{urlencode(parameters)}"

            def page(address: str = address) -> None:
                if client.get(address).status_code != 200:
                    raise SystemExit(f"{address} was refused")

            page_time, floor_time = 1000 * seconds_of(page), 1000 * seconds_of(floor)
            if number:
                pages.append(page_time)
                floors.append(floor_time)
    return pages, floors


def measure(size: int, rounds: int) -> list[Measured]:
    """Measure the list and the search, each p50 and p95."""
    from bench.bank_world import make_bank  # after Django is set up

    name = make_bank(size)
    client = client_of("curator")
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
