"""Select the items of a run, and plan its jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from django.utils.translation import gettext_lazy as _

from evaluations.models import Job, Run
from gradeapp.common.refusals import BadInput
from questions.models import Dataset, Question
from questions.rules.vocabulary import ItemStatus

BATCH = 1000
Item = TypeVar("Item")


def spread(groups: Mapping[str, Sequence[Item]], limit: int | None) -> list[Item]:
    """Return up to *limit* items (None: all), spread evenly over *groups* and within each group.

    Small groups give all their items and the others share the rest; groups are in the order of
    their names. The same input always gives the same items.
    """
    sizes = {name: len(items) for name, items in sorted(groups.items())}
    left = sum(sizes.values()) if limit is None else limit
    taken: dict[str, int] = {}
    for place, name in enumerate(sorted(sizes, key=lambda name: (sizes[name], name))):
        taken[name] = min(sizes[name], -(-left // (len(sizes) - place)) if left else 0)
        left -= taken[name]
    return [
        groups[name][(2 * place + 1) * size // (2 * taken[name])]
        for name, size in sizes.items()
        for place in range(taken[name])
    ]


def items_of(dataset: Dataset, limit: int | None) -> list[Question]:
    """Return the items of *dataset* that a run asks: all but the excluded ones.

    Quarantined items are asked too, because the policy ``published`` counts them, and a curator may
    release them later. Raises BadInput for an invalid *limit*, and if there are no items.
    """
    if limit is not None and limit < 1:
        raise BadInput(
            _("The limit must be a whole number above zero, or empty for all questions.")
        )
    asked = Question.objects.filter(task__dataset=dataset, current__isnull=False).exclude(
        status=ItemStatus.EXCLUDED
    )
    groups: dict[str, list[Question]] = {}
    for question in asked.select_related("task", "current").order_by(
        "task__slug", "position", "pk"
    ):
        groups.setdefault(question.task.slug, []).append(question)
    if not groups:
        raise BadInput(
            _("%(dataset)s has no questions that can be asked.") % {"dataset": dataset.name}
        )
    return spread(groups, limit)


def plan_jobs(run: Run, questions: Sequence[Question]) -> int:
    """Create a job for each item and repeat, in the order of repeats; return their number."""
    jobs = (
        Job(run=run, question=question, revision_id=question.current_id, repeat=repeat)
        for repeat in range(1, run.repeats + 1)
        for question in questions
        if question.current_id is not None
    )
    return len(Job.objects.bulk_create(jobs, batch_size=BATCH))
