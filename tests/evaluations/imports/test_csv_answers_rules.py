"""Answers from a table: the same rows as in our own format, or one sentence why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluations.imports.rules.answer_records import AnswerFile
from evaluations.imports.rules.csv_answers import read_csv_answers

HEADER = "dataset,task,id,text"


def read(tmp_path: Path, content: str | bytes, model: str | None = "web-chat") -> AnswerFile:
    data = content.encode() if isinstance(content, str) else content
    (tmp_path / "answers.csv").write_bytes(data)
    (file,) = read_csv_answers(tmp_path, model=model, repeat=2)
    return file


def test_a_row_is_one_answer_and_the_import_says_what_it_does_not(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        f'{HEADER},repeat,setting,prompt_tokens\r\nx,T,p1,"Say ""B"",\nbecause",3,zero-shot,12\r\n'
        ",,,,,,\r\nx,T,p2,,,,\r\n",
    )
    assert not file.problems
    first, second = file.answers
    assert first.identity == ("x", "T", "p1", "web-chat", "zero-shot", "", 3)
    assert (first.text, first.prompt_tokens) == ('Say "B",\nbecause', 12)
    assert (second.text, second.repeat, second.row) == ("", 2, 4)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
def test_what_spreadsheets_write_is_read(tmp_path: Path, encoding: str) -> None:
    table = "id\ttask\tdataset\ttext\np1\t物理\tx\t答案是Ｂ\n".encode(encoding)
    (answer,) = read(tmp_path, table).answers
    assert (answer.task, answer.text) == ("物理", "答案是Ｂ")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("dataset,task,id\nx,T,p1\n", "no_header"),
        (f"{HEADER},answer\nx,T,p1,B,B\n", "unknown_column"),
        (f"{HEADER},text\nx,T,p1,B,B\n", "column_twice"),
        (f"{HEADER},repeat\nx,T,p1,B,two\n", "wrong_type"),
        (f"{HEADER}\nx,T,p1,B,B\n", "wrong_width"),
        (f"{HEADER}\nx,T,p1,B\nx,T,p1,C\n", "duplicate_id"),
        (f"{HEADER},setting\nx,T,p1,B,cot\n", "bad_value"),
        (f"{HEADER},model\nx,T,p1,B,web-\u0441hat\n", "bad_name"),
        (b"\x00\xff\x00", "not_text"),
        ("", "empty"),
    ],
)
def test_a_wrong_table_is_refused_whole(tmp_path: Path, content: str | bytes, code: str) -> None:
    file = read(tmp_path, content)
    assert file.refused
    assert file.problems[0].code == code


def test_a_row_needs_a_model_from_somewhere(tmp_path: Path) -> None:
    assert read(tmp_path, f"{HEADER}\nx,T,p1,B\n", model=None).problems[0].code == "missing_key"
