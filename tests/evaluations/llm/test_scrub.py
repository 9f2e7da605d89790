from __future__ import annotations

import pytest

from evaluations.llm.classify import LONGEST_TEXT, scrub

SECRET = "0f9e8d7c6b5a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Incorrect API key provided: sk-proj-abc_123.", "Incorrect API key provided: sk-***"),
        ("sent Authorization: Bearer abc.def", "sent Authorization: Bearer ***"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic ***"),
        ("GET /v1?api_key=abc&model=m", "GET /v1?api_key=***&model=m"),
        ('{"api-key": "abc", "model": "m"}', '{"api-key": "***", "model": "m"}'),
        ("x-api-key: abc", "x-api-key: ***"),
        ("https://user:word@host/v1", "https://***@host/v1"),
        (f"your key {SECRET} is wrong", "your key *** is wrong"),
        ("a task-force took the risk-free desk", "a task-force took the risk-free desk"),
        ("no\x00NUL", "noNUL"),
        ("", ""),
    ],
)
def test_keys_are_masked(text: str, expected: str) -> None:
    assert scrub(text, SECRET) == expected


def test_cut_to_two_kilobytes_of_whole_characters() -> None:
    cut = scrub("题" * 5000)
    assert cut == "题" * (LONGEST_TEXT // 3)


def test_a_secret_across_the_cut_leaves_no_part() -> None:
    text = "x" * (LONGEST_TEXT - 5) + SECRET
    assert scrub(text, SECRET) == "x" * (LONGEST_TEXT - 5) + "***"
