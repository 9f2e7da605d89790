"""docs/security.md answers every row of the tables of threats and faults, by tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.faults.table import HEAD, WANTED

TESTS = Path(__file__).resolve().parent
PAGE = TESTS.parent / "docs" / "security.md"
TABLE = TESTS.parent / "docs" / "faults.md"
THREATS = [f"T{number:03d}" for number in range(1, 141)]
FAULTS = [f"R{number:02d}" for number in range(1, 58)]
NAMED = re.compile(r"`([\w/]+\.py)(?: -k (\"[^\"]+\"|\w+))?`")


def table_rows() -> list[list[str]]:
    """The cells of every row that begins with the number of a threat or a fault."""
    page = PAGE.read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in rows if re.match(r"[TR]\d", row[0])]


def numbers_in(cell: str) -> set[str]:
    """The rows that a first cell names: ``T001``, ``T005 to T011``, ``T013, T026``."""
    found = set(re.findall(r"[TR]\d+", cell))
    for first, last in re.findall(r"T(\d+) to T(\d+)", cell):
        found |= {f"T{number:03d}" for number in range(int(first), int(last) + 1)}
    return found


@cache
def names_in(file: Path) -> tuple[str, ...]:
    """The names of the test functions in *file*, and the words of its parameters."""
    source = file.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    named = [node.name for node in nodes if isinstance(node, functions)]
    words = [node.value for node in nodes if isinstance(node, ast.Constant)]
    words = [word for word in words if isinstance(word, str) and len(word) < 40]
    return (*(name for name in named if name.startswith("test_")), *words)


def test_no_row_is_missing() -> None:
    known = set().union(*(numbers_in(row[0]) for row in table_rows()))
    assert [number for number in (*THREATS, *FAULTS) if number not in known] == []


def test_every_row_has_a_test_or_says_why_not() -> None:
    for row in table_rows():
        text = " ".join(row)
        reason = re.search(r"later work|does not apply|not so|not tested|there is no", text)
        assert NAMED.search(text) or reason, row[0]


def test_the_named_tests_exist() -> None:
    named = {match for row in table_rows() for match in NAMED.findall(" | ".join(row))}
    for file, expression in sorted(named):
        assert (TESTS / file).is_file(), file
        names = names_in(TESTS / file)
        assert names, file
        for word in re.findall(r"\w+", expression):
            if word not in {"and", "or", "not"}:
                assert any(word in name for name in names), f"{file}: no test of the name {word}"


def test_the_table_of_faults_has_every_row() -> None:
    page = TABLE.read_text(encoding="utf-8").splitlines()
    assert set(HEAD) <= set(page)
    assert [row for row in WANTED if not any(line.startswith(f"| {row} |") for line in page)] == []
