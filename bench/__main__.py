"""Every benchmark in a process of its own, and one table of their figures.

    python -m bench [--quick]

What teachers and leads wait for is measured on SQLite and, where one answers at DATABASE_URL
or on this machine, on PostgreSQL.
Each floor is measured in the same run as the figure beside it, on the same
machine: compare ratios, not seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psycopg

from bench.measured import COLUMNS, Measured, arguments

ROOT = Path(__file__).resolve().parent.parent
# What teachers and leads wait for differs between the two databases.
ON_BOTH = ("bench.bench_desk", "bench.bench_beside_run", "bench.bench_round")
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
    options = arguments(__doc__, quick="all in less than a minute").parse_args()
    broken = []
    if not options.json:
        print(COLUMNS, flush=True)
    for module, database in [(one, at) for one in modules() for at in databases(one)]:
        try:
            figures = figures_of(module, ["--quick"] if options.quick else [], database)
        except subprocess.CalledProcessError:
            broken.append(module)
            continue
        for one in figures:
            print(one.as_json() if options.json else one.as_row(), flush=True)
    for module in broken:
        print(f"{module} broke off; its message stands above.", file=sys.stderr)
    if not options.json:
        print("ratio: how many times the floor of the same run; 1 is the floor, smaller is better")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
