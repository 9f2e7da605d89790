"""Fill the named fields of a template: plain substitution in one pass.

A field is ``{name}`` with small letters and underscores. ``{{`` and ``}}`` are one brace each. A
value is put in as it is and is never read again, so braces and field names inside a question or a
reply stay what they are. There is no other syntax: no format, no condition, no loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_PART = re.compile(r"\{\{|\}\}|\{([a-z_]+)\}|[{}]")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return *template* with its fields replaced. Raises KeyError for a field without a value."""
    return _PART.sub(lambda found: values[found[1]] if found[1] else found[0][0], template)


def fields_of(template: str) -> Iterator[str]:
    """Yield the names of the fields of *template* in order, each time they stand there."""
    for found in _PART.finditer(template):
        if found[1]:
            yield found[1]


def lone_brace(template: str) -> int | None:
    """Return the place, from 0, of the first brace that is neither doubled nor part of a field."""
    for found in _PART.finditer(template):
        if found[0] in ("{", "}"):
            return found.start()
    return None


def escaped(text: str) -> str:
    """Return a template that gives *text* itself."""
    return text.replace("{", "{{").replace("}", "}}")
