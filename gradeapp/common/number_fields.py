"""Form fields that take a number in the digits 0 to 9 and in no other."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from gradeapp.common.plain_number import NUMBER

# A key of a row has 63 bits.
KEY = re.compile("[0-9]{1,18}")


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


class KeysField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """A choice of several rows by their keys; a number that no table holds is none of them."""

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if not KEY.fullmatch(str(key)):
                raise ValidationError(self.error_messages["invalid_pk_value"], params={"pk": "–"})
        return super().clean(value)
