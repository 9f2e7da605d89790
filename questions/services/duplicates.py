"""Compares the bank's items with each other, and writes duplicates and conflicting keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from questions.models import Dataset, ItemProblem, Question
from questions.rules.duplicates import BankItem, Likeness, find_likenesses
from questions.rules.vocabulary import ItemStatus, ProblemCode
from questions.selectors.gate import live_problem
from questions.services.item_status import update_status

PAIR_CODES = (
    ProblemCode.EXACT_DUPLICATE,
    ProblemCode.NEAR_DUPLICATE,
    ProblemCode.CONFLICTING_KEY,
)
Place = tuple[int, int, str]  # revision, the other revision, code


@dataclass(frozen=True, slots=True)
class DuplicateCounts:
    """Pairs of items that ask the same question; ``conflicts`` of them have different keys."""

    exact: int
    near: int
    conflicts: int


@transaction.atomic
def check_duplicates(dataset: Dataset) -> DuplicateCounts:
    """Compare the items of *dataset* with each other and with those of all other datasets.

    Both items of a pair get a row that names the other. Different keys quarantine
    both until somebody decides, for they cannot both be right; duplicates are only
    named. Undecided rows that no longer hold are removed.
    """
    # First of all, as an import does: what it writes from now on is compared after this.
    Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    among = set(Question.objects.filter(task__dataset=dataset).values_list("pk", flat=True))
    counts = _check(None, among)
    Dataset.objects.filter(pk=dataset.pk, uncompared=True).update(uncompared=False)
    return counts


@transaction.atomic
def recheck_pairs(question: Question, *, whole: bool = False) -> DuplicateCounts:
    """Compare *question* again with the items that it was ever like, after it changed.

    *whole* compares it with the whole bank, for an item that was excluded: its pairs were removed.
    """
    return _check(None if whole else _like(question.pk), {question.pk})


def changed_by_recheck(question: int) -> set[int]:
    """The items whose status ``recheck_pairs`` of *question* may change, by key."""
    return _like(question) | _in_conflict()


def _like(question: int) -> set[int]:
    """*question* and the items that it was ever like, by key."""
    pairs = ItemProblem.objects.filter(code__in=PAIR_CODES)
    touching = pairs.filter(Q(question=question) | Q(other__question=question))
    near = set(touching.values_list("question", flat=True))
    return near | set(touching.values_list("other__question", flat=True)) | {question}


def _check(only: set[int] | None, among: set[int]) -> DuplicateCounts:
    """Pairs that touch *among*, of all items or of *only* these."""
    items, revisions = _bank_items(only)
    likenesses = find_likenesses(items, among)
    found = {
        (problem.revision_id, problem.other_id or 0, problem.code): problem
        for likeness in likenesses
        for problem in _problems(likeness, revisions)
    }
    update_status(sorted(_store(found, among) | _in_conflict()))
    return DuplicateCounts(
        exact=sum(likeness.exact for likeness in likenesses),
        near=sum(not likeness.exact for likeness in likenesses),
        conflicts=sum(bool(likeness.conflicts) for likeness in likenesses),
    )


def _in_conflict() -> set[int]:
    """Items kept out by a conflict: it ends when the other one gets a new revision."""
    conflicts = ItemProblem.objects.filter(
        code=ProblemCode.CONFLICTING_KEY, question__status=ItemStatus.QUARANTINED
    )
    return set(conflicts.values_list("question", flat=True))


def _bank_items(only: set[int] | None) -> tuple[list[BankItem], dict[int, int]]:
    """What is compared, by question, and each question's revision; excluded items stay apart."""
    questions = Question.objects.exclude(status=ItemStatus.EXCLUDED).exclude(current=None)
    if only is not None:
        questions = questions.filter(pk__in=only)
    rows = questions.order_by("pk").values_list(
        *("pk", "current", "task__slug", "current__question_type", "current__stem"),
        *("current__passage", "current__options", "current__letters", "current__answer_key"),
        "current__images",
    )
    items, revisions = [], {}
    for pk, revision, task, kind, stem, passage, options, letters, key, images in rows.iterator():
        item = BankItem(
            ref=pk,
            task=task,
            question_type=kind,
            stem=stem,
            passage=passage,
            options=tuple(options),
            letters=letters,
            answer_key=tuple(key),
            images=tuple(images),
        )
        items.append(item)
        revisions[pk] = revision
    return items, revisions


def _problems(likeness: Likeness, revisions: dict[int, int]) -> Iterator[ItemProblem]:
    """The rows of one pair: each item names the other."""
    kind = ProblemCode.EXACT_DUPLICATE if likeness.exact else ProblemCode.NEAR_DUPLICATE
    for turned in (False, True):
        pair = (likeness.first, likeness.second)
        question, other = pair[::-1] if turned else pair
        shared = {"question_id": question, "revision_id": revisions[question]}
        detail = {
            "similarity": likeness.similarity,
            "parts": [list(part[::-1] if turned else part) for part in likeness.parts],
        }
        yield ItemProblem(**shared, other_id=revisions[other], code=kind, detail=detail)
        if likeness.conflicts:
            parts = [list(part[::-1] if turned else part) for part in likeness.conflicts]
            yield ItemProblem(
                **shared,
                other_id=revisions[other],
                code=ProblemCode.CONFLICTING_KEY,
                quarantines=True,
                detail={"parts": [] if parts == [[0, 0]] else parts},
            )


def _store(found: dict[Place, ItemProblem], among: Collection[int]) -> set[int]:
    """Add what is new, remove what no longer holds; the questions whose status may change."""
    live = ItemProblem.objects.filter(live_problem(), code__in=PAIR_CODES)
    known: dict[Place, tuple[int, int]] = {}
    # The whole table of pairs is small; thousands of ids in a query are not.
    for pk, question, other_question, revision, other, code in live.values_list(
        "pk", "question", "other__question", "revision", "other", "code"
    ):
        if question in among or other_question in among:
            known[revision, other or 0, code] = (pk, question)
    new = [problem for place, problem in found.items() if place not in known]
    ItemProblem.objects.bulk_create(new, ignore_conflicts=True)
    gone = {pk: question for place, (pk, question) in known.items() if place not in found}
    ItemProblem.objects.filter(pk__in=gone, decision=None).delete()
    return {problem.question_id for problem in new} | set(gone.values())
