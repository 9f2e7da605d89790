"""Reads AGIBench as its authors publish it: ``datasets.json`` with the folder ``images`` beside it.

The file is one list. An item has no number of its own, so its place from 0 is
its identity, as in the published outputs. The file is taken whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from gradeapp.common.strict_json import JsonRefusal, cleaned, read_array
from questions.importers.exam_format import contradictions
from questions.importers.jsonl_images import image_problem, images_beside
from questions.importers.papers import civil_service_paper
from questions.importers.records import (
    HumanRateRecord,
    LabelsRecord,
    Problem,
    QuestionRecord,
    SourceFile,
)
from questions.importers.source_files import (
    files_in,
    leads_out,
    refused,
    text_of,
    unreadable,
    whole_of,
    wrong_type,
)
from questions.rules.four_tuple import difficulty_level
from questions.rules.taxonomy import branch_of, subclass_slug
from questions.rules.vocabulary import AbilityBranch, Language, QuestionType

DATASET = "agibench"
TASK = "agibench"
FILE = "datasets.json"
RATE_SOURCE = "AGIBench, Accuracy"
LETTERS = "ABCD"
MAX_PROBLEMS = 100

_PER_CENT = re.compile(r"(\d{1,3}(?:\.\d{1,2})?)%")
_LINK = re.compile(r"!\[([^\]\n]*)\]\(([^)\n]*)\)")
_BRANCHES = {branch.english.lower(): branch for branch in AbilityBranch}
_READ = {
    *("Question", *(f"Option_{letter}" for letter in LETTERS), "Answer", "Accuracy", "Reason"),
    *("Source", "Year", "Level", "Ability Branch"),
}
_KNOWLEDGE = {
    *("Knowledge", "Knowledge Subclass", "Knowledge (EN)", "Knowledge Subclass (EN)"),
}


def question_file(folder: Path) -> Path | None:
    """The one file that is read of the benchmark's *folder*, its name in any case."""
    return next((file for file in files_in(folder, ".json") if file.name.lower() == FILE), None)


def read_agibench(path: Path) -> Iterator[SourceFile]:
    """The one file at *path* (the benchmark's folder, or the file itself).

    Nothing is raised for bad input: what is broken comes as a fatal problem.
    """
    file = question_file(path) if path.is_dir() else path
    if file is None:
        yield refused(path.name, None, "no_files", f"The folder holds no {FILE}.")
        return
    if leads_out(path, file):
        text = f"{file.name!r} is a link that leads out of the folder."
        yield refused(file.name, None, "link_leads_out", text)
        return
    try:
        with file.open("rb") as stream:
            items = read_array(stream)
    except JsonRefusal as refusal:
        yield refused(file.name, refusal.row, refusal.code, refusal.text)
    except OSError as error:
        yield unreadable(file, error)
    else:
        yield _read(file.name, items, images_beside(path))


def _read(name: str, items: list[Any], images: Mapping[str, Path]) -> SourceFile:
    if not items:
        return refused(name, None, "empty", f"{name!r} holds no question.")
    records: list[QuestionRecord] = []
    problems: list[Problem] = []
    for row, item in enumerate(items, start=1):
        try:
            record, originals = _item(item, row - 1, images)
        except JsonRefusal as refusal:
            text = f"Item {row}: {refusal.text}"
            problems.append(Problem(name, row, refusal.code, text, fatal=True))
            if len(problems) >= MAX_PROBLEMS:
                text = f"Reading stopped after {MAX_PROBLEMS} problems."
                problems.append(Problem(name, row, "too_many_problems", text, fatal=True))
                break
            continue
        records.append(record)
        if originals:
            text = f"Item {row} held a character that no database stores; it was replaced."
            problems.append(Problem(name, row, "text_cleaned", text))
        problems += [
            Problem(name, row, code, f"Item {row}: {text}") for code, text in _disagreements(record)
        ]
    return SourceFile(name, tuple(records), tuple(problems))


def _item(
    item: Any, index: int, images: Mapping[str, Path]
) -> tuple[QuestionRecord, dict[str, str]]:
    """The record of one item, and its texts that held a character no database stores."""
    if not isinstance(item, dict):
        raise JsonRefusal("wrong_type", "This is not an object in braces.")
    item, originals = cleaned(item)
    texts = _Texts(item, images)
    source = text_of(item, "Source", 80)
    record = QuestionRecord(
        dataset=DATASET,
        task=TASK,
        external_id=str(index),
        position=index,
        subject=None,
        question_type=QuestionType.SINGLE_CHOICE,
        language=Language.CHINESE,
        stem=texts.linked("Question", needed=True),
        options=tuple(texts.linked(f"Option_{letter}") for letter in LETTERS),
        letters=LETTERS,
        answer_key=(_key(item),),
        reference_answer="",
        analysis=texts.linked("Reason"),
        sub_marks=(Decimal(1),),
        year=_year(item),
        paper=civil_service_paper(source),
        paper_published=source,
        images=tuple(texts.images),
        extra=_extra(item) | {f"raw:{place}": text for place, text in originals.items()},
        labels=_labels(item),
        human_rates=(HumanRateRecord(_rate(item), RATE_SOURCE),),
    )
    return record, originals


class _Texts:
    """The texts of one item with its images called as in the bank, and those images once each."""

    def __init__(self, item: dict[str, Any], available: Mapping[str, Path]) -> None:
        self._item = item
        self._available = available
        self.images: dict[str, None] = {}

    def linked(self, key: str, *, needed: bool = False) -> str:
        """The text under *key* with ``![](images/a.png)`` as ``![](image:a.png)``."""
        if key not in self._item:
            raise JsonRefusal("missing_key", f"The key {key!r} is missing.")
        text = text_of(self._item, key)
        if needed and not text.strip():
            raise JsonRefusal("bad_value", f"{key!r} is empty.")
        return _LINK.sub(self._renamed, text)

    def _renamed(self, match: re.Match[str]) -> str:
        target = match[2]
        name = target.removeprefix("images/")
        problem = image_problem(name, self._available)
        if problem is None and name == target:
            problem = "image_name", f"{target[:80]!r} is not in the folder 'images'."
        if problem is not None:
            raise JsonRefusal(*problem)
        self.images[name] = None
        return f"![{match[1]}](image:{name})"


def _key(item: dict[str, Any]) -> str:
    """The right letters, sorted; empty where the source gives none: the gate's case."""
    key = text_of(item, "Answer").strip()
    if key and not (key.isascii() and key.isalpha() and key.isupper()):
        raise JsonRefusal("bad_value", f"'Answer' is {key[:60]!r}; it must be capital letters.")
    return "".join(sorted(set(key)))


def _year(item: dict[str, Any]) -> int | None:
    text = str(item.get("Year") or "").strip()
    if not text:
        return None
    if not re.fullmatch(r"(?:19|20)\d\d", text, re.ASCII):
        raise JsonRefusal("bad_value", "'Year' is not a year.")
    return int(text)


def _rate(item: dict[str, Any]) -> Decimal:
    """The share of people who were right, from 0 to 1."""
    text = text_of(item, "Accuracy").strip()
    match = _PER_CENT.fullmatch(text)
    if match is None or Decimal(match[1]) > 100:
        raise JsonRefusal(
            "bad_value",
            f"'Accuracy' is {text[:60]!r}, not a per cent up to 100% with at most 2 decimals.",
        )
    return (Decimal(match[1]) / 100).quantize(Decimal("0.0001"))


def _labels(item: dict[str, Any]) -> LabelsRecord:
    branch = text_of(item, "Ability Branch").strip()
    if branch and branch.lower() not in _BRANCHES:
        raise JsonRefusal("bad_value", f"'Ability Branch' is {branch[:60]!r}, none of the three.")
    slug = subclass_slug(text_of(item, "Knowledge"), text_of(item, "Knowledge Subclass"))
    return LabelsRecord(
        ability_branch=_BRANCHES.get(branch.lower()),
        knowledge=slug or "",
        difficulty=whole_of(item, "Level", 1, 5),
    )


def _extra(item: dict[str, Any]) -> dict[str, str]:
    """What else the source says, as text; knowledge too, where it is not of the taxonomy."""
    known = subclass_slug(text_of(item, "Knowledge"), text_of(item, "Knowledge Subclass"))
    read = _READ | _KNOWLEDGE if known else _READ
    rest = {key: value for key, value in item.items() if key not in read and value != ""}
    for key, value in rest.items():
        if not isinstance(value, str | int | Decimal):
            raise wrong_type(key, "one value")
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in rest.items()
    }


def _disagreements(record: QuestionRecord) -> Iterator[tuple[str, str]]:
    """Contradictions in the key and in the published labels; all are taken as published."""
    yield from contradictions(record)
    labels = record.labels
    assert labels is not None
    if "Knowledge" in record.extra:
        yield "unknown_knowledge", "The knowledge is not of the published taxonomy."
    level = difficulty_level(record.human_rates[0].value)
    if labels.difficulty not in (None, level):
        yield (
            "level_differs",
            f"The level is {labels.difficulty}, the human rate is that of level {level}.",
        )
    if labels.ability_branch and branch_of(labels.knowledge) not in (None, labels.ability_branch):
        yield (
            "branch_differs",
            f"The branch is {labels.ability_branch.english}, the knowledge is of another.",
        )
