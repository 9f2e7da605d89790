"""How fast reports come, over 30,000 responses, beside adding up the same rows.

    python -m bench.bench_report [--quick] [--json] [--responses N]

Reports that are computed from the fact table are timed one by one, at first and at a
second look. Their floor is one GROUP BY by run and question over the same narrow rows, at most
four times of which is allowed; a second look may take 0.15 s.
The page has every report: rates, converted totals with intervals, agreement of all pairs,
repeats and ledger. Its floor fetches what they are made of once with ``values_list`` and adds it
up by model, subject and part; the page (choices, reports, charts, HTML) may take 0.3 s over
30,000 responses. At first it comes in two steps: the top with the totals, then the rest, which is
timed with the top. Beside them: the agreement of 100,000 pairs, the memory of the process over all
reports, and a file with a row for each response.
The median of the rounds counts, after one round that loads what is loaded once.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from bench.measured import Measured, arguments, seconds_of, show
from bench.own_database import client_of, engine, own_database
from bench.peak_memory import peak_memory, restart_peak

PAGE = "/reports/"
WHOLE = "/reports/?whole=yes"


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


FROM_FACTS = ("rates", "converted", "ledger", "cuts", "trend", "repeats")
# Allowed: seconds for a second look, a first look at the page and first bytes of a file, and MB.
AGAIN, FIRST_PAGE, FIRST_BYTES, MEMORY = 0.15, 0.3, 1.0, 300.0


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
    from evaluations.reports.selectors import fact_query, kept_reports
    from evaluations.reports.selectors.reports import build_report

    params = ReportParams(DATASET, marker=TEACHERS, by="subject" if name == "cuts" else "")

    def first() -> None:
        fact_query.forget()
        kept_reports.forget()
        build_report(name, params)

    def again() -> None:
        build_report(name, params)

    return [
        Measured.time(f"report {name}", median_of(first, rounds), bare, detail=detail),
        Measured.time(f"report {name}, again", median_of(again, rounds), AGAIN, detail=detail),
    ]


def agreement(pairs: int, rounds: int) -> Measured:
    """Every figure of agreement of so many pairs, beside sorting their marks twice."""
    import numpy as np

    from evaluations.statistics.agreement import agreement_of

    rng = np.random.default_rng(750)
    x = rng.integers(0, 25, pairs) / 2
    y = np.clip(x + rng.integers(-4, 5, pairs) / 2, 0, 12)
    tolerance = np.ones(pairs)

    def sorts() -> None:
        for marks in (x, y):
            np.argsort(marks, kind="stable")
            np.lexsort((y, x))

    whole = median_of(lambda: agreement_of(x, y, tolerance), rounds)
    return Measured.time("agreement", whole, median_of(sorts, rounds), detail=f"{pairs:,} pairs")


def export(detail: str) -> list[Measured]:
    """A file with a row for each response: its first bytes, all of it, and the memory it takes.

    The floor writes the narrow facts of the same responses with the ``csv`` module.
    """
    from bench.report_world import DATASET
    from evaluations.facts.params import TEACHERS, ReportParams
    from evaluations.models import AnswerFact
    from evaluations.reports.services.exports import Asked, stream_export

    asked = Asked("scores", ReportParams(DATASET, marker=TEACHERS))

    def stream() -> float:
        parts = stream_export(asked, acting_user=None)
        first = seconds_of(lambda: next(parts))
        for _part in parts:
            pass
        return first

    def bare() -> None:
        facts = AnswerFact.objects.filter(policy__in=("strict", ""), counts=True).order_by("pk")
        facts = facts.exclude(marker="judge")
        for row in facts.values_list().iterator():
            csv.writer(io.StringIO()).writerow(row)

    firsts: list[float] = []
    before = restart_peak()
    whole = seconds_of(lambda: firsts.append(stream()))
    after = peak_memory()
    return [
        Measured.time("export, first bytes", firsts[0], FIRST_BYTES, detail=detail),
        Measured.time("export, whole", whole, seconds_of(bare), detail=detail),
        Measured.time("export, memory", after, before, unit="MB", detail="peak, beside before it"),
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


def measure(responses: int, rounds: int) -> Iterator[Measured]:
    """The reports and the page, both beside the same floor."""
    from bench.report_world import make_world  # after Django is set up
    from bench.round_world import as_after_a_while
    from evaluations.reports.selectors import fact_query, kept_reports

    made = make_world(responses)
    as_after_a_while()
    client = client_of("lead")

    def page(address: str = PAGE) -> None:
        if client.get(address).status_code != 200:
            raise SystemExit("the report page was refused")

    detail = f"{made:,} responses in {engine()}"
    grouped = median_of(group_by, rounds)
    restart_peak()
    for name in FROM_FACTS:
        yield from from_facts(name, rounds, grouped, detail)

    def top_anew() -> None:
        fact_query.forget()
        kept_reports.forget()
        page()

    def both_anew() -> None:
        top_anew()
        page(WHOLE)

    of_page, whole = median_of(reports, rounds), median_of(page, rounds)
    first, both = median_of(top_anew, rounds), median_of(both_anew, rounds)
    peak = peak_memory()  # before the floor, which has all rows in memory
    check_same(floor())
    bare = median_of(floor, rounds)
    yield Measured.time("reports of the page", of_page, bare, detail=detail)
    yield Measured.time("report page, whole", whole, bare, detail=detail)
    yield Measured.time("report page, first look", first, FIRST_PAGE, detail=detail)
    yield Measured.time("report page, with the rest", both, first, detail=detail)
    yield Measured.time("memory over all reports", peak, MEMORY, unit="MB", detail=detail)
    yield agreement(min(100_000, 100 * responses), rounds)
    yield from export(detail)


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
