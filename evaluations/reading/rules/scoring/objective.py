"""Score of one objective item by rule: answers against key, under one policy.

Source of the credit: GAOKAO-Bench, section on scoring and Bench/OBJ_score_evaluation.py:
a physics item gives 6 points if fully right, 3 if right but incomplete, and 0 with a
wrong letter. This is the rule of the examination itself
(全部选对得6分，选对但不全得3分，有选错的得0分). The released program applies it to
physics only; in other subjects an answer is right or wrong, also if several letters
are right (mathematics of 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluations.reading.rules.scoring.exact_match import exact_match
from evaluations.reading.rules.scoring.math_equivalence import equivalent
from evaluations.statistics.outcomes import UNREAD, LedgerOutcome
from evaluations.statistics.policies import Policy, PublishedRules
from gradeapp.common.named import Named
from questions.rules.vocabulary import CHOICE_TYPES, QuestionType, Subject


class PartialCredit(Named):
    """The credit for an incomplete set of right letters."""

    NONE = "none", "All or nothing", "全对得分"
    HALF = "half", "Half for an incomplete answer", "选对但不全得一半分"


# AGIEval (section 4.1) and AGIBench report accuracies: an item is right or it is wrong.
ALL_OR_NOTHING = frozenset({"agieval", "agibench"})


def default_partial_credit(
    question_type: str, dataset: str = "", *, subject: str = "", policy: Policy = Policy.STRICT
) -> PartialCredit:
    """Return the rule for an incomplete answer to an item of *question_type*.

    Multiple choice gives half, except in a *dataset* that reports accuracies, and under
    ``published`` only in physics. Every other type gives nothing.
    """
    is_multiple = question_type == QuestionType.MULTIPLE_CHOICE
    gives_half = is_multiple and dataset not in ALL_OR_NOTHING
    if policy is Policy.PUBLISHED:
        gives_half = gives_half and subject == Subject.PHYSICS
    return PartialCredit.HALF if gives_half else PartialCredit.NONE


def strict_credit(answer: str | None, key: str, marks: Decimal, rule: PartialCredit) -> Decimal:
    """Return the points (0 to *marks*) of *answer*, compared as a set of letters; a gap gives 0."""
    given, right = frozenset(answer or ""), frozenset(key)
    if given == right:
        return marks
    incomplete = bool(given) and given < right
    return marks / 2 if incomplete and rule is PartialCredit.HALF else Decimal(0)


def published_credit(answer: str, key: str, marks: Decimal, rule: PartialCredit) -> Decimal:
    """Return the points (0 to *marks*) of the released program, which compares strings.

    Half if every letter is in the key; a repeated letter makes a full answer incomplete.
    """
    if answer == key:
        return marks
    nothing_wrong = all(letter in key for letter in answer)
    return marks / 2 if nothing_wrong and rule is PartialCredit.HALF else Decimal(0)


# The released program replaces the answers of an item by this if their number is wrong.
_NO_LETTER = "Z"


@dataclass(frozen=True, slots=True)
class ObjectiveResult:
    """Points of one item (0 to ``full``), points per sub-question, and its ledger outcome."""

    points: Decimal
    full: Decimal
    sub_points: tuple[Decimal, ...]
    outcome: LedgerOutcome


def has_key(key: Sequence[str]) -> bool:
    """Return whether every sub-question has a key; without one no answer can be right."""
    return bool(key) and all(right.strip() for right in key)


def wrong_without_key(rules: PublishedRules | None, question_type: str) -> bool:
    """Return whether published *rules* count every answer to an item without a key as wrong.

    Source: AGIEval's ``src/evaluation.py`` compares the set of letters with ``{}``, a dict in
    Python, which no set equals; the item stays in the denominator. The other programs have no
    such item.
    """
    return rules is PublishedRules.AGIEVAL and question_type in CHOICE_TYPES


def score_without_key(
    answers: Sequence[str | None], sub_marks: Sequence[Decimal], outcome: str
) -> ObjectiveResult:
    """Return no points of the full marks, for an item of which ``wrong_without_key`` holds.

    *answers* and *outcome* are as for ``score_objective``.
    """
    nothing = tuple(Decimal(0) for _marks in sub_marks)
    full = sum(sub_marks, Decimal(0))
    return ObjectiveResult(Decimal(0), full, nothing, _outcome_of_nothing(answers, outcome))


def score_objective(
    *,
    answers: Sequence[str | None],
    key: Sequence[str],
    sub_marks: Sequence[Decimal],
    question_type: str,
    outcome: str,
    policy: Policy,
    partial_credit: PartialCredit | None = None,
) -> ObjectiveResult:
    """Score *answers* against *key*, one entry and one full mark per sub-question.

    *outcome* is how the reading of the output ended (``read``, ``no_answer``,
    ``ambiguous``, ``refused``, ``truncated``). *partial_credit* defaults to the rule of
    the examination for the question type. A different number of answers than keys gives
    no points for the whole item under ``published``, as in the released program; under
    ``strict`` a gap costs one sub-question. Raises ValueError if key and marks differ in
    number, if a sub-question has no key, if a strict reading differs from the key in
    number, or if *outcome* is not that of a reading (an API error has no score).
    """
    if len(key) != len(sub_marks) or not key:
        raise ValueError("every sub-question needs one key and one full mark")
    if not has_key(key):
        raise ValueError("a sub-question without a key has no score")
    if policy is Policy.STRICT and len(answers) != len(key):
        raise ValueError("a strict reading has one answer or gap per sub-question")
    if outcome != "read" and outcome not in UNREAD:
        raise ValueError(f"{outcome!r} is not the end of a reading, so it has no score")
    rule = partial_credit or default_partial_credit(question_type)
    if question_type == QuestionType.EXACT_ANSWER:
        verdicts = [
            _same(right, answer, policy) for right, answer in zip(key, answers, strict=True)
        ]
        sub_points = tuple(
            marks if verdict else Decimal(0)
            for verdict, marks in zip(verdicts, sub_marks, strict=True)
        )
        if None in verdicts and not any(verdicts):
            # A comparison was given up: no points, but not called wrong either.
            answers, outcome = (None,) * len(key), LedgerOutcome.AMBIGUOUS
    elif policy is Policy.PUBLISHED:
        aligned = answers if len(answers) == len(key) else [_NO_LETTER] * len(key)
        sub_points = tuple(
            published_credit(answer or _NO_LETTER, right, marks, rule)
            for answer, right, marks in zip(aligned, key, sub_marks, strict=True)
        )
    else:
        sub_points = tuple(
            strict_credit(answer, right, marks, rule)
            for answer, right, marks in zip(answers, key, sub_marks, strict=True)
        )
    points, full = sum(sub_points, Decimal(0)), sum(sub_marks, Decimal(0))
    if points:
        ledger = LedgerOutcome.CORRECT if points == full else LedgerOutcome.PARTIAL
    else:
        ledger = _outcome_of_nothing(answers, outcome)
    return ObjectiveResult(points, full, sub_points, ledger)


def _outcome_of_nothing(answers: Sequence[str | None], outcome: str) -> LedgerOutcome:
    """Return the ledger outcome of no points, from how the reading ended."""
    if any(answers):
        return LedgerOutcome.WRONG
    return next((one for one in UNREAD if one == outcome), LedgerOutcome.NO_ANSWER)


def _same(right: str, answer: str | None, policy: Policy) -> bool | None:
    """Compare an exact answer with its key; None if the comparison was given up."""
    if answer is None:
        return False
    return (
        exact_match(right, answer)
        if policy is Policy.PUBLISHED
        else equivalent(right, answer).equal
    )
