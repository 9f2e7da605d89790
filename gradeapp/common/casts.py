"""Database casts that make a column cheap to read."""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import FloatField, TextField
from django.db.models.functions import Cast


class Real(FloatField):  # type: ignore[type-arg]
    """A float as the database gives it: Django converts each value of a ``FloatField`` again."""

    def get_internal_type(self) -> str:
        """Return a name that Django converts no values of."""
        return "Real"

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        """Return the type, which is that of floats on both databases."""
        return "double precision"


def real(name: str) -> Cast:
    """A decimal column as the float that statistics take; the database converts it faster."""
    return Cast(name, Real())


def json_text(name: str) -> Cast:
    """A JSON column as its text: the same few texts come thousands of times."""
    return Cast(name, TextField())
