"""Small capability reviews for tests: one line opens one, one line judges."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evaluations.capability.rules.dimensions import Dimension, asked_of
from evaluations.capability.services.capability_judging import save_judgement
from evaluations.capability.services.capability_review import open_review
from evaluations.capability.services.review_slots import claim_next
from evaluations.models import CapabilityJudgement, CapabilityReview, ReviewItem, ReviewSlot, Run
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from questions.models import Task
from tests.evaluations.report_world import chosen, run_of

NOW = datetime(2026, 9, 1, 10, 0, tzinfo=UTC)


def later(minutes: float) -> datetime:
    """So many minutes after NOW."""
    return NOW + timedelta(minutes=minutes)


def wrong_answers(number: int, model: str = "canary-gpt-7f3a") -> Run:
    """A run with so many wrong answers, and one right one, to physics items whose key is A."""
    run = run_of(model)
    chosen(run, "A", *["B"] * number)
    return run


def review_of(
    runs: Run | Sequence[Run], reviewers: Sequence[User], **settings: Any
) -> CapabilityReview:
    """An open review of the wrong answers of *runs*; one reviewer each, unless told otherwise."""
    settings = {
        "name": "Review 1",
        "policy": Policy.STRICT,
        "per_task": 100,
        "reviewers_each": 1,
        "random_seed": 7,
        "acting_user": None,
    } | settings
    chosen_runs = [runs] if isinstance(runs, Run) else list(runs)
    return open_review(runs=chosen_runs, reviewers=reviewers, **settings)


def items_of(review: CapabilityReview) -> list[ReviewItem]:
    return list(review.items.order_by("question__position", "pk"))


def taken(item: ReviewItem, reviewer: User) -> ReviewSlot:
    """The slot that *reviewer* is planned for on *item*, held by them."""
    item.slots.filter(planned=reviewer, holder=None).update(holder=reviewer, lease_until=later(30))
    return item.slots.get(holder=reviewer)


def say(
    item: ReviewItem, reviewer: User, ones: str = "", *weaknesses: str, **fields: Any
) -> CapabilityJudgement:
    """What *reviewer* says: 1 for each dimension whose letter (u k r c) is in *ones*, else 0.

    ``na`` names by letter what does not apply.
    """
    na = fields.pop("na", "")
    question = item.question
    values = {
        one: None if one[0] in na else int(one[0] in ones)
        for one in asked_of(question.task.slug, question.subject)
    }
    said: dict[str, Any] = {"key": uuid.uuid4(), "based_on_version": 0, "values": values}
    said |= {"weaknesses": weaknesses} | fields
    return save_judgement(taken(item, reviewer), reviewer, **said).judgement


def claimed(reviewer: User, review: CapabilityReview, now: datetime = NOW) -> ReviewSlot:
    """What *reviewer* gets next; the test fails where that is nothing."""
    slot = claim_next(reviewer, review, now=now)
    assert slot is not None
    return slot


def all_of(value: int | None) -> dict[Dimension, int | None]:
    """The same value for all four dimensions, as a physics item asks for."""
    return dict.fromkeys(Dimension, value)


def called(slug: str, task: Task) -> Task:
    """*task* under another name, such as one of AGIEval's."""
    task.slug, task.subject = slug, ""
    task.save()
    task.questions.update(subject="")
    return task
