"""The benchmarks: their common protocol and table. What they measure is not asserted anywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from bench.__main__ import ROOT, figures_of, modules
from bench.gaokao_shape import write_folder
from bench.measured import Measured, percentile, show
from questions.importers.gaokao_bench import read_gaokao_bench


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([3.0], 95, 3.0),
        ([4.0, 1.0, 3.0, 2.0], 50, 2.0),  # 2 of 4 are at most 2: half of them
        ([4.0, 1.0, 3.0, 2.0], 51, 3.0),  # half is not 51 %
        ([float(n) for n in range(1, 101)], 95, 95.0),
        ([float(n) for n in range(1, 101)], 100, 100.0),
    ],
)
def test_a_percentile_is_a_value_that_was_measured(
    values: list[float], percent: float, expected: float
) -> None:
    assert percentile(values, percent) == expected


def test_a_ratio_says_how_many_times_the_floor_whichever_way_is_better() -> None:
    assert Measured.time("t", 3.0, 1.5).ratio == 2.0
    assert Measured.rate("r", 100.0, 200.0, unit="items/s").ratio == 2.0


def test_a_figure_survives_the_way_from_child_to_table(capsys: pytest.CaptureFixture[str]) -> None:
    one = Measured.rate("导入", 1000.0, 2500.0, unit="items/s", detail="2,811 items")
    show([one], as_json=True)
    line = capsys.readouterr().out
    assert set(json.loads(line)) == {"name", "figure", "unit", "floor", "ratio", "detail"}
    assert Measured.from_json(line) == one


def test_the_table_shows_figure_floor_and_ratio_of_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show([Measured.time("generation", 0.5, 0.25, detail="300 calls")], as_json=False)
    header, row, detail = capsys.readouterr().out.splitlines()
    assert header.split() == ["benchmark", "gradeapp", "floor", "ratio"]
    assert row.split() == ["generation", "0.5", "s", "0.25", "s", "2.00"]
    assert detail.strip() == "300 calls"


def test_the_generated_folder_has_the_shape_of_the_benchmark(tmp_path: Path) -> None:
    files = list(read_gaokao_bench(write_folder(tmp_path)))
    assert len(files) == 32
    assert [problem for file in files for problem in file.problems] == []
    parts = Counter(record.part.value for file in files for record in file.records)
    assert parts == {"objective": 1781, "subjective": 1030}


@pytest.mark.parametrize("module", modules())
def test_each_benchmark_runs_alone_with_the_common_options(module: str) -> None:
    command = [sys.executable, "-m", module, "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--quick" in done.stdout
    assert "--json" in done.stdout


def test_a_benchmark_that_breaks_off_gives_no_figures() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        figures_of("bench.no_such_benchmark", [])
