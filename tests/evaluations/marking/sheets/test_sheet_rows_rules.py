"""What a filled row of a marking sheet says, cell by cell."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.marking.sheets.rules.sheet_rows import (
    CellError,
    CellFault,
    FilledRow,
    ReadRow,
    SheetColumn,
    column_of,
    point_title,
    read_row,
    unguarded,
)

FLAGS = {"cut_off": "cut_off", "cut off": "cut_off", "答案被截断": "cut_off", "refuses": "refuses"}


def row(points: tuple[str, ...] = (), total: str = "", comment: str = "", flags: str = ""):  # type: ignore[no-untyped-def]
    return FilledRow(2, "sheet", "response", "0", points, total, comment, flags)


@pytest.mark.parametrize(
    ("title", "column"),
    [
        ("Point 3", 3),
        ("point 12 (max 2)", 12),
        ("采分点3", 3),
        ("采分点 10（满分2）", 10),
        ("Total", SheetColumn.TOTAL),
        ("总分", SheetColumn.TOTAL),
        (" comment ", SheetColumn.COMMENT),
        ("Id of the response", SheetColumn.ID),
        ("Point 0", None),
        ("Points", None),
        ("评分细则", SheetColumn.RUBRIC),
        ("anything", None),
        ("", None),
    ],
)
def test_columns_are_known_by_code_and_by_both_names(title: str, column: object) -> None:
    assert column_of(title) == column


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_title_that_is_written_is_read(language: str) -> None:
    assert [column_of(column.label(language)) for column in SheetColumn] == list(SheetColumn)
    assert column_of(point_title(7, language)) == 7


def test_points_comment_and_flags_are_read() -> None:
    found = read_row(row(("3", "0.5", "–"), "", "'=half", "Cut off；refuses, cut_off"), 2, FLAGS)
    expected = ReadRow((Decimal(3), Decimal("0.5")), None, "=half", ("cut_off", "refuses"))
    assert found == expected


@pytest.mark.parametrize(
    ("points", "total", "flags", "code"),
    [
        (("3", ""), "", "", CellFault.POINT_MISSING),
        (("3",), "", "", CellFault.POINT_MISSING),
        (("3", "–"), "", "", CellFault.POINT_MISSING),
        (("3", "2,5"), "", "", CellFault.POINT_NOT_A_NUMBER),
        (("3", "-1"), "", "", CellFault.POINT_NOT_A_NUMBER),
        (("3", "nan"), "", "", CellFault.POINT_NOT_A_NUMBER),
        (("3", "1e0"), "", "", CellFault.POINT_NOT_A_NUMBER),
        (("3", "２"), "", "", CellFault.POINT_NOT_A_NUMBER),
        (("3", "2026-01-02T00:00:00"), "", "", CellFault.POINT_NOT_A_NUMBER),
        (("3", "1", "1"), "", "", CellFault.POINT_TOO_MANY),
        (("3", "1"), "four", "", CellFault.TOTAL_NOT_A_NUMBER),
        (("3", "1"), "", "unsure", CellFault.UNKNOWN_FLAG),
    ],
)
def test_what_cannot_be_read_is_named(
    points: tuple[str, ...], total: str, flags: str, code: CellFault
) -> None:
    with pytest.raises(CellError) as refused:
        read_row(row(points, total, flags=flags), 2, FLAGS)
    assert refused.value.code is code


@pytest.mark.parametrize("made", ["2026-03-04T00:00:00", "10:30:00", "#NAME?", "#N/A", "#DIV/0!"])
def test_what_a_spreadsheet_made_of_a_comment_is_no_comment(made: str) -> None:
    with pytest.raises(CellError) as refused:
        read_row(row(("3", "1"), comment=made), 2, FLAGS)
    assert refused.value.code is CellFault.COMMENT_CHANGED
    assert read_row(row(("3", "1"), comment=f"见 {made}"), 2, FLAGS).comment == f"见 {made}"


def test_without_scoring_points_there_is_a_total() -> None:
    assert read_row(row(total="7.5"), 0, {}).total == Decimal("7.5")
    with pytest.raises(CellError, match="total_missing"):
        read_row(row(comment="good"), 0, {})


def test_an_untouched_row_is_empty() -> None:
    assert row(("", "–")).is_empty
    assert not row(("", "0")).is_empty
    assert not row(comment="later").is_empty


@pytest.mark.parametrize(
    ("written", "read"),
    [("'=1", "=1"), ("'quoted'", "'quoted'"), ("'", "'"), ("", ""), ("'＋1", "＋1"), ("=1", "=1")],
)
def test_only_a_guard_is_taken_away(written: str, read: str) -> None:
    assert unguarded(written) == read
