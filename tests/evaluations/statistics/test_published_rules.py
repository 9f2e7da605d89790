"""The released figures of GAOKAO-Bench, recomputed from its released answers and marks.

Rows are built straight from the published files, so that the statistics are
tested without importer or database.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluations.statistics.accuracy import converted_report, rates
from evaluations.statistics.figure import Figure, Report
from evaluations.statistics.gaokao_750 import published_item_mean
from evaluations.statistics.rows import ScoredAnswer
from tests.evaluations.statistics.statistics_rows import answered, marked

pytestmark = pytest.mark.shareddata

SUBJECTS = {
    "Math_II": "Humanities Mathematics",
    "Math_I": "Sciences Mathematics",
    "Political_Science": "Politics",
}
JUDGE = "judge:gpt-4-1106-preview"

# Points, full marks and sub-answers of the released objective summary.
OBJECTIVE = [
    ("Chinese", 270, 501, 167),
    ("English", 2052, 2205, 1305),
    ("Sciences Mathematics", 575, 1070, 214),
    ("Humanities Mathematics", 690, 1090, 218),
    ("Physics", 213, 384, 64),
    ("Chemistry", 330, 744, 124),
    ("Biology", 726, 900, 150),
    ("Politics", 972, 1280, 320),
    ("History", 868, 1148, 287),
    ("Geography", 304, 380, 95),
    ("ALL", 7000, 9702, 2944),
]

# Percentages of run 1 with two teachers, as the data's notes give them.
TAUGHT = [
    ("Chinese", 34.86),
    ("English", 73.14),
    ("Sciences Mathematics", 15.97),
    ("Humanities Mathematics", 16.82),
    ("Physics", 17.65),
    ("Chemistry", 20.77),
    ("Biology", 36.17),
    ("Politics", 42.52),
    ("History", 58.64),
    ("Geography", 66.43),
    ("ALL", 36.27),
]


def subject_of(file: Path) -> str:
    words = file.stem.split("_", 2)[2]
    return next(
        (name for key, name in SUBJECTS.items() if words.startswith(key)), words.split("_")[0]
    )


def examples(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file in sorted(folder.glob("gpt-*.json")):
        for item in json.loads(file.read_text(encoding="utf-8"))["example"]:
            yield file.stem, subject_of(file), item


def letters(value: str | list[str]) -> list[str]:
    """Some released lists are written as the text of a list."""
    return list(ast.literal_eval(value)) if isinstance(value, str) else list(value)


def released_points(subject: str, given: list[str], key: list[str], score: float) -> float:
    """Physics gives 6, 3 for a part of the key, 0; all else all or nothing; lengths must agree."""
    if len(given) != len(key):
        return 0.0
    if subject != "Physics":
        return sum(score for got, right in zip(given, key, strict=True) if got == right)
    return sum(
        6.0 if got == right else 3.0 if set(got) <= set(right) else 0.0
        for got, right in zip(given, key, strict=True)
    )


def objective_rows(results: Path) -> list[ScoredAnswer]:
    rows = []
    for task, subject, item in examples(results / "gpt_4_0314_obj"):
        key, given = letters(item["standard_answer"]), letters(item["model_answer"])
        score = float(item["score"])
        points = released_points(subject, given, key, score)
        rows.append(
            answered(
                task=task,
                subject=subject,
                points=points,
                full=score * len(key),
                subs=len(key),
                policy="published",
            )
        )
    return rows


def subjective_rows(folder: Path, field: str, marker: str) -> list[ScoredAnswer]:
    rows = []
    seen: set[tuple[str, object]] = set()
    for task, subject, item in examples(folder):
        if (task, item["index"]) in seen:
            continue
        seen.add((task, item["index"]))
        points = published_item_mean(item[field])
        rows.append(
            marked(
                task=task,
                subject=subject,
                points=points,
                full=float(item["score"]),
                marker=marker,
                policy="published",
            )
        )
    return rows


@pytest.fixture
def gpt4(shared_data: Path) -> list[ScoredAnswer]:
    results = shared_data / "gaokao-bench" / "Results"
    judged = results / "gpt_4_0314_sub" / "gpt-4-1106-preview_correction_wo_marking_criterion"
    return objective_rows(results) + subjective_rows(judged, "model_correction_score", JUDGE)


@pytest.fixture
def gpt35(shared_data: Path) -> list[ScoredAnswer]:
    return subjective_rows(shared_data / "human-marks", "correction_score", "teachers")


def row_of(report: Report, **key: str) -> dict[str, Figure]:
    (found,) = [row.figures for row in report.rows if key.items() <= row.key.items()]
    return found


def test_objective_summary(gpt4: list[ScoredAnswer]) -> None:
    report = rates(gpt4)
    for subject, points, full, n in OBJECTIVE:
        row = row_of(report, subject=subject, part="objective")
        assert (row["points"].value, row["full"].value, row["rate"].n) == (points, full, n), subject
    rate = row_of(report, subject="ALL", part="objective")["rate"].value
    assert rate == pytest.approx(0.7215, abs=5e-5)


def test_judges_summary(gpt4: list[ScoredAnswer]) -> None:
    row = row_of(rates(gpt4), subject="ALL", part="subjective")
    assert (row["full"].value, row["rate"].n) == (11839, 1030)
    assert row["points"].value == pytest.approx(7672.83)


@pytest.mark.parametrize(
    ("stream", "total", "full_precision"),
    [("sciences", 466.1, 465.998), ("humanities", 548.3, 548.322)],
)
def test_merged_totals(
    gpt4: list[ScoredAnswer], stream: str, total: float, full_precision: float
) -> None:
    row = row_of(converted_report(gpt4), stream=stream, subject="ALL", marker=JUDGE)
    assert row["total"].value == total
    assert row["total_full_precision"].value == pytest.approx(full_precision, abs=5e-4)


def test_merged_subjects_digit_for_digit(gpt4: list[ScoredAnswer], shared_data: Path) -> None:
    merged = json.loads((shared_data / "gaokao-bench/Results/merge_score.json").read_text())
    names = {"Sciences Mathematics": "Science-Math", "Humanities Mathematics": "Liberal-Arts-Math"}
    for row in converted_report(gpt4).rows:
        subject = row.key["subject"]
        if subject != "ALL":
            released = merged[names.get(subject, subject)]
            shown = [row.figures[name].value for name in ("objective", "subjective", "total")]
            keys = ("Objective_score", "Subjective_score", "total_score")
            assert shown == [released[key] for key in keys], subject


def test_two_teachers_marks(gpt35: list[ScoredAnswer]) -> None:
    report = rates(gpt35)
    pooled = row_of(report, subject="ALL", part="subjective")
    assert (pooled["points"].value, pooled["full"].value) == (4289, 11824)
    assert pooled["unscored"].value == 1
    for subject, percent in TAUGHT:
        rate = row_of(report, subject=subject, part="subjective")["rate"].value
        assert rate is not None
        assert round(100 * rate, 2) == percent, subject


def test_without_objective_answers_there_is_no_total(gpt35: list[ScoredAnswer]) -> None:
    total = row_of(converted_report(gpt35), stream="sciences", subject="ALL")["total"]
    assert total.value is None
    assert total.reason is not None
    assert total.reason.startswith("missing:Chinese/objective,")
