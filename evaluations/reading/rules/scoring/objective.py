"""x"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluations.reading.rules.scoring.exact_match import exact_match
from evaluations.reading.rules.scoring.math_equivalence import equivalent
from evaluations.statistics.outcomes import UNREAD, LedgerOutcome
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


# What the released program writes over an item whose answers cannot be lined up.
_NO_LETTER = "Z"


@dataclass(frozen=True, slots=True)
class ObjectiveResult:
    """Points of one item (0 to ``full``), per sub-question, and its place in the ledger."""

    points: Decimal
    full: Decimal
    sub_points: tuple[Decimal, ...]
    outcome: LedgerOutcome


def has_key(key: Sequence[str]) -> bool:
    """Tell whether every sub-question has a key; without one no answer can be right."""
    return bool(key) and all(right.strip() for right in key)


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

    *outcome* is how reading the output ended (``read``, ``no_answer``,
    ``ambiguous``, ``refused``, ``truncated``). *partial_credit* None takes the
    rule of the examination for the question type. Under ``published`` a different number of
    answers than keys costs the whole item, as released; under ``strict`` a gap
    costs one sub-question. Raises ValueError when key and marks differ in
    number, when a sub-question has no key, when a strict reading differs from the
    key in number, or when *outcome* is no reading (an API error has no score).
    """
    _check(answers, key, sub_marks, outcome, policy)
    rule = partial_credit or default_partial_credit(question_type)
    if question_type == QuestionType.EXACT_ANSWER:
        return _exact(answers, key, sub_marks, outcome, policy)
    if policy is Policy.PUBLISHED:
        sub_points = _published(answers, key, sub_marks, rule)
    else:
        sub_points = tuple(
            strict_credit(answer, right, marks, rule)
            for answer, right, marks in zip(answers, key, sub_marks, strict=True)
        )
    return _result(sub_points, sub_marks, answers, outcome)


def _exact(
    answers: Sequence[str | None],
    key: Sequence[str],
    sub_marks: Sequence[Decimal],
    outcome: str,
    policy: Policy,
) -> ObjectiveResult:
    """Texts and formulas: as released by AGIEval (section 4.1), or by what they mean.

    Where nothing is right and a comparison was given up, the item is ambiguous:
    it earns nothing, and nobody calls it wrong.
    """
    verdicts = [
        False if answer is None else _same(answer, right, policy)
        for answer, right in zip(answers, key, strict=True)
    ]
    points = tuple(
        marks if verdict else Decimal(0) for verdict, marks in zip(verdicts, sub_marks, strict=True)
    )
    given_up = None in verdicts and not any(verdicts)
    if given_up:
        return _result(points, sub_marks, (None,) * len(key), LedgerOutcome.AMBIGUOUS)
    return _result(points, sub_marks, answers, outcome)


def _same(answer: str, key: str, policy: Policy) -> bool | None:
    if policy is Policy.PUBLISHED:
        return exact_match(key, answer)
    return equivalent(key, answer).equal


def _result(
    sub_points: tuple[Decimal, ...],
    sub_marks: Sequence[Decimal],
    answers: Sequence[str | None],
    outcome: str,
) -> ObjectiveResult:
    points, full = sum(sub_points, Decimal(0)), sum(sub_marks, Decimal(0))
    return ObjectiveResult(points, full, sub_points, _ledger(points, full, answers, outcome))


def _check(
    answers: Sequence[str | None],
    key: Sequence[str],
    sub_marks: Sequence[Decimal],
    outcome: str,
    policy: Policy,
) -> None:
    if len(key) != len(sub_marks) or not key:
        raise ValueError("every sub-question needs one key and one full mark")
    if not has_key(key):
        raise ValueError("a sub-question without a key has no score")
    if policy is Policy.STRICT and len(answers) != len(key):
        raise ValueError("a strict reading has one answer or gap per sub-question")
    if outcome != "read" and outcome not in UNREAD:
        raise ValueError(f"{outcome!r} is not the end of a reading, so it has no score")


def _published(
    answers: Sequence[str | None],
    key: Sequence[str],
    sub_marks: Sequence[Decimal],
    rule: PartialCredit,
) -> tuple[Decimal, ...]:
    aligned = answers if len(answers) == len(key) else [_NO_LETTER] * len(key)
    return tuple(
        published_credit(answer or _NO_LETTER, right, marks, rule)
        for answer, right, marks in zip(aligned, key, sub_marks, strict=True)
    )


def _ledger(
    points: Decimal, full: Decimal, answers: Sequence[str | None], outcome: str
) -> LedgerOutcome:
    if points:
        return LedgerOutcome.CORRECT if points == full else LedgerOutcome.PARTIAL
    if any(answers):
        return LedgerOutcome.WRONG
    return next((ending for ending in UNREAD if ending == outcome), LedgerOutcome.NO_ANSWER)
