"""Database casts that make a column cheap to read."""

from __future__ import annotations

from django.db.models import FloatField, TextField
from django.db.models.functions import Cast


def real(name: str) -> Cast:
    """A decimal column as the float that statistics take; the database converts it faster."""
    return Cast(name, FloatField())


def json_text(name: str) -> Cast:
    """A JSON column as its text: the same few texts come thousands of times."""
    return Cast(name, TextField())
