"""Rubrics as JSON: ``{"rubrics": [{"dataset", "task", "id", "rubric", "rubric_groups"}]}``.

``rubric`` and ``rubric_groups`` are written as in a line of our exam format
(docs/datasets.md), so that one can be copied into the other.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from gradeapp.common.strict_json import JsonRefusal, clean_text, read_document
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint
from questions.rules.rubric_files import (
    MAX_FILE_BYTES,
    FileFault,
    FileRefusal,
    RubricFor,
    plain,
)

ITEM_KEYS = ("dataset", "task", "id", "rubric", "rubric_groups")
POINT_KEYS = ("text", "points", "sub", "group")
GROUP_KEYS = ("text", "cap", "choose", "sub")


def write_json(rubrics: Iterable[RubricFor]) -> bytes:
    """The document as UTF-8, one rubric a line, numbers with every digit."""
    lines = ",\n".join(_literal(_object(one)) for one in rubrics)
    return f'{{"rubrics": [\n{lines}\n]}}\n'.encode()


def read_json(content: bytes) -> list[RubricFor]:
    """The rubrics of a document; raises FileRefusal at the first thing that is wrong.

    Unknown keys are refused, because a misspelt cap would silently not hold.
    """
    if len(content) > MAX_FILE_BYTES:
        raise FileRefusal(FileFault.TOO_LARGE, most=MAX_FILE_BYTES // 2**20)
    try:
        document = read_document(io.BytesIO(content))
    except JsonRefusal as refusal:
        raise FileRefusal(FileFault.NOT_JSON, refusal.row) from refusal
    _check_keys(document, ("rubrics",), ("rubrics",), None)
    rows = _list(document, "rubrics", None)
    if not rows:
        raise FileRefusal(FileFault.NO_RUBRIC)
    read: dict[tuple[str, str, str], RubricFor] = {}
    for number, row in enumerate(rows, start=1):
        one = _rubric_for(row, number)
        if one.item in read:
            raise FileRefusal(FileFault.ITEM_TWICE, number, name=one.external_id)
        read[one.item] = one
    return list(read.values())


def rubric_objects(rubric: RubricLines) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A rubric as the lists ``rubric`` and ``rubric_groups``; what says nothing is left out."""
    points = [
        {"text": p.text, "points": p.points, "sub": p.sub} | ({"group": p.group} if p.group else {})
        for p in rubric.points
    ]
    groups = [
        {"text": g.text, "cap": g.cap, "sub": g.sub} | ({"choose": g.choose} if g.choose else {})
        for g in rubric.groups
    ]
    return points, groups


def read_rubric(row: dict[str, Any], number: int | None) -> RubricLines:
    """The rubric in the keys ``rubric`` and ``rubric_groups`` of *row*."""
    points = tuple(_point(value, number) for value in _list(row, "rubric", number))
    groups = tuple(_group(value, number) for value in _list(row, "rubric_groups", number))
    return RubricLines(points, groups)


def _object(one: RubricFor) -> dict[str, Any]:
    points, groups = rubric_objects(one.rubric)
    head = {"dataset": one.dataset, "task": one.task, "id": one.external_id, "rubric": points}
    return head | ({"rubric_groups": groups} if groups else {})


def _rubric_for(row: object, number: int) -> RubricFor:
    if not isinstance(row, dict):
        raise FileRefusal(FileFault.WRONG_TYPE, number, name="rubrics")
    _check_keys(row, ITEM_KEYS[:4], ITEM_KEYS, number)
    dataset, task, external_id = (_name(row, key, number) for key in ITEM_KEYS[:3])
    return RubricFor(dataset, task, external_id, read_rubric(row, number), number)


def _name(row: dict[str, Any], key: str, number: int) -> str:
    name = _text(row, key, number)
    if not name.strip():
        raise FileRefusal(FileFault.EMPTY_CELL, number, name=key)
    return name


def _point(value: object, number: int | None) -> ScoringPoint:
    if not isinstance(value, dict):
        raise FileRefusal(FileFault.WRONG_TYPE, number, name="rubric")
    _check_keys(value, POINT_KEYS[:2], POINT_KEYS, number)
    return ScoringPoint(
        _text(value, "text", number),
        _marks(value, "points", number),
        _whole(value, "sub", number) or 1,
        _whole(value, "group", number),
    )


def _group(value: object, number: int | None) -> PointGroup:
    if not isinstance(value, dict):
        raise FileRefusal(FileFault.WRONG_TYPE, number, name="rubric_groups")
    _check_keys(value, ("cap",), GROUP_KEYS, number)
    return PointGroup(
        _marks(value, "cap", number),
        _text(value, "text", number),
        _whole(value, "sub", number) or 1,
        _whole(value, "choose", number),
    )


def _check_keys(
    row: dict[str, Any], needed: tuple[str, ...], known: tuple[str, ...], number: int | None
) -> None:
    for key in row:
        if key not in known:
            raise FileRefusal(FileFault.UNKNOWN_KEY, number, name=key[:40])
    for key in needed:
        if key not in row:
            raise FileRefusal(FileFault.MISSING_KEY, number, name=key)


def _list(row: dict[str, Any], key: str, number: int | None) -> list[Any]:
    value = row.get(key, [])
    if not isinstance(value, list):
        raise FileRefusal(FileFault.WRONG_TYPE, number, name=key)
    return value


def _text(row: dict[str, Any], key: str, number: int | None) -> str:
    value = row.get(key, "")
    if not isinstance(value, str):
        raise FileRefusal(FileFault.WRONG_TYPE, number, name=key)
    if clean_text(value) != value:
        raise FileRefusal(FileFault.BAD_CHARACTER, number)
    return value


def _marks(row: dict[str, Any], key: str, number: int | None) -> Decimal:
    value = row[key]
    if type(value) is not int and not isinstance(value, Decimal):  # a bool is an int
        raise FileRefusal(FileFault.NOT_A_NUMBER, number, name=key)
    return Decimal(value)


def _whole(row: dict[str, Any], key: str, number: int | None) -> int | None:
    value = row.get(key)
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= 999:
        raise FileRefusal(FileFault.NOT_WHOLE, number, name=key)
    return value


def _literal(value: Any) -> str:
    """JSON text of *value*; a Decimal keeps every digit, which a float would not."""
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
