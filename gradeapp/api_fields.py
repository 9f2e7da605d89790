"""Fields of the API that take a number in the digits 0 to 9 and in no other."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from gradeapp.common.plain_number import NUMBER


class DecimalField(serializers.DecimalField):
    """A decimal number: of JSON, or a text such as ``"2.5"``; not ``"２"``, not ``"1e9"``."""

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, bool) or (isinstance(data, str) and not NUMBER.fullmatch(data.strip())):
            self.fail("invalid")
        value: Decimal = super().to_internal_value(data)
        return value


class NumberTextField(serializers.CharField):
    """A number as it was written, as text: of JSON, or a text that a service reads."""

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(str(data) if isinstance(data, Decimal) else data)
        return text


class IntegerField(serializers.IntegerField):
    """A whole number: of JSON, or a text of the digits 0 to 9."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or (isinstance(data, str) and not NUMBER.fullmatch(data.strip())):
            self.fail("invalid")
        value: int = super().to_internal_value(data)
        return value
