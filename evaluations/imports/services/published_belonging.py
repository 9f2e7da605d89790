"""Looks whether the rows of a file of answers belong to the questions that the file names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluations.imports.rules.answer_records import AnswerRecord
from evaluations.imports.rules.belonging import Known, is_foreign, key_text, known_texts, too_many
from questions.importers.records import Problem
from questions.models import QuestionRevision


@dataclass(frozen=True, slots=True)
class Belonging:
    """The rows that are another question's, and what is to be said of them."""

    foreign: frozenset[int] = frozenset()
    problems: tuple[Problem, ...] = ()
    refused: bool = False


def check_belonging(file: str, matched: Sequence[tuple[AnswerRecord, int]]) -> Belonging:
    """Compare the text and the key that each row carries with those of its question's versions.

    *matched* are rows with the question that file and index lead to. Rows without a
    text are not compared.
    """
    compared = [(record, question) for record, question in matched if record.question.strip()]
    known = _known({question for _, question in compared})
    foreign = [
        record
        for record, question in compared
        if is_foreign(record.question, record.key, known[question])
    ]
    if not foreign:
        return Belonging()
    if too_many(len(foreign), len(compared)):
        place = ", ".join(sorted({record.task for record in foreign}))
        text = (
            f"{len(foreign)} of {len(compared)} rows hold other questions than the bank has for"
            f" {place}: the answers are stored under a wrong name, and the file is refused."
        )
        problem = Problem(file, None, "other_task", text, fatal=True)
        return Belonging(problems=(problem,), refused=True)
    problems = tuple(_foreign_row(file, record) for record in foreign)
    return Belonging(frozenset(record.row for record in foreign), problems)


def _known(questions: Collection[int]) -> dict[int, Known]:
    """By question: the texts and keys of all its versions; texts with and without the passage."""
    rows = QuestionRevision.objects.filter(question__in=questions).order_by("question", "number")
    texts: dict[int, set[str]] = defaultdict(set)
    keys: dict[int, set[str]] = defaultdict(set)
    for revision in rows:
        asked = (revision.stem, revision.passage + revision.stem, revision.asked)
        texts[revision.question_id].update(asked)
        given = (revision.answer_key, revision.published_key or [], revision.reference_answer)
        keys[revision.question_id].update(key_text(key) for key in given)
    return {question: known_texts(texts[question], keys[question]) for question in questions}


def _foreign_row(file: str, record: AnswerRecord) -> Problem:
    place = f"{record.task} {record.external_id}"
    text = (
        f"Row {record.row}: its question and its key are not those of {place}; it does not count."
    )
    return Problem(file, record.row, "other_question", text)
