"""Answers in our own format are read as strictly as an exam."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluations.imports.rules.answer_records import AnswerFile
from evaluations.imports.rules.jsonl_answers import read_jsonl_answers

LINE: dict[str, Any] = {
    "dataset": "my-exam",
    "task": "Physics_MCQs",
    "id": "p1",
    "model": "my-model",
    "repeat": 1,
    "text": "The answer is B.",
}


def write(folder: Path, *lines: dict[str, Any], name: str = "answers.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def read_one(path: Path) -> AnswerFile:
    (file,) = read_jsonl_answers(path)
    return file


def test_a_line_is_one_answer(tmp_path: Path) -> None:
    more = {"finish_reason": "length", "prompt_tokens": 90, "completion_tokens": 12}
    (answer,) = read_one(write(tmp_path, LINE | more)).answers
    assert answer.identity == ("my-exam", "Physics_MCQs", "p1", "my-model", "", "", 1)
    assert (answer.text, answer.finish_reason) == ("The answer is B.", "length")
    assert (answer.prompt_tokens, answer.completion_tokens) == (90, 12)


def test_what_may_be_left_out_is(tmp_path: Path) -> None:
    (answer,) = read_one(
        write(tmp_path, LINE | {"text": "", "task": "x" * 120, "prompt_tokens": None})
    ).answers
    assert (answer.text, answer.finish_reason, answer.prompt_tokens) == ("", "", None)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": ""}, "bad_value"),
        ({"model": " m"}, "bad_value"),
        ({"model": "m" * 101}, "too_long"),
        ({"model": "my-m\u043edel"}, "bad_name"),
        ({"model": "my-\u202eledom"}, "bad_name"),
        ({"condition": "as published\u200b"}, "bad_name"),
        ({"task": 3}, "wrong_type"),
        ({"task": "x" * 121}, "too_long"),
        ({"repeat": "1"}, "wrong_type"),
        ({"repeat": True}, "wrong_type"),
        ({"repeat": None}, "wrong_type"),
        ({"repeat": 0}, "bad_value"),
        ({"repeat": 40000}, "bad_value"),
        ({"text": None}, "wrong_type"),
        ({"prompt_tokens": -1}, "bad_value"),
        ({"finish_reason": "x" * 41}, "too_long"),
        ({"answer": "B"}, "unknown_key"),
    ],
)
def test_a_wrong_line_refuses_the_file(tmp_path: Path, change: dict[str, Any], code: str) -> None:
    file = read_one(write(tmp_path, LINE | {"id": "p0"}, LINE | change))
    assert file.refused
    assert [(problem.row, problem.code) for problem in file.problems] == [(2, code)]


@pytest.mark.parametrize("key", list(LINE))
def test_a_missing_key_refuses_the_file(tmp_path: Path, key: str) -> None:
    line = {name: value for name, value in LINE.items() if name != key}
    assert [p.code for p in read_one(write(tmp_path, line)).problems] == ["missing_key"]


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"{oops\n", "broken_json"), (b"\xff\n", "not_utf8"), (b"", "empty"), (b"\n\n", "empty")],
)
def test_a_broken_file_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(content)
    assert [problem.code for problem in read_one(file).problems] == [code]


def test_an_answer_met_twice_refuses_the_later_file(tmp_path: Path) -> None:
    write(tmp_path, LINE, name="a.jsonl")
    write(tmp_path, LINE, name="b.jsonl")
    first, second = read_jsonl_answers(tmp_path)
    assert not first.refused
    assert [problem.code for problem in second.problems] == ["duplicate_id"]
    assert "a.jsonl, line 1" in second.problems[0].text


def test_reading_a_hopeless_file_stops(tmp_path: Path) -> None:
    lines = [LINE | {"repeat": 0}] * 150
    assert len(read_one(write(tmp_path, *lines)).problems) == 100


def test_nothing_there_is_said(tmp_path: Path) -> None:
    assert [p.code for p in read_one(tmp_path).problems] == ["no_files"]
    assert [p.code for p in read_one(tmp_path / "gone.jsonl").problems] == ["unreadable"]


def test_text_that_no_database_stores_is_replaced_and_named(tmp_path: Path) -> None:
    file = read_one(write(tmp_path, LINE | {"text": "a\x00b"}))
    assert file.answers[0].text == "a\ufffdb"
    assert [(p.code, p.fatal) for p in file.problems] == [("text_cleaned", False)]
