"""Plan the jobs of a run."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db.models import Max
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import Asking, ImagePolicy, OptionOrder
from evaluations.models import Endpoint, Job, Run
from evaluations.models.vocabulary import JobStatus
from evaluations.runs.kinds import kind_of
from evaluations.runs.rules.option_order import can_reorder
from evaluations.runs.services.images import asked_images
from evaluations.runs.services.planning_sql import copy_repeat
from gradeapp.common.refusals import BadInput
from questions.models import Question

BATCH = 1000


def check_images(endpoint: Endpoint, asking: Asking) -> None:
    """Raise BadInput if *asking* sends images to an *endpoint* that takes none."""
    if asking.images is ImagePolicy.SEND and not endpoint.takes_images:
        raise BadInput(
            _(
                "The endpoint %(name)s takes no images. Ask without images, or say at the endpoint "
                "that its model takes them."
            )
            % {"name": endpoint.name},
            code="no_images",
        )


def to_be_asked(
    questions: Sequence[Question], asking: Asking
) -> tuple[list[Question], dict[str, int]]:
    """Return those of *questions* that are asked, and counts that the run page shows.

    With the policy ``without``, questions with images are ``left_out_with_images``. Where the
    options change places, ``options_as_printed`` counts the questions whose options cannot. Counts
    of 0 are left out. Raises BadInput if no question is left.
    """
    items = list(questions)
    if asking.images is ImagePolicy.WITHOUT:
        items = [one for one in questions if one.current and not asked_images(one.current)]
        if not items:
            raise BadInput(_("All chosen questions have images."))
    fixed = 0
    if asking.option_order is not OptionOrder.PRINTED:
        revisions = [one.current for one in items if one.current and one.current.letters]
        fixed = sum(not can_reorder(one.letters, one.options) for one in revisions)
    counts = {"left_out_with_images": len(questions) - len(items), "options_as_printed": fixed}
    return items, {name: count for name, count in counts.items() if count}


def check_size(calls: int) -> None:
    """Raise BadInput if a run or study would have more *calls* than ``RUN_MOST_CALLS``."""
    if calls > settings.RUN_MOST_CALLS:
        raise BadInput(
            _(
                "These are %(calls)s calls: questions × repeats × runs. At most %(most)s are "
                "allowed. Choose fewer questions or repeats."
            )
            % {"calls": f"{calls:,}", "most": f"{settings.RUN_MOST_CALLS:,}"},
            code="too_many_calls",
        )


def plan_jobs(run: Run, questions: Sequence[Question]) -> int:
    """Create a job for each item, repeat and step, in the order of repeats; return their number.

    The first step of an item can be asked at once, each later one waits for the step before.
    Raises BadInput for more questions times repeats than ``RUN_MOST_CALLS``.
    """
    check_size(len(questions) * run.repeats)
    kind = kind_of(run)
    # An extended run has jobs of other questions already.
    after = Job.objects.filter(run=run).aggregate(last=Max("pk"))["last"] or 0
    planned = 0
    like: dict[int, int] = {}
    for repeat in range(1, run.repeats + 1):
        wording = kind.wording(run, repeat)
        if wording in like:
            planned += copy_repeat(run, like[wording], repeat, after)
            continue
        like[wording] = repeat
        asked = [
            (question, question.current_id, kind.steps(run, question, repeat))
            for question in questions
            if question.current_id is not None
        ]
        for start in range(0, len(asked), BATCH):
            planned += _plan_batch(run, asked[start : start + BATCH], repeat)
    return planned


def _plan_batch(run: Run, asked: Sequence[tuple[Question, int, int]], repeat: int) -> int:
    """Create the jobs of a batch step by step, because a step names the job before it."""
    before: dict[int, Job | None] = {question.pk: None for question, *_rest in asked}
    planned = step = 0
    while asked:
        step += 1
        jobs = [
            Job(
                run=run,
                question=question,
                revision_id=revision,
                repeat=repeat,
                step=step,
                waits_for=before[question.pk],
                status=JobStatus.PENDING if step == 1 else JobStatus.WAITING,
            )
            for question, revision, _steps in asked
        ]
        before = {job.question_id: job for job in Job.objects.bulk_create(jobs)}
        planned += len(jobs)
        asked = [one for one in asked if one[2] > step]
    return planned
