"""Opening and closing a review."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.capability.selectors.capability_review import Share, few_in
from evaluations.capability.selectors.capability_sample import Sample, sample
from evaluations.facts.looks import record_scope, record_views, refuse_who_marks
from evaluations.marking.rules.assignment_plan import plan
from evaluations.marking.rules.blinding import names_model
from evaluations.marking.rules.drawing import shuffled
from evaluations.models import (
    CapabilityReview,
    FinalMark,
    ObjectiveScore,
    Response,
    ReviewItem,
    ReviewSlot,
    Run,
)
from evaluations.models.vocabulary import ReviewStatus
from evaluations.statistics.policies import Policy
from gradeapp.accounts.markers import check_markers
from gradeapp.accounts.models import User
from gradeapp.audit.reads import record_export
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.submission_keys import made_once
from questions.models import QuestionRevision

MOST_PER_TASK = 1000
CENT = Decimal("0.01")


def open_review_once(form_key: UUID, **given: Any) -> CapabilityReview:
    """Open a review as ``open_review`` does; a form that is sent again gives the one it opened."""
    made = CapabilityReview.objects.filter(form_key=form_key)
    return made_once(made, lambda: open_review(form_key=form_key, **given))


def open_review(
    *,
    name: str,
    runs: Sequence[Run],
    policy: Policy,
    per_task: int,
    reviewers: Sequence[User],
    reviewers_each: int,
    random_seed: int,
    acting_user: User | None,
    form_key: UUID | None = None,
) -> CapabilityReview:
    """Open a review over a sample of the wrong answers of *runs* under *policy*.

    *per_task* answers are drawn of each task, 1 to ``MOST_PER_TASK``; each is
    judged by *reviewers_each* (1 or 2) of *reviewers*, planned evenly from
    *random_seed*. What was read in an answer and what it got are frozen. Raises
    BadInput with one sentence where the review could not work, or one of *reviewers* marks
    other responses to its questions.
    """
    name = _checked_name(name, runs)
    _check_people(reviewers, reviewers_each, acting_user)
    _check_choice(runs, per_task)
    planned = plan_review(runs, policy, per_task, random_seed, acting_user=acting_user)
    drawn = planned.responses
    if not drawn:
        raise BadInput(_("These runs have no wrong answers to review."), code="no_wrong_answers")
    with transaction.atomic():
        made = CapabilityReview.objects.create(
            name=name,
            dataset=runs[0].dataset,
            policy=policy,
            per_task=per_task,
            reviewers_each=reviewers_each,
            random_seed=random_seed,
            created_by=acting_user,
            form_key=form_key,
        )
        made.runs.set(runs)
        made.reviewers.set(reviewers)
        items = _items(made, drawn)
        _plan_slots(made, items, [person.pk for person in reviewers])
        seen = [item.response_id for item in items]
        for person in reviewers:  # who reviews an answer reads what it got
            record_views(seen, acting_user=person, page="review")
        refuse_who_marks(seen, [person.pk for person in reviewers])
        detail = {"answers": len(items), "reviewers": len(reviewers), "each": reviewers_each}
        record(Tag.REVIEW_OPENED, made, actor=acting_user, **detail)
    return made


def plan_review(
    runs: Sequence[Run],
    policy: Policy,
    per_task: int,
    random_seed: int,
    *,
    acting_user: User | None,
) -> Sample:
    """Return the sample of a review, and keep a look of *acting_user* at its runs.

    How many of their answers are wrong tells about each one of a task with few.
    """
    if acting_user is not None:
        asked = Response.objects.filter(run__in=runs)
        record_scope(asked, acting_user=acting_user, page="review")
    return sample(runs, policy, per_task, random_seed)


def close_review(review: CapabilityReview, *, acting_user: User | None, now: datetime) -> None:
    """Close a review: nothing more is given out; every judgement stays.

    Raises Conflict when it is closed already.
    """
    with transaction.atomic():
        still_open = CapabilityReview.objects.filter(pk=review.pk, status=ReviewStatus.OPEN)
        if not still_open.update(status=ReviewStatus.CLOSED, closed_at=now):
            raise Conflict(_("This review is already closed."), code="review_closed")
        missing = ReviewSlot.objects.filter(item__review=review, reviewed=False).count()
        record(Tag.REVIEW_CLOSED, review, actor=acting_user, missing=missing)
    review.refresh_from_db()


def look_at_review(
    review: CapabilityReview, shares: Iterable[Share], *, acting_user: User, page: str
) -> None:
    """Write down that somebody looked at what reviewers may not see, in the figures of *shares*."""
    record(Tag.REVIEW_VIEWED, review, actor=acting_user, page=page)
    note_few(review, shares, acting_user=acting_user)


def note_few(review: CapabilityReview, shares: Iterable[Share], *, acting_user: User) -> None:
    """Keep a look at each response that is one of few in a figure of one of *shares*."""
    few = {one for share in shares for one in few_in(review, share)}
    record_views(few, acting_user=acting_user, page="review")


def note_review_export(
    review: CapabilityReview, manifest: Mapping[str, object], *, acting_user: User | None
) -> None:
    """Record that *acting_user* took a table of *review* away; *manifest* says what it held."""
    record_export(Tag.EXPORTED, review, actor=acting_user, **manifest)
    if acting_user is not None:
        items = ReviewItem.objects.filter(review=review).order_by()
        taken = list(items.values_list("response", flat=True))
        record_views(taken, acting_user=acting_user, page="export")


def too_few_reviewers(reviewers: int, each: int) -> str:
    """The sentence that says that *reviewers* people cannot judge each answer *each* times."""
    if reviewers >= each:
        return ""
    return _("Two reviewers per response are required, and %(given)s selected.") % {
        "given": reviewers
    }


def _checked_name(name: str, runs: Sequence[Run]) -> str:
    """Return *name* stripped. Raises BadInput where it names a model, because reviewers read it."""
    if not (name := name.strip()) or len(name) > 100:
        raise BadInput(_("Enter a name of 1 to 100 characters for the review."))
    for model in sorted({run.language_model.name for run in runs}):
        if names_model(name, model):
            raise BadInput(
                _(
                    "Reviewers can read the name of the analysis, and it contains the name of the "
                    "model %(model)s. Choose another name."
                )
                % {"model": model},
                code="name_names_model",
            )
    return name


def _check_people(reviewers: Sequence[User], each: int, acting_user: User | None) -> None:
    if each not in (1, 2):
        raise BadInput(_("A response must have one or two reviewers."))
    if len({person.pk for person in reviewers}) != len(reviewers):
        raise BadInput(_("A reviewer is listed twice."))
    if sentence := too_few_reviewers(len(reviewers), each):
        raise BadInput(sentence, code="too_few_reviewers")
    check_markers(reviewers)
    if acting_user in reviewers:
        raise BadInput(
            _("%(name)s chooses the runs and knows their models, so cannot be a reviewer.")
            % {"name": acting_user},
            code="opened",
        )


def _check_choice(runs: Sequence[Run], per_task: int) -> None:
    if not runs:
        raise BadInput(_("Choose at least one run."))
    if len({run.dataset_id for run in runs}) > 1:
        raise BadInput(_("A review covers one dataset. Select runs of that dataset only."))
    if not 1 <= per_task <= MOST_PER_TASK:
        raise BadInput(
            _("A sample must have 1 to %(most)s responses per task.") % {"most": MOST_PER_TASK}
        )


def _items(made: CapabilityReview, drawn: Sequence[int]) -> list[ReviewItem]:
    """The answers of the sample; their rows stand in an order that says nothing of the run."""
    responses = Response.objects.select_related("question__current", "revision").defer("text")
    found = responses.in_bulk(drawn)
    scores = _current_scores(drawn, made.policy)
    finals = FinalMark.objects.official().filter(answer__response__in=drawn).order_by("pk")
    marked = {final.answer.response_id: final for final in finals.select_related("answer")}
    rows = []
    for key in shuffled(drawn, made.random_seed, "review"):
        response, score = found[int(key)], scores.get(int(key))
        given = score or marked[int(key)]
        rows.append(
            ReviewItem(
                review=made,
                response=response,
                question=response.question,
                revision=_scored_revision(response, score),
                read=score.extraction.answers if score else [],
                points=_points(given),
                full=given.full,
            )
        )
    return ReviewItem.objects.bulk_create(rows)


def _current_scores(drawn: Sequence[int], policy: str) -> dict[int, ObjectiveScore]:
    """Return the current score of each response of *drawn* that has one."""
    field = Response.score_field(policy)
    rows = Response.objects.filter(pk__in=drawn, **{f"{field}__isnull": False})
    rows = rows.select_related(f"{field}__extraction", f"{field}__key_revision")
    return {row.pk: getattr(row, field) for row in rows}


def _scored_revision(response: Response, score: ObjectiveScore | None) -> QuestionRevision:
    """Return the revision whose key gave the points: of a repaired key the one that repaired it."""
    repaired = score.key_revision if score else None
    return repaired or response.revision


def _points(given: ObjectiveScore | FinalMark) -> Decimal:
    """Points in hundredths; a final mark may be finer, and stays below full marks all the same."""
    points = given.points if isinstance(given, ObjectiveScore) else given.value
    return points.quantize(CENT, ROUND_HALF_UP)


def _plan_slots(made: CapabilityReview, items: Sequence[ReviewItem], reviewers: list[int]) -> None:
    """The judgements that each answer needs; questions are the blocks of everybody's queue."""
    in_place = sorted(items, key=lambda item: (item.question.task_id, item.question.position))
    pairs = [(item.pk, item.question_id) for item in in_place]
    planned = plan(pairs, reviewers, made.reviewers_each, made.random_seed)
    ReviewSlot.objects.bulk_create(
        ReviewSlot(
            item_id=int(one.item), place=one.slot, planned_id=int(one.teacher), order=one.order
        )
        for one in planned
    )
