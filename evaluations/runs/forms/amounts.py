"""Number fields that several forms have: money, prices, whole numbers and temperatures."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from gradeapp.common import number_fields

Words = Any  # a text or a translation that is made when it is shown


def money(label: Words, help_text: Words = "") -> number_fields.DecimalField:
    """Return the field of an amount of money, 0 or more with four decimals; it may be empty."""
    return number_fields.DecimalField(
        min_value=0,
        max_digits=12,
        decimal_places=4,
        required=False,
        label=label,
        help_text=help_text,
    )


def price(label: Words, help_text: Words = "", **given: Any) -> number_fields.DecimalField:
    """Return the field of a price per million tokens, 0 or more with six decimals.

    What is *given* (``initial``, ``required``) goes to the field.
    """
    return number_fields.DecimalField(
        min_value=0, max_digits=12, decimal_places=6, label=label, help_text=help_text, **given
    )


def whole(
    label: Words,
    help_text: Words = "",
    *,
    least: int = 1,
    most: int | None = None,
    required: bool = False,
    initial: int | None = None,
) -> number_fields.IntegerField:
    """Return the field of a whole number from *least* to *most* (None: no limit)."""
    return number_fields.IntegerField(
        min_value=least,
        max_value=most,
        required=required,
        initial=initial,
        label=label,
        help_text=help_text,
    )


def temperature(
    label: Words, help_text: Words = "", *, decimals: int = 2, initial: Decimal | int | None = None
) -> number_fields.DecimalField:
    """Return the field of a temperature from 0 to 2 with so many *decimals*; it may be empty."""
    return number_fields.DecimalField(
        min_value=0,
        max_value=2,
        max_digits=4,
        decimal_places=decimals,
        required=False,
        initial=initial,
        label=label,
        help_text=help_text,
    )
