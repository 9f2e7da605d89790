"""How prediction-powered estimates do on marks of real teachers, drawn again and again.

    python -m bench.ppi_simulation FOLDER [--draws N] [--looks]

FOLDER has files of marks of two teachers in the form of GAOKAO-Bench (``score``,
``correction_score``). The truth is the mean of both teachers over all rows. Three judges are
made from it: good (the marks with noise of an eighth of the full marks), biased (15 % of the full
marks more) and useless (the rates of other rows). Prints a table for docs/statistics.md; with
``--looks`` that of intervals that are looked at while people mark.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from evaluations.statistics.confidence_sequence import FIRST_LOOK, Looks, false_alarms
from evaluations.statistics.estimate_simulation import Simulated, simulate
from evaluations.statistics.prediction_powered import Codes, MarkedTable, Vector
from evaluations.statistics.sample_plan import Stratum, allocation, deviations

MARKED = (30, 60, 120, 240)
GROUPS = 60
# A sample that is planned from the judge's marks, and what is marked in all after the next one.
PARTS = (120, 360)


def rows(folder: Path) -> Iterator[tuple[int, float, float]]:
    """Yield the file's number, full marks and mean mark of each row that teachers marked."""
    for number, file in enumerate(sorted(folder.glob("*.json"))):
        for item in json.loads(file.read_text(encoding="utf-8"))["example"]:
            given = item["correction_score"]
            marks = [m for m in (given if isinstance(given, list) else [given]) if m is not None]
            if marks:
                yield number, float(item["score"]), float(np.mean(marks))


def judges(full: Vector, human: Vector, rng: np.random.Generator) -> dict[str, Vector]:
    """Return the marks of the three judges."""
    noise = rng.normal(0, 1 / 8, len(full)) * full
    return {
        "good": np.clip(np.round(2 * (human + noise)) / 2, 0, full),
        "biased": np.clip(human + 0.15 * full, 0, full),
        "useless": rng.permutation(human / full) * full,
    }


def simulations(folder: Path, draws: int) -> Iterator[tuple[str, str, int, Simulated]]:
    """Yield judge, design, sample size and result of each setting."""
    task, full, human = (np.array(column) for column in zip(*rows(folder), strict=True))
    rng = np.random.default_rng(2026)
    groups = rng.integers(0, len(full) // 4, len(full))
    designs = {
        "simple": {},
        "by task": {"stratum": task.astype(np.int64)},
        "in clusters": {"cluster": groups},
    }
    for name, judge in judges(full, human, rng).items():
        for design, columns in designs.items():
            table = MarkedTable.of(full, judge, human, **columns)
            for marked in MARKED:
                if design == "simple" or marked >= GROUPS:
                    made = simulate(table, draws=draws, marked=marked, rng=rng)
                    yield name, design, marked, made


def looks(folder: Path, draws: int) -> Iterator[tuple[str, str, Looks]]:
    """Yield judge, design and the alarms of looking again and again while people mark."""
    task, full, human = (np.array(column) for column in zip(*rows(folder), strict=True))
    rng = np.random.default_rng(2027)
    groups = rng.integers(0, len(full) // 4, len(full))
    made_of = judges(full, human, rng)
    for name, judge in made_of.items():
        for design, columns in {"simple": {}, "in clusters": {"cluster": groups}}.items():
            table = MarkedTable.of(full, judge, human, **columns)
            last = len(table.strata) // 2
            times = range(FIRST_LOOK, last + 1, max((last - FIRST_LOOK) // 40, 1))
            made = false_alarms(table, draws=draws, looks=times, narrowest=last // 2, rng=rng)
            yield name, design, made
    yield from stratified_looks(task.astype(np.int64), full, human, made_of, draws)


def stratified_looks(
    task: Codes, full: Vector, human: Vector, made_of: dict[str, Vector], draws: int
) -> Iterator[tuple[str, str, Looks]]:
    """Yield the same for samples in strata as they are planned for a total, one after another."""
    rng = np.random.default_rng(2028)
    for name, judge in made_of.items():
        table = MarkedTable.of(full, judge, human, stratum=task)
        spread = deviations(full, judge, table.strata)
        units = np.bincount(table.strata).tolist()
        strata = [Stratum("", str(i), n, spread[i]) for i, n in enumerate(units)]
        wanted = np.zeros(len(strata), dtype=np.int64)
        parts = []
        for size in PARTS:
            marked = [replace(one, marked=int(n)) for one, n in zip(strata, wanted, strict=True)]
            drawn = np.array(allocation(marked, size))
            parts.append((drawn - wanted).tolist())
            wanted = drawn
        times = range(FIRST_LOOK, PARTS[-1] + 1, 10)
        made = false_alarms(
            table, draws=draws, looks=times, narrowest=PARTS[0], rng=rng, parts=parts
        )
        yield name, "by task, in two parts", made


def print_looks(folder: Path, draws: int) -> None:
    """Print how often an interval misses the truth at some look."""
    print("| judge | sample | looks | usual interval | sequence | sequence, human-only |")
    print("|---|---|---|---|---|---|")
    for judge, design, made in looks(folder, draws):
        print(
            f"| {judge} | {design} | {made.looks} | {made.usual:.1%} | {made.sequence:.1%} "
            f"| {made.sequence_human_only:.1%} |"
        )
    print(f"\n{draws} draws each.")


def main() -> None:
    """Print the table and the mean coverage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--looks", action="store_true", help="the table of repeated looks")
    options = parser.parse_args()
    if options.looks:
        print_looks(options.folder, options.draws)
        return
    print("| judge | sample | marked | coverage | width | labels saved |")
    print("|---|---|---|---|---|---|")
    coverages = []
    for judge, design, marked, made in simulations(options.folder, options.draws):
        coverages.append(made.coverage)
        print(
            f"| {judge} | {design} | {marked} | {made.coverage:.1%} | {made.width_ratio:.2f} "
            f"| {made.label_ratio:.1f} x |"
        )
    print(f"\n{options.draws} draws each; mean coverage {np.mean(coverages):.1%}.")


if __name__ == "__main__":
    main()
