"""The gate: writes what is wrong with items, and keeps doubtful ones out of scoring."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from django.db import transaction
from django.db.models import F, OuterRef, Subquery

from gradeapp.common.waypoints import waypoint
from questions import models
from questions.models import ItemProblem, Question, QuestionRevision, RubricGroup
from questions.rules.gate import Detail, Finding, Item, find_problems
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint, reachable_by_sub
from questions.rules.vocabulary import ProblemCode
from questions.services.duplicates import check_duplicates
from questions.services.item_status import update_status

__all__ = ["check_duplicates", "check_items", "keep_findings"]

Found = dict[tuple[int, str], ItemProblem]
# These are kept by ``keep_findings`` for whoever can look for them, and by who reports them.
FOUND_ELSEWHERE = (ProblemCode.GOLD_UNREAD, ProblemCode.REPORTED)


@transaction.atomic
def check_items(
    question_ids: Sequence[int], revisions: Iterable[QuestionRevision] | None = None
) -> int:
    """Look at the current revisions of *question_ids*; how many of them are quarantined now.

    Whoever has just written the *revisions* hands them over, and they are not read again.

    New findings become rows, known ones stay as they are. A finding that no longer
    holds is removed unless somebody has decided about it. The number of
    queries does not depend on the number of items.
    """
    sums = _rubric_sums(question_ids)
    if revisions is None:
        current = QuestionRevision.objects.filter(current_of__in=question_ids)
        revisions = current.defer("extra").iterator()
    found: Found = {}
    for revision in revisions:
        waypoint()
        item = _item(revision, sums.get(revision.question_id, {}))
        for finding in find_problems(item):
            found[revision.pk, finding.code] = _problem(revision, finding)
    _store(found, question_ids)
    _move_reports(question_ids)
    return update_status(question_ids)


@transaction.atomic
def keep_findings(
    code: ProblemCode, found: Mapping[int, Detail], checked: Mapping[int, int]
) -> int:
    """Keep what a check outside the bank found; how many of the checked are quarantined now.

    *checked* are the questions that were looked at with the revision each had then,
    *found* those of them with a problem of *code* and its detail. The same check again
    changes nothing; a finding that no longer holds is removed unless somebody has
    decided about it, and what a person decided stays.
    """
    # Who decides about one of them meanwhile waits, or is waited for and seen.
    held = Question.objects.filter(pk__in=checked).order_by("pk")
    list(held.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    rows = ItemProblem.objects.filter(code=code, revision__in=checked.values(), other=None)
    known = dict(rows.values_list("question", "pk"))
    ItemProblem.objects.bulk_create(
        (
            ItemProblem(
                question_id=question,
                revision_id=checked[question],
                code=code,
                detail=detail,
                quarantines=True,
            )
            for question, detail in found.items()
            if question not in known
        ),
        ignore_conflicts=True,
    )
    gone = [pk for question, pk in known.items() if question not in found]
    ItemProblem.objects.filter(pk__in=gone, decision=None).delete()
    return update_status([*checked])


def _item(revision: QuestionRevision, sums: dict[int, Decimal]) -> Item:
    return Item(
        question_type=revision.question_type,
        stem=revision.stem,
        letters=revision.letters,
        answer_key=tuple(revision.answer_key),
        options=tuple(revision.options),
        passage=revision.passage,
        reference_answer=revision.reference_answer,
        analysis=revision.analysis,
        sub_marks=revision.decimal_sub_marks,
        images=tuple(revision.images),
        rubric_sums=sums,
    )


def _problem(revision: QuestionRevision, finding: Finding) -> ItemProblem:
    return ItemProblem(
        question_id=revision.question_id,
        revision_id=revision.pk,
        code=finding.code,
        detail=finding.detail,
        quarantines=finding.quarantines,
    )


def _store(found: Found, question_ids: Sequence[int]) -> None:
    """Add what is new of *found*; remove open rows that are not in it."""
    known = ItemProblem.objects.filter(
        question__in=question_ids, revision=F("question__current"), other=None
    ).exclude(code__in=FOUND_ELSEWHERE)
    rows = {
        (revision, code): pk for pk, revision, code in known.values_list("pk", "revision", "code")
    }
    ItemProblem.objects.bulk_create(
        (problem for place, problem in found.items() if place not in rows), ignore_conflicts=True
    )
    gone = [pk for place, pk in rows.items() if place not in found]
    ItemProblem.objects.filter(pk__in=gone, decision=None).delete()


def _move_reports(question_ids: Sequence[int]) -> None:
    """What a person reported and nobody decided waits on, whatever else has changed the item."""
    current = Question.objects.filter(pk=OuterRef("question")).values("current")
    ItemProblem.objects.filter(
        question__in=question_ids, code=ProblemCode.REPORTED, decision=None
    ).exclude(revision=F("question__current")).update(revision=Subquery(current))


def _rubric_sums(question_ids: Iterable[int]) -> dict[int, dict[int, Decimal]]:
    """By question: what the rubric that counts comes to for each sub-question."""
    counting = Question.objects.filter(pk__in=question_ids, rubric__isnull=False)
    newest = dict(counting.values_list("pk", "rubric"))
    groups: dict[int, list[PointGroup]] = defaultdict(list)
    places: dict[int, int] = {}
    rows = RubricGroup.objects.filter(rubric__in=newest.values()).order_by("rubric", "order")
    for group, rubric, sub, cap, choose in rows.values_list("pk", "rubric", "sub", "cap", "choose"):
        groups[rubric].append(PointGroup(cap, sub=sub, choose=choose))
        places[group] = len(groups[rubric])
    points: dict[int, list[ScoringPoint]] = defaultdict(list)
    lines = models.ScoringPoint.objects.filter(rubric__in=newest.values())
    for rubric, sub, worth, group in lines.values_list("rubric", "sub", "points", "group"):
        points[rubric].append(ScoringPoint("", worth, sub, places.get(group)))
    return {
        question: reachable_by_sub(RubricLines(tuple(points[rubric]), tuple(groups[rubric])))
        for question, rubric in newest.items()
    }
