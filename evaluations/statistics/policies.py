"""The two scoring policies, and the rules that ``published`` follows."""

from __future__ import annotations

from enum import StrEnum

from gradeapp.common.named import Named
from questions.rules.vocabulary import QuestionType

SCORER_VERSION = "objective-3"


class Policy(Named):
    """Scoring policy: ``published`` follows the benchmark's own rules, ``strict`` ours."""

    PUBLISHED = "published", "As published", "原基准"
    STRICT = "strict", "Strict", "严格"


class PublishedRules(StrEnum):
    """The benchmark whose released program or published patterns ``published`` follows."""

    GAOKAO_BENCH = "gaokao-bench"
    AGIEVAL = "agieval"
    AGIBENCH = "agibench"


def published_rules(dataset: str, question_type: str) -> PublishedRules | None:
    """Return the rules of ``published`` for items of *question_type* in *dataset*; None for none.

    AGIBench released no program; its paper prints patterns for its only type, a choice of one
    letter. Our own exams use the rules of GAOKAO-Bench, which has no exact answers.
    """
    if dataset == "agieval":
        return PublishedRules.AGIEVAL
    if dataset == "agibench":
        return PublishedRules.AGIBENCH if question_type == QuestionType.SINGLE_CHOICE else None
    if question_type == QuestionType.EXACT_ANSWER:
        return None
    return PublishedRules.GAOKAO_BENCH
