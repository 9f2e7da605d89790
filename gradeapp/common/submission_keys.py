"""Keys of forms that may be sent twice: the same for the same page, and known to nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.utils.crypto import salted_hmac

SALT = "gradeapp.common.submission_keys"
LENGTH = 16  # bytes of a UUID
Row = TypeVar("Row", bound=Model)


def submission_key(*parts: object) -> UUID:
    """Return the key of what *parts* name: a person, an item and a version, for example.

    It is an HMAC of the parts under ``SECRET_KEY``. A key is refused where it is used for something
    else, so who could compute that of another person would learn whether they have saved. It is
    stored as it was sent and never verified: a form that was opened under an earlier secret key
    keeps its own.
    """
    text = repr([str(part) for part in parts])
    digest = salted_hmac(SALT, text, algorithm="sha256").digest()
    return UUID(bytes=digest[:LENGTH], version=5)


def made_once(rows: QuerySet[Row], make: Callable[[], Row]) -> Row:
    """Return the one of *rows* that the key of a form or request made; if there is none, *make* it.

    *make* is one transaction that stores the key in a unique column: of several calls at once, one
    makes the row, and the others return it.
    """
    if made := rows.first():
        return made
    try:
        return make()
    except IntegrityError:
        if made := rows.first():
            return made
        raise
