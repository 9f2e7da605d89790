"""JSON read strictly: what two readers could understand differently is refused.

``json.loads`` keeps the last of two equal keys, accepts NaN, turns 1e999 into
infinity and falls over on deep nesting. A question bank must not guess, so every
such line is refused with a code and one sentence. The standard library only.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, BinaryIO

from gradeapp.common.storable import UNSTORABLE, storable
from gradeapp.common.waypoints import waypoint

MAX_LINE_BYTES = 2 * 1024 * 1024
MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_LINES_BYTES = 128 * 1024 * 1024
MAX_DEPTH = 50
# A value takes up to 100 bytes in memory, whatever it takes in the text.
MAX_VALUES = 2_000_000
MAX_NUMBER_LENGTH = 20

# An unclosed string matches to the end of the line, so the scan stays linear.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_STRING_OR_BEGIN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{,]', re.DOTALL)


class JsonRefusal(ValueError):
    """Text that is not taken: a stable *code* and one English sentence.

    ``row`` says where in a whole file: the line of broken JSON, else the number
    (from 1) of the object, counted as they end.
    """

    def __init__(self, code: str, text: str, row: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.row = row


def numbered_objects(
    stream: BinaryIO, *, longest: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, dict[str, Any] | JsonRefusal]]:
    """Each line of *stream* with its number from 1: its object, or why it is refused.

    Blank lines are passed over. A line of more than *longest* bytes ends the reading,
    because its rest was never looked at, and so does a file over
    ``MAX_LINES_BYTES``. Numbers come as ``int`` or ``Decimal``.
    """
    number = size = 0
    while line := stream.readline(longest + 1):
        waypoint()
        number += 1
        size += len(line)
        if size > MAX_LINES_BYTES:
            yield number, JsonRefusal("file_too_large", "The file is larger than 128 MB.")
            return
        if len(line) > longest:
            sentence = (
                f"The line is longer than {longest >> 20} MB."
                if longest >> 20
                else f"The line is longer than {longest >> 10} kB."
            )
            yield number, JsonRefusal("line_too_long", sentence)
            return
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            yield number, parse_object(line)
        except JsonRefusal as refusal:
            yield number, refusal


def parse_object(line: bytes) -> dict[str, Any]:
    """The one JSON object on *line*; raises JsonRefusal where it is not one."""
    return _object(parse_value(line, "line"), "line")


def read_document(stream: BinaryIO) -> dict[str, Any]:
    """The one JSON object that a whole file holds; raises JsonRefusal where it is not one."""
    return _object(parse_value(whole_file(stream), "file"), "file")


def read_array(stream: BinaryIO) -> list[Any]:
    """The one JSON array that a whole file holds; raises JsonRefusal where it is not one."""
    value = parse_value(whole_file(stream), "file")
    if not isinstance(value, list):
        raise JsonRefusal("not_an_array", "The file is not a JSON list in square brackets.")
    return value


def whole_file(stream: BinaryIO) -> bytes:
    """All of *stream* but a byte order mark; raises JsonRefusal over ``MAX_FILE_BYTES``."""
    data = stream.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise JsonRefusal("file_too_large", "The file is larger than 32 MB.")
    return data.removeprefix(b"\xef\xbb\xbf")


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise JsonRefusal("not_an_object", f"The {what} is not a JSON object in braces.")
    return value


def parse_value(data: bytes, what: str) -> Any:
    """The JSON value in *data*; raises JsonRefusal, whose sentence calls the text *what*."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonRefusal("not_utf8", f"The {what} is not UTF-8 text.") from None
    check_depth(text, what)
    _check_values(text, what)
    objects = _Objects()
    try:
        return json.loads(
            text,
            object_pairs_hook=objects.ended,
            parse_constant=_refuse_constant,
            parse_int=_bounded_int,
            parse_float=_bounded_decimal,
        )
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if what == "line" else f"line {error.lineno}"
        message = error.msg.removesuffix(" at")
        text = f"The {what} is not JSON: {message} at {place}."
        if message.startswith("Unterminated string"):
            text = f"The {what} is not JSON: a text is not closed, from {place} on."
        raise JsonRefusal("broken_json", text, error.lineno) from None
    except JsonRefusal as refusal:
        refusal.row = objects.count + 1
        raise


def cleaned(value: Any, path: str = "") -> tuple[Any, dict[str, str]]:
    """*value* with every text in it cleaned, and what stood there before.

    The second part maps the place of each changed text (``"stem"``,
    ``"rubric.0.text"``) to its original in base64 (UTF-8, surrogates passed).
    """
    if not _holds_unstorable(value):
        return value, {}
    if isinstance(value, str):
        return storable(value), {path: _base64(value)}
    if isinstance(value, dict):
        parts = [(key, *cleaned(item, f"{path}.{key}".lstrip("."))) for key, item in value.items()]
        return {key: item for key, item, _ in parts}, _merged(raw for *_, raw in parts)
    rows = [cleaned(item, f"{path}.{index}") for index, item in enumerate(value)]
    return [item for item, _ in rows], _merged(raw for _, raw in rows)


def _holds_unstorable(value: Any) -> bool:
    if isinstance(value, str):
        return UNSTORABLE.search(value) is not None
    if isinstance(value, dict):
        return any(map(_holds_unstorable, value.values()))
    return isinstance(value, list) and any(map(_holds_unstorable, value))


def _merged(parts: Iterator[dict[str, str]]) -> dict[str, str]:
    return {key: value for part in parts for key, value in part.items()}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")


def check_depth(text: str, what: str) -> None:
    """Raises JsonRefusal where brackets outside of strings nest deeper than ``MAX_DEPTH``."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match.group()
        depth += (token in "[{") - (token in "]}")
        if depth > MAX_DEPTH:
            raise JsonRefusal("too_deep", f"The {what} nests deeper than {MAX_DEPTH} levels.")


def _check_values(text: str, what: str) -> None:
    """Raises JsonRefusal where *text* holds more than ``MAX_VALUES`` values."""
    if holds_more(text, MAX_VALUES):
        raise JsonRefusal("too_many_values", f"The {what} holds more than 2 million values.")


def holds_more(text: str, most: int) -> bool:
    """Return whether the JSON *text* holds more than *most* values."""
    if text.count("[") + text.count("{") + text.count(",") <= most:
        return False
    begun = 0
    for match in _STRING_OR_BEGIN.finditer(text):
        begun += match.group() in "[{,"
        if begun > most:
            return True
    return False


class _Objects:
    """Counts the objects that have ended, so that a refusal can say which one it was."""

    def __init__(self) -> None:
        self.count = 0

    def ended(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = _without_duplicates(pairs)
        self.count += 1
        return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise JsonRefusal("duplicate_key", f"The key {_shown(key)} stands twice in one object.")
        if UNSTORABLE.search(key):
            raise JsonRefusal("bad_key", f"The key {_shown(key)} holds a character without text.")
        result[key] = value
    return result


def _shown(key: str) -> str:
    return json.dumps(key[:60])


def _refuse_constant(name: str) -> None:
    raise JsonRefusal("not_a_number", f"{name} is not a number that JSON knows.")


def _bounded_int(text: str) -> int:
    _check_length(text)
    return int(text)


def _bounded_decimal(text: str) -> Decimal:
    _check_length(text)
    value = Decimal(text)
    if abs(value.adjusted()) > MAX_NUMBER_LENGTH:
        raise JsonRefusal("number_out_of_range", f"The number {text} is too large or too small.")
    return value


def _check_length(text: str) -> None:
    if len(text) > MAX_NUMBER_LENGTH:
        raise JsonRefusal("number_out_of_range", f"A number has {len(text)} digits and signs.")
