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
        version = data.get(f"version-{key}", "")
        points = tuple(_number(value) for value in data.getlist(f"points-{key}"))
        found[key] = Wish(
            int(version)
            if version.isascii() and version.isdecimal() and len(version) < 10
            else None,
            points,
        )
    return found


def rows(
    items: list[UnratedItem], data: QueryDict | None, sentences: Mapping[UUID, str]
) -> list[dict[str, object]]:
    """The rows of the page: each item with the points as typed (*data*) or as proposed."""
    chosen = set(data.getlist("accept")) if data is not None else set()
    shown: list[dict[str, object]] = []
    for item in items:
        key = item.question.public_id
        typed = data.getlist(f"points-{key}") if data is not None else []
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


def _number(written: str) -> Decimal | None:
    try:
        value = Decimal(written.strip().replace(",", ".")[:LONGEST_NUMBER])
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
