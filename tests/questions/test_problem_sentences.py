"""Sentences of imports in the reader's language, held to what the importers say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from evaluations.imports import rules as answer_importers
from evaluations.imports import services as evaluation_services
from gradeapp.common.strict_json import JsonRefusal, parse_object
from questions import importers as question_importers
from questions.selectors.problem_sentences import PATTERNS, VALUES, problem_sentence

ROOT = Path(__file__).parents[2]
SAYING = (
    ROOT / "evaluations/marking/sheets/rules/sheet_reader.py",
    *Path(question_importers.__path__[0]).glob("*.py"),
    *Path(answer_importers.__path__[0]).glob("*.py"),
    *Path(evaluation_services.__path__[0]).glob("published_*.py"),
    ROOT / "evaluations/imports/services/similar_names.py",
    ROOT / "gradeapp/common/strict_json.py",
    ROOT / "questions/rules/json_schema.py",
    ROOT / "questions/services/import_checks.py",
    ROOT / "questions/services/imports.py",
)
# Refusals of a whole upload stand beside its field, translated where they are raised.
APART = {"archive.py", "catalogue.py"}


# Values that are words of the sentence; every other value is said as 7.
WORDS = {"what": "line", "how": "another"}
PLACES = {"strict_json.py": "column 7", "published_marks.py": "Row 7 (Bio 7)"}
PLACES |= {"published_gradings.py": PLACES["published_marks.py"]}


def said(node: ast.AST, words: dict[str, str]) -> str | None:
    """What a text would say; None where the node is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(said(part, words) or "7" for part in node.values)
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return words.get(node.value.id)
    return None


def sentences(file: Path) -> Iterator[str]:
    words = WORDS | {"place": PLACES.get(file.name, "7")}
    tree = ast.parse(file.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    } - {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}
    translated = {
        id(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_"
    }
    for node in ast.walk(tree):
        text = said(node, words)
        if text is None or id(node) in docstrings | inner | translated:
            continue
        if re.search(r"[a-z7'] .*\.$", text, re.DOTALL):
            yield text


def test_whatever_an_importer_says_is_said_in_chinese() -> None:
    said = {(file, text) for file in SAYING if file.name not in APART for text in sentences(file)}
    assert len(said) > 80
    with translation.override("zh-hans"):
        english = [
            f"{file}: {text}"
            for file, text in sorted(said)
            if not re.search("[\u4e00-\u9fff]", problem_sentence(text) or "")
        ]
    assert not english


def test_names_and_numbers_stay() -> None:
    with translation.override("zh-hans"):
        assert problem_sentence("Item 3: Key 1 is E, offered are ABCD.") == (
            "第3题：第1个参考答案是 E，选项为 ABCD。"
        )
        assert problem_sentence("The value of 'year' must be a whole number.") == (
            "'year' 的值必须是整数。"
        )
        assert problem_sentence("The line is not JSON: Expecting value at column 12.") == (
            "这一行不是 JSON：第12列，应有一个值。"
        )
        assert problem_sentence("Row 5: the bank has no question a, b: c.") == (
            "第5行：题库中没有试题 a, b: c。"
        )
        text = "'Accuracy' is '120%', not a per cent up to 100% with at most 2 decimals."
        assert problem_sentence(text) == (
            "'Accuracy' 是 '120%'，应为不超过100%的百分数，最多两位小数。"
        )


def test_what_nobody_knows_is_not_guessed() -> None:
    with translation.override("zh-hans"):
        assert problem_sentence("Something new of a later version.") is None
        assert problem_sentence("Item 3: Something new.") is None
    with translation.override("en"):
        assert problem_sentence("Something new.") == "Something new."


def test_patterns_and_values_stand_once() -> None:
    assert len(set(PATTERNS)) == len(PATTERNS)
    assert len(set(VALUES)) == len(VALUES)


def test_a_text_that_is_not_closed_is_said_without_the_words_of_a_parser() -> None:
    with pytest.raises(JsonRefusal) as refused:
        parse_object(b'{"stem": "cut off')
    assert str(refused.value) == "The line is not JSON: a text is not closed, from column 10 on."
    with translation.override("zh-hans"):
        assert (
            problem_sentence(str(refused.value)) == "此行不是 JSON：从第10列开始的字符串没有结束。"
        )
