"""The two scoring policies of every response, and whose rules ``published`` follows."""

from __future__ import annotations

from enum import StrEnum

from gradeapp.common.named import Named
from questions.rules.vocabulary import QuestionType

SCORER_VERSION = "objective-3"


class Policy(Named):
    """``published`` keeps a benchmark's own rules; ``strict`` is a careful examiner's."""

    PUBLISHED = "published", "As published", "原基准"
    STRICT = "strict", "Strict", "严格"


class PublishedRules(StrEnum):
    """Whose released program or published patterns ``published`` follows."""

    GAOKAO_BENCH = "gaokao-bench"
    AGIEVAL = "agieval"
    AGIBENCH = "agibench"


def published_rules(dataset: str, question_type: str) -> PublishedRules | None:
    """The rules that ``published`` has for items of *question_type* in *dataset*; None for none.

    AGIBench released no program; its paper prints patterns for its one type, a
    choice with one letter. Our own exams have the shape of GAOKAO-Bench and take
    its rules; these know no exact answers.
    """
    if dataset == "agieval":
        return PublishedRules.AGIEVAL
    if dataset == "agibench":
        return PublishedRules.AGIBENCH if question_type == QuestionType.SINGLE_CHOICE else None
    if question_type == QuestionType.EXACT_ANSWER:
        return None
    return PublishedRules.GAOKAO_BENCH
