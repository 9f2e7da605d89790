"""Changing the labels of many items at once: shown first, done as one, undone as one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, Subquery
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.locking import locked
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import LabelBatch, LabelRevision, Question
from questions.rules.four_tuple import FourTuple, Label, Value
from questions.rules.vocabulary import LabelOrigin
from questions.selectors.labels import four_tuple, with_present_levels
from questions.services.label_rows import check_change, check_reason, label_row

# SQLite takes a limited number of values in one statement.
CHUNK = 500
LONGEST_QUERY = 500


@dataclass(frozen=True, slots=True)
class LabelPreview:
    """What a bulk change would do to one label.

    ``becomes`` is the new value (knowledge as its slug, None for taken away).
    ``changes`` counts the items that would change by the value they have now,
    most first (knowledge as its key, None for empty); ``same`` counts the rest.
    """

    label: Label
    becomes: Value
    changes: tuple[tuple[Value, int], ...]
    same: int

    @property
    def changing(self) -> int:
        """How many items would have another value."""
        return sum(count for _value, count in self.changes)


@dataclass(frozen=True, slots=True)
class Preview:
    """A bulk change before it is done: ``questions`` in all, ``changing`` of them, by label.

    ``state`` is a digest of the items and of the rows of labels that they have now.
    """

    questions: int
    changing: int
    labels: tuple[LabelPreview, ...]
    state: str


def preview(question_ids: Collection[int], change: Mapping[str, object]) -> Preview:
    """What ``apply`` would do to these items now; nothing is written.

    Raises BadInput for a change that ``apply`` would refuse.
    """
    labels = _checked(change)
    current = list(_current(question_ids))
    tuples = [four_tuple(label) for _key, label in current]
    return Preview(
        questions=len(tuples),
        changing=sum(bool(now.differences(labels)) for now in tuples),
        labels=tuple(
            _preview(label, new, change[label.value], tuples) for label, new in labels.items()
        ),
        state=_state(current),
    )


def _state(current: Iterable[tuple[int, LabelRevision | None]]) -> str:
    text = repr([(key, label.pk if label else 0) for key, label in current])
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def apply(
    question_ids: Collection[int],
    change: Mapping[str, object],
    *,
    acting_user: User,
    query: str = "",
    reason: str = "",
    seen: str | None = None,
) -> LabelBatch:
    """Set the labels that *change* names on every item; items that have them already stay.

    *query* are the filters by which the items were chosen, *seen* the state of the preview, None
    without one. ``batch.revisions`` are the rows written, one for each item that changed. Raises
    BadInput for a value that does not exist, and when no item would change; Conflict where the
    labels of an item are not those of the preview.
    """
    labels, reason = _checked(change), check_reason(reason)
    current = list(_current(question_ids, lock=True))
    if seen not in (None, _state(current)):
        raise Conflict(_("Labels have changed since the preview."), code="moved")
    batch = LabelBatch.objects.create(
        author=acting_user, change=dict(change), query=query[:LONGEST_QUERY], reason=reason
    )
    rows = []
    for key, label in current:
        now = four_tuple(label)
        after = now.changed(labels, LabelOrigin.PERSON)
        if after != now:
            rows.append(label_row(key, after, author=acting_user, reason=reason, batch=batch))
    if not rows:
        raise BadInput(_("None of these questions would change."), code="no_change")
    _write(rows, batch)
    record(Tag.LABELS_BULK, batch, actor=acting_user, change=dict(change), questions=len(rows))
    return batch


@transaction.atomic
def undo(batch: LabelBatch, *, acting_user: User) -> LabelBatch:
    """Give every item of *batch* the labels and origins that it had before, as a batch.

    A level that was derived from human rates is derived from those of now.
    An item whose labels changed since is left alone and its key is in
    ``change["kept"]`` of the answer; changes that were undone are no changes, so that the undo
    of a later one gives back what was before both. Undoing an undoing does the change again.
    Raises Conflict when *batch* was undone already.
    """
    batch = LabelBatch.objects.select_for_update().get(pk=batch.pk)
    if LabelBatch.objects.filter(undoes=batch).exists():
        raise Conflict(_("This change has already been undone."), code="undone")
    change = batch
    while change.undoes is not None:
        change = change.undoes
    mine = dict(change.revisions.filter(overtaken=False).values_list("question_id", "pk"))
    found = [key for key, _label in _current(mine, lock=True)]
    undone = _undone()
    again = change.pk in undone
    later, before = _around(change, found, undone)
    current = [key for key in found if key not in later]
    kept = sorted(mine.keys() - set(current))
    if again:
        before = {row.question_id: row for row in change.revisions.filter(overtaken=False)}
    undoing = LabelBatch.objects.create(
        author=acting_user, change={"kept": kept}, query=batch.query, undoes=batch
    )
    restored = with_present_levels({key: four_tuple(before.get(key)) for key in current})
    rows = [
        label_row(key, labels, author=acting_user, reason="", batch=undoing)
        for key, labels in restored.items()
    ]
    _write(rows, undoing)
    record(
        Tag.LABELS_UNDONE,
        undoing,
        actor=acting_user,
        undoes=batch.pk,
        restored=len(rows),
        kept=kept,
    )
    return undoing


def _checked(change: Mapping[str, object]) -> dict[Label, Value]:
    if not change:
        raise BadInput(_("Choose at least one label to set."), code="empty_change")
    return check_change(change)


def _preview(
    label: Label, new: Value, becomes: object, tuples: Sequence[FourTuple]
) -> LabelPreview:
    now = Counter(labels.value(label) for labels in tuples)
    same = now.pop(new, 0)
    shown = str(becomes) if label is Label.KNOWLEDGE and becomes else new
    return LabelPreview(label, shown, tuple(now.most_common()), same)


def _chunks(keys: Collection[int]) -> Iterator[list[int]]:
    ordered = sorted(set(keys))
    return (ordered[at : at + CHUNK] for at in range(0, len(ordered), CHUNK))


def _current(
    question_ids: Collection[int], *, lock: bool = False
) -> Iterator[tuple[int, LabelRevision | None]]:
    """Key and labels of each item; *lock* keeps others from changing them in this transaction."""
    questions = Question.objects.select_related("label").order_by("pk").only("pk", "label")
    for chunk in _chunks(question_ids):
        rows = questions.filter(pk__in=chunk)
        for question in locked(rows) if lock else rows:
            yield question.pk, question.label


def _write(rows: Sequence[LabelRevision], batch: LabelBatch) -> None:
    """Store *rows* and let their items point to them; all were locked by the caller."""
    LabelRevision.objects.bulk_create(rows, batch_size=CHUNK)
    moved = [Question(pk=row.question_id, label=row) for row in rows]
    Question.objects.bulk_update(moved, ["label"], batch_size=100)


def _undone() -> set[int | None]:
    """The keys of the batches that are undone; an undoing that was undone undoes nothing."""
    undone: set[int | None] = set()
    undoings = LabelBatch.objects.exclude(undoes=None).order_by("-pk")
    for key, undoes in undoings.values_list("pk", "undoes"):
        if key not in undone:
            undone.add(undoes)
    return undone


def _around(
    change: LabelBatch, question_ids: Collection[int], undone: Collection[int | None]
) -> tuple[set[int], dict[int, LabelRevision]]:
    """The items that changed after *change*, and the row that counted on each item before it.

    A change that was undone and its undoing cancel each other out: neither row counts.
    """
    standing = Q(batch=None) | Q(batch__undoes=None) & ~Q(batch__in=undone)
    later: set[int] = set()
    before: dict[int, LabelRevision] = {}
    for chunk in _chunks(question_ids):
        own = LabelRevision.objects.filter(batch=change, question=OuterRef("question"))
        rows = LabelRevision.objects.filter(standing, question__in=chunk, overtaken=False)
        rows = rows.annotate(own=Subquery(own.values("pk")[:1]))
        later |= set(rows.filter(pk__gt=F("own")).values_list("question", flat=True))
        last = rows.filter(pk__lt=F("own")).values("question").annotate(last=Max("pk"))
        found = LabelRevision.objects.filter(pk__in=last.values("last"))
        before |= {row.question_id: row for row in found}
    return later, before
