"""The values of a JSON object of a published benchmark, by key: the right type or a JsonRefusal."""

from __future__ import annotations

from typing import Any

from gradeapp.common.strict_json import JsonRefusal


def wrong_type(key: str, wanted: str) -> JsonRefusal:
    """The refusal of a value that is not *wanted*, such as "a text"."""
    return JsonRefusal("wrong_type", f"The value of {key!r} must be {wanted}.")


def text_of(row: dict[str, Any], key: str, longest: int | None = None) -> str:
    """The text under *key*; "" where it is left out."""
    value = row.get(key, "")
    if not isinstance(value, str):
        raise wrong_type(key, "a text")
    if longest is not None and len(value) > longest:
        raise JsonRefusal("too_long", f"{key!r} is longer than {longest} characters.")
    return value


def whole_of(row: dict[str, Any], key: str, low: int, high: int) -> int | None:
    """The whole number from *low* to *high* under *key*; None where it is left out or null."""
    value = row.get(key)
    if value is None:
        return None
    if type(value) is not int:  # a bool is an int
        raise wrong_type(key, "a whole number")
    if not low <= value <= high:
        raise JsonRefusal("bad_value", f"{key!r} must lie between {low} and {high}.")
    return value
