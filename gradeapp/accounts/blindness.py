"""Who marks blind just now: asked by the one gate that hides models, judges and other marks.

The gate itself is ``User.capabilities``: while somebody marks, nothing outside
``OPEN_WHILE_MARKING`` is theirs. Features register what counts as marking in their ``apps.py``;
this module knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext_lazy as _

Asks = Callable[[int], bool]
_asked: list[Asks] = []

CLOSED = _(
    "You are marking or analysing responses blind, so pages and data that could show models, judge "
    "models or other teachers' marks are closed to you. They open again when the round or the "
    "analysis is closed. You can leave a round on the page Marking, and an analysis on the page "
    "Error analysis."
)
# For somebody who was taken out of the role of a teacher, and cannot open those two pages.
CLOSED_BY_LEAD = _(
    "You are a teacher of an open round, or a reviewer of an open analysis, although you no longer "
    "have the role of a teacher, so pages and data that could show models, judge models or other "
    "teachers' marks are closed to you. They open again when the round or the analysis is closed, "
    "or when a lead takes you out of the round."
)


def register(asks: Asks) -> None:
    """Add a question: a function of a user's key with one query, True while they mark."""
    if asks not in _asked:
        _asked.append(asks)


def is_marking(user: int) -> bool:
    """Whether the person with this key marks blind just now; at most one query a question."""
    return any(asks(user) for asks in _asked)
