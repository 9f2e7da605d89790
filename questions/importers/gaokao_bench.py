"""Reads the questions of GAOKAO-Bench as its authors publish them.

The sub-answers of an objective item are worth ``score`` points each; a
subjective item is worth ``score`` points in all. A file is taken whole or not
at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from gradeapp.common.plain_number import normalized
from gradeapp.common.strict_json import JsonRefusal
from questions.importers.catalogue import FileKind, canonical_paper, file_kind, stream_of
from questions.importers.exam_format import contradictions
from questions.importers.gaokao_files import (
    DATASET,
    GaokaoFile,
    index_of,
    json_files,
    number_of,
    read_gaokao_file,
    text_of,
    text_problems,
)
from questions.importers.papers import examination_paper
from questions.importers.records import Problem, QuestionRecord, SourceFile
from questions.importers.source_files import leads_out, refused_links
from questions.rules.vocabulary import CHOICE_TYPES, Part, QuestionType

MAX_MARKS = 300
MAX_CATEGORY = 80
TAIL = 20

# A fifth option begins a line below the fourth; later papers have some.
_FIFTH = re.compile(r"^\s*D\s*[.．、].*^\s*E\s*[.．、]", re.DOTALL | re.MULTILINE)


def question_files(path: Path) -> list[Path]:
    """The files that are read at *path*: where there is a folder ``Data``, those of it alone."""
    data = path / "Data"
    return json_files(data if data.is_dir() else path)


def read_gaokao_bench(path: Path) -> Iterator[SourceFile]:
    """Each question file at *path*: the benchmark's folder, its ``Data`` folder, or one file.

    Nothing is raised for bad input: what is broken comes as a fatal problem of
    its file, what is not a question file as a problem that is not fatal.
    """
    files = question_files(path)
    if not files:
        text = "The folder holds no .json file."
        yield SourceFile(path.name, (), (Problem(path.name, None, "no_files", text, fatal=True),))
    first_files: dict[str, str] = {}
    yield from refused_links(path, files)
    for file in files:
        if leads_out(path, file):
            continue
        # Two folders may have files of one name.
        name = file.relative_to(path).as_posix() if path.is_dir() else ""
        yield _source_file(read_gaokao_file(file, name=name), first_files)


def _source_file(file: GaokaoFile | Problem, first_files: dict[str, str]) -> SourceFile:
    if isinstance(file, Problem):
        return SourceFile(file.file, (), (file,))
    kind = file_kind(file.keyword)
    if file.holds_answers:
        text = "The file holds a model's answers, not questions; it was passed over."
        return SourceFile(file.name, (), (Problem(file.name, None, "answers_file", text),))
    if kind is None:
        text = f"Nothing is known of files called {file.keyword[:80]!r}; it was passed over."
        return SourceFile(file.name, (), (Problem(file.name, None, "unknown_keyword", text),))
    if file.keyword in first_files:
        text = f"The keyword {file.keyword!r} stands in {first_files[file.keyword]} already."
        problem = Problem(file.name, None, "duplicate_keyword", text, fatal=True)
        return SourceFile(file.name, (), (problem,))
    first_files[file.keyword] = file.name
    return _read(file, kind)


def _read(file: GaokaoFile, kind: FileKind) -> SourceFile:
    records: list[QuestionRecord] = []
    problems = [*text_problems(file)]
    seen: set[str] = set()
    for row, item in enumerate(file.items, start=1):
        try:
            record = _record(file, item, kind, row)
            if record.external_id in seen:
                raise JsonRefusal("duplicate_id", f"Index {record.external_id} stands twice.")
        except JsonRefusal as refusal:
            text = f"Item {row}: {refusal.text}"
            problems.append(Problem(file.name, row, refusal.code, text, fatal=True))
            continue
        seen.add(record.external_id)
        records.append(record)
        problems += [
            Problem(file.name, row, code, f"Item {row}: {text}") for code, text in _odd(record)
        ]
    problems = [*_subject_problem(file, records), *problems]
    return SourceFile(file.name, tuple(records), tuple(problems))


def _odd(record: QuestionRecord) -> Iterator[tuple[str, str]]:
    yield from contradictions(record)
    if "category" in record.extra:
        yield "category_odd", "'category' holds more than the name of a paper."


def _subject_problem(file: GaokaoFile, records: list[QuestionRecord]) -> Iterator[Problem]:
    without = sum(record.subject is None for record in records)
    if without:
        text = f"{without} items are of papers for both mathematics streams and have no subject."
        yield Problem(file.name, None, "both_streams", text)


def _record(file: GaokaoFile, item: dict[str, Any], kind: FileKind, row: int) -> QuestionRecord:
    index = index_of(item)
    score = _score(item)
    stem = text_of(item, "question", needed=True)
    category = text_of(item, "category")
    plain = len(category) <= MAX_CATEGORY and "$" not in category
    objective = kind.question_type.part is Part.OBJECTIVE
    keys = _keys(item) if objective else ()
    question_type = _type(kind.question_type, keys)
    return QuestionRecord(
        dataset=DATASET,
        task=file.keyword,
        external_id=str(index),
        position=index,
        subject=kind.subject or stream_of(category[-TAIL:]),
        question_type=question_type,
        language=kind.language,
        stem=stem,
        answer_key=keys,
        reference_answer="" if objective else text_of(item, "answer"),
        analysis=text_of(item, "analysis"),
        sub_marks=(score,) * len(keys) if objective else (score,),
        letters=_letters(kind, stem),
        year=_year(item),
        paper=canonical_paper(category) if plain else examination_paper(category[-TAIL:]).paper,
        paper_published=category if plain else "",
        extra=_originals(file, row) | ({} if plain else {"category": category}),
    )


def _type(published: QuestionType, keys: tuple[str, ...]) -> QuestionType:
    """The file's type, unless the keys of one item say more: later papers mix the types.

    Several letters make a single choice a multiple one, several keys make either
    of them sub-questions.
    """
    if published not in (QuestionType.SINGLE_CHOICE, QuestionType.MULTIPLE_CHOICE):
        return published
    if len(keys) > 1:
        return QuestionType.SEVERAL_QUESTIONS
    several = any(len(key) > 1 for key in keys)
    return QuestionType.MULTIPLE_CHOICE if several else published


def _letters(kind: FileKind, stem: str) -> str:
    """The letters on offer: those of the file, and E where the stem prints a fifth option."""
    fifth = kind.question_type in CHOICE_TYPES and kind.letters == "ABCD" and _FIFTH.search(stem)
    return "ABCDE" if fifth else kind.letters


def _originals(file: GaokaoFile, row: int) -> dict[str, str]:
    """The replaced texts of one item, under ``raw:`` and their key."""
    place = f"{row - 1}."
    return {
        f"raw:{key.removeprefix(place)}": text
        for key, text in file.originals.items()
        if key.startswith(place)
    }


def _keys(item: dict[str, Any]) -> tuple[str, ...]:
    answers = item.get("answer")
    if not isinstance(answers, list) or not answers:
        raise JsonRefusal("wrong_type", "'answer' is not a list of letters.")
    if not all(isinstance(answer, str) and answer.strip() for answer in answers):
        raise JsonRefusal("wrong_type", "'answer' holds something that is not a letter.")
    return tuple("".join(sorted(set(answer.strip()))) for answer in answers)


def _score(item: dict[str, Any]) -> Decimal:
    score = normalized(number_of(item.get("score"), "score"))
    if not 0 < score <= MAX_MARKS:
        raise JsonRefusal("bad_value", f"A score is over 0 and at most {MAX_MARKS}, not {score}.")
    if score != round(score, 2):
        raise JsonRefusal("bad_value", "'score' has more than 2 decimals.")
    return score


def _year(item: dict[str, Any]) -> int | None:
    """Mostly a text in the published files, in later papers sometimes a number."""
    value = item.get("year")
    if value is None or value == "":
        return None
    text = str(value).strip()
    if not text.isascii() or not text.isdigit() or not 1900 <= int(text[:5]) <= 2100:
        raise JsonRefusal("bad_value", "'year' is not a year.")
    return int(text)
