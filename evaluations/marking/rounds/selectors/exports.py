"""Marks of a round line by line, for export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import Any

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When

from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.models import Mark, MarkingRound, PointMark
from evaluations.models.vocabulary import SlotKind
from gradeapp.common.plain_number import plain

# Marks in memory at a time.
CHUNK = 2000
Cells = tuple[str | int | float | Decimal | None, ...]


MARK_COLUMNS = (
    *("dataset", "model", "condition", "task", "id", "subject", "repeat", "round", "scheme"),
    *("response", "kind", "teacher", "version", "stale", "total", "full", "tolerance"),
    *("flags", "comment", "seconds", "marked_at", "final", "rule"),
    *("entered_by", "counts", "rubric_version", "points", "reference", "repeat_of"),
)


def marks_of_round(marking_round: MarkingRound) -> Iterator[Cells]:
    """The marks of one round that leads may see, as ``marks_as_cells`` has them."""
    marks = Mark.objects.filter(slot__answer__round=marking_round)
    return marks_as_cells(marks.exclude(marks_wait_for_the_lead("slot__answer__")))


def marks_as_cells(marks: QuerySet[Mark]) -> Iterator[Cells]:
    """Every version of *marks*, in ``MARK_COLUMNS``, beside the final mark and its rule.

    ``counts`` is "no" for what was revised since, returned for re-marking, or sent from an older
    page. ``points`` are those of the scoring points of that version of the rubric, in their order.
    ``reference`` is the reference mark of a seed answer; ``repeat_of`` is the alias under which the
    response of an intra-rater check was marked before.
    """
    later = Mark.objects.filter(slot=OuterRef("slot"), stale=False, version__gt=OuterRef("version"))
    counts = Q(stale=False, version__gt=F("slot__void_version")) & ~Exists(later)
    answer = "slot__answer"
    columns = (
        f"{answer}__response__run__dataset__slug",
        f"{answer}__response__run__language_model__name",
        f"{answer}__response__run__condition__name",
        f"{answer}__question__task__slug",
        f"{answer}__question__external_id",
        f"{answer}__question__subject",
        f"{answer}__response__repeat",
        f"{answer}__round__name",
        f"{answer}__round__scheme",
        f"{answer}__alias",
        *("slot__kind", "teacher__username", "version", "stale", "total", "full"),
        f"{answer}__tolerance",
        *("flags", "comment", "seconds", "created_at"),
        *(f"{answer}__final__value", f"{answer}__final__rule"),
        *("entered_by__username", "counts", "rubric__version"),
        *("reference", f"{answer}__repeat_of__alias", "pk"),
    )
    ordered = marks.order_by("slot__answer", "slot", "version", "pk")
    seed = Case(When(slot__kind=SlotKind.SEED, then=F(f"{answer}__seed_answer__total")))
    marked = ordered.annotate(counts=counts, reference=seed)
    rows = marked.values_list(*columns).iterator(chunk_size=CHUNK)
    for row, points in _with_points(rows):
        *first, by, counting, rubric, reference, repeat_of, _mark = row
        *before, stale, total, full, tolerance, flags, comment, seconds, at, value, rule = first
        yield (
            *(*before, "yes" if stale else "no"),
            *(_plain(total), _plain(full), _plain(tolerance)),
            *(" ".join(flags), comment, seconds, at.isoformat(), _plain(value), rule),
            *(by, "yes" if counting else "no"),
            *(rubric, points, _plain(reference), repeat_of),
        )


def _with_points(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Each of *rows*, which end with the key of a mark, and the points of its scoring points."""
    while some := list(islice(rows, CHUNK)):
        points: dict[int, list[str]] = defaultdict(list)
        given = PointMark.objects.filter(mark__in=[row[-1] for row in some])
        for mark, worth in given.order_by("mark", "scoring_point__order").values_list(
            "mark", "points"
        ):
            points[mark].append(plain(worth))
        yield from ((row, " ".join(points[row[-1]])) for row in some)


def _plain(value: Decimal | None) -> Decimal | None:
    """The same on every database: one writes 6.7500 where the other writes 6.75."""
    return None if value is None else Decimal(plain(value))
