"""Which reader reads a response, and under which name its reading is kept.

Under ``strict`` what people say comes first, then what a model read, then the
cascade; where that ended without an answer, the patterns that a person
accepted. A reading is named by the version of the cascade and by what came on
top of it, so that a newer decision or pattern makes a newer score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluations.models import Extraction, Response
from evaluations.rules.extraction.blanks import READER_VERSION as EXACT_VERSION
from evaluations.rules.extraction.blanks import read_exact_answer
from evaluations.rules.extraction.cascade import (
    EXTRACTOR_VERSION,
    read_answer,
    read_answer_by_patterns,
)
from evaluations.rules.extraction.outcome import Extraction as Reading
from evaluations.rules.extraction.outcome import Outcome, unread
from evaluations.rules.extraction.published import read_answer_published
from evaluations.rules.extraction.published_agibench import read_agibench
from evaluations.rules.extraction.published_agieval import read_agieval
from evaluations.rules.scoring.outcomes import LedgerOutcome
from evaluations.rules.scoring.policies import Policy, PublishedRules
from evaluations.selectors.answer_checks import DecidedReading, decided_readings
from evaluations.selectors.reading_patterns import PatternSet
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
# Where patterns are tried after the cascade.
UNSURE = (Outcome.NO_ANSWER, Outcome.AMBIGUOUS)


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What one revision of an objective item is scored against.

    ``mark`` names a repaired key in the version of a score; ``rules`` are those of
    ``published``, None under ``strict``. ``error_text``: the response at hand is a
    message of a program, which no reader reads.
    """

    question_type: str
    letters: str
    key: tuple[str, ...]
    sub_marks: tuple[Decimal, ...]
    dataset: str = ""
    task: str = ""
    subject: str = ""
    mark: str = ""
    rules: PublishedRules | None = None
    error_text: bool = False

    @property
    def reader(self) -> str:
        """The version of the reader that reads for this key where nobody says more."""
        if self.error_text:
            return ERROR_TEXT_VERSION
        if self.rules is not None:
            return PUBLISHED_VERSIONS[self.rules]
        is_exact = self.question_type == QuestionType.EXACT_ANSWER
        return EXACT_VERSION if is_exact else EXTRACTOR_VERSION


@dataclass(frozen=True, slots=True)
class Read:
    """A reading, the version it is kept under, and what the score's version says of its reader.

    ``first`` is the cascade's own reading where patterns came after it; it is kept too.
    """

    reading: Reading
    version: str
    mark: str = ""
    first: Reading | None = None

    @property
    def outcome(self) -> str:
        """How the reading ended; a program's message is an API error."""
        if self.reading.method == ERROR_TEXT:
            return LedgerOutcome.API_ERROR
        return self.reading.outcome


def read_published(response: Response, key: AnswerKey) -> Read:
    """As the benchmark's released program or published patterns read."""
    if key.error_text:
        return Read(_no_answer(key), key.reader)
    if key.rules is PublishedRules.AGIEVAL:
        return Read(read_agieval(response.text, key.task), key.reader)
    if key.rules is PublishedRules.AGIBENCH:
        return Read(read_agibench(response.text), key.reader)
    parts = len(key.key)
    return Read(read_answer_published(response.text, key.question_type, parts), key.reader)


class StrictReaders:
    """The readers of one batch of responses: what is decided of them, and what patterns count."""

    def __init__(self, responses: Sequence[Response], patterns: PatternSet) -> None:
        keys = [response.pk for response in responses]
        self.patterns = patterns
        self.decided: Mapping[int, DecidedReading] = decided_readings(keys)
        # How the cascade ended, where it has read before.
        self.endings: dict[int, str] = {}
        if patterns.version:
            rows = Extraction.objects.filter(
                response__in=keys, policy=Policy.STRICT, version=EXTRACTOR_VERSION
            )
            self.endings = dict(rows.values_list("response", "outcome"))

    def mark_of(self, response: Response, key: AnswerKey) -> str | None:
        """What the score's version will say of the reader; None where only reading can tell."""
        if response.pk in self.decided:
            return self.decided[response.pk].mark
        if not self._takes_patterns(key):
            return ""
        if response.pk not in self.endings:
            return None
        return self._pattern_mark(self.endings[response.pk])

    def read(self, response: Response, key: AnswerKey) -> Read:
        """The reading that counts."""
        decided = self.decided.get(response.pk)
        if decided is not None and len(decided.answers) == len(key.key):
            return Read(_as_reading(decided), key.reader + decided.mark, decided.mark)
        own = read_strictly(response, key)
        if decided is not None:
            # A decision about another number of sub-questions cannot be lined up.
            return Read(own, key.reader, decided.mark)
        mark = self._pattern_mark(own.outcome) if self._takes_patterns(key) else ""
        if not mark:
            return Read(own, key.reader)
        found = read_answer_by_patterns(
            response.text,
            key.question_type,
            key.letters,
            len(key.key),
            self.patterns.of(key.question_type),
        )
        return Read(found or own, EXTRACTOR_VERSION + mark, mark, first=own)

    def _takes_patterns(self, key: AnswerKey) -> bool:
        """Whether patterns may read where the cascade found nothing."""
        of_choice = key.question_type in CHOICE_TYPES and not key.error_text
        return bool(self.patterns.version) and of_choice

    def _pattern_mark(self, ending: str) -> str:
        return f"+{self.patterns.version}" if ending in UNSURE else ""


def read_strictly(response: Response, key: AnswerKey) -> Reading:
    """As the cascade reads *response*."""
    if key.error_text:
        return _no_answer(key)
    truncated = response.finish_reason == "length"
    if key.question_type == QuestionType.EXACT_ANSWER:
        return read_exact_answer(response.text, len(key.key), truncated=truncated)
    return read_answer(
        response.text, key.question_type, key.letters, len(key.key), truncated=truncated
    )


def _no_answer(key: AnswerKey) -> Reading:
    """The reading of a program's message: a gap for each sub-question."""
    return unread(Outcome.NO_ANSWER, len(key.key), method=ERROR_TEXT)


def _as_reading(decided: DecidedReading) -> Reading:
    return Reading(
        answers=decided.answers,
        outcome=decided.outcome,
        method=decided.method,
        pattern=decided.pattern,
        spans=decided.spans,
        confidence=decided.confidence,
    )
