"""Every benchmark in a process of its own, and one table of their figures.

    python -m bench [--quick]

``--quick`` runs each benchmark in its smallest form, two at once and on one
database: it shows that they run, and its figures say little. In full, what teachers
and leads wait for is measured on SQLite and, where one answers at DATABASE_URL or on
this machine, on PostgreSQL.
Each floor is measured in the same run as the figure beside it, on the same
machine: compare ratios, not seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg

from bench.measured import COLUMNS, Measured, arguments
from bench.own_database import TEMPLATE, template_database

ROOT = Path(__file__).resolve().parent.parent
# What teachers and leads wait for differs between the two databases.
ON_BOTH = (
    *("bench.bench_desk", "bench.bench_beside_run", "bench.bench_generation"),
    "bench.bench_round",
)
HERE = "postgresql://postgres@127.0.0.1:5432/postgres"


def modules() -> list[str]:
    """The benchmarks there are: every ``bench_*.py`` beside this file."""
    return [f"bench.{file.stem}" for file in sorted(Path(__file__).parent.glob("bench_*.py"))]


def databases(module: str) -> list[str]:
    """The addresses of the databases to measure *module* on; empty for SQLite."""
    own = os.environ.get("DATABASE_URL", "")
    if module not in ON_BOTH:
        return [own]
    postgresql = own if own.startswith("postgres") else HERE
    try:
        psycopg.connect(postgresql, connect_timeout=2).close()
    except psycopg.Error:
        return [""]
    return ["", postgresql]


def figures_of(module: str, options: Sequence[str], database: str = "") -> list[Measured]:
    """What *module* measured; raises CalledProcessError where it could not."""
    command = [sys.executable, "-m", module, "--json", *options]
    environment = os.environ | {"DATABASE_URL": database}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return [Measured.from_json(line) for line in done.stdout.splitlines()]


def main() -> int:
    """Print the table, a line as soon as it is known; 1 when a benchmark broke."""
    options = arguments(__doc__, quick="all in a small form, in a minute or two").parse_args()
    quick = options.quick
    own = [os.environ.get("DATABASE_URL", "")]
    todo = [(one, at) for one in modules() for at in (own if quick else databases(one))]

    def run(module: str, database: str) -> list[Measured] | None:
        try:
            return figures_of(module, ["--quick"] if quick else [], database)
        except subprocess.CalledProcessError:
            return None

    broken = []
    if not options.json:
        print(COLUMNS, flush=True)
    with ExitStack() as stack:
        if quick and TEMPLATE not in os.environ:
            stack.enter_context(template_database())
        threads = stack.enter_context(ThreadPoolExecutor(2 if quick else 1))
        done = threads.map(run, *zip(*todo, strict=True))
        for (module, _database), figures in zip(todo, done, strict=True):
            if figures is None:
                broken.append(module)
            for one in figures or ():
                print(one.as_json() if options.json else one.as_row(), flush=True)
    for module in broken:
        print(f"{module} broke off; its message stands above.", file=sys.stderr)
    if not options.json:
        print("ratio: how many times the floor of the same run; 1 is the floor, smaller is better")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
