"""Saving what a reviewer says of an answer: checked, once only, never overwritten."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from evaluations.capability.rules.dimensions import Dimension, Values, asked_of
from evaluations.capability.rules.weaknesses import BY_DIMENSION, in_order
from evaluations.capability.selectors.capability_desk import last_own
from evaluations.models import CapabilityJudgement, CapabilityReview, ReviewSlot
from evaluations.models.vocabulary import ReviewStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.locking import locked
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from gradeapp.common.storable import storable

LONGEST_NOTE = 10_000
LONGEST_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class SavedJudgement:
    """The stored judgement; ``repeated`` when the same request had stored it before."""

    judgement: CapabilityJudgement
    repeated: bool = False


def save_judgement(
    slot: ReviewSlot,
    reviewer: User,
    *,
    key: uuid.UUID,
    based_on_version: int,
    values: Values,
    weaknesses: Iterable[str] = (),
    note: str = "",
    seconds: int | None = None,
    own_key: bool = False,
) -> SavedJudgement:
    """Store what *reviewer* says of the answer of *slot*: a first judgement or a new version.

    *values* has an entry for each dimension that the task asks for: 1, 0, or None
    where it does not apply. *based_on_version* is the version that the page showed,
    0 for none. A *key* that was used, with the content that counts, is that judgement;
    an *own_key*, which one request has and no second window, with the content that it
    stored. With other content, as when one changed the form after a save whose answer
    was lost, it is refused.

    Raises NotFound when the reviewer does not hold the answer, BadInput for what
    the task does not ask or a list does not hold, Conflict when the review is
    closed or the page was older than the stored version: nothing is stored then.
    """
    named = _checked(slot, values, weaknesses)
    given = _Given(dict(values), named, _note(note), _known(seconds))
    try:
        with transaction.atomic():
            held = _held(slot, reviewer)
            if earlier := _earlier(key, given, held, own_key):
                return SavedJudgement(earlier, repeated=True)
            current = held.judgement
            stored = current.version if current else 0
            if stored != based_on_version:
                raise _stale(current)
            return SavedJudgement(_store(held, reviewer, given, key=key, version=stored + 1))
    except IntegrityError as error:  # one_judgement_per_version: the same person in two windows
        raise _stale(CapabilityJudgement.objects.filter(counts_for=slot).first()) from error


def last_judged(reviewer: User, review: CapabilityReview, before: ReviewSlot | None) -> ReviewSlot:
    """The answer that *reviewer* judged last, or before *before*; nothing is changed.

    Raises Conflict when there is none.
    """
    slot = last_own(reviewer, review, before)
    if slot is None:
        raise Conflict(_("You have no earlier verdict in this review."), code="no_judgement")
    return slot


@dataclass(frozen=True, slots=True)
class _Given:
    """A checked judgement."""

    values: dict[Dimension, int | None]
    weaknesses: list[str]
    note: str
    seconds: int | None

    def is_same(self, row: CapabilityJudgement) -> bool:
        """Whether *row* says the same; the time it took does not count."""
        stored = {one: getattr(row, one.value) for one in Dimension}
        wanted = {one: self.values.get(one) for one in Dimension}
        return (stored, row.weaknesses, row.note) == (wanted, self.weaknesses, self.note)


def _checked(slot: ReviewSlot, values: Values, weaknesses: Iterable[str]) -> list[str]:
    """The weaknesses in order; BadInput unless everything fits the task of the answer."""
    question = slot.item.question
    asked = asked_of(question.task.slug, question.subject)
    if set(values) != set(asked):
        raise BadInput(_("Set every dimension to 1, 0 or “does not apply”."), code="not_as_asked")
    if any(value not in (0, 1, None) for value in values.values()):
        raise BadInput(_("Set every dimension to 1, 0 or “does not apply”."), code="not_as_asked")
    try:
        named = in_order(weaknesses)
    except ValueError:
        raise BadInput(_("There is no such weakness."), code="unknown_weakness") from None
    possible = {weakness for one in asked for weakness in BY_DIMENSION[one]}
    if not possible.issuperset(named):
        raise BadInput(_("This weakness does not apply to this task."), code="not_as_asked")
    return [weakness.value for weakness in named]


def _note(note: str) -> str:
    if len(note) > LONGEST_NOTE:
        raise BadInput(_("The note is longer than %(most)s characters.") % {"most": LONGEST_NOTE})
    return storable(note.strip())


def _known(seconds: int | None) -> int | None:
    """Seconds that can be true; anything else is unknown."""
    return seconds if seconds is not None and 0 <= seconds <= LONGEST_SECONDS else None


def _held(slot: ReviewSlot, reviewer: User) -> ReviewSlot:
    """The slot if *reviewer* has it now and its review is open, held against everybody else."""
    rows = ReviewSlot.objects.select_related("item__review", "judgement")
    own = rows.filter(pk=slot.pk, holder=reviewer, item__review__reviewers=reviewer)
    held = locked(own).first()
    if held is None:
        raise NotFound(_("There is no such response, or it is no longer assigned to you."))
    if held.item.review.status != ReviewStatus.OPEN:
        raise Conflict(_("The review was closed. Your input was not saved."), code="review_closed")
    return held


def _earlier(
    key: uuid.UUID, given: _Given, slot: ReviewSlot, own_key: bool
) -> CapabilityJudgement | None:
    """What an equal request stored before."""
    stored = CapabilityJudgement.objects.filter(key=key).first()
    if stored is None:
        return None
    if stored.slot_id != slot.pk:
        raise BadInput(_("Use a new submission id for a new verdict."), code="key_used")
    same = stored if own_key else slot.judgement
    if same and given.is_same(same):
        return same
    raise _stale(slot.judgement)


def _store(
    slot: ReviewSlot, reviewer: User, given: _Given, *, key: uuid.UUID, version: int
) -> CapabilityJudgement:
    made = CapabilityJudgement.objects.create(
        slot=slot,
        version=version,
        key=key,
        reviewer=reviewer,
        weaknesses=given.weaknesses,
        note=given.note,
        seconds=given.seconds,
        **{one.value: value for one, value in given.values.items()},
    )
    ReviewSlot.objects.filter(pk=slot.pk).update(reviewed=True, judgement=made, lease_until=None)
    tag = Tag.ANSWER_REVIEWED if version == 1 else Tag.ANSWER_REVIEWED_AGAIN
    record(tag, made, actor=reviewer, item=slot.item_id, version=version)
    return made


def _stale(stored: CapabilityJudgement | None) -> Conflict:
    """The page was older than what is stored; what was sent stays in the page."""
    return Conflict(
        _(
            "You have judged this response in another window in the meantime. Your "
            "input was not saved and is still in the form. Save it to replace the "
            "other verdict."
        ),
        code="stale_version",
        stored=as_details(stored) if stored else None,
    )


def as_details(judgement: CapabilityJudgement) -> Mapping[str, object]:
    """A judgement as its own reviewer may see it: in a conflict, and in the API."""
    return {
        "version": judgement.version,
        **{one.value: getattr(judgement, one.value) for one in Dimension},
        "weaknesses": list(judgement.weaknesses),
        "note": judgement.note,
    }
