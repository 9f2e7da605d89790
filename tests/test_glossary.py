"""docs/glossary.md is true: no term twice, every term used, no replaced word in texts or names."""

from __future__ import annotations

import ast
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polib
import pytest

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
CODE = [
    file
    for package in ("gradeapp", "questions", "evaluations")
    for file in sorted((ROOT / package).rglob("*.py"))
    if "migrations" not in file.parts
]
PAGES = sorted((ROOT / "templates").rglob("*.html"))
DOCS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(file for file in sorted((ROOT / "docs").glob("*.md")) if file.name != "glossary.md"),
]
# Where a word of the second table means something else, or is sent to a model as it is.
PROMPTS = "evaluations/{}/rules/{}.py"
ALLOWED: dict[str, set[str]] = {
    # Prompts are sent as they are; a change would be a new prompt.
    "house rulings": set(),
    "标准答案": {
        PROMPTS.format("judging", "judge_prompt_sets"),
        PROMPTS.format("judging", "canaries"),
        "evaluations/llm/scripted/answers.py",
        PROMPTS.format("suggesting", "label_prompt"),
        PROMPTS.format("suggesting", "rubric_prompt"),
    },
    # A model settles on an answer; htmx has a settle delay.
    "settle": {
        "templates/evaluations/marking/desk/_desk.html",
        "evaluations/reading/rules/extraction/model_reader.py",
        "evaluations/reading/rules/extraction/patterns.py",
    },
}

# Words that no name in the code has, with what to say instead; a pair only as a pair. The words
# of the glossary's second table are added below.
NOT_IN_NAMES = {
    "candidates": "what they are: slots, shapes, pairs",
    "crew": "worker pool",
    "deed deeds": "action, audit entry",
    "door doors": "interface",
    "fall falls fallen": "what is withdrawn",
    "flying": "in flight",
    "heard": "decided, renewed",
    "lately": "recent",
    "moment moments": "time",
    "newcomer newcomers": "new teachers",
    "room rooms": "capacity, package",
    "ruling rulings ruled": "marking notes",
    "settled settles unsettled settlement settlements": "finalize, resolve",
    "shift shifts": "work session, offset",
    "sent_back back_sent send_back": "return for re-marking",
    "taken_back take_back took_back": "undo, withdraw",
    "told": "what is stored or returned",
    "touched": "marked, changed",
    "turned_away": "refused",
    "give_back given_back": "return, release",
    "throw thrown": "discard",
}
NAMES_ALLOWED = {
    # Keys of the REST API, which stay.
    "house_rulings": "evaluations/marking/rounds/api/round_serializers.py",
    "rulings_to_judge": "evaluations/marking/rounds/api/round_serializers.py",
}


def table(number: int) -> list[list[str]]:
    """The rows of one of the glossary's two tables."""
    text = (ROOT / "docs" / "glossary.md").read_text().split("## Words not to use")[number]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return rows[1:]


TERMS = table(0)
REPLACED = {word: row[1] for row in table(1) for word in row[0].split(", ")}


def catalogue_text() -> str:
    entries = polib.pofile(str(CATALOGUE))
    return "\n".join(
        text
        for e in entries
        for text in (e.msgid, e.msgid_plural, e.msgstr, *e.msgstr_plural.values())
    )


def prose(file: Path) -> str:
    """What people read in a file: docstrings, comments and texts of code; not its names."""
    source = file.read_text()
    if file.suffix == ".html":
        return "\n".join(re.findall(r"{% comment %}.*?{% endcomment %}|{#.*?#}", source, re.DOTALL))
    if file.suffix != ".py":
        return re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", source)
    with tokenize.open(file) as opened:
        comments = [
            token.string
            for token in tokenize.generate_tokens(opened.readline)
            if token.type == tokenize.COMMENT
        ]
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (" " in node.value or not node.value.isascii())
    ]
    return "\n".join([*comments, *texts])


@cache
def texts() -> dict[str, str]:
    """What is checked: the texts of code, pages and documents, and the catalogue."""
    found = {str(file.relative_to(ROOT)): prose(file) for file in (*CODE, *PAGES, *DOCS)}
    return found | {"catalogue": catalogue_text()}


def parts(name: str) -> list[str]:
    """The words of a name: ``moreWords``, ``MoreWords`` and ``more_words`` are two."""
    return [
        word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name, re.ASCII)
    ]


def names(tree: ast.AST) -> Iterator[str]:
    """The names that a module gives: functions, classes, parameters, variables, fields."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.alias(asname=str(name)):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.keyword(arg="related_name", value=ast.Constant(value=str(name))):
                yield name


@cache
def names_in_code() -> dict[str, set[str]]:
    """Each name, as its words between underscores, with the files that give it."""
    given: dict[str, set[str]] = defaultdict(set)
    for file in CODE:
        where = str(file.relative_to(ROOT))
        for name in {*names(ast.parse(file.read_text())), *Path(where).with_suffix("").parts}:
            if where != NAMES_ALLOWED.get(name):
                given["_".join(["", *parts(name), ""])].add(where)
    return given


@pytest.mark.parametrize("column", [0, 1], ids=["English", "Chinese"])
def test_no_term_stands_twice(column: int) -> None:
    counts = Counter(row[column].lower() for row in TERMS)
    assert not [term for term, count in counts.items() if count > 1]


def test_every_term_is_used() -> None:
    text = " ".join([catalogue_text(), *(file.read_text() for file in CODE)]).lower()
    assert not [word for row in TERMS for word in row[:2] if word.lower() not in text]


@pytest.mark.parametrize("word", REPLACED)
def test_no_replaced_word_is_used(word: str) -> None:
    """Checks texts, docstrings, comments and documents; not names in the code."""
    letters = r"\s+".join(map(re.escape, word.split()))
    phrase = re.compile(rf"(?<![a-z_/-]){letters}(?:s|d)?(?![a-z/(])", re.IGNORECASE)
    found = {name for name, text in texts().items() if phrase.search(text)}
    assert found == ALLOWED.get(word, set()), f"say “{REPLACED[word]}”"


def test_names_have_none_of_the_replaced_words() -> None:
    """Checks the names of modules, functions, classes, parameters, variables and fields."""
    words = {word: instead for line, instead in NOT_IN_NAMES.items() for word in line.split()}
    words |= {
        "_".join(parts(word)): instead for word, instead in REPLACED.items() if word.isascii()
    }
    del words["capability_review"]  # the package and its tables, beside the reviews of others
    wrong = [
        f"{name.strip('_')} in {', '.join(sorted(files))}: say {instead}"
        for name, files in names_in_code().items()
        for word, instead in words.items()
        if f"_{word}_" in name
    ]
    assert not wrong


def test_each_allowed_name_is_still_there() -> None:
    for name, file in NAMES_ALLOWED.items():
        assert name in set(names(ast.parse((ROOT / file).read_text())))
