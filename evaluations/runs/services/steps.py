"""Answers that need several calls: each step waits for the reply of the one before.

A step that was answered counts as it came, also if its reply is empty or was cut off: the model had
its call, and the exam goes on with what it wrote, as in the published programs. The finish reason
is stored and shown. Only a call that failed ends the item, with the reason of its own that the
later steps get.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from evaluations.llm.client import ChatReply, FailureKind
from evaluations.models import Attempt, Job, Run, StepReply
from evaluations.models.vocabulary import FIRST_STEP_FAILED, JobStatus, RunStatus
from gradeapp.common.storable import storable

Replies = Sequence[tuple[Attempt, ChatReply]]


def store_step_replies(replies: Replies) -> tuple[list[Job], Replies]:
    """Store the replies to steps that are not the last, and queue the steps that wait for them.

    Call it in the transaction that stores the attempts. Return the jobs of these steps, which are
    done, and the replies that end an answer.
    """
    jobs = [attempt.job_id for attempt, _reply in replies]
    waits_for = Job.objects.filter(waits_for__in=jobs).values_list("waits_for_id", flat=True)
    if not (not_last := set(waits_for)):
        return [], replies
    # Only the first reply to a step counts; a batch from the spool may contain two.
    first = {
        attempt.job_id: (attempt, reply)
        for attempt, reply in reversed(replies)
        if attempt.job_id in not_last
    }
    StepReply.objects.bulk_create(
        StepReply(
            job=attempt.job,
            attempt=attempt,
            text=storable(reply.text or reply.refusal),
            reasoning=storable(reply.reasoning),
            finish_reason=storable(reply.finish_reason, 40),
        )
        for attempt, reply in first.values()
    )
    _queue_steps_after(list(first))
    done = [attempt.job for attempt, _reply in first.values()]
    return done, [pair for pair in replies if pair[0].job_id not in not_last]


def _queue_steps_after(jobs: Sequence[int]) -> None:
    """Queue the steps that wait for *jobs*, also those that had failed with them.

    The reply may come late, from the spool, after its job was given up. Then a run that is over
    stays so: its failed calls can be retried.
    """
    following = Job.objects.filter(waits_for__in=jobs)
    following.filter(status=JobStatus.WAITING).update(status=JobStatus.PENDING)
    failed = following.filter(status=JobStatus.FAILED, error=FIRST_STEP_FAILED)
    runs = set(failed.values_list("run_id", flat=True))
    if not runs:
        return
    # Locked, so that a run is not finished at the same time.
    locked = Run.objects.filter(pk__in=runs).select_for_update()
    live = [run.pk for run in locked if run.status != RunStatus.FINISHED]
    failed.filter(run__in=live).update(status=JobStatus.PENDING, error="")


def fail_steps_after(jobs: Sequence[int], why: str = "") -> None:
    """Fail all steps that wait for *jobs*, which have failed with the error *why*.

    Images that an endpoint does not take are the reason of all steps: the item counts as refused.
    """
    error = why if why == FailureKind.NO_IMAGES else FIRST_STEP_FAILED
    while jobs:
        waiting = Job.objects.filter(waits_for__in=jobs, status=JobStatus.WAITING)
        jobs = list(waiting.values_list("pk", flat=True))
        Job.objects.filter(pk__in=jobs).update(status=JobStatus.FAILED, error=error)


def wait_for_step_again(job_id: int) -> None:
    """Let the steps wait again that failed with the job *job_id*, which is called once more."""
    jobs = [job_id]
    while jobs:
        following = Job.objects.filter(waits_for__in=jobs, status=JobStatus.FAILED)
        jobs = list(following.filter(attempts_made=0).values_list("pk", flat=True))
        Job.objects.filter(pk__in=jobs).update(status=JobStatus.WAITING, error="")


def queue_again(failed: QuerySet[Job]) -> int:
    """Queue these failed jobs again, with all their attempts; return their number.

    A step whose step before is not done waits for it again.
    """
    fresh = {"attempts_made": 0, "next_at": None, "error": ""}
    later = failed.filter(step__gt=1).exclude(waits_for__status=JobStatus.DONE)
    waiting = Job.objects.filter(pk__in=list(later.values_list("pk", flat=True)))
    n = waiting.update(status=JobStatus.WAITING, **fresh)
    return n + failed.update(status=JobStatus.PENDING, **fresh)


def earlier_replies(job: Job) -> list[str]:
    """Return the texts of the replies to the steps before *job*, in order."""
    replies: list[str] = []
    while (before := job.waits_for) is not None:
        replies.insert(0, before.step_reply.text)
        job = before
    return replies
