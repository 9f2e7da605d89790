"""Form fields that take a number in the digits 0 to 9 and in no other."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from gradeapp.common.plain_number import NUMBER


class _AsciiDigits:
    """Refuses ``１``, ``٠``, ``1_0`` and ``1e9``, which Python takes for numbers."""

    def check(self, value: Any) -> None:
        """Raise ValidationError for a text that is no plain number."""
        if isinstance(value, str) and value.strip() and not NUMBER.fullmatch(value.strip()):
            raise ValidationError(self.error_messages["invalid"], code="invalid")  # type: ignore[attr-defined]


class DecimalField(_AsciiDigits, forms.DecimalField):
    """A decimal number as people write it."""

    def to_python(self, value: Any) -> Decimal | None:  # type: ignore[override]
        self.check(value)
        return super().to_python(value)


class IntegerField(_AsciiDigits, forms.IntegerField):
    """A whole number as people write it."""

    def to_python(self, value: Any) -> int | None:
        self.check(value)
        return super().to_python(value)
