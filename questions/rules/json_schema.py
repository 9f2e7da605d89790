"""Values of our JSON formats as pydantic types, and their errors as sentences of ours.

The dataclasses of ``questions.importers.records`` and ``questions.rules.rubric`` are the schema
of the exam format: their annotations say what a file may hold. Whole numbers and numbers are
read strictly: JSON's ``true`` is no number, and a text is none either.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from gradeapp.common.names import name_problem
from gradeapp.common.plain_number import normalized, plain
from gradeapp.common.strict_json import JsonRefusal

MAX_MARKS = 1000
MAX_SUB = 1000
CONFIG = ConfigDict(extra="forbid")

_CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd"
_NAME = rf"^[^\s{_CONTROL}](?:[^{_CONTROL}]*[^\s{_CONTROL}])?$"
_SLUG = "^[a-z0-9]+(?:-[a-z0-9]+)*$"
_FILLED = r"\S"
LETTERS = "^(?:[A-Z]{2,26})?$"


def _number(value: object) -> Decimal:
    if type(value) is not int and not isinstance(value, Decimal):  # a bool is an int
        raise PydanticCustomError("number_type", "not a number")
    return normalized(Decimal(value))


@lru_cache(maxsize=1024)  # The rows of a file have few names.
def _plain_name(name: str) -> str:
    if problem := name_problem(name):
        raise PydanticCustomError(f"name_{problem}", "not a plain name")
    return name


@lru_cache(maxsize=1024)
def _visible_name(name: str) -> str:
    if name_problem(name) == "invisible":
        raise PydanticCustomError("name_invisible", "not a visible name")
    return name


def _schema_of_number(**limits: float) -> WithJsonSchema:
    return WithJsonSchema({"type": "number", **limits})


Whole = Annotated[int, Strict()]
PartNumber = Annotated[Whole, Field(ge=1, le=MAX_SUB)]
Filled = Annotated[str, StringConstraints(pattern=_FILLED)]
Name = Annotated[str, StringConstraints(pattern=_NAME)]
# Added to a text: a name that cannot pass for another.
PLAIN = AfterValidator(_plain_name)
# Added to a text: a name that shows all its characters.
VISIBLE = AfterValidator(_visible_name)
Slug = Annotated[str, StringConstraints(pattern=_SLUG)]
Number = Annotated[Decimal, BeforeValidator(_number)]
Marks = Annotated[
    Number,
    Field(gt=0, le=MAX_MARKS, decimal_places=2),
    _schema_of_number(exclusiveMinimum=0, maximum=MAX_MARKS),
]
Share = Annotated[
    Number, Field(ge=0, le=1, decimal_places=4), _schema_of_number(minimum=0, maximum=1)
]
Weight = Annotated[
    Number,
    Field(gt=0, le=10_000_000, decimal_places=2),
    _schema_of_number(exclusiveMinimum=0, maximum=10_000_000),
]

# By pydantic's type of error: our code, and a sentence with its key and what the error tells.
_SENTENCES = {
    "unexpected_keyword_argument": ("unknown_key", "The key {key} is not part of the format."),
    "missing": ("missing_key", "The key {key} is missing."),
    "string_type": ("wrong_type", "The value of {key} must be a text."),
    "int_type": ("wrong_type", "The value of {key} must be a whole number."),
    "number_type": ("wrong_type", "The value of {key} must be a number."),
    "tuple_type": ("wrong_type", "The value of {key} must be a list."),
    "list_type": ("wrong_type", "The value of {key} must be a list."),
    "dict_type": ("wrong_type", "The value of {key} must be an object."),
    "dataclass_type": ("wrong_type", "The value of {key} must be an object."),
    "string_too_long": ("too_long", "{key} is longer than {max_length} characters."),
    "enum": ("bad_value", "{key} is {value}; it must be one of: {expected}."),
    "literal_error": ("bad_value", "{key} is {value}; it must be one of: {expected}."),
    "greater_than": ("bad_value", "{key} must be over {gt}."),
    "greater_than_equal": ("bad_value", "{key} must be at least {ge}."),
    "less_than_equal": ("bad_value", "{key} must be at most {le}."),
    "decimal_max_places": ("bad_value", "{key} has more than {decimal_places} decimals."),
    "decimal_max_digits": ("bad_value", "{key} has more than {decimal_places} decimals."),
    "too_short": ("bad_value", "{key} is empty."),
    LETTERS: ("bad_value", "{key} must be the offered capital letters, like ABCD."),
    _FILLED: ("bad_value", "{key} is empty."),
    _NAME: ("bad_value", "{key} must be a name without outer spaces and control characters."),
    "name_invisible": ("bad_name", "{key} must not contain invisible or control characters."),
    "name_mixed": (
        "bad_name",
        "A word of {key} must not mix letters of scripts that look alike.",
    ),
    _SLUG: ("bad_value", "{key} must be small letters, digits and single hyphens."),
}
Record = TypeVar("Record")

# What pydantic puts into the way to a value that may be of several kinds.
_KIND_OF_UNION = re.compile(r"(?:str-enum|literal|function-\w+)\[.*\]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def validated(adapter: TypeAdapter[Record], value: object) -> Record:
    """The record in *value*, parsed JSON; raises JsonRefusal for the first thing that is wrong.

    Its sentence names the key with the way to it; places in lists count from 1:
    ``rubric.2.points`` belongs to the second scoring point.
    """
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False)) from None


def check_plain_name(key: str, name: str) -> None:
    """Raise JsonRefusal if *name*, the value of *key*, can pass for another."""
    if problem := name_problem(name):
        code, sentence = _SENTENCES[f"name_{problem}"]
        raise JsonRefusal(code, sentence.format(key=repr(key)))


def _refusal(errors: list[ErrorDetails]) -> JsonRefusal:
    """The first error; a key that is not known before all others, since it may be misspelt."""
    unknown = (error for error in errors if error["type"] == "unexpected_keyword_argument")
    error = next(unknown, errors[0])
    context: dict[str, Any] = error.get("ctx", {})
    expected = str(context.get("expected")).replace("'", "").replace(" or ", ", ")
    code, sentence = _SENTENCES[context.get("pattern", error["type"])]
    parts = [
        str(part + 1) if isinstance(part, int) else part[:60]
        for place, part in enumerate(error["loc"])
        if not (place and isinstance(part, str) and _KIND_OF_UNION.fullmatch(part))
    ]
    text = sentence.format(
        key=repr(".".join(parts)),
        value=repr(str(error["input"])[:60]),
        **context | {"expected": expected},
    )
    return JsonRefusal(code, text)


def json_text(value: Any) -> str:
    """JSON text of *value*; Decimals keep every digit, which a float would not."""
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json_text(k)}: {json_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(json_text, value)) + "]"
    text = json.dumps(value, ensure_ascii=False)
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
