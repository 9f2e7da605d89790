"""Reads the scoring points that a model proposes, or says why they cannot be taken.

The list is read as a file of rubrics is (questions.rules.rubric_json), but that a
number may be written as a string. What a draft may not be at all refuses the
reply; what a draft may be while it is unfinished (sums, steps) is left to the
person who reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from evaluations.suggesting.rules.reply_json import ReplyFault, Unreadable, one_list
from questions.rules.rubric import (
    UNFINISHED,
    Finding,
    RubricLines,
    findings,
    in_order,
    step_for,
)
from questions.rules.rubric_files import FileRefusal, plain
from questions.rules.rubric_json import read_rubric

RUBRIC_READER_VERSION = "rubric-1"
_NUMBERS = ("points", "sub")
_WRITTEN = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,2})?")


@dataclass(frozen=True, slots=True)
class RubricReading:
    """The rubric as proposed, or None with the *fault* and what its sentence names.

    *unfinished* are the faults that a person has to mend before accepting it.
    """

    rubric: RubricLines | None = None
    span: tuple[int, int] | None = None
    fault: str = ""
    params: Mapping[str, str | int] = field(default_factory=dict)
    unfinished: tuple[Finding, ...] = ()


def read_rubric_reply(
    reply: str, sub_marks: Sequence[Decimal], *, finish_reason: str = "stop"
) -> RubricReading:
    """What *reply* proposes for an item of *sub_marks* (full marks of each sub-question)."""
    try:
        found = one_list(reply, finish_reason)
        rubric = _rubric(found.value)
        wrong = findings(rubric, sub_marks, step_for(sub_marks))
        if bad := next((one for one in wrong if one.code not in UNFINISHED), None):
            raise Unreadable(bad.code, **_params(bad))
    except Unreadable as why:
        return RubricReading(fault=why.code, params=why.params)
    return RubricReading(in_order(rubric), found.span, unfinished=tuple(wrong))


def _rubric(rows: Sequence[Any]) -> RubricLines:
    try:
        return read_rubric({"rubric": [_with_numbers(row) for row in rows]}, None)
    except FileRefusal as refusal:
        name = str(refusal.params.get("name", "rubric"))
        raise Unreadable(ReplyFault.NOT_A_POINT, name=name) from None


def _with_numbers(row: Any) -> Any:
    """*row* with its numbers as numbers; what does not look like one stays for the reader."""
    if not isinstance(row, dict):
        return row
    return {key: _number(value) if key in _NUMBERS else value for key, value in row.items()}


def _number(value: Any) -> Any:
    if not isinstance(value, str) or not _WRITTEN.fullmatch(value.strip()):
        return value
    number = Decimal(value.strip())
    return int(number) if number == number.to_integral_value() else number


def _params(finding: Finding) -> dict[str, str | int]:
    return {
        name: plain(value) if isinstance(value, Decimal) else value
        for name, value in finding.params.items()
    }
