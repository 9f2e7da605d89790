"""Form fields that take a time, and none that a page could not show."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from gradeapp.common.times import local_or_utc


class LocalTimeField(forms.DateTimeField):
    """A day and a minute in the site's zone, as the browser's own field sends it."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def prepare_value(self, value: Any) -> Any:
        """Return what the field shows, for any time that is stored."""
        return local_or_utc(value) if isinstance(value, datetime) else value

    def to_python(self, value: Any) -> datetime | None:
        """Return the time; raise ValidationError for one that UTC does not have."""
        try:
            at = super().to_python(value)
            return at and at.astimezone(UTC)
        except OverflowError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None
