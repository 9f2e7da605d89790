"""Published answers: what a row gives, what is named, what refuses its file."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evaluations.imports.rules.answer_records import AnswerFile, Grading
from evaluations.imports.rules.model_outputs import read_model_outputs

KEYWORD = "2010-2022_Geography_Open-ended_Questions"
ITEM: dict[str, Any] = {"index": 0, "score": 10, "question": "Why?", "model_output": "Because."}
JUDGED = {"model_correction": "【总分】8分", "model_correction_score": [8.0]}


def write(
    folder: Path, items: list[dict[str, Any]], name: str = f"gpt-x_{KEYWORD}", **header: Any
) -> Path:
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"keyword": KEYWORD, **header, "example": items}), encoding="utf-8")
    return file


def read_one(path: Path, **options: Any) -> AnswerFile:
    (file,) = read_model_outputs(path, **options)
    return file


@pytest.mark.parametrize(
    ("header", "option", "model"),
    [
        ({"model_name": "gpt-y"}, None, "gpt-y"),
        ({}, None, "gpt-x"),
        ({"model_name": "gpt-y"}, "gpt-z", "gpt-z"),
    ],
)
def test_the_model_is_the_option_the_header_or_the_file_name(
    tmp_path: Path, header: dict[str, str], option: str | None, model: str
) -> None:
    file = read_one(write(tmp_path, [ITEM], **header), model=option, repeat=2)
    (answer,) = file.answers
    assert (answer.model, answer.repeat) == (model, 2)
    assert (answer.dataset, answer.task, answer.external_id) == ("gaokao-bench", KEYWORD, "0")
    assert answer.text == "Because."


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ({}, "no_model"),
        ({"model_name": "gpt\u200b-y"}, "bad_name"),
        ({"model_name": "gpt-y", "teacher_model_name": "g\u0440t-y"}, "bad_name"),
    ],
)
def test_without_a_plain_name_of_the_model_the_file_is_refused(
    tmp_path: Path, header: dict[str, str], code: str
) -> None:
    file = read_one(write(tmp_path, [ITEM | JUDGED], name="answers", **header))
    assert file.refused
    assert [problem.code for problem in file.problems][:1] == [code]


@pytest.mark.parametrize(
    ("score", "marks"),
    [
        ([6, 7], (Decimal(6), Decimal(7))),
        ([6.5, None], (Decimal("6.5"), None)),
        ([None, None], (None, None)),
    ],
)
def test_marks_are_kept_exactly(tmp_path: Path, score: list[Any], marks: tuple[Any, ...]) -> None:
    (answer,) = read_one(write(tmp_path, [ITEM | {"correction_score": score}])).answers
    assert answer.marks == marks


def test_a_grading_keeps_what_was_released(tmp_path: Path) -> None:
    judged = ITEM | {"model_correction": "【总分】12分", "model_correction_score": [12.0, 11.0]}
    (answer,) = read_one(write(tmp_path, [judged], teacher_model_name="judge-1")).answers
    assert answer.grading == Grading("judge-1", "【总分】12分", (Decimal(12), Decimal(11)))
    assert answer.marks == ()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"correction_score": 6}, "wrong_type"),
        ({"correction_score": []}, "wrong_type"),
        ({"correction_score": [1, 2, 3]}, "wrong_type"),
        ({"correction_score": ["6", 7]}, "wrong_type"),
        ({"correction_score": [True, 7]}, "wrong_type"),
        ({"correction_score": [6.123, 7]}, "bad_value"),
        ({"model_output": None}, "wrong_type"),
        ({"index": "0"}, "wrong_type"),
        (JUDGED, "no_judge"),
    ],
)
def test_a_wrong_row_refuses_the_file_and_is_named(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    file = read_one(write(tmp_path, [ITEM, ITEM | {"index": 1} | change]))
    assert file.refused
    assert [(problem.row, problem.code) for problem in file.problems] == [(2, code)]


def test_a_grading_of_a_wrong_type_refuses_the_file(tmp_path: Path) -> None:
    item = ITEM | JUDGED | {"model_correction_score": 8}
    file = read_one(write(tmp_path, [item], teacher_model_name="judge-1"))
    assert [problem.code for problem in file.problems] == ["wrong_type"]


def test_a_row_without_an_answer_refuses_the_file(tmp_path: Path) -> None:
    file = read_one(write(tmp_path, [ITEM, {"index": 1}]))
    assert [(problem.row, problem.code) for problem in file.problems] == [(2, "missing_key")]


@pytest.mark.parametrize(("again", "how"), [("Because.", "the same"), ("Or so.", "another")])
def test_a_repeated_row_is_named_and_does_not_count(tmp_path: Path, again: str, how: str) -> None:
    file = read_one(write(tmp_path, [ITEM, ITEM | {"model_output": again}]))
    assert [answer.text for answer in file.answers] == ["Because."]
    (problem,) = file.problems
    assert (problem.row, problem.code, problem.fatal) == (2, "repeated_row", False)
    assert how in problem.text


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"model_name": "m", "total_score": 1, "subject": {}}, "summary_file"),
        ({"keywords": KEYWORD, "example": [{"index": 0, "answer": "a"}]}, "questions_file"),
        ({"examples": []}, "prompts_file"),
    ],
)
def test_other_files_are_recognised_and_passed_over(
    tmp_path: Path, document: dict[str, Any], code: str
) -> None:
    (tmp_path / "other.json").write_text(json.dumps(document))
    file = read_one(tmp_path)
    assert file.skipped
    assert [problem.code for problem in file.problems] == [code]


def test_a_broken_file_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    assert [p.code for p in read_one(tmp_path).problems] == ["no_files"]
    (tmp_path / "broken.json").write_text('{"keyword": ')
    file = read_one(tmp_path)
    assert (file.refused, file.skipped) == (True, False)
    assert [(p.row, p.code) for p in file.problems] == [(1, "broken_json")]


@pytest.mark.shareddata
def test_the_published_answers_are_read_whole(shared_data: Path) -> None:
    results = list(read_model_outputs(shared_data / "gaokao-bench" / "Results"))
    answers = [answer for file in results for answer in file.answers]
    assert sum(file.skipped for file in results) == 3
    assert {answer.model for answer in answers} == {"gpt-4-0314"}
    # The objective files, the subjective ones, and those once more with gradings.
    assert len(answers) == 1781 + 1030 + 1030
    assert Counter(a.grading.judge for a in answers if a.grading) == {"gpt-4-1106-preview": 1030}


@pytest.mark.shareddata
def test_the_teachers_marks_are_read_whole(shared_data: Path) -> None:
    files = list(read_model_outputs(shared_data / "human-marks"))
    answers = [answer for file in files for answer in file.answers]
    problems = [problem for file in files for problem in file.problems]
    assert {answer.model for answer in answers} == {"gpt-3.5-turbo"}
    assert len(answers) == 1030
    given = Counter(sum(mark is not None for mark in answer.marks) for answer in answers)
    assert given == {2: 862, 1: 167, 0: 1}
    assert [(problem.code, problem.row) for problem in problems] == [
        ("repeated_row", 124),
        ("repeated_row", 125),
    ]
