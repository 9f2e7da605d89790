"""Credit for one sub-question whose key may hold several letters.

Source: GAOKAO-Bench, section on scoring and Bench/OBJ_score_evaluation.py:
a physics item is worth 6 points when fully right, 3 when it is right but
incomplete, and 0 when it holds a wrong letter. That is the marking rule of
the examination itself (全部选对得6分，选对但不全得3分，有选错的得0分). The released
program has this rule for physics alone; in every other subject an answer is
right or it is not, also where several letters are right (mathematics of 2024).
"""

from __future__ import annotations

from decimal import Decimal

from evaluations.statistics.policies import Policy
from gradeapp.common.named import Named
from questions.rules.vocabulary import QuestionType, Subject


class PartialCredit(Named):
    """Whether an incomplete set of right letters is worth something."""

    NONE = "none", "All or nothing", "全对得分"
    HALF = "half", "Half for an incomplete answer", "选对但不全得一半分"


# AGIEval (section 4.1) and AGIBench report accuracies: an item is right or it is wrong.
ALL_OR_NOTHING = frozenset({"agieval", "agibench"})


def default_partial_credit(
    question_type: str, dataset: str = "", *, subject: str = "", policy: Policy = Policy.STRICT
) -> PartialCredit:
    """Return the rule for an incomplete answer to an item of *question_type*.

    Multiple choice gives half, but not in a benchmark of accuracies (*dataset*), and
    under ``published`` in physics alone. Every other type gives nothing.
    """
    is_multiple = question_type == QuestionType.MULTIPLE_CHOICE
    gives_half = is_multiple and dataset not in ALL_OR_NOTHING
    if policy is Policy.PUBLISHED:
        gives_half = gives_half and subject == Subject.PHYSICS
    return PartialCredit.HALF if gives_half else PartialCredit.NONE


def strict_credit(answer: str | None, key: str, marks: Decimal, rule: PartialCredit) -> Decimal:
    """Points (0 to *marks*) for *answer*; letters are sets, order and repeats do not count.

    A gap is 0. A single-letter key has no incomplete answer, so it is full or 0.
    """
    given, right = frozenset(answer or ""), frozenset(key)
    if given == right:
        return marks
    incomplete = bool(given) and given < right
    return marks / 2 if incomplete and rule is PartialCredit.HALF else Decimal(0)


def published_credit(answer: str, key: str, marks: Decimal, rule: PartialCredit) -> Decimal:
    """Points (0 to *marks*) as released: equal strings, or half when every letter is in the key.

    The released program compares strings, so a repeated letter makes a full
    answer an incomplete one.
    """
    if answer == key:
        return marks
    nothing_wrong = all(letter in key for letter in answer)
    return marks / 2 if nothing_wrong and rule is PartialCredit.HALF else Decimal(0)
