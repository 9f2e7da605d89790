"""The version of the question bank."""

from __future__ import annotations

from questions.models import BankVersion


def bank_version() -> int:
    """Return how often the bank was written, in the caller's snapshot."""
    return sum(BankVersion.objects.values_list("number", flat=True))
