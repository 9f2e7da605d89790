"""Reads the reply of a model that was asked what an examinee answered, or says why it is not taken.

The whole reply is one JSON object in the form that was asked for; a code fence
around it and reasoning before it are passed over, prose is not. Letters are
those of the item alone, and what is quoted must stand in the response: a model
that solves the question has nothing to quote. Nothing is repaired or guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluations.reading.rules.extraction.llm_fallback import LONGEST_QUOTE, readable_source
from evaluations.reading.rules.extraction.outcome import Extraction, Outcome, Span, unread
from evaluations.reading.rules.extraction.source_text import Edit, SourceText
from gradeapp.common.strict_json import JsonRefusal, parse_object
from questions.rules.vocabulary import QuestionType

FALLBACK_READER_VERSION = "read-1"
METHOD = "model"
# Below every pattern: a model's word for it, with the letter in the quoted words or without.
CONFIDENCE_NAMED, CONFIDENCE_MEANT = 0.4, 0.3

_END_OF_REASONING = "</think>"
_CODE_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.DOTALL)
# No set: what a reply holds in its place need not be hashable.
_WITHOUT_ANSWERS = (Outcome.NO_ANSWER, Outcome.REFUSED, Outcome.AMBIGUOUS)


class ReplyStatus(StrEnum):
    """Whether a reply was taken, else why not; the values are stable."""

    TAKEN = "taken"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    EMPTY = "empty_reply"
    OTHER_FORM = "other_form"
    OTHER_NUMBER = "other_number"
    OTHER_LETTERS = "other_letters"
    NO_EVIDENCE = "no_evidence"


class _NotTakenError(ValueError):
    def __init__(self, status: ReplyStatus) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class FallbackReading:
    """What a model read in a response; ``extraction`` is None where its reply is not taken."""

    status: ReplyStatus
    extraction: Extraction | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The item that was asked: its type, its option letters ("" for exact answers), its parts."""

    question_type: str
    letters: str
    parts: int


def read_fallback_reply(
    reply: str, response_text: str, asked: Asked, *, finish_reason: str = "stop"
) -> FallbackReading:
    """What *reply* says that the examinee answered in *response_text*.

    Offsets of the spans are those of *response_text*; they are the quoted words,
    the last place where they stand.
    """
    try:
        said = _object(reply, finish_reason)
        outcome = said.get("outcome")
        if outcome in _WITHOUT_ANSWERS and said.keys() <= {"outcome", "answers"}:
            if said.get("answers"):
                raise _NotTakenError(ReplyStatus.OTHER_FORM)
            return FallbackReading(
                ReplyStatus.TAKEN, unread(Outcome(outcome), asked.parts, method=METHOD)
            )
        if outcome != Outcome.READ or said.keys() != {"outcome", "answers"}:
            raise _NotTakenError(ReplyStatus.OTHER_FORM)
        return FallbackReading(ReplyStatus.TAKEN, _read(said["answers"], response_text, asked))
    except _NotTakenError as why:
        return FallbackReading(why.status)


def _object(reply: str, finish_reason: str) -> Mapping[str, Any]:
    if finish_reason == "content_filter":
        raise _NotTakenError(ReplyStatus.REFUSED)
    if finish_reason != "stop":
        # Also where it looks whole: what was cut off might have been another answer.
        raise _NotTakenError(ReplyStatus.TRUNCATED)
    text = reply.rpartition(_END_OF_REASONING)[2].strip()
    if not text:
        raise _NotTakenError(ReplyStatus.EMPTY)
    if fenced := _CODE_FENCE.match(text):
        text = fenced[1]
    try:
        return parse_object(text.encode("utf-8", "replace"))
    except JsonRefusal:
        raise _NotTakenError(ReplyStatus.OTHER_FORM) from None


def _read(answers: object, response_text: str, asked: Asked) -> Extraction:
    if not isinstance(answers, list):
        raise _NotTakenError(ReplyStatus.OTHER_FORM)
    if len(answers) != asked.parts or not any(answers):
        raise _NotTakenError(ReplyStatus.OTHER_NUMBER)
    source = _one_blank(readable_source(response_text))
    found = [_answer(one, source, asked) if one is not None else None for one in answers]
    return Extraction(
        answers=tuple(one and one[0] for one in found),
        outcome=Outcome.READ,
        method=METHOD,
        pattern=FALLBACK_READER_VERSION,
        spans=tuple(one and one[1] for one in found),
        confidence=min(_confidence(*one, response_text) for one in found if one),
    )


def _answer(said: object, source: SourceText, asked: Asked) -> tuple[str, Span]:
    if not isinstance(said, dict) or said.keys() != {"answer", "quote"}:
        raise _NotTakenError(ReplyStatus.OTHER_FORM)
    answer, quote = said["answer"], said["quote"]
    if not isinstance(answer, str) or not isinstance(quote, str):
        raise _NotTakenError(ReplyStatus.OTHER_FORM)
    words = " ".join(quote.split())
    start = source.text.rfind(words) if 0 < len(words) <= LONGEST_QUOTE else -1
    if start < 0:
        raise _NotTakenError(ReplyStatus.NO_EVIDENCE)
    quoted = source.part(start, start + len(words))
    if not asked.letters:
        return _exact(answer, quoted)
    return _letters(answer, asked), quoted.span(0, len(words))


def _letters(answer: str, asked: Asked) -> str:
    """The letters in order, each once; refused where the item does not have or want them."""
    said = answer.strip().upper()
    several = asked.question_type == QuestionType.MULTIPLE_CHOICE
    if not said or not set(said) <= set(asked.letters.upper()) or (len(said) > 1 and not several):
        raise _NotTakenError(ReplyStatus.OTHER_LETTERS)
    return "".join(sorted(set(said)))


def _exact(answer: str, quoted: SourceText) -> tuple[str, Span]:
    """An exact answer must itself stand in the quoted words: it is copied, not worked out."""
    words = " ".join(answer.split())
    start = quoted.text.rfind(words) if words else -1
    if start < 0:
        raise _NotTakenError(ReplyStatus.NO_EVIDENCE)
    return words, quoted.span(start, start + len(words))


def _confidence(answer: str, span: Span, response_text: str) -> float:
    words = response_text[slice(*span)].upper()
    named = all(letter in words for letter in answer.upper())
    return CONFIDENCE_NAMED if named else CONFIDENCE_MEANT


def _one_blank(source: SourceText) -> SourceText:
    """With one blank for every stretch of space, as models copy."""
    return source.edited(_blanks(source.text))


def _blanks(text: str) -> list[Edit]:
    return [(match.start(), match.end(), " ") for match in re.finditer(r"\s+", text)]


def answers_fit(answers: Sequence[str | None], asked: Asked) -> bool:
    """Whether a person's *answers* can be answers to the item, one entry a sub-question."""
    if len(answers) != asked.parts or not any(answers):
        return False
    if not asked.letters:
        return all(one is None or one.strip() for one in answers)
    try:
        return all(one is None or _letters(one, asked) == one for one in answers)
    except _NotTakenError:
        return False
