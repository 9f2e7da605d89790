"""Sets whether items take part in scoring, from their problems and what was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from questions.models import ItemProblem, Question
from questions.rules.vocabulary import Decision, ItemStatus
from questions.selectors.gate import live_problem


def update_status(question_ids: Sequence[int]) -> int:
    """Set the status of *question_ids*; how many of them are quarantined now.

    An item is excluded while one says so,
    also after a new revision: only a person takes that back. It is quarantined
    while a quarantining problem of its current revision has no decision; a problem
    with another item ends when that item gets a new revision. All others are
    active. Three queries and one for each status that changes.
    """
    problems = ItemProblem.objects.filter(question__in=question_ids)
    excluding = problems.filter(decision__decision=Decision.EXCLUDE)
    excluded = set(excluding.values_list("question", flat=True))
    doubted = problems.filter(live_problem(), quarantines=True, decision=None)
    doubtful = set(doubted.values_list("question", flat=True))
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
