"""What is sealed: tables that are only added to. Their apps register them in ``apps.py``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import models


@dataclass(frozen=True, slots=True)
class Source:
    """A table with a chain of its own.

    ``fields`` are what a link covers, ``at`` the one that says when a row was written. Rows of a
    *signed* source carry a signature. *removable*: retention applies.
    """

    name: str
    model: type[models.Model]
    fields: tuple[str, ...]
    at: str
    signed: bool = False
    removable: bool = False

    @property
    def rows(self) -> models.QuerySet[Any]:
        """Every row, in no order."""
        return self.model._default_manager.order_by()


_sources: dict[str, Source] = {}


def register(source: Source) -> None:
    """Have the rows of *source* sealed."""
    _sources[source.name] = source


def sources() -> list[Source]:
    """Everything that is sealed, in the order of registration."""
    return list(_sources.values())
