"""Fields of the API: numbers in the digits 0 to 9 and in no other, and times that can be shown."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from rest_framework import serializers

from gradeapp.common.plain_number import NUMBER

# What a column of whole numbers holds in PostgreSQL
MOST = 2**31 - 1


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
    """A whole number: of JSON, or a text of the digits 0 to 9; bounded also where none is named."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": -MOST, "max_value": MOST} | options)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or (isinstance(data, str) and not NUMBER.fullmatch(data.strip())):
            self.fail("invalid")
        value: int = super().to_internal_value(data)
        return value


class DateTimeField(serializers.DateTimeField):
    """A time; one that UTC or the site's zone does not have is refused."""

    def to_internal_value(self, value: Any) -> datetime:
        try:
            at: datetime = super().to_internal_value(value)
            at.astimezone(UTC)
        except OverflowError:
            self.fail("overflow")
        return at

    def to_representation(self, value: Any) -> Any:
        """Give a stored time that the site's zone does not have in UTC."""
        try:
            return super().to_representation(value)
        except serializers.ValidationError:
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
