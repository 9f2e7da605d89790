"""CSV that a spreadsheet opens without running anything, and that reads back unchanged."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.statistics.columns import Cell, report_table
from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from gradeapp.common.csv_file import cell, guard, manifest, render, sha256
from gradeapp.common.tables import table


def read_back(content: bytes) -> list[list[str]]:
    text = content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def one_cell(value: Cell) -> str:
    return read_back(render(table(["c"], [[value]])))[1][0]


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://x","y")',
        "\t=1",
        "\ufeff=1",
        "\u200b=1",
        "＝1+1",
        "-2+3",
        "@SUM(1)",
        "+1",
        "＋1",
        "－1",
        "＠A1",
        "\r=1",
        "\n=1",
        "\0=1",
        "   =1",
        "\u3000=1",
        "\u00a0\u200d\u2060 @x",
        "-0.5",  # text that looks like a number is text
        "\tindented",
    ],
)
def test_text_that_could_be_a_formula_is_guarded(text: str) -> None:
    assert one_cell(text) == "'" + text


@pytest.mark.parametrize(
    "text",
    ["", "a\n=1", "a=1", "1+1", "'=1", "  text", "\u200b", "解：x=1", "·=1", "\\=1", "(=1)", '"=1'],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert one_cell(text) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-0.5, "-0.5"),
        (-3, "-3"),
        (0.7215, "0.7215"),
        (7000.0, "7000"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e22, "1e+22"),
        (Decimal("-0.50"), "-0.50"),
        (Decimal("1E+2"), "100"),
        (None, ""),
    ],
)
def test_numbers_stay_numbers(value: Cell, written: str) -> None:
    assert one_cell(value) == written


@pytest.mark.parametrize("value", [math.nan, math.inf, Decimal("NaN"), Decimal("-Infinity")])
def test_what_is_no_number_is_refused(value: Cell) -> None:
    with pytest.raises(ValueError, match="finite"):
        cell(value)


def test_the_bytes() -> None:
    content = render(table(["模型", "n"], [["a,b", 1], ['say "hi"', None]]))
    assert content == '\ufeff"模型","n"\r\n"a,b","1"\r\n"say ""hi""",""\r\n'.encode()


def test_names_of_columns_are_guarded_too() -> None:
    assert read_back(render(table(["=1", "a"], []))) == [["'=1", "a"]]


def test_a_lone_surrogate_does_not_break_the_file() -> None:
    assert one_cell("a\ud800b") == "a\\ud800b"


@given(st.lists(st.lists(st.text(), min_size=3, max_size=3), max_size=8))
def test_any_text_reads_back_but_for_the_guard(rows: list[list[str]]) -> None:
    back = read_back(render(table(["a", "b", "c"], rows)))
    assert back == [["a", "b", "c"], *([guard(text) for text in row] for row in rows)]
    for row, read in zip(rows, back[1:], strict=True):
        assert all(got in (text, "'" + text) for got, text in zip(read, row, strict=True))


@given(st.text(alphabet=" \t\r\n\0=+-@＝＋－＠\ufeff\u200b\u3000a'1", max_size=6))
def test_no_written_text_begins_like_a_formula(text: str) -> None:
    significant = guard(text).lstrip(" \ufeff\u200b\u3000")
    assert significant[:1] not in set("=+-@\t\r\n\0＝＋－＠")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_read_back_exactly(value: float) -> None:
    assert float(one_cell(value)) == value


def test_a_report_with_its_reasons() -> None:
    report = Report(
        "agreement",
        {"dataset": "gaokao-bench"},
        [ReportRow({"model": "=cmd"}, {"bias": Figure(-0.5, 8), "ccc": missing("no_variance", 8)})],
    )
    assert read_back(render(report_table(report))) == [
        ["dataset", "model", "bias", "bias_n", "bias_reason", "ccc", "ccc_n", "ccc_reason"],
        ["gaokao-bench", "'=cmd", "-0.5", "8", "", "", "8", "no_variance"],
    ]


def test_manifest() -> None:
    content = render(table(["a"], [["x"], ["y"]]))
    digest = sha256(content)
    assert digest == hashlib.sha256(content).hexdigest()
    assert manifest(2, digest, {"report": "rates", "policy": "strict"}) == {
        "rows": 2,
        "sha256": digest,
        "parameters": {"report": "rates", "policy": "strict"},
    }
