"""Read what the page of a judge's calibration shows."""

from __future__ import annotations

from dataclasses import dataclass

from evaluations.facts.judged_marks import (
    annotator_tests,
    calibration_of,
    judged_marks,
)
from evaluations.facts.params import JUDGE_PREFIX, ReportParams
from evaluations.models import Judge, Response
from evaluations.statistics.alternative_annotator import AgainstTeacher, AlternativeAnnotator
from evaluations.statistics.calibration import JudgedMark
from evaluations.statistics.figure import Report, ReportRow
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL
from gradeapp.accounts.models import User
from questions.models import Dataset

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Against:
    """The judge against one teacher, with the teacher's name."""

    teacher: User
    result: AgainstTeacher


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The judge on one model and condition: the row ``ALL``, the rows of a key, and the test."""

    asked: ModelCondition
    every: ReportRow
    rows: tuple[ReportRow, ...]
    test: AlternativeAnnotator
    teachers: tuple[Against, ...]

    @property
    def band(self) -> str:
        """``inside``, ``outside`` or ``open``: whether the judge is as near as a teacher; or ""."""
        return human_band(self.every)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A response on which judge and teachers differ."""

    mark: JudgedMark
    response: Response

    @property
    def difference(self) -> float:
        """The judge's points less the final mark."""
        return self.mark.points - self.mark.final


@dataclass(frozen=True, slots=True)
class CalibrationPage:
    """All that the page shows of one judge and dataset."""

    report: Report
    groups: tuple[Calibrated, ...]
    disagreements: tuple[Disagreement, ...]


def human_band(row: ReportRow) -> str:
    """Return whether a judge is as near to teachers as they are to each other.

    ``inside`` if the interval of ``excess`` has no value above 0, ``outside`` if none below 0,
    else ``open``; "" without an interval.
    """
    excess = row.figures["excess"]
    if excess.low is None or excess.high is None:
        return ""
    if excess.high <= 0:
        return "inside"
    return "outside" if excess.low >= 0 else "open"


def judged_datasets(judge: Judge) -> list[Dataset]:
    """Return the datasets that *judge* has marked responses of, by name."""
    return list(
        Dataset.objects.filter(tasks__questions__responses__judgements__judge=judge)
        .order_by("name")
        .distinct()
    )


def calibration_page(judge: Judge, dataset: Dataset, by: str) -> CalibrationPage:
    """Return the figures of *judge* on *dataset* by the key *by*, and where it differs most."""
    params = ReportParams(dataset.slug, marker=f"{JUDGE_PREFIX}{judge.name}", by=by)
    report = calibration_of(params)
    marks = judged_marks(params)
    tests = annotator_tests(marks, params)
    people = User.objects.in_bulk({row.teacher for test in tests.values() for row in test.teachers})
    groups = []
    for every in (row for row in report.rows if row.key["value"] == ALL):
        test = tests[judge.name, every.asked]
        groups.append(
            Calibrated(
                asked=every.asked,
                every=every,
                rows=tuple(
                    row for row in report.rows if row.asked == every.asked and row is not every
                ),
                test=test,
                teachers=tuple(Against(people[row.teacher], row) for row in test.teachers),
            )
        )
    apart = sorted(marks, key=lambda one: (-abs(one.points - one.final) / one.full, one.response))
    responses = (
        Response.objects.select_related("question__task")
        .defer("text", "reasoning")
        .in_bulk([one.response for one in apart[:MOST_SHOWN]])
    )
    found = tuple(
        Disagreement(one, responses[one.response])
        for one in apart[:MOST_SHOWN]
        if one.points != one.final
    )
    return CalibrationPage(report, tuple(groups), found)
