"""Sets whether items take part in scoring, from their problems and what was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from questions.models import ItemDecision, ItemProblem, Question
from questions.rules.vocabulary import Decision, ItemStatus
from questions.selectors.gate import live_problem


def settle_status(question_ids: Sequence[int]) -> int:
    """Set the status of *question_ids*; how many of them are quarantined now.

    The newest decision of a problem counts. An item is excluded while one says so,
    also after a new revision: only a person takes that back. It is quarantined
    while a quarantining problem of its current revision has no decision; a problem
    with another item ends when that item gets a new revision. All others are
    active. Four queries and one for each status that changes.
    """
    decided = _newest_decisions(question_ids)
    excluded = {question for question, decision in decided.values() if decision == Decision.EXCLUDE}
    doubtful = {
        question for problem, question in _live_quarantining(question_ids) if problem not in decided
    }
    changed: dict[str, list[int]] = defaultdict(list)
    quarantined = 0
    for question, old in Question.objects.filter(pk__in=question_ids).values_list("pk", "status"):
        status = _status(question, excluded, doubtful)
        quarantined += status is ItemStatus.QUARANTINED
        if status != old:
            changed[status].append(question)
    for name, questions in changed.items():
        Question.objects.filter(pk__in=questions).update(status=name)
    return quarantined


def _status(question: int, excluded: set[int], doubtful: set[int]) -> ItemStatus:
    if question in excluded:
        return ItemStatus.EXCLUDED
    return ItemStatus.QUARANTINED if question in doubtful else ItemStatus.ACTIVE


def _newest_decisions(question_ids: Sequence[int]) -> dict[int, tuple[int, str]]:
    """By problem: its question, and what was decided last."""
    rows = ItemDecision.objects.filter(problem__question__in=question_ids).order_by("pk")
    return {
        problem: (question, decision)
        for problem, question, decision in rows.values_list(
            "problem", "problem__question", "decision"
        )
    }


def _live_quarantining(question_ids: Sequence[int]) -> list[tuple[int, int]]:
    problems = ItemProblem.objects.filter(
        live_problem(), question__in=question_ids, quarantines=True
    )
    return list(problems.order_by("pk").values_list("pk", "question"))
