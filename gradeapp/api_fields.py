"""Fields of the API: numbers in the digits 0 to 9 alone, bounded lists, times that can be shown."""

from __future__ import annotations

from collections.abc import Sized
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from gradeapp.common.plain_number import NUMBER

# What a column of whole numbers holds in PostgreSQL
MOST = 2**31 - 1
# So many unknown fields are named in one answer.
MOST_NAMED = 20


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


class ListField(serializers.ListField):
    """A list of at most *max_length* elements; a longer one is refused before any is looked at.

    The framework looks at the length last, after a sentence for each wrong element.
    """

    def __init__(self, *, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, **options)

    def run_child_validation(self, data: Any) -> Any:
        refuse_longer(self, data, self.max_length)
        return super().run_child_validation(data)


class ManyRelatedField(serializers.ManyRelatedField):
    """Rows by their keys, at most *max_length*: each key is looked up by itself."""

    default_error_messages = {
        "max_length": serializers.ListField.default_error_messages["max_length"]
    }

    def __init__(self, *, max_length: int, **options: Any) -> None:
        super().__init__(**options)
        self.max_length = max_length
        self.validators.append(MaxLengthValidator(max_length))

    def to_internal_value(self, data: Any) -> Any:
        refuse_longer(self, data, self.max_length)
        return super().to_internal_value(data)


def refuse_longer(field: serializers.Field[Any, Any, Any, Any], data: Any, most: int) -> None:
    """Raise ValidationError where *data* has more than *most* elements."""
    if isinstance(data, Sized) and len(data) > most:
        field.fail("max_length", max_length=most)


class KnownFields(serializers.Serializer[Any]):
    """A serializer that refuses a field that there is not, and names the first of them."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            named = unknown[:MOST_NAMED]
            raise serializers.ValidationError({name: [_("Unknown field.")] for name in named})
        return super().to_internal_value(data)
