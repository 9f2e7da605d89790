"""Every text of the published benchmarks as it is shown against itself, sign by sign."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest

from evaluations.templatetags.rendering import flowing
from gradeapp.rendering import Kind, changes_of, render_text
from tests.rendering_fidelity import (
    blanks_unlike,
    lost_formulas,
    raw_table,
    shown,
    unlike,
    words_as_formula,
)

pytestmark = pytest.mark.shareddata

FIELDS = {
    **dict.fromkeys(("question", "analysis", "passage", "options", "solution"), Kind.EXAM),
    **dict.fromkeys(("Question", "Option_A", "Option_B", "Option_C", "Option_D"), Kind.EXAM),
    **dict.fromkeys(("answer", "standard_answer", "label", "Answer", "Reason"), Kind.KEY),
    **dict.fromkeys(("model_output", "model_correction", "model_answer"), Kind.RESPONSE),
}

# What differs, and why that is right. A text is named by file, number and field.
KNOWN = {
    # Control characters, which no page can show (\frac and \bar that a program read as escapes,
    # a ligature of a PDF): the replacement sign stands there, and a notice says so.
    "2010-2022_Math_I_MCQs:1:question": "characters formula",
    "sat-en-without-passage:187:options": "characters blanks",
    # A full stop stands where the source of a table had a line end (AGIEval's passages).
    "sat-math:85:passage": "characters table",
    "sat-math:123:passage": "characters table",
    "sat-math:166:passage": "characters table",
    # The end of a table without its beginning.
    "2010-2022_Chemistry_MCQs:70:question": "table formula",
    # A broken array with dollars in it, within a table: half of it stays source.
    "2010-2022_Biology_Open-ended_Questions:14:question": "formula",
    # A Python literal with a table in it, whose backslashes are doubled; the importer reads it.
    "few_shot_prompts:3:row": "table",
    # Money, which the simple pairing of dollars takes for a formula.
    "2010-2022_English_Reading_Comp:94:question": "formula",
    "aqua-rat:62:solution": "formula",
    "aqua-rat:136:solution": "formula",
    "aqua-rat:187:solution": "formula",
}
MOST = 30


def texts(root: Path) -> Iterator[tuple[str, Kind, str]]:
    """Every text of the benchmarks, the same one once: its name, its kind, the text."""
    seen = set()
    for name, field, kind, text in _all_texts(root):
        if (kind, text) not in seen:
            seen.add((kind, text))
            yield f"{name}:{field}", kind, text


def _all_texts(root: Path) -> Iterator[tuple[str, str, Kind, str]]:
    gaokao = sorted((root / "gaokao-bench").rglob("*.json"))
    for file in [*gaokao, *sorted((root / "human-marks").glob("*.json"))]:
        read = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(read, dict) and "example" in read:
            yield from _fields(file.stem, read["example"])
    for file in sorted((root / "agieval" / "v1").glob("*.jsonl")):
        lines = file.read_text(encoding="utf-8").splitlines()
        yield from _fields(file.stem, map(json.loads, filter(None, lines)))
    agibench = (root / "agibench" / "datasets.json").read_text(encoding="utf-8")
    yield from _fields("agibench", json.loads(agibench))
    with (root / "agieval" / "few_shot_prompts.csv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file)):
            yield from ((f"few_shot_prompts:{number}", "row", Kind.EXAM, text) for text in row)


def _fields(name: str, items: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, Kind, str]]:
    for number, item in enumerate(items):
        for field, value in {**item, **(item.get("other") or {})}.items():
            if kind := FIELDS.get(field):
                for text in value if isinstance(value, list) else [value]:
                    if isinstance(text, str):
                        yield f"{name}:{number}", field, kind, text


def test_every_text_is_shown_as_it_is_written(shared_data: Path) -> None:
    """No character is lost, none moves, none is added; tables are tables, formulas formulas."""
    found: dict[str, str] = {}
    changed, count = [], 0
    for name, kind, text in texts(shared_data):
        count += 1
        if changes_of(text):
            changed.append(name)
        html = render_text(text, kind=kind)
        if html == f"<p>{escape(text, quote=False)}</p>\n":
            continue
        wrong = _wrong(text, kind, shown(html))
        if wrong:
            found[name] = wrong
        if "\n" in text and kind is not Kind.RESPONSE:
            assert "".join(flowing(text).split()) == "".join(text.split()), name
    assert count > 50_000
    assert len(KNOWN) <= MOST
    assert found == KNOWN
    # The notice stands only where a character was replaced.
    assert changed == [
        "2010-2022_Math_I_MCQs:1:question",
        "sat-en-without-passage:187:options",
    ]


def _wrong(text: str, kind: Kind, seen: Any) -> str:
    kinds = []
    if unlike(text, seen, response=kind is Kind.RESPONSE):
        kinds.append("characters")
    if blanks_unlike(text, seen):
        kinds.append("blanks")
    if "\\" in text and raw_table(text, seen):
        kinds.append("table")
    if seen.formulas and words_as_formula(seen):
        kinds.append("words")
    if ("$" in text or "\\" in text) and lost_formulas(text, seen):
        kinds.append("formula")
    return " ".join(kinds)
