"""The form that accepts rubrics of a task: which items, and the points of their parts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from uuid import UUID

from django.http import QueryDict

from gradeapp.common.plain_number import plain
from questions.selectors.rubric_parts import UnratedItem
from questions.services.rubric_parts import Wish

LONGEST_NUMBER = 8


def wishes(data: QueryDict) -> dict[UUID, Wish]:
    """What was chosen, item by item; what is no number counts as no points."""
    found: dict[UUID, Wish] = {}
    for written in data.getlist("accept"):
        try:
            key = UUID(written)
        except ValueError:
            continue
        points = tuple(_number(value) for value in data.getlist(f"points-{key}"))
        found[key] = Wish(_key(data, f"seen-{key}"), _key(data, f"version-{key}"), points)
    return found


def rows(
    items: list[UnratedItem], data: QueryDict | None, sentences: Mapping[UUID, str]
) -> list[dict[str, object]]:
    """The rows of the page: each item with the points as typed (*data*) or as proposed.

    What was typed for an earlier text is left out.
    """
    chosen = set(data.getlist("accept")) if data is not None else set()
    shown: list[dict[str, object]] = []
    for item in items:
        key = item.question.public_id
        changed = data is None or _key(data, f"seen-{key}") != item.question.current_id
        typed = [] if data is None or changed else data.getlist(f"points-{key}")
        proposed = ["" if part.marks is None else plain(part.marks) for part in item.parts.parts]
        points = typed if len(typed) == len(proposed) else proposed
        shown.append(
            {
                "item": item,
                "parts": list(zip(item.parts.parts, points, strict=True)),
                "chosen": str(key) in chosen if data is not None else item.ready,
                "sentence": sentences.get(key, ""),
            }
        )
    return shown


def _key(data: QueryDict, name: str) -> int | None:
    written = data.get(name, "")
    plain_digits = written.isascii() and written.isdecimal() and len(written) < 19
    return int(written) if plain_digits else None


def _number(written: str) -> Decimal | None:
    try:
        value = Decimal(written.strip().replace(",", ".")[:LONGEST_NUMBER])
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
