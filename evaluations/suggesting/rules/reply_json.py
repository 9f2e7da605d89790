"""Finds the JSON that a model was asked for in what it wrote, or says why it cannot be taken.

Code fences and prose around it are passed over. Nothing is repaired or guessed:
a reply that was cut off, JSON that is broken, and two answers that differ are
refused with a reason. What is found is read as strictly as a file of the bank.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gradeapp.common.storable import storable
from gradeapp.common.strict_json import parse_object, read_array

LONGEST_VALUE = 80
_END_OF_REASONING = "</think>"
_DECODER = json.JSONDecoder()
# A quote behind the bracket: a fraction or a set in a formula opens none of these.
_OBJECT = re.compile(r"""\{\s*["'“‘]""")
_LIST_OF_OBJECTS = re.compile(r"\[\s*\{")


class ReplyFault(StrEnum):
    """Why nothing is taken from a reply; the value is stable, pages say it in a sentence."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty_reply"
    NO_JSON = "no_json"
    BROKEN_JSON = "broken_json"
    SEVERAL = "several_answers"
    MISSING_LABEL = "missing_label"  # label
    UNKNOWN_VALUE = "unknown_value"  # label, value
    SEVERAL_PLACES = "several_places"  # label, value
    NO_LABEL = "no_label"
    NOT_A_POINT = "not_a_point"  # name
    QUESTION_CHANGED = "question_changed"


class Unreadable(ValueError):
    """A reply that is not taken: *code* (a fault's value) and what its sentence names."""

    def __init__(self, code: str, **params: str | int) -> None:
        super().__init__(f"{code}: {params}")
        self.code = str(code)
        # A model may name what no database can hold.
        self.params = {
            name: storable(value) if isinstance(value, str) else value
            for name, value in params.items()
        }


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value and the characters of the reply that it stands in, from start to end."""

    value: Any
    span: tuple[int, int]


def one_object(reply: str, finish_reason: str) -> Found:
    """The one JSON object of *reply*; raises Unreadable where there is none, or several."""
    return _only(reply, finish_reason, _OBJECT)


def one_list(reply: str, finish_reason: str) -> Found:
    """The one JSON list of objects in *reply*; raises Unreadable as ``one_object`` does."""
    return _only(reply, finish_reason, _LIST_OF_OBJECTS)


def _only(reply: str, finish_reason: str, opening: re.Pattern[str]) -> Found:
    if finish_reason == "content_filter":
        raise Unreadable(ReplyFault.REFUSED)
    if finish_reason != "stop":
        # Also where it looks whole: a level cut from 15 to 1 looks the same.
        raise Unreadable(ReplyFault.TRUNCATED)
    if not reply.strip():
        raise Unreadable(ReplyFault.EMPTY)
    found = _values(reply, opening)
    if not found:
        raise Unreadable(ReplyFault.NO_JSON)
    if any(one.value != found[0].value for one in found):
        raise Unreadable(ReplyFault.SEVERAL)
    return found[-1]


def _values(reply: str, opening: re.Pattern[str]) -> list[Found]:
    """Every value behind the reasoning, none inside another; one that is broken refuses all."""
    before, mark, _after = reply.rpartition(_END_OF_REASONING)
    position = len(before) + len(mark)
    found: list[Found] = []
    while match := opening.search(reply, position):
        try:
            _value, position = _DECODER.raw_decode(reply, match.start())
            span = (match.start(), position)
            found.append(Found(_strict(reply[slice(*span)]), span))
        except (ValueError, RecursionError):
            raise Unreadable(ReplyFault.BROKEN_JSON) from None
    return found


def _strict(text: str) -> Any:
    """The value of *text*; raises JsonRefusal for what two readers could take differently."""
    data = text.encode("utf-8", "replace")
    return parse_object(data) if text.startswith("{") else read_array(io.BytesIO(data))
