"""The values of one JSON object, taken out by key: the right type or a JsonRefusal."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, TypeVar

from gradeapp.common.named import Named
from gradeapp.common.strict_json import JsonRefusal

MAX_MARKS = 1000

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd]")

Member = TypeVar("Member", bound=Named)


def check_keys(row: dict[str, Any], required: tuple[str, ...], known: tuple[str, ...]) -> None:
    for key in row:
        if key not in known:
            raise JsonRefusal("unknown_key", f"The key {key[:60]!r} is not part of the format.")
    for key in required:
        if key not in row:
            raise JsonRefusal("missing_key", f"The key {key!r} is missing.")


def wrong_type(key: str, wanted: str) -> JsonRefusal:
    return JsonRefusal("wrong_type", f"The value of {key!r} must be {wanted}.")


def text_of(row: dict[str, Any], key: str, longest: int | None = None) -> str:
    value = row.get(key, "")
    if not isinstance(value, str):
        raise wrong_type(key, "a text")
    if longest is not None and len(value) > longest:
        raise JsonRefusal("too_long", f"{key!r} is longer than {longest} characters.")
    return value


def name_of(row: dict[str, Any], key: str, longest: int) -> str:
    value = text_of(row, key, longest)
    if not value or value != value.strip():
        raise JsonRefusal("bad_value", f"{key!r} must not be empty or have outer spaces.")
    if _CONTROL.search(value):
        raise JsonRefusal("bad_value", f"{key!r} must not hold control characters.")
    return value


def slug_of(row: dict[str, Any], key: str, longest: int) -> str:
    value = text_of(row, key, longest)
    if not _SLUG.fullmatch(value):
        raise JsonRefusal("bad_value", f"{key!r} must be small letters, digits and single hyphens.")
    return value


def member_of(row: dict[str, Any], key: str, members: type[Member]) -> Member:
    value = text_of(row, key)
    known = {member.value: member for member in members}
    if value not in known:
        wanted = ", ".join(known)
        raise JsonRefusal("bad_value", f"{key!r} is {value[:60]!r}; it must be one of: {wanted}.")
    return known[value]


def whole_of(row: dict[str, Any], key: str, low: int, high: int, default: int | None) -> int | None:
    value = row.get(key)
    if value is None:
        return default
    if type(value) is not int:  # bool is an int, and a year is not True
        raise wrong_type(key, "a whole number")
    if not low <= value <= high:
        raise JsonRefusal("bad_value", f"{key!r} must lie between {low} and {high}.")
    return value


def list_of(row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key, [])
    if not isinstance(value, list):
        raise wrong_type(key, "a list")
    return value


def texts_of(row: dict[str, Any], key: str) -> list[str]:
    values = list_of(row, key)
    if not all(isinstance(value, str) for value in values):
        raise wrong_type(key, "a list of texts")
    return values


def plain_number(value: Decimal) -> Decimal:
    """*value* in its one spelling: 2, 2.0 and 2.00 all become 2, so that hashes agree."""
    return Decimal(format(value.normalize(), "f"))


def number_of(value: object, key: str) -> Decimal:
    """A number as it was written, in its one spelling."""
    if type(value) is not int and not isinstance(value, Decimal):
        raise wrong_type(key, "a number")
    return plain_number(Decimal(value))


def marks_of(value: object, key: str) -> Decimal:
    """Points: over 0, at most ``MAX_MARKS``, with two decimals."""
    marks = number_of(value, key)
    if not 0 < marks <= MAX_MARKS or marks != round(marks, 2):
        raise JsonRefusal(
            "bad_value", f"A number in {key!r} must be over 0, at most 1000, with two decimals."
        )
    return marks
