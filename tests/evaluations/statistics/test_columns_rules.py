"""A report in columns."""

from __future__ import annotations

import pytest

from evaluations.statistics.columns import report_table
from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from gradeapp.common.tables import table


def test_a_report_in_columns() -> None:
    report = Report(
        "rates",
        {"dataset": "gaokao-bench", "policy": "strict", "year": 2010},
        [
            ReportRow(
                {"model": "m", "subject": "Physics"},
                {"points": Figure(9.5, 4), "rate": Figure(0.5, 4, 0.25, 0.75)},
            ),
            ReportRow({"model": "m", "subject": "ALL"}, {"rate": missing("no_data")}),
        ],
    )
    found = report_table(report)
    assert found.columns == (
        "dataset",
        "policy",
        "model",
        "subject",
        "points",
        "points_n",
        "points_reason",
        "rate",
        "rate_n",
        "rate_low",
        "rate_high",
        "rate_reason",
    )
    assert found.rows == (
        ("gaokao-bench", "strict", "m", "Physics", 9.5, 4, None, 0.5, 4, 0.25, 0.75, None),
        ("gaokao-bench", "strict", "m", "ALL", None, None, None, None, 0, None, None, "no_data"),
    )


def test_the_key_is_not_repeated_by_the_context() -> None:
    report = Report(
        "converted",
        {"marker": "teachers", "policy": None},
        [ReportRow({"model": "m", "marker": "teachers"}, {"total": Figure(375.0, 24)})],
    )
    assert report_table(report).columns == ("model", "marker", "total", "total_n", "total_reason")


def test_a_report_without_rows_keeps_its_context() -> None:
    found = report_table(Report("rates", {"policy": "strict"}, []))
    assert (found.columns, found.rows) == (("policy",), ())


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [(["a", "a"], [], "one name"), (["a", "b"], [["x", "y"], ["x"]], "as long as")],
)
def test_ragged_tables_are_refused(columns: list[str], rows: list[list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table(columns, rows)
