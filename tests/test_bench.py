"""The benchmarks: their common protocol and table. What they measure is not asserted anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from django.utils import timezone

from bench.__main__ import ROOT, databases, figures_of, modules
from bench.browsing import form_in
from bench.desk_world import Saved, make_world, what_went_wrong
from bench.gaokao_shape import write_folder
from bench.measured import Measured, percentile, show
from bench.own_database import TEMPLATE
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.slots import claim_next
from gradeapp.accounts.models import User
from questions.importers.gaokao_bench import read_gaokao_bench
from tests.database_template import sqlite_template


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


@pytest.mark.once
def test_every_benchmark_runs_in_its_small_form() -> None:
    command = [sys.executable, "-m", "bench", "--quick", "--json"]
    environment = os.environ | {"DATABASE_URL": "", TEMPLATE: str(sqlite_template())}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    figures = [Measured.from_json(line) for line in done.stdout.splitlines()]
    assert len(figures) >= len(modules())


def test_a_benchmark_that_breaks_off_gives_no_figures() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        figures_of("bench.no_such_benchmark", [])


def test_what_teachers_wait_for_is_measured_on_both_databases_where_there_are_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody = "postgresql://nobody@127.0.0.1:1/none"
    monkeypatch.setattr("bench.__main__.HERE", nobody)
    monkeypatch.setenv("DATABASE_URL", "")
    assert databases("bench.bench_desk") == databases("bench.bench_import") == [""]
    monkeypatch.setenv("DATABASE_URL", nobody)
    assert databases("bench.bench_desk") == [""]  # it does not answer
    assert databases("bench.bench_import") == [nobody]


@pytest.fixture
def saved_mark(db: None) -> Saved:
    """A small world of the desk's benchmark in which one teacher saved one mark."""
    world = make_world(teachers=2, answers_a_question=1)
    teacher = User.objects.get(username=world.teachers[0])
    slot = claim_next(teacher, now=timezone.now())
    assert slot is not None
    rubric = slot.answer.rubric
    points = [Decimal(0)] * rubric.points.count() if rubric else []
    total = None if rubric else Decimal(0)
    key = uuid.uuid4()
    save_mark(
        slot, teacher, key=key, based_on_version=0, points=points, total=total, now=timezone.now()
    )
    return Saved(teacher.username, str(slot.answer.public_id), str(key))


def test_the_desk_has_a_figure_only_where_every_confirmed_save_is_stored(saved_mark: Saved) -> None:
    shown = [(saved_mark.answer, saved_mark.teacher)]
    assert what_went_wrong([saved_mark], shown) == []
    other = Saved(saved_mark.teacher, saved_mark.answer, str(uuid.uuid4()))
    assert "1 confirmed saves are not stored" in what_went_wrong([saved_mark, other], shown)[0]
    assert "1 stored marks were never confirmed" in what_went_wrong([], [])[0]


def test_the_desk_has_no_figure_where_a_response_was_handed_out_twice(saved_mark: Saved) -> None:
    pair = (saved_mark.answer, saved_mark.teacher)
    assert "same teacher again" in what_went_wrong([saved_mark], [pair, pair])[0]
    three = [(saved_mark.answer, name) for name in ("a", "b", "c")]
    assert "more than two teachers" in what_went_wrong([saved_mark], three)[0]


def test_a_form_is_read_as_the_page_holds_it() -> None:
    page = """<form action="/skip/"><input name="no" value="1"></form>
    <form id="marks" action="/r/1/save/"><input type="hidden" name="key" value="k">
    <input type="radio" name="point-1" value="0"><input type="radio" name="point-1" value="0.5">
    <input name="point-2" value=""><input type="checkbox" name="flags" value="refuses">
    <textarea name="comment"></textarea></form><input name="outside" value="1">"""
    form = form_in(page, "/save/")
    assert form.action == "/r/1/save/"
    assert form.fields == {"key": "k", "point-2": "", "comment": ""}
    assert form.offered == {"point-1": ["0", "0.5"]}
