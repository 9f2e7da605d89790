"""Rubrics as CSV and JSON: nothing is lost on the way, and what is wrong is named by its row."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal as D
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeapp.common.strict_json import JsonRefusal
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint
from questions.rules.rubric_files import (
    COLUMNS,
    FileRefusal,
    RubricFor,
    read_csv,
    read_json,
    write_csv,
    write_json,
)

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30
).filter(lambda text: bool(text.strip()))
MARKS = st.integers(1, 600).map(lambda halves: D(halves) / 2)
NAMES = st.text(st.sampled_from("abcü中-=_ 1"), min_size=1, max_size=8).filter(
    lambda text: bool(text.strip())
)


@st.composite
def rubrics(draw: st.DrawFn) -> RubricLines:
    """Any rubric whose groups all have a point."""
    groups = draw(
        st.lists(
            st.builds(
                PointGroup,
                cap=MARKS,
                text=st.one_of(st.just(""), TEXTS),
                sub=st.integers(1, 4),
                choose=st.one_of(st.none(), st.integers(1, 3)),
            ),
            max_size=3,
        )
    )
    points = [
        ScoringPoint(draw(TEXTS), draw(MARKS), group.sub, place)
        for place, group in enumerate(groups, start=1)
        for _ in range(draw(st.integers(1, 3)))
    ]
    points += draw(st.lists(st.builds(ScoringPoint, TEXTS, MARKS, st.integers(1, 4)), max_size=4))
    if not points:
        points = [ScoringPoint("one", D(2))]
    return RubricLines(tuple(draw(st.permutations(points))), tuple(groups))


FILES = st.lists(
    st.builds(RubricFor, NAMES, NAMES, NAMES, rubrics()),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.item,
)


def without_rows(read: list[RubricFor]) -> list[RubricFor]:
    return [RubricFor(*one.item, one.rubric) for one in read]


@given(FILES)
def test_what_is_written_as_csv_is_read_back(wanted: list[RubricFor]) -> None:
    assert without_rows(read_csv(write_csv(wanted))) == wanted


@given(FILES)
def test_what_is_written_as_json_is_read_back(wanted: list[RubricFor]) -> None:
    assert without_rows(read_json(write_json(wanted))) == wanted


@given(TEXTS)
def test_no_cell_begins_like_a_formula(text: str) -> None:
    """A spreadsheet shows what begins with an apostrophe as text."""
    rubric = RubricLines((ScoringPoint("=" + text, D(2)),))
    content = write_csv([RubricFor("a", "b", "@c", rubric)]).decode("utf-8-sig")
    for row in list(csv.reader(io.StringIO(content, newline="")))[1:]:
        assert row[2] == "'@c"
        assert row[5] == "'=" + text


def csv_of(*rows: str, header: str = "dataset,task,id,sub,points,text,group,cap,choose") -> bytes:
    return "\n".join([header, *rows]).encode()


def test_a_hand_written_csv_with_a_group_is_read() -> None:
    content = csv_of(
        "exam,history,7,1,4,names the reform,,,",
        "exam,history,7,1,2,effect one,9,4,2",
        "exam,history,7,1,2,effect two,9,4,2",
        "",
        "exam,history,8,,3,other,,,",
    )
    first, second = read_csv(content)
    assert first.row == 2
    assert first.rubric.groups == (PointGroup(D(4), "", 1, 2),)
    assert [point.group for point in first.rubric.points] == [None, 1, 1]
    assert second == RubricFor(
        "exam", "history", "8", RubricLines((ScoringPoint("other", D(3)),)), 6
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_is_read_as_spreadsheets_save_it(encoding: str, separator: str) -> None:
    text = csv_of("exam,history,7,1,4,指出改革,,,").decode().replace(",", separator)
    (one,) = read_csv(text.encode(encoding))
    assert one.rubric.points == (ScoringPoint("指出改革", D(4)),)


@pytest.mark.parametrize(
    ("content", "code", "row"),
    [
        (b"", "no_rubric", None),
        (b"PK\x03\x04\xff\x00\x80", "not_text", None),
        ("题\x00".encode("utf-16"), "not_text", None),
        (b"x" * (8 * 1024 * 1024 + 1), "too_large", None),
        (b"dataset,task,id,points,text\n" + b"d,t,1,1,x\n" * 100_000, "too_long", None),
        (csv_of(header=",".join(COLUMNS)), "no_rubric", None),
        (csv_of(header="dataset,task,id,points"), "missing_column", 1),
        (csv_of(header="dataset,task,id,points,text,mark"), "unknown_column", 1),
        (csv_of(header="dataset,task,id,points,text,text"), "unknown_column", 1),
        (csv_of("exam,history,7,1,4"), "row_length", 2),
        (csv_of("exam,history,7,1,4,,,,"), "empty_cell", 2),
        (csv_of("exam,,7,1,4,a,,,"), "empty_cell", 2),
        (csv_of("exam,history,7,1,four,a,,,"), "not_a_number", 2),
        (csv_of("exam,history,7,1,1_0,a,,,"), "not_a_number", 2),
        (csv_of("exam,history,7,1,４,a,,,"), "not_a_number", 2),
        (csv_of("exam,history,7,1,NaN,a,,,"), "not_a_number", 2),
        (csv_of("exam,history,7,1,1E-999999999,a,,,"), "not_a_number", 2),
        (csv_of("exam,history,7,1,4,a,1,1E9,"), "not_a_number", 2),
        (csv_of("exam,history,7,0,4,a,,,"), "not_whole", 2),
        (csv_of("exam,history,7,1.5,4,a,,,"), "not_whole", 2),
        (csv_of("exam,history,7,1,4,a,1,,"), "empty_cell", 2),
        (csv_of("exam,history,7,1,4,a,,3,"), "cap_without_group", 2),
        (csv_of("exam,h,7,1,4,a,1,3,", "exam,h,7,1,4,b,1,4,"), "group_differs", 3),
        (csv_of("exam,h,7,1,4,a\x00,,,"), "bad_character", 2),
        (csv_of("exam,h,7,1,4,ok,,,", 'exam,h,7,1,4,"a,,,'), "not_csv", 3),
        (csv_of(f"exam,h,7,1,4,{'x' * 200_000},,,"), "not_csv", 2),
    ],
)
def test_a_bad_csv_is_refused_with_its_row(content: bytes, code: str, row: int | None) -> None:
    with pytest.raises(FileRefusal) as refusal:
        read_csv(content)
    assert (refusal.value.code, refusal.value.row) == (code, row)


ITEM: dict[str, Any] = {
    "dataset": "exam",
    "task": "history",
    "id": "7",
    "rubric": [{"text": "a", "points": 2, "group": 1}],
    "rubric_groups": [{"cap": 2, "choose": 1}],
}


def json_of(**changes: Any) -> bytes:
    return json.dumps({"rubrics": [ITEM, ITEM | {"id": "8"} | changes]}).encode()


@pytest.mark.parametrize(
    ("content", "code", "row"),
    [
        (b"", "broken_json", 1),
        (b'{"rubrics": [}', "broken_json", 1),
        (b"[" * 100_000, "too_deep", None),
        (b'{"rubrics": []}', "no_rubric", None),
        (b'{"rubrics": {}}', "wrong_type", None),
        (b"{}", "missing_key", None),
        (json_of(extra=1), "unknown_key", 2),
        (json_of(id="7"), "item_twice", 2),
        (json_of(id=7), "wrong_type", 2),
        (json_of(id=""), "bad_value", 2),
        (json_of(rubric="a"), "wrong_type", 2),
        (json_of(rubric=[{"text": "a"}]), "missing_key", 2),
        (json_of(rubric=[{"text": "a", "points": "2"}]), "wrong_type", 2),
        (json_of(rubric=[{"text": "a", "points": True}]), "wrong_type", 2),
        (json_of(rubric=[{"text": "\x00", "points": 2}]), "bad_character", 2),
        (json_of(rubric=[{"text": "a", "points": 2, "sub": 0}]), "bad_value", 2),
        (json_of(rubric_groups=[{"cap": 2, "chose": 1}]), "unknown_key", 2),
        (json_of(rubric_groups=[{"choose": 1}]), "missing_key", 2),
    ],
)
def test_a_bad_document_is_refused_with_its_place(
    content: bytes, code: str, row: int | None
) -> None:
    with pytest.raises((FileRefusal, JsonRefusal)) as refusal:
        read_json(content)
    assert (refusal.value.code, refusal.value.row) == (code, row)
