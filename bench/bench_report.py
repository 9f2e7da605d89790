"""How fast the report page comes, over 30,000 responses, beside adding up the same rows.

    python -m bench.bench_report [--quick] [--json] [--responses N]

The floor fetches what the page's points are made of once (the scores of one
policy and the final marks) with ``values_list`` and adds them up by model,
subject and part. The figure is every report of the page: rates, converted
totals with intervals, agreement of all pairs, repeats and ledger. The whole page
(choices, reports, charts, HTML) is timed beside it. The median of the rounds
counts, after one round that loads what is loaded once.

Reports that are computed from the fact table are timed one by one, at first and at a
second look. Their floor is one GROUP BY by run and question over the same narrow rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import Any

from bench.measured import Measured, arguments, seconds_of, show
from bench.own_database import client_of, engine, own_database

PAGE = "/reports/"


def floor() -> dict[tuple[str, ...], list[float]]:
    """Points and full marks by model, subject and part, added up in a plain loop."""
    from evaluations.models import FinalMark, ObjectiveScore

    where = ("run__language_model__name", "question__subject", "question__part")
    scores = ObjectiveScore.objects.filter(policy="strict").values_list(
        *(f"response__{name}" for name in where), "points", "full"
    )
    finals = FinalMark.objects.values_list(
        *(f"answer__response__{name}" for name in where), "value", "full"
    )
    sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for rows in (scores, finals):
        for *key, points, full in rows:
            pair = sums[tuple(key)]
            pair[0] += float(points)
            pair[1] += float(full)
    return sums


def reports() -> Any:
    """Every report of the page, from rows that are read once."""
    from bench.report_world import DATASET
    from evaluations.facts.params import TEACHERS, ReportParams
    from evaluations.reports.selectors.report_pages import overview

    return overview(ReportParams(DATASET, marker=TEACHERS))


FROM_FACTS = ("rates", "converted", "ledger", "cuts", "trend")


def group_by() -> None:
    """One GROUP BY over a narrow row per response, by run and question, with what it gives."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run_id, question_id, COUNT(*), SUM(points) FROM evaluations_answerfact"
            " WHERE marker = 'key' AND policy = 'strict' OR marker = 'teachers' AND counts"
            " GROUP BY run_id, question_id"
        )
        cursor.fetchall()


def from_facts(name: str, rounds: int, bare: float, detail: str) -> list[Measured]:
    """One report from the fact table, at first and again."""
    from bench.report_world import DATASET
    from evaluations.facts.params import TEACHERS, ReportParams
    from evaluations.reports.selectors.fact_groups import forget
    from evaluations.reports.selectors.reports import build_report

    params = ReportParams(DATASET, marker=TEACHERS, by="subject" if name == "cuts" else "")

    def first() -> None:
        forget()
        build_report(name, params)

    def again() -> None:
        build_report(name, params)

    return [
        Measured.time(f"report {name}", median_of(first, rounds), bare, detail=detail),
        Measured.time(f"report {name}, again", median_of(again, rounds), bare, detail=detail),
    ]


def check_same(sums: dict[tuple[str, ...], list[float]]) -> None:
    """What is fast must also be right: the reports give the floor's own sums."""
    for row in reports().rates.rows:
        key = (row.key["model"], row.key["subject"], row.key["part"])
        found = (row.figures["points"].value, row.figures["full"].value)
        if key in sums and any(abs(a - b) > 1e-6 for a, b in zip(found, sums[key], strict=True)):
            raise SystemExit(f"the report says {found} of {key}, the floor {sums[key]}")


def median_of(way: Callable[[], object], rounds: int) -> float:
    """Return the median wall time, after one round that is not counted."""
    return median([seconds_of(way) for _ in range(rounds + 1)][1:])


def measure(responses: int, rounds: int) -> list[Measured]:
    """The reports and the page, both beside the same floor."""
    from bench.report_world import make_world  # after Django is set up

    made = make_world(responses)
    check_same(floor())
    client = client_of("lead")

    def page() -> None:
        if client.get(PAGE).status_code != 200:
            raise SystemExit("the report page was refused")

    bare = median_of(floor, rounds)
    detail = f"{made:,} responses in {engine()}"
    grouped = median_of(group_by, rounds)
    single = [row for name in FROM_FACTS for row in from_facts(name, rounds, grouped, detail)]
    return [
        *single,
        Measured.time("reports of the page", median_of(reports, rounds), bare, detail=detail),
        Measured.time("report page, whole", median_of(page, rounds), bare, detail=detail),
    ]


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__, quick="1,200 responses, one round")
    parser.add_argument("--responses", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    responses, rounds = (1_200, 1) if options.quick else (options.responses, options.rounds)
    with own_database():
        show(measure(responses, rounds), as_json=options.json)


if __name__ == "__main__":
    main()
