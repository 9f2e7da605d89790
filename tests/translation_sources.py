"""Every string that the sources send through gettext, found without gettext's own tools."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gradeapp", "questions", "evaluations")
# How many of a call's first arguments are text, and whether the first is a context.
CALLS = {
    "_": (1, False),
    "gettext": (1, False),
    "gettext_lazy": (1, False),
    "gettext_noop": (1, False),
    "ngettext": (2, False),
    "ngettext_lazy": (2, False),
    "pgettext": (2, True),
    "pgettext_lazy": (2, True),
    "npgettext": (3, True),
    "npgettext_lazy": (3, True),
}
STRING = r"""u?(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
TEMPLATE_CALL = re.compile(rf"\b(n?p?gettext|_)\(\s*({STRING}(?:\s*,\s*{STRING})*)")


class Message(NamedTuple):
    """What gettext looks a string up by."""

    context: str | None
    text: str


def _message(name: str, texts: list[str]) -> Message:
    has_context = CALLS[name][1]
    return Message(texts[0], texts[1]) if has_context else Message(None, texts[0])


def of_template(source: str) -> Iterator[Message]:
    """The strings of a Django template, as ``makemessages`` sees them."""
    for call in TEMPLATE_CALL.finditer(templatize(source)):
        texts = [ast.literal_eval(text) for text in re.findall(STRING, call[2])]
        yield _message(call[1], texts)


def of_python(source: str) -> Iterator[Message]:
    """The strings of Python code; text that is put together before the call is an error."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if (name := node.func.id) not in CALLS:
            continue
        texts = [_text(argument) for argument in node.args[: CALLS[name][0]]]
        yield _message(name, texts)


def _text(node: ast.expr) -> str:
    assert isinstance(node, ast.Constant), f"gettext needs a plain string: {ast.unparse(node)}"
    assert isinstance(node.value, str), f"gettext needs a string: {ast.unparse(node)}"
    return node.value


def templates() -> list[Path]:
    """Every template of the project."""
    return sorted((ROOT / "templates").rglob("*.html"))


def modules() -> list[Path]:
    """Every Python file of the three packages."""
    return sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))


@cache
def all_messages() -> dict[Message, str]:
    """Every string of templates and code, each with the file where it stands."""
    found: dict[Message, str] = {}
    for files, read in ((templates(), of_template), (modules(), of_python)):
        for file in files:
            for message in read(file.read_text()):
                found.setdefault(message, str(file.relative_to(ROOT)))
    return found
