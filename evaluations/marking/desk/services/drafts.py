"""What a teacher has typed and not saved."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.marking.desk.services.same_rubric import (
    RUBRIC_CHANGED,
    check_rubric,
    rubric_code,
)
from evaluations.marking.desk.services.slots import renew
from evaluations.marking.desk.sql import drop_draft, own_draft
from evaluations.models import Draft, Mark, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.locking import locked
from gradeapp.common.refusals import Conflict
from gradeapp.common.submission_keys import submission_key

MOST_POINTS = 200
LONGEST_COMMENT = 10_000
LONGEST_NUMBER = 20


def save_draft(
    slot: Slot,
    teacher: User,
    *,
    sequence: int,
    content: Mapping[str, object],
    based_on_version: int = 0,
    rubric: str = "",
    leaving: bool = False,
    unconfirmed: UUID | None = None,
    beside: bool = False,
    now: datetime,
) -> int | None:
    """Keep *content* as the draft of *teacher*; the highest *sequence* wins.

    A page that is *leaving* sends nothing more, so its draft is kept under a number higher than
    that of the draft that stands.

    *based_on_version* is the version of the own mark that the page showed, 0 for none, *rubric*
    the code of the rubric that it showed. *unconfirmed* is the key of a save of the page whose
    answer did not come: where it was stored, this is the draft of a change of that mark. With
    *beside* the page knows that another window saved a mark, and it changes that one. Returns
    None, or the sequence of the draft that stands where that is another than *sequence*: this one
    was ignored, or is kept under it.
    A draft of a first mark shows that its teacher is at work and lengthens the lease. One of a
    change is kept whether or not the mark can still be revised, so that it tells nothing of the
    other marks. Raises Conflict when the stored mark is another version, somebody else holds the
    response, it has another rubric now (comment and flags are kept), or its mark was returned or
    the round closed (all is kept).
    """
    try:
        check_rubric(slot.answer, rubric)
    except Conflict as refusal:
        if refusal.code == RUBRIC_CHANGED:
            keep_words(slot, teacher, content, sequence=sequence, rubric=rubric)
        raise
    if based_on_version and not slot.marked and slot.void_version:
        known = {"version": 0, "rubric": rubric_code(slot.answer)}
        write_draft(slot, teacher, sequence, {**content, **known})
        _check_not_closed(slot)
        raise Conflict(
            _("The lead has returned this response for re-marking. Your input is kept as a draft."),
            code="returned",
        )
    version = _drafted_version(slot, teacher, based_on_version, unconfirmed, beside, now)
    known = {"version": version, "rubric": rubric_code(slot.answer)}
    kept, stands = {**content, **known}, sequence
    while not write_draft(slot, teacher, stands, kept):
        stands = newest_sequence(slot, teacher)
        if not leaving:
            return stands
        stands += 1
    _check_not_closed(slot)
    return None if stands == sequence else stands


def _drafted_version(
    slot: Slot, teacher: User, shown: int, unconfirmed: UUID | None, beside: bool, now: datetime
) -> int:
    """The version of the own mark that is changed by a page that has *shown* one, 0 for none.

    Raises Conflict where another version is stored, or the response is not *teacher*'s any more.
    """
    if slot.marked:
        stored = _own_version(slot)
        follows = shown == stored - 1 and _is_current(slot, unconfirmed)
        if shown == stored or follows or (beside and shown < stored):
            return stored
    elif shown == 0 and renew(slot, teacher, now=now):
        return 0
    raise Conflict(
        _(
            "This response is already marked, or no longer assigned to you. "
            "The draft was not saved."
        ),
        code="draft_too_late",
    )


def keep_words(
    slot: Slot, teacher: User, content: Mapping[str, object], *, sequence: int, rubric: str
) -> None:
    """Keep the comment and flags of *content*, whose points were given for another *rubric*.

    A draft for the present rubric stays, and so does a mark. Raises Conflict in a closed round,
    where the response cannot be marked again.
    """
    if slot.marked:
        return
    stands = own_draft(slot.pk, teacher.pk)
    if stands is None or stands.content.get("rubric") != rubric_code(slot.answer):
        known = {"points": [], "total": "", "version": 0, "rubric": rubric or "another"}
        write_draft(slot, teacher, sequence, {**content, **known})
        _check_not_closed(slot)


def _check_not_closed(slot: Slot) -> None:
    """Raise Conflict for what was kept in a closed round."""
    if slot.answer.round.status == RoundStatus.CLOSED:
        raise Conflict(
            _("The round was closed. What you typed is kept as a draft. Ask the lead."),
            code="round_closed",
        )


def newest_sequence(slot: Slot, teacher: User) -> int:
    """The sequence of the draft that stands, 0 for none."""
    drafts = Draft.objects.filter(slot=slot, teacher=teacher)
    return max(drafts.values_list("sequence", flat=True), default=0)


def discard_change(slot: Slot, teacher: User, *, up_to: int) -> None:
    """Delete the draft of a change to a saved mark; the saved mark stays as it is.

    *up_to* is the sequence of the newest draft that the page knows, 0 for none: a newer one, of
    another browser, stays.
    """
    if slot.marked:
        Draft.objects.filter(slot=slot, teacher=teacher, sequence__lte=up_to).delete()


def end_draft(slot: Slot, teacher: int, *, up_to: int, version: int) -> None:
    """Delete the draft of what *teacher* saved as *version* of the own mark.

    *up_to* is the sequence of the newest draft that the page knew. A newer one, of another browser
    or typed while somebody entered the mark, stays: it is the draft of a change from now on.
    """
    if drop_draft(slot.pk, teacher, up_to) or own_draft(slot.pk, teacher) is None:
        return
    draft = locked(Draft.objects.filter(slot=slot, teacher=teacher)).first()
    if draft is None:
        return
    if draft.content.get("version", 0) == version - 1:
        content = {**draft.content, "version": version}
        Draft.objects.filter(pk=draft.pk).update(content=content)
    else:  # of a mark before, so no page showed it
        draft.delete()


def _own_version(slot: Slot) -> int:
    """The version of the saved mark as its teacher counts it, without returned marks."""
    newest = Mark.objects.counting().filter(slot=slot).aggregate(version=Max("version"))
    return (newest["version"] or slot.void_version) - slot.void_version


def _is_current(slot: Slot, key: UUID | None) -> bool:
    """Whether the mark of *slot* that counts was stored by the save with the *key*."""
    if key is None:
        return False
    current = Mark.objects.counting().filter(slot=slot).order_by("-version").first()
    return current is not None and current.key in (key, submission_key(key, slot.pk))


def write_draft(slot: Slot, teacher: User, sequence: int, content: Mapping[str, object]) -> bool:
    """Store the draft if nothing newer is stored, in a way that two writers may race."""
    cleaned = clean(content)
    own = Draft.objects.filter(slot=slot, teacher=teacher)
    older = own.filter(sequence__lt=sequence)
    if older.update(sequence=sequence, content=cleaned, updated_at=timezone.now()):
        return True
    if own.filter(sequence__gte=sequence).exists():
        return False
    try:
        with transaction.atomic():
            Draft.objects.create(slot=slot, teacher=teacher, sequence=sequence, content=cleaned)
    except IntegrityError:  # a rival wrote the first one in between, perhaps an older one
        return write_draft(slot, teacher, sequence, content)
    return True


def clean(content: Mapping[str, object]) -> dict[str, object]:
    """The parts of a draft that the desk knows, as text of bounded length without NUL.

    A draft may hold what is not a mark yet ("1."), so nothing is read here.
    """
    points, flags = content.get("points"), content.get("flags")
    version = content.get("version")
    return {
        "points": [_short(value) for value in points[:MOST_POINTS]]
        if isinstance(points, list)
        else [],
        "total": _short(content.get("total")),
        "comment": _text(content.get("comment"), LONGEST_COMMENT),
        "flags": [_short(flag) for flag in flags[:MOST_POINTS]] if isinstance(flags, list) else [],
        "version": version if isinstance(version, int) else 0,
        "rubric": _short(content.get("rubric")),
    }


def _short(value: object) -> str:
    return _text(value, LONGEST_NUMBER)


def _text(value: object, longest: int) -> str:
    # PostgreSQL stores no NUL, and a draft must not fail for one.
    return "" if value is None else str(value).replace("\x00", "")[:longest]
