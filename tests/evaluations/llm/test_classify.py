"""Which failure an error answer stands for, where status and words disagree."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from evaluations.llm.classify import LONGEST_TEXT, NO_MESSAGE, failure_of, retry_after, scrub
from evaluations.llm.client import LONGEST_WAIT
from gradeapp.common.masking import SecretMask

NOW = datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"code": "rate_limit_exceeded"}, "rate_limit"),
        (429, {"code": "insufficient_quota"}, "quota"),
        (429, {"type": "insufficient_quota"}, "quota"),
        (429, {"type": "exceeded_current_quota_error"}, "quota"),
        (400, {"code": "Arrearage", "type": "Arrearage"}, "quota"),
        (400, {"code": "context_length_exceeded"}, "context_length"),
        (400, {"type": "exceed_context_size_error", "code": 400}, "context_length"),
        (400, {"message": "This model's maximum context length is 4096 tokens"}, "context_length"),
        (400, {"code": "invalid_api_key"}, "auth"),
        (403, {"message": "country not supported"}, "auth"),
        (408, {}, "server"),
        (413, {"message": "too large"}, "bad_request"),
        (422, {"message": "temperature"}, "bad_request"),
        (529, {"type": "overloaded_error"}, "server"),
        (503, {"type": "unavailable_error", "message": "Loading model"}, "server"),
    ],
)
def test_kind(status: int, error: dict[str, object], kind: str) -> None:
    assert failure_of(status, {}, json.dumps({"error": error}), now=NOW).kind == kind


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"error": {"message": "said"}}', "said"),
        ('{"error": "said"}', "said"),
        ('{"object": "error", "message": "said"}', "said"),
        ('{"message": "said"}', NO_MESSAGE),
        # What a page shows is not stored, but that it is one.
        ("<html>said</html>", f"{NO_MESSAGE}: it is a page of HTML"),
        ("\n<!DOCTYPE html><p>said", f"{NO_MESSAGE}: it is a page of HTML"),
        ('["said"]', NO_MESSAGE),
        ("[" * 100_000, NO_MESSAGE),
        ("", f"{NO_MESSAGE}: it is empty"),
    ],
)
def test_the_text_is_what_the_endpoint_said(body: str, text: str) -> None:
    assert failure_of(500, {}, body, now=NOW).text == text


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("0", 0.0),
        ("2", 2.0),
        ("1.5", 1.5),
        ("86400", 86400.0),
        ("604801", 604800.0),
        ("300000000000", 604800.0),
        ("1e300", 604800.0),
        ("1e400", None),
        ("-1e300", None),
        ("-inf", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 604800.0),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 604800.0),
        ("Fri, 31 Dec 99999999999999999999 23:59:59 GMT", None),
        ("-1", None),
        ("abc", None),
        ("nan", None),
        ("inf", None),
        ("Sat, 21 Nov 2026 10:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 09:59:00 GMT", 0.0),
        ("Sat, 21 Nov 2026 11:00:30 +0100", 30.0),
        ("Sat, 21 Nov 2026 10:00:30 -0000", 30.0),
        ("Sat, 99 Nov 2026 10:00:30 GMT", None),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize(("value", "pauses"), [("120", False), ("121", True), ("86400", True)])
def test_a_wait_beyond_two_minutes_pauses_the_run(value: str, pauses: bool) -> None:
    assert LONGEST_WAIT == 120
    assert failure_of(429, {"retry-after": value}, "", now=NOW).pauses_run is pauses


def test_a_server_error_that_names_a_wait_slows_everybody_down() -> None:
    assert failure_of(503, {"retry-after": "1"}, "", now=NOW).slows_down
    assert not failure_of(503, {}, "", now=NOW).slows_down


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
    assert scrub(text, SecretMask(SECRET)) == expected


def test_cut_to_two_kilobytes_of_whole_characters() -> None:
    cut = scrub("题" * 5000)
    assert cut == "题" * (LONGEST_TEXT // 3)


def test_a_secret_across_the_cut_leaves_no_part() -> None:
    text = "x" * (LONGEST_TEXT - 5) + SECRET
    assert scrub(text, SecretMask(SECRET)) == "x" * (LONGEST_TEXT - 5) + "***"


def test_secrets_that_are_masked_leave_none_in_half_where_reading_ends() -> None:
    secret = "k" * 90 + "-end"
    assert "k" not in scrub((secret + " ") * 200, SecretMask(secret))
