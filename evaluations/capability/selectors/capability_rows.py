"""The answers behind a figure of a review, each with what was said of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluations.capability.rules.dimensions import Dimension
from evaluations.capability.rules.figures import NOT_APPLICABLE, differing
from evaluations.capability.selectors.capability_review import (
    EVERYTHING,
    Share,
    as_judged,
    current_judgements,
)
from evaluations.models import CapabilityJudgement, CapabilityReview, ReviewItem

ROW = (
    *("slot__item__response__run__language_model", "slot__item__review__dataset"),
    *("slot__item__response__run__condition",),
    *("slot__item__question__task", "slot__item__revision", "reviewer"),
)


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which answers: of a task, a value of a dimension, a weakness, differing, of a share.

    ``value`` is ``1``, ``0`` or ``na``; a dimension without one means 1 or 0. What
    is empty narrows nothing.
    """

    task: str = ""
    dimension: str = ""
    value: str = ""
    weakness: str = ""
    differ: bool = False
    share: Share = EVERYTHING


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer with its judgements as they count now; ``apart`` names where two differ."""

    item: ReviewItem
    judgements: tuple[CapabilityJudgement, ...]
    apart: tuple[str, ...]


def answers_behind(review: CapabilityReview, wanted: AnswerFilter) -> list[AnswerRow]:
    """The judged answers that fit, by task and question."""
    by_item: dict[int, list[CapabilityJudgement]] = {}
    for row in current_judgements(review, wanted.share):
        by_item.setdefault(row.slot.item_id, []).append(row)
    found = [_row(rows) for rows in by_item.values()]
    fitting = [row for row in found if _fits(row, wanted)]
    return sorted(fitting, key=lambda row: (_task(row), row.item.question.position, row.item.pk))


def with_facts(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The same rows with everything that a page or a file shows of them, in one query."""
    keys = [one.pk for row in rows for one in row.judgements]
    whole = CapabilityJudgement.objects.select_related(*ROW).in_bulk(keys)
    return [
        AnswerRow(
            item=whole[row.judgements[0].pk].slot.item,
            judgements=tuple(whole[one.pk] for one in row.judgements),
            apart=row.apart,
        )
        for row in rows
    ]


def all_versions(review: CapabilityReview) -> Iterable[CapabilityJudgement]:
    """Every version of every judgement, with everything that a file holds of it."""
    rows = CapabilityJudgement.objects.filter(slot__item__review=review)
    return rows.select_related(*ROW).order_by("slot__item", "slot__place", "version")


def _task(row: AnswerRow) -> str:
    return row.item.question.task.slug


def _row(rows: Sequence[CapabilityJudgement]) -> AnswerRow:
    judged = [as_judged(row) for row in rows]
    apart = differing(*judged) if len(judged) == 2 else ()
    return AnswerRow(rows[0].slot.item, tuple(rows), apart)


def _fits(row: AnswerRow, wanted: AnswerFilter) -> bool:
    if wanted.task and _task(row) != wanted.task:
        return False
    if wanted.differ and not row.apart:
        return False
    if wanted.weakness and not any(wanted.weakness in one.weaknesses for one in row.judgements):
        return False
    return not wanted.dimension or _has_value(row, wanted)


def _has_value(row: AnswerRow, wanted: AnswerFilter) -> bool:
    given = [as_judged(one).values for one in row.judgements]
    of_dimension = [one[wanted.dimension] for one in given if wanted.dimension in one]
    if wanted.value == NOT_APPLICABLE:
        return None in of_dimension
    values = {0, 1} if not wanted.value else {int(wanted.value)}
    return bool(values.intersection(of_dimension))


DIMENSIONS = frozenset(one.value for one in Dimension)
