"""The reader of each response, and the basis of its reading.

Under ``strict`` what people say comes first, then what a model read, then the
cascade; where that ended without an answer, the patterns that a person
accepted. A reading is stored with its ``Basis``: the version of the reader and
the row that decided above it. A newer decision gives a new basis and a new score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from evaluations.conditions import PromptSetting
from evaluations.models import Attempt, Extraction, Response
from evaluations.reading.rules.extraction.blanks import READER_VERSION as EXACT_VERSION
from evaluations.reading.rules.extraction.blanks import read_exact_answer
from evaluations.reading.rules.extraction.cascade import (
    EXTRACTOR_VERSION,
    read_answer,
    read_answer_by_patterns,
)
from evaluations.reading.rules.extraction.published import read_answer_published
from evaluations.reading.rules.extraction.published_agibench import read_agibench
from evaluations.reading.rules.extraction.published_agieval import read_agieval
from evaluations.reading.rules.extraction.reading import Extraction as Reading
from evaluations.reading.rules.extraction.reading import unread
from evaluations.reading.selectors.answer_checks import DecidedReading, decided_readings
from evaluations.reading.selectors.reading_patterns import UNSURE, PatternSet
from evaluations.statistics.outcomes import LedgerOutcome, ReadingOutcome, ReplyEnding
from evaluations.statistics.policies import Policy, PublishedRules
from questions.rules.vocabulary import CHOICE_TYPES, QuestionType

AGIBENCH_VERSION = "agibench-1"
AGIEVAL_VERSION = "agieval-1"
GAOKAO_BENCH_VERSION = "gaokao-bench-1"
ERROR_TEXT_VERSION = "error-1"
PUBLISHED_VERSIONS = {
    PublishedRules.AGIBENCH: AGIBENCH_VERSION,
    PublishedRules.AGIEVAL: AGIEVAL_VERSION,
    PublishedRules.GAOKAO_BENCH: GAOKAO_BENCH_VERSION,
}
# How the reading of a program's message is called, which is no answer.
ERROR_TEXT = "error_text"


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What one revision of an objective item is scored against.

    ``revision`` is the later revision that repaired the key, None where the response's
    own revision gives it; ``rules`` are those of ``published``, None under ``strict``.
    ``error_text``: the response at hand is a message of a program, which no reader reads.
    ``option_order`` is that of the response at hand: its letters are those that were shown.
    ``setting`` is how the response was asked, in the words of AGIEval's program.
    """

    question_type: str
    letters: str
    key: tuple[str, ...]
    sub_marks: tuple[Decimal, ...]
    dataset: str = ""
    task: str = ""
    subject: str = ""
    revision: int | None = None
    rules: PublishedRules | None = None
    error_text: bool = False
    option_order: str = ""
    setting: str = PromptSetting.ZERO_SHOT.value

    @property
    def reader(self) -> str:
        """Return the version of the reader for this key without decisions of people or models."""
        if self.error_text:
            return ERROR_TEXT_VERSION
        if self.rules is not None:
            return PUBLISHED_VERSIONS[self.rules]
        is_exact = self.question_type == QuestionType.EXACT_ANSWER
        return EXACT_VERSION if is_exact else EXTRACTOR_VERSION


@dataclass(frozen=True, slots=True)
class Basis:
    """What a reading rests on: the fields of the model ``Provenance``, rows by their ids."""

    reader_version: str
    patterns: int | None = None
    model_reading: int | None = None
    answer_check: int | None = None

    @property
    def by_rules(self) -> bool:
        """Whether neither a model nor a person decided."""
        return self.model_reading is None and self.answer_check is None

    def columns(self) -> dict[str, Any]:
        """Return the values of the model's columns."""
        return {
            "reader_version": self.reader_version,
            "patterns_id": self.patterns,
            "model_reading_id": self.model_reading,
            "answer_check_id": self.answer_check,
        }


BASIS_COLUMNS = tuple(Basis("").columns())


@dataclass(frozen=True, slots=True)
class Read:
    """A reading with what it rests on, and what its score rests on.

    The two differ where a decision about another number of sub-questions cannot be
    applied: the score names the decision, so that it is not tried again. ``first`` is
    the cascade's own reading where patterns came after it; it is stored too.
    """

    reading: Reading
    basis: Basis
    score_basis: Basis
    first: Reading | None = None

    @property
    def outcome(self) -> str:
        """Return the outcome of the reading; an error message is an API error."""
        if self.reading.method == ERROR_TEXT:
            return LedgerOutcome.API_ERROR
        return self.reading.outcome


def read_published(response: Response, key: AnswerKey) -> Read:
    """Read *response* by the benchmark's released program or its published patterns."""
    basis = Basis(key.reader)
    if key.error_text:
        return Read(_no_answer(key), basis, basis)
    if key.rules is PublishedRules.AGIEVAL:
        reading = read_agieval(response.text, key.task, setting=key.setting)
    elif key.rules is PublishedRules.AGIBENCH:
        reading = read_agibench(response.text)
    else:
        reading = read_answer_published(response.text, key.question_type, len(key.key))
    return Read(reading, basis, basis)


class StrictReaders:
    """The readers of one batch of responses: what is decided of them, and what patterns count."""

    def __init__(self, responses: Sequence[Response], patterns: PatternSet) -> None:
        keys = [response.pk for response in responses]
        self.patterns = patterns
        self.decided: Mapping[int, DecidedReading] = decided_readings(keys)
        refused = Attempt.objects.filter(answer__in=keys, ending=ReplyEnding.REFUSED)
        # The endpoint says itself that the model refused, or that a filter stopped it.
        self.refused = set(refused.values_list("answer", flat=True)) | {
            one.pk for one in responses if one.finish_reason == "content_filter"
        }
        # How the cascade ended, where it has read before.
        self.endings: dict[int, str] = {}
        if patterns.decision is not None:
            rows = Extraction.objects.filter(
                response__in=keys,
                policy=Policy.STRICT,
                reader_version=EXTRACTOR_VERSION,
                patterns__isnull=True,
                model_reading__isnull=True,
                answer_check__isnull=True,
            )
            self.endings = dict(rows.values_list("response", "outcome"))

    def basis_of(self, response: Response, key: AnswerKey) -> Basis | None:
        """Return what the score will rest on; None where only reading can tell."""
        decided = self.decided.get(response.pk)
        if decided is not None:
            return _decided_basis(decided, key)
        if not self._takes_patterns(key):
            return Basis(key.reader)
        if response.pk not in self.endings:
            return None
        return self._basis_after(self.endings[response.pk], key)

    def read(self, response: Response, key: AnswerKey) -> Read:
        """Return the reading that counts."""
        decided = self.decided.get(response.pk)
        if decided is not None and len(decided.answers) == len(key.key):
            basis = _decided_basis(decided, key)
            return Read(
                Reading(
                    answers=decided.answers,
                    outcome=decided.outcome,
                    method=decided.method,
                    pattern=decided.pattern,
                    spans=decided.spans,
                    confidence=decided.confidence,
                ),
                basis,
                basis,
            )
        own = read_strictly(response, key)
        if response.pk in self.refused and own.outcome == ReadingOutcome.NO_ANSWER:
            own = replace(own, outcome=ReadingOutcome.REFUSED)
        plain = Basis(key.reader)
        if decided is not None:
            # A decision about another number of sub-questions cannot be applied.
            return Read(own, plain, _decided_basis(decided, key))
        basis = self._basis_after(own.outcome, key)
        if basis == plain:
            return Read(own, plain, plain)
        found = read_answer_by_patterns(
            response.text,
            key.question_type,
            key.letters,
            len(key.key),
            self.patterns.of(key.question_type),
        )
        return Read(found or own, basis, basis, first=own)

    def _takes_patterns(self, key: AnswerKey) -> bool:
        """Return whether patterns may read where the cascade found nothing."""
        of_choice = key.question_type in CHOICE_TYPES and not key.error_text
        return self.patterns.decision is not None and of_choice

    def _basis_after(self, ending: str, key: AnswerKey) -> Basis:
        """Return the basis once the cascade ended in *ending*: with patterns if they are tried."""
        tried = self._takes_patterns(key) and ending in UNSURE
        return Basis(key.reader, patterns=self.patterns.decision if tried else None)


def _decided_basis(decided: DecidedReading, key: AnswerKey) -> Basis:
    return Basis(key.reader, model_reading=decided.model_reading, answer_check=decided.answer_check)


def read_strictly(response: Response, key: AnswerKey) -> Reading:
    """Read *response* by the strict reader of its question type."""
    if key.error_text:
        return _no_answer(key)
    truncated = response.finish_reason == "length"
    if key.question_type == QuestionType.EXACT_ANSWER:
        return read_exact_answer(response.text, len(key.key), truncated=truncated)
    return read_answer(
        response.text, key.question_type, key.letters, len(key.key), truncated=truncated
    )


def _no_answer(key: AnswerKey) -> Reading:
    """Return the reading of an error message: a gap for each sub-question."""
    return unread(ReadingOutcome.NO_ANSWER, len(key.key), method=ERROR_TEXT)
