"""How fast questions come into the bank, beside bare reading and bare inserting.

    python -m bench.bench_import [--quick] [--json]

The floor parses the same JSON files and stores the same items and revisions with
one bulk statement a table, all in one transaction: it checks nothing, compares
nothing, and could not be run twice. The published GAOKAO-Bench is read where it
lies beside the project (``../shared/data/gaokao-bench``), else a generated folder
of its shape. The median of the rounds counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.measured import Measured, arguments, seconds_of, show
from bench.own_database import engine, own_database

PUBLISHED = Path(__file__).resolve().parents[2] / "shared" / "data" / "gaokao-bench"


def source(folder: Path, *, quick: bool) -> tuple[Path, str]:
    """What is read, and how it is called."""
    if PUBLISHED.is_dir() and not quick:
        return PUBLISHED, "the published GAOKAO-Bench"
    from bench.gaokao_shape import SHAPES, write_folder

    if quick:
        return write_folder(folder / "generated", SHAPES[:2]), "two generated files of its shape"
    return write_folder(folder / "generated"), "a generated folder of its shape"


def imported(path: Path) -> int:
    """Our import of everything at *path*; the number of items that are new."""
    from questions.services.imports import import_questions

    return import_questions("gaokao-bench", path).new


def emptied() -> None:
    """Take every row out, so that each round starts with an empty bank."""
    from django.core.management import call_command
    from django.db import connection

    from gradeapp.audit.append_only import lifted

    with lifted(connection):
        call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True)


def time_of(way: Callable[[Path], int], path: Path, expected: int) -> float:
    """Return the wall time; exit if *way* stores another number of items."""
    stored: list[int] = []
    seconds = seconds_of(lambda: stored.append(way(path)))
    if stored != [expected]:
        raise SystemExit(f"{way.__name__} stored {stored[0]} items instead of {expected}")
    return seconds


def measure(folder: Path, *, quick: bool) -> Measured:
    """Both ways in turn, and a second import of what is there already."""
    from bench.bare_import import bare  # after Django is set up

    path, what = source(folder, quick=quick)
    floors, imports, again = [], [], []
    items = bare(path)  # the first pass warms the disk's cache and counts
    for _ in range(1 if quick else 3):
        emptied()
        floors.append(time_of(bare, path, items))
        emptied()
        imports.append(time_of(imported, path, items))
        again.append(time_of(imported, path, 0))
    rate, floor = items / median(imports), items / median(floors)
    detail = f"{items:,} items of {what} into {engine()} in {median(imports):.2f} s"
    detail += f"; again, with 0 new, in {median(again):.2f} s"
    return Measured.rate("import of questions", rate, floor, unit="items/s", detail=detail)


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__, quick="two files, one round").parse_args()
    with own_database() as folder:
        show([measure(folder, quick=options.quick)], as_json=options.json)


if __name__ == "__main__":
    main()
