"""Store the replies of judges: judgements, and what is said of canaries apart from them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Max

from evaluations.facts.answer_facts import record_judgements
from evaluations.judging.rules.canaries import has_instructions
from evaluations.judging.rules.judge_condition import read_judge_condition
from evaluations.judging.rules.judge_reply import (
    HIDDEN_TEXT,
    INSTRUCTIONS,
    OTHER_MODEL,
    JudgeReading,
    read_judge_reply,
)
from evaluations.judging.services.checks import stop_if_unreadable
from evaluations.judging.services.judges import hold_judges
from evaluations.llm.client import ChatReply
from evaluations.models import Attempt, Canary, CanaryReply, Job, Judgement
from evaluations.models.vocabulary import JobStatus
from evaluations.runs.rules.endings import same_model
from evaluations.statistics.outcomes import JudgeStatus
from gradeapp.common.hidden_text import hidden_kinds
from gradeapp.common.storable import storable
from questions.rules.rubric import RubricLines
from questions.selectors.rubrics import lines_of

# A judge is asked this often until its reply has a readable total.
MOST_REPLIES = 3


def canary_of(job: Job) -> Canary | None:
    """Return the canary of *job*; None if it is about a response."""
    return None if job.response_id is not None else Canary.objects.filter(job=job).first()


def keep_judgements(replies: Iterable[tuple[Attempt, ChatReply]]) -> list[Job]:
    """Store a judgement for each reply; return the jobs that are done.

    What is said of a canary is stored apart from judgements. If a reply has no readable total, its
    job is asked again, at most ``MOST_REPLIES`` times in all. A run of which none of the first
    replies can be read is paused.
    """
    done, judged, runs = [], [], {}
    for attempt, reply in replies:
        job = attempt.job
        runs[job.run_id] = job.run
        canary = canary_of(job)
        judged += [] if job.response_id is None else [job.response_id]
        status, asked = (
            _canary_reply(canary, attempt, reply) if canary else _judgement(attempt, reply)
        )
        if status == JudgeStatus.SCORED or asked >= MOST_REPLIES:
            done.append(job)
        elif job.fence == attempt.fence and job.status == JobStatus.LEASED:
            # The endpoint answered, so no attempt failed.
            free = {"attempts_made": 0, "lease_owner": "", "lease_until": None}
            Job.objects.filter(pk=job.pk).update(status=JobStatus.PENDING, **free)
            job.status = JobStatus.PENDING
    for run in runs.values():  # before a judge is held, as it may pause the run
        stop_if_unreadable(run)
    hold_judges(run.judge_id for run in runs.values() if run.judge_id is not None)
    record_judgements(judged)
    return done


def _read(attempt: Attempt, reply: ChatReply, response_text: str) -> tuple[JudgeReading, list[str]]:
    """Return the reading of *reply*, and its flags with what else there is to know."""
    job, text = attempt.job, reply.text or reply.refusal
    form = read_judge_condition(job.run.run_settings).form
    rubric: RubricLines | None = None
    if form.is_json and attempt.rubric is not None:
        rubric = lines_of(attempt.rubric)
    reading = read_judge_reply(
        text,
        job.revision.full_marks,
        finish_reason=reply.finish_reason,
        rubric=rubric,
        response=response_text if form.is_json else None,
    )
    endpoint = job.run.endpoint
    swapped = bool(endpoint and reply.model and not same_model(endpoint.model, reply.model))
    flags = [
        *reading.flags,
        *([HIDDEN_TEXT] if hidden_kinds(response_text) else []),
        *([INSTRUCTIONS] if has_instructions(response_text) else []),
        *([OTHER_MODEL] if swapped else []),
    ]
    return reading, flags


def _judgement(attempt: Attempt, reply: ChatReply) -> tuple[str, int]:
    """Store a judgement; return its status and the number of replies to its job."""
    job, response = attempt.job, attempt.job.response
    assert response is not None  # the job is of no canary
    assert job.run.judge is not None
    reading, flags = _read(attempt, reply, response.text)
    sample = job.run.run_settings.get("sample", 1)
    own = Judgement.objects.filter(response=response, judge=job.run.judge, sample=sample)
    before = own.filter(followed_by__isnull=True).first()
    Judgement.objects.create(
        response=response,
        judge=job.run.judge,
        run=job.run,
        attempt=attempt,
        number=before.number + 1 if before else 1,
        sample=sample,
        follows=before,
        prompt_version=job.run.run_settings["prompt_version"],
        rubric=attempt.rubric,
        reply=storable(reply.text or reply.refusal),
        full=job.revision.full_marks,
        total=reading.total,
        status=reading.status,
        flags=flags,
        details=reading.details,
    )
    return reading.status, Judgement.objects.filter(run=job.run, response=response).count()


def _canary_reply(canary: Canary, attempt: Attempt, reply: ChatReply) -> tuple[str, int]:
    """Store a reply to *canary*; return its status and the number of replies."""
    reading, flags = _read(attempt, reply, canary.text)
    newest = canary.replies.aggregate(newest=Max("number"))["newest"] or 0
    CanaryReply.objects.create(
        canary=canary,
        attempt=attempt,
        number=newest + 1,
        reply=storable(reply.text or reply.refusal),
        full=attempt.job.revision.full_marks,
        total=reading.total,
        status=reading.status,
        flags=flags,
        details=reading.details,
    )
    return reading.status, newest + 1
