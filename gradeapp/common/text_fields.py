"""Form fields that take a text of several lines as the page counts it."""

from __future__ import annotations

from typing import Any

from django import forms


def with_plain_breaks(text: str) -> str:
    """*text* with "\\n" for each line break, which a browser sends as two characters.

    ``maxlength`` counts one for it.
    """
    return text.replace("\r\n", "\n")


class LinesField(forms.CharField):
    """A text of several lines; a line break is one of the ``max_length`` characters."""

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return with_plain_breaks(text) if text else text
