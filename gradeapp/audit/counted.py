"""Which routes show items that are counted as read. Apps register theirs in ``apps.py``.

Pages that show many marks or responses count their rows themselves (``reads.count_items``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """What a route shows: items of *kind*, by the argument or the field *by*.

    With *rows* these are the rows of a page of the API, otherwise the one in the address.
    """

    kind: str
    by: str
    rows: bool = False


_routes: dict[str, Shown] = {}


def register(routes: Mapping[str, Shown]) -> None:
    """Have what *routes*, by their names, show counted."""
    _routes.update(routes)


def counted_routes() -> dict[str, Shown]:
    """Return every route that is counted by its name."""
    return dict(_routes)


def shown_by(route: str) -> Shown | None:
    """Return what *route* shows; None where nothing of it is counted here."""
    return _routes.get(route)
