"""Our own case files pass the check that anybody's files pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluations.management.commands.check_cases import CASE_READERS
from evaluations.reading.services.case_check import check_cases

CASES = Path(__file__).parents[2] / "cases"


@pytest.mark.parametrize("name", ["choice_extraction", "judge_replies", "math"])
def test_our_own_cases_all_pass(name: str) -> None:
    report = check_cases(CASES / f"{name}.json", readers=CASE_READERS).as_dict()
    assert report["failed"] == []
    assert report["passed"] == report["total"]


def test_a_case_may_say_that_the_output_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text(
        '[{"kind": "multi_choice", "letters": "ABCD", "parts": 1, "output": "选A",'
        ' "truncated": true, "expect": {"outcome": "truncated"}},'
        ' {"reply": "【总分】1", "full": 15, "finish_reason": "length", "status": "truncated"}]',
        encoding="utf-8",
    )
    report = check_cases(file, readers=CASE_READERS).as_dict()
    assert report == {"total": 2, "passed": 2, "failed": []}


def test_cases_of_mathematics_tell_the_reason_and_each_blank(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_text(
        '{"equivalence": [{"gold": "1", "answer": "0/0", "equal": null, "reason": "undefined"},'
        ' {"gold": "2", "answer": "3", "equal": true}],'
        ' "extraction": [{"output": "(1) 5 (2) 7", "answers": ["5", "8"]}]}',
        encoding="utf-8",
    )
    assert check_cases(file, readers=CASE_READERS).as_dict() == {
        "total": 3,
        "passed": 1,
        "failed": [
            {"index": 1, "expected": {"equal": True}, "got": {"equal": False, "reason": None}},
            {"index": 2, "expected": {"answers": ["5", "8"]}, "got": {"answers": ["5", "7"]}},
        ],
    }
