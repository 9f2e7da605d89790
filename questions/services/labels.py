"""Setting the labels of one item: a new row each time, never over somebody else's."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import LabelBatch, LabelRevision, Question
from questions.rules.four_tuple import FourTuple
from questions.rules.vocabulary import LabelOrigin
from questions.selectors.labels import four_tuple
from questions.services.label_rows import check_change, check_reason, label_row

NO_LABELS = 0


def set_labels(
    question: Question,
    change: Mapping[str, object],
    *,
    acting_user: User,
    reason: str = "",
    batch: LabelBatch | None = None,
    seen: int | None = None,
    tag: Tag = Tag.LABELS_SET,
) -> LabelRevision | None:
    """Set the labels that *change* names; the others stay. None when nothing would differ.

    *change* maps ``ability_branch``, ``knowledge`` (a slug), ``difficulty`` (1 to
    5) and ``modal`` to their values; an empty value takes a label away. What
    differs is from now on set by a person. *seen* is the key of the row of labels
    that the person had before their eyes (``NO_LABELS`` for none); by default the
    one that *question* was loaded with.

    Raises BadInput for a value that does not exist. Raises Conflict when somebody
    changed the labels meanwhile: then what was given is kept in the history beside
    what counts. In a transaction of the caller's it is kept if that one commits.
    """
    labels = check_change(change)
    reason = check_reason(reason)
    before = _before(question, seen)
    after = four_tuple(before).changed(labels, LabelOrigin.PERSON)
    if after == four_tuple(before):
        return None
    again = None if batch else _given_before(question, before, after, acting_user)
    if again is not None:
        if again.overtaken:
            raise _changed_meanwhile()
        return None
    with transaction.atomic():
        row = move_labels(question, before, after, author=acting_user, reason=reason, batch=batch)
        change = {label.value: value for label, value in labels.items()}
        record(tag, question, actor=acting_user, row=row.pk, change=change, overtaken=row.overtaken)
    if row.overtaken:
        raise _changed_meanwhile()
    return row


def _changed_meanwhile() -> Conflict:
    return Conflict(
        _(
            "Somebody has changed the labels of this question in the meantime. "
            "Those labels count. Yours are kept in the history."
        ),
        code="labels_changed",
    )


def _given_before(
    question: Question, before: LabelRevision | None, after: FourTuple, author: User
) -> LabelRevision | None:
    """Return the row that *author* wrote over *before* by the same form, sent again.

    It is their newest, says the same, and counts or was overtaken. As long as *before* counts,
    nothing was written over it: the form is a new one, whatever was overtaken earlier.
    """
    seen = before.pk if before else None
    counting = Question.objects.values_list("label_id", flat=True).get(pk=question.pk)
    if counting == seen:
        return None
    rows = LabelRevision.objects.filter(question=question, author=author)
    row = rows.filter(pk__gt=seen or 0).order_by("-pk").first()
    if row is None or four_tuple(row) != after:
        return None
    return row if row.pk == counting or row.overtaken else None


def move_labels(
    question: Question,
    before: LabelRevision | None,
    after: FourTuple,
    *,
    author: User | None,
    reason: str,
    batch: LabelBatch | None = None,
) -> LabelRevision:
    """Store *after* as the labels that follow *before*, by one conditional update.

    Where *before* no longer counts, the row is stored as overtaken and the item
    keeps its labels. Call it in a transaction.
    """
    row = label_row(question.pk, after, author=author, reason=reason, batch=batch)
    row.save()
    unmoved = Question.objects.filter(pk=question.pk, label=before)
    if before is None:
        unmoved = Question.objects.filter(pk=question.pk, label__isnull=True)
    if unmoved.update(label=row):
        question.label = row
    else:
        row.overtaken = True
        row.save(update_fields=["overtaken"])
    return row


def _before(question: Question, seen: int | None) -> LabelRevision | None:
    key = question.label_id if seen is None else seen
    if not key:
        return None
    row = LabelRevision.objects.filter(pk=key, question=question).first()
    if row is None:
        raise BadInput(_("These labels belong to another question."), code="other_question")
    return row
