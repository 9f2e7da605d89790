"""The table of faults: what each test did, and what the ledger of the server and the database say.

A test calls ``fault_row`` once for each row of the table that it answers. Run with
``-p tests.faults.table``, pytest prints the table at its end and writes it to
``var/faults.md``. The rows travel as properties of the test's report, so ``-n`` changes nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

OURS = "ours"
FOREIGN = "aimock"
NO_CALLS = "no calls"
FILE = "faults.md"
WANTED = (
    *(f"R{number:02d}" for number in range(1, 28)),
    *("R36", "R43", "R46", "R47", "R50", "R51", "R52", "R55"),
)
HEAD = (
    "| row | server | what was done | ledger of the server | database |",
    "|---|---|---|---|---|",
)
PROPERTY = "fault"
FaultRow = Callable[..., None]


@pytest.fixture
def fault_row(record_property: Callable[[str, object], None]) -> FaultRow:
    """Add a row to the table: its number, what was done, and what ledger and database say."""

    def add(row: str, done: str, *, database: str, ledger: str = "", server: str = OURS) -> None:
        server = server if ledger else ""
        record_property(PROPERTY, (row, server, done, ledger or NO_CALLS, database))

    return add


def ledger_of(prompts: Iterable[str], requests: int) -> str:
    """Say how many requests a server got, billed, and billed more than once by their *prompts*."""
    counts = Counter(prompts)
    again = counts.total() - len(counts)
    return f"{requests} requests, {counts.total()} billed, {again} of them a second time"


def ledger_says(server: Any) -> str:
    """Say what the ledger of a scripted server has."""
    return ledger_of(server.ledger.prompts, len(server.requests))


def database_says(*runs: Any) -> str:
    """Say how many jobs and attempts of *runs* have which status."""
    from evaluations.models import Attempt, Job

    jobs = Counter(Job.objects.filter(run__in=runs).values_list("status", flat=True))
    states = Counter(Attempt.objects.filter(job__run__in=runs).values_list("status", flat=True))
    return f"jobs: {_counted(jobs)}; attempts: {_counted(states)}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))


# ---- at the end of the tests ----

_rows: set[tuple[str, ...]] = set()
_failed: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the rows of a test that passed."""
    if report.failed:
        _failed.add(report.nodeid)
    if report.when == "call" and report.passed:
        _rows.update(tuple(value) for name, value in report.user_properties if name == PROPERTY)


def lines() -> list[str]:
    """The table in Markdown, in the order of its rows."""
    made = ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in _rows]
    return [*HEAD, *sorted(made)]


def missing() -> list[str]:
    """The rows that no test has answered."""
    return [row for row in WANTED if row not in {found[0] for found in _rows}]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, and write it to ``var``."""
    if not _rows:
        return
    folder = Path(os.environ.get("GRADEAPP_VAR") or "var")
    folder.mkdir(parents=True, exist_ok=True)
    made = "\n".join(lines()) + "\n"
    (folder / FILE).write_text(made, encoding="utf-8")
    terminalreporter.section("faults")
    terminalreporter.write(made)
    if missing():
        terminalreporter.write_line(f"not answered in this run: {', '.join(missing())}")
    terminalreporter.write_line(f"written to {folder / FILE}")
