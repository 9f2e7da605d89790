"""The JSON of the API: requests are read as strictly as files, answers can always be sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext_lazy as _
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from gradeapp.common.refusals import BadInput
from gradeapp.common.storable import UNSTORABLE
from gradeapp.common.strict_json import (
    MAX_DEPTH,
    JsonRefusal,
    check_depth,
    holds_more,
    parse_value,
)

# The longest body is 100 rows of a marking sheet with 200 points each. A wrong value costs a
# hundred times what it costs to read it: the refusal of each has a sentence.
MOST_VALUES = 25_000

SENTENCES: Mapping[str, object] = {
    "too_deep": _("The JSON nests deeper than %(n)d levels."),
    "too_many_values": _("The JSON holds too many values."),
    "duplicate_key": _("A key appears twice in one object of the JSON."),
    "bad_key": _("A key of the JSON holds a character that cannot be stored."),
    "not_a_number": _("NaN and Infinity are not numbers of JSON."),
    "number_out_of_range": _("A number in the JSON is too large, too small or too long."),
    "not_utf8": _("The JSON is not UTF-8 text."),
    "broken_json": _("The request is not valid JSON."),
}


class StrictJSONParser(JSONParser):
    """JSON without what two readers could understand differently; numbers as int or Decimal."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value. Raises BadInput with one sentence.

        A text with NUL or half of a surrogate pair is refused here for every field: PostgreSQL does
        not store it, and not every field looks for it.
        """
        value = self._value(stream)
        if (place := place_of_unstorable(value)) is not None:
            sentence = _("%(place)s: the text holds a character that cannot be stored.")
            raise BadInput(sentence % {"place": place or "–"}, code="bad_character")
        return value

    def _value(self, stream: IO[bytes]) -> Any:
        try:
            # Larger requests were refused by DATA_UPLOAD_MAX_MEMORY_SIZE and ``BodyLimit``.
            data = stream.read()
            text = data.decode("utf-8", "replace")
            check_depth(text, "request")
            if holds_more(text, MOST_VALUES):
                raise JsonRefusal("too_many_values", "The request holds too many values.")
            return parse_value(data, "request")
        except JsonRefusal as refusal:
            sentence = str(SENTENCES[refusal.code])
            if refusal.code == "too_deep":
                sentence %= {"n": MAX_DEPTH}
            raise BadInput(sentence, code=refusal.code) from None


def place_of_unstorable(value: Any, place: str = "") -> str | None:
    """Return the place of the first text that cannot be stored, as ``tasks.0``; None for none."""
    if isinstance(value, str):
        return place if UNSTORABLE.search(value) else None
    if not isinstance(value, dict | list):
        return None
    for name, one in value.items() if isinstance(value, dict) else enumerate(value):
        found = place_of_unstorable(one, f"{place}.{name}".lstrip("."))
        if found is not None:
            return found
    return None


class _EscapingJSONRenderer(JSONRenderer):
    """JSON in ASCII."""

    ensure_ascii = True


class AnyTextJSONRenderer(JSONRenderer):
    """JSON in UTF-8, with escapes where a refusal repeats half of a surrogate pair.

    UTF-8 cannot encode such a character, so the answer would be an error of the server.
    """

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the bytes of *data*."""
        try:
            return bytes(super().render(data, accepted_media_type, renderer_context))
        except UnicodeEncodeError:
            escaping = _EscapingJSONRenderer()
            return bytes(escaping.render(data, accepted_media_type, renderer_context))
