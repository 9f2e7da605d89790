"""Claiming the next answer of a review by a lease, in one conditional update; leaving it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet
from django.utils.translation import gettext as _

from evaluations.capability.selectors.capability_desk import WHOLE, slots_open_to
from evaluations.marking.rules.drawing import shuffled
from evaluations.models import CapabilityReview, ReviewSlot
from evaluations.models.vocabulary import ReviewStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.leases import SLOT
from gradeapp.common.refusals import Conflict, NotAllowed

LEASE = timedelta(minutes=30)
MOST_TRIES = 50


def claim_next(reviewer: User, review: CapabilityReview, *, now: datetime) -> ReviewSlot | None:
    """The next answer for *reviewer*, held until the lease ends; None when there is none.

    What is at hand comes first, then own planned ones in their order, then those of others that
    nobody holds, skipped ones last. Losing a race only means going on to the next.
    """
    for slot in _free_slots(reviewer, review, now):
        if take(slot, reviewer, now=now):
            return ReviewSlot.objects.select_related(*WHOLE).get(pk=slot)
    return None


def take(slot: int, reviewer: User, *, now: datetime) -> bool:
    """Claim the slot by one conditional update; True when *reviewer* now holds it."""
    in_open_review = Exists(
        CapabilityReview.objects.filter(items=OuterRef("item_id"), status=ReviewStatus.OPEN)
    )
    row = ReviewSlot.objects.filter(in_open_review, pk=slot, reviewed=False)
    try:
        with transaction.atomic():
            return SLOT.claim(row, reviewer, until=now + LEASE, now=now) == 1
    except IntegrityError:  # one_review_per_person_and_item: a rival request of the same person
        return False


def skip(slot: ReviewSlot, reviewer: User) -> bool:
    """Give the answer free and put it after all others; True when it was held."""
    end = _slots_in(slot.item.review).aggregate(last=Max("order"), slots=Count("pk"))
    row = ReviewSlot.objects.filter(pk=slot.pk, reviewed=False)
    return SLOT.release(row, reviewer, order=max(end["last"], end["slots"]) + 1) == 1


def leave_review(review: CapabilityReview, reviewer: User) -> None:
    """Take *reviewer* out of an open review for good: their judgements stay as they are.

    What they have not judged goes to the others. Nobody can come back: outside the review they
    may look at what was said. Raises NotAllowed for somebody without another role, to whom nothing
    would open, Conflict for somebody who is not in the review or where it is closed.
    """
    if reviewer.granted == reviewer.capabilities:
        raise NotAllowed(_("You can leave a review only if you also have another role."))
    with transaction.atomic():
        locked = CapabilityReview.objects.select_for_update().get(pk=review.pk)
        if (
            locked.status != ReviewStatus.OPEN
            or not locked.reviewers.filter(pk=reviewer.pk).exists()
        ):
            raise Conflict(_("You are not in this review any more."), code="left")
        locked.reviewers.remove(reviewer)
        own = ReviewSlot.objects.filter(item__review=locked, holder=reviewer, reviewed=False)
        own.update(**SLOT.released())
        record(Tag.REVIEWER_LEFT, locked, actor=reviewer, reviewer=reviewer.username)


def _free_slots(reviewer: User, review: CapabilityReview, now: datetime) -> Iterator[int]:
    """Keys of slots worth a try, best first."""
    free = slots_open_to(reviewer, review).filter(SLOT.free_for(reviewer, now))
    yield from free.filter(holder=reviewer).values_list("pk", flat=True)
    own = free.filter(planned=reviewer).order_by("order", F("pk"))
    yield from own.values_list("pk", flat=True)[:MOST_TRIES]
    others = dict(free.exclude(planned=reviewer).values_list("pk", "order"))
    drawn = (int(key) for key in shuffled(others, review.random_seed, f"help{reviewer.pk}"))
    # The order of what was skipped is above the number of slots, that of all else is not.
    planned = _slots_in(review).count()
    yield from sorted(drawn, key=lambda key: max(others[key], planned))


def _slots_in(review: CapabilityReview) -> QuerySet[ReviewSlot]:
    return ReviewSlot.objects.filter(item__review=review)
