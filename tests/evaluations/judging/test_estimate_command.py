"""``manage.py estimate``: the JSON that others read, and one sentence for a bad table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

ROWS = [(f"q{i}", 10, (i * 7) % 11, (i * 7) % 11 if i % 4 == 0 else "") for i in range(60)]


def written(path: Path, rows: list[tuple[object, ...]], names: str, start: str = "") -> Path:
    lines = [names, *(",".join(map(str, row)) for row in rows)]
    path.write_text(start + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    call_command("estimate", *arguments, "--format", "json")
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_it_prints_what_is_documented(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "t.csv", ROWS, "item,full,judge,human", start="\ufeff")
    found = run(capsys, str(file))
    assert list(found) == ["n", "marked", "human_only", "ppi", "lambda"]
    assert (found["n"], found["marked"]) == (60, 15)
    # q0, q4, ... q56: sum of (28 k) % 11 over k = 0..14 is 69 of 150 points.
    assert found["human_only"]["value"] == pytest.approx(69 / 150)  # type: ignore[index]
    assert list(found["ppi"]) == ["value", "low", "high"]  # type: ignore[call-overload]
    columns = [(*row[:3], row[2], f"s{i % 2}", i // 3) for i, row in enumerate(ROWS)]
    names = "Item, full,judge,human,stratum,cluster"
    whole = written(tmp_path / "whole.csv", columns, names)
    options = [str(whole), "--simulate", "50", "--marked", "20", "--random-seed", "1"]
    first = run(capsys, *options)
    assert list(first) == ["draws", "coverage", "width_ratio", "label_ratio"]
    assert first == run(capsys, *options)
    call_command("estimate", str(whole))
    assert "ppi: 0." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The table has no rows."),
        ("item,full,judge,human\n", "The table has no rows."),
        ("item,full,judge\na,1,1\n", "with the name: human."),
        ("item,full,judge,human,human\na,1,1,1,1\n", "with the name: human."),
        ("item,full,judge,human\na,1,1\n", "Row 2 has 3 cells, but there are 4 columns."),
        ("item,full,judge,human\na,1,1,\nb,0,1,1\n", "Row 3: full marks must be above 0, not 0."),
        ("item,full,judge,human\na,1,nan,1\n", "“nan” in the column judge is not a number."),
        ("item,full,judge,human\na,1,,1\n", "“” in the column judge is not a number."),
        ("item,full,judge,human\na,1,１,1\n", "“１” in the column judge is not a number."),
        ("item,full,judge,human\na,1,1,1.5\n", "the human mark 1.5 is not between 0 and 1."),
        ("item,full,judge,human\na,1,1,-1\n", "the human mark -1 is not between 0 and 1."),
        ("item,full,judge,human\na,1,1,1\na,1,1,1\n", "“a” is in row 2 and again in row 3."),
        ("item,full,judge,human\n,1,1,1\n", "Row 2 has no item."),
        ("item,full,judge,human\na,1,1,\n", "The table has no human mark."),
        ('item,full,judge,human\n"a,1,1,\n', "line 2 cannot be read."),
        ("item,full,judge,human\na,1e300,1,1\n", "“1e300” in the column full is not a number."),
    ],
)
def test_a_bad_table_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, sentence: str
) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match="1"):
        call_command("estimate", str(file))
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--level", "1"], "The level must be between 0 and 1"),
        (["--simulate", "5"], "--simulate needs --marked"),
        (["--marked", "5"], "--marked needs --simulate"),
        (["--simulate", "5", "--marked", "9"], "needs a human mark in each row; 45 rows"),
        (["--simulate", "0", "--marked", "9"], "The number of draws must be 1 to"),
    ],
)
def test_bad_options_get_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    file = written(tmp_path / "t.csv", ROWS, "item,full,judge,human")
    with pytest.raises(SystemExit, match="1"):
        call_command("estimate", str(file), *options)
    assert sentence in capsys.readouterr().err


def test_a_sample_is_smaller_than_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = written(tmp_path / "t.csv", [(*r[:3], r[2]) for r in ROWS], "item,full,judge,human")
    for marked in ("1", "60"):
        with pytest.raises(SystemExit, match="1"):
            call_command("estimate", str(whole), "--simulate", "5", "--marked", marked)
        assert f"{marked} rows cannot be drawn from 60" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="1"):
        call_command("estimate", str(tmp_path / "none.csv"))
    assert "The file none.csv cannot be read." in capsys.readouterr().err
