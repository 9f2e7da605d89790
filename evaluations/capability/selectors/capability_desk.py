"""What a reviewer sees: one wrong answer without its model, and their own judgements.

Everything here is read from the question, the review and the reviewer's own
rows. Neither the run nor what somebody else said of the answer may be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from evaluations.capability.rules.dimensions import Dimension, asked_of
from evaluations.marking.desk.selectors.desk import (
    RECENT_MARKS,
    OwnProgress,
)
from evaluations.models import (
    CapabilityJudgement,
    CapabilityReview,
    DeskSettings,
    ReviewItem,
    ReviewSlot,
)
from evaluations.models.vocabulary import ReviewStatus
from evaluations.runs.rules.option_order import as_shown, asked_as_shown
from evaluations.runs.selectors.responses import Keys, keys_by
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT
from questions.selectors.bank import image_addresses

# What the desk shows of a slot's answer, in one query.
WHOLE = (
    *("item__review__dataset", "item__question__task", "item__revision"),
    *("item__response", "planned"),
)


@dataclass(frozen=True, slots=True)
class OwnReview:
    """A review as one of its reviewers sees it; ``progress`` counts own judgements only."""

    public_id: str
    name: str
    progress: OwnProgress


@dataclass(frozen=True, slots=True)
class ReviewedAnswer:
    """The allow-list of what a reviewer may know of an answer.

    ``public_id`` is random and tells neither the model nor the run. ``read`` has
    the answer read for each sub-question, None for a gap; it is empty where
    teachers marked the response. ``keys`` are those that scored it.
    """

    public_id: str
    task: str
    number: str
    subject: str
    question_type: str
    year: int | None
    paper: str
    stem: str
    keys: tuple[Keys, ...]
    reference_answer: str
    analysis: str
    response_text: str
    read: tuple[str | None, ...]
    points: Decimal
    full: Decimal
    asked: tuple[Dimension, ...]


@dataclass(frozen=True, slots=True)
class ReviewDesk:
    """One answer at the desk: what may be known of it, and the newest own judgement."""

    answer: ReviewedAnswer
    images: dict[str, str]
    language: str
    own: CapabilityJudgement | None

    @property
    def version(self) -> int:
        """The version of the own judgement; 0 for none."""
        return self.own.version if self.own else 0


def open_reviews(reviewer: User) -> QuerySet[CapabilityReview]:
    """The open reviews of *reviewer*, oldest first."""
    return CapabilityReview.objects.filter(status=ReviewStatus.OPEN, reviewers=reviewer).order_by(
        "id"
    )


def own_reviews(reviewer: User) -> list[OwnReview]:
    """The reviewer's first page."""
    return [review_for(reviewer, review) for review in open_reviews(reviewer)]


def own_review(reviewer: User, public_id: UUID) -> CapabilityReview | None:
    """An open review that *reviewer* takes part in."""
    return open_reviews(reviewer).filter(public_id=public_id).first()


def review_for(reviewer: User, review: CapabilityReview) -> OwnReview:
    """One review with own counts only."""
    return OwnReview(str(review.public_id), review.name, _own_progress(reviewer, review))


def own_slot(reviewer: User, item: UUID) -> ReviewSlot | None:
    """The slot that *reviewer* holds on the answer called *item*, in an open review of theirs.

    None alike for an answer of somebody else, one that does not exist, and one of
    a review that was closed.
    """
    slot = slot_to_save(reviewer, item)
    is_open = slot is not None and slot.item.review.status == ReviewStatus.OPEN
    return slot if is_open else None


def slot_to_save(reviewer: User, item: UUID) -> ReviewSlot | None:
    """Return the slot as ``own_slot`` does, also where its review was closed: the save says so."""
    held = ReviewSlot.objects.filter(
        item__public_id=item, holder=reviewer, item__review__reviewers=reviewer
    )
    return held.select_related(*WHOLE).first()


def slots_open_to(reviewer: User, review: CapabilityReview) -> QuerySet[ReviewSlot]:
    """Slots still to be judged in an open *review*, on answers where *reviewer* has no other."""
    own = ReviewSlot.objects.filter(item=OuterRef("item"), holder=reviewer)
    return ReviewSlot.objects.filter(
        ~Exists(own.exclude(pk=OuterRef("pk"))),
        item__review=review,
        item__review__status=ReviewStatus.OPEN,
        item__review__reviewers=reviewer,
        reviewed=False,
    )


def has_work(reviewer: User, review: CapabilityReview, now: datetime) -> bool:
    """Whether the next claim would give something now."""
    return slots_open_to(reviewer, review).filter(SLOT.free_for(reviewer, now)).exists()


def first_lease_end(reviewer: User, review: CapabilityReview, now: datetime) -> datetime | None:
    """When the first answer that another reviewer holds comes back; None where there is none."""
    held = slots_open_to(reviewer, review).filter(lease_until__gt=now).exclude(holder=reviewer)
    first: datetime | None = held.aggregate(first=Min("lease_until"))["first"]
    return first


def last_own(
    reviewer: User, review: CapabilityReview, before: ReviewSlot | None
) -> ReviewSlot | None:
    """The slot that *reviewer* judged last; of *before*, judged in *review*, the one before it."""
    first = CapabilityJudgement.objects.filter(
        reviewer=reviewer, slot__holder=reviewer, slot__item__review=review, version=1
    ).order_by("-id")
    if before is not None and (revised := first.filter(slot=before).first()):
        first = first.filter(pk__lt=revised.pk)
    newest = first.select_related(*(f"slot__{part}" for part in WHOLE)).first()
    return newest.slot if newest else None


def own_judgements(
    reviewer: User, review: UUID | None = None, answer: UUID | None = None
) -> QuerySet[CapabilityJudgement]:
    """Every version that *reviewer* gave, newest first; of one review or answer if named."""
    given = CapabilityJudgement.objects.filter(reviewer=reviewer)
    if review is not None:
        given = given.filter(slot__item__review__public_id=review)
    if answer is not None:
        given = given.filter(slot__item__public_id=answer)
    return given.select_related("slot__item__review").order_by("-id")


def keys_on(reviewer: User) -> bool:
    """Whether characters are keys at the desk of *reviewer* (WCAG 2.1.4)."""
    return not DeskSettings.objects.filter(user=reviewer, shortcuts=False).exists()


def review_desk(slot: ReviewSlot, reviewer: User) -> ReviewDesk:
    """The answer of *slot* for the reviewer who holds it."""
    revision = slot.item.revision
    return ReviewDesk(
        answer=reviewed_answer(slot.item),
        images=image_addresses(slot.item.review.dataset, revision.images),
        language=revision.language,
        own=CapabilityJudgement.objects.filter(counts_for=slot, reviewer=reviewer).first(),
    )


def reviewed_answer(item: ReviewItem) -> ReviewedAnswer:
    """What a reviewer may know of *item*."""
    question, revision = item.question, item.revision
    # The letters in the response are those that were shown, so the key has them too.
    order = item.response.option_order
    keys = keys_by(item.review.policy, revision, revision)
    return ReviewedAnswer(
        public_id=str(item.public_id),
        task=question.task.slug,
        number=question.external_id,
        subject=question.subject,
        question_type=revision.question_type,
        year=question.year,
        paper=question.paper,
        stem=asked_as_shown(revision, order),
        keys=tuple(
            (
                as_shown([key], revision.letters, order)[0],
                None if original is None else as_shown([original], revision.letters, order)[0],
            )
            for key, original in keys
        ),
        reference_answer=revision.reference_answer,
        analysis=revision.analysis,
        response_text=item.response.text,
        read=tuple(item.read),
        points=item.points,
        full=item.full,
        asked=asked_of(question.task.slug, question.subject),
    )


def _own_progress(reviewer: User, review: CapabilityReview) -> OwnProgress:
    """How far *reviewer* is: own judgements, over these and what they hold or are planned for.

    As at the marking desk, what others judged of it counts as left while anything is left.
    """
    own = Q(holder=reviewer, reviewed=True)
    left = (Q(planned=reviewer) | Q(holder=reviewer)) & Q(reviewed=False)
    lost = Q(planned=reviewer, reviewed=True) & ~Q(holder=reviewer)
    counts = ReviewSlot.objects.filter(item__review=review).aggregate(
        done=Count("pk", filter=own), left=Count("pk", filter=left), lost=Count("pk", filter=lost)
    )
    if counts["left"]:
        counts["left"] += counts["lost"]
    given = CapabilityJudgement.objects.filter(reviewer=reviewer, slot__item__review=review)
    recent = given.order_by("-id").values_list("seconds", "created_at")[:RECENT_MARKS]
    return OwnProgress.of(counts["done"], counts["left"], list(recent))
