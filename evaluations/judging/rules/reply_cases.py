"""Reads a case of a judge's reply: what it expects beside what our reader says."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from evaluations.judging.rules.judge_reply import read_judge_reply


def read_reply_case(case: Mapping[str, Any]) -> tuple[dict[str, object], dict[str, object]]:
    """Return what *case* expects of ``score``, ``status`` and ``flag``, and what was read.

    ``reply`` is the text and ``full`` the full marks. A flag that is expected and set is
    returned alone; else all flags are, or None for none.
    """
    finish_reason = case.get("finish_reason", "stop")
    reading = read_judge_reply(case["reply"], Decimal(case["full"]), finish_reason=finish_reason)
    expected = {key: _plain(case[key]) for key in ("score", "status", "flag") if key in case}
    flag = case.get("flag")
    got = {
        "score": _plain(reading.total),
        "status": str(reading.status),
        "flag": flag if flag in reading.flags else ", ".join(reading.flags) or None,
    }
    return expected, got


def _plain(value: object) -> object:
    """Numbers as JSON has them, so that 7.5 and a total of 7.50 are one."""
    return float(value) if isinstance(value, Decimal | int) else value
