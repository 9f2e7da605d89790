"""Start judges, and store their judgements with their whole replies."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import RequestSettings, Sampling
from evaluations.facts.answer_facts import record_judgements
from evaluations.judging.rules.estimate_table import TableFault, read_table
from evaluations.judging.rules.judge_prompt import JUDGE_PROMPT_VERSION, judge_messages
from evaluations.judging.rules.judge_reply import HIDDEN_TEXT, OTHER_MODEL, read_judge_reply
from evaluations.judging.rules.judged_texts import same_model, withheld
from evaluations.llm.client import ChatReply
from evaluations.models import (
    Attempt,
    Endpoint,
    Job,
    Judge,
    Judgement,
    MarkingNotes,
    Response,
    Run,
)
from evaluations.models.vocabulary import JobStatus, RunPurpose, RunStatus
from evaluations.runs.kinds import Cost, Messages
from evaluations.runs.selectors.prompt_items import subject_name
from evaluations.runs.services.calls import fence_for
from evaluations.runs.services.frozen import freeze
from evaluations.runs.services.images import images_for
from evaluations.runs.services.run_estimates import cost_of
from evaluations.runs.services.run_starts import check_ready
from evaluations.statistics.outcomes import JudgeStatus
from evaluations.statistics.prediction_powered import MarkedTable, estimate, simulate
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.hidden_text import hidden_kinds
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.storable import storable
from questions.models import Question, Rubric
from questions.rules.vocabulary import Language, Part
from questions.selectors.rubrics import lines_of

# A judge is asked this often until its reply has a readable total.
MOST_REPLIES = 3
# Estimated bytes of a judge's prompt: question, key, analysis, rubric and response.
JUDGE_READS = 8000
MOST_DRAWS = 100_000


@transaction.atomic
def ensure_judge(endpoint: Endpoint) -> Judge:
    """Return the judge of *endpoint*; create it, named like its model, if there is none."""
    judge = endpoint.judges.first()
    if judge is not None:
        return judge
    for name in (endpoint.language_model.name, endpoint.name):
        if not Judge.objects.filter(name=name).exists():
            return Judge.objects.create(name=name, endpoint=endpoint)
    raise BadInput(
        _("There are already judge models called %(model)s and %(endpoint)s. Rename the endpoint.")
        % {"model": endpoint.language_model.name, "endpoint": endpoint.name}
    )


@transaction.atomic
def start_judge_run(
    run: Run, judge: Judge, *, acting_user: User | None, budget: Decimal | None = None
) -> Run:
    """Start a run in which *judge* marks the present and future subjective responses of *run*.

    It is zero-shot with temperature 0. Raises BadInput for a judge without an endpoint or a run
    without answers, and Conflict if the judge already marks the run.
    """
    if judge.endpoint is None:
        raise BadInput(
            _("%(judge)s only represents published marks and cannot be called.")
            % {"judge": judge.name}
        )
    if run.purpose != RunPurpose.ANSWER:
        raise BadInput(
            _("A judge model marks the responses of a model, not of another judge model.")
        )
    Run.objects.select_for_update().get(pk=run.pk)
    if run.judge_runs.filter(judge=judge).exists():
        raise Conflict(_("%(judge)s is already marking this run.") % {"judge": judge.name})
    check_ready(judge.endpoint, budget)
    settings = RequestSettings(
        JUDGE_PROMPT_VERSION,
        Sampling(max_tokens=judge.endpoint.max_tokens),
        images_for(judge.endpoint),
    )
    frozen = freeze(settings, judge.endpoint)
    judge_run = Run.objects.create(
        purpose=RunPurpose.JUDGE,
        language_model=judge.endpoint.language_model,
        endpoint=judge.endpoint,
        dataset=run.dataset,
        judged_run=run,
        judge=judge,
        run_settings=frozen.settings,
        fingerprint=frozen.fingerprint,
        repeats=run.repeats,
        status=RunStatus.QUEUED,
        budget=budget,
        random_seed=secrets.randbits(63),
        created_by=acting_user,
    )
    add_judge_jobs(judge_run)
    record(Tag.RUN_STARTED, judge_run, actor=acting_user, judge=judge.name, judged=run.pk)
    return judge_run


def estimate_judging(judge: Endpoint, items: Sequence[Question], repeats: int) -> Cost:
    """Estimate what *judge* costs for *repeats* answers to each subjective one of *items*."""
    judged = repeats * sum(question.part == Part.SUBJECTIVE for question in items)
    return cost_of(judge, RunPurpose.JUDGE, judged, judged * JUDGE_READS)


def most_cost_of_judging(run: Run, judge: Endpoint, budget: Decimal | None = None) -> Decimal:
    """Return the most that *judge* may cost with *budget*, with what *run* has not answered yet."""
    asked = Exists(Job.objects.filter(run=run, question=OuterRef("pk")))
    answered = Exists(Response.objects.filter(run=run, question=OuterRef("pk")))
    items = list(Question.objects.filter(Q(asked) | Q(answered)))
    at_most = estimate_judging(judge, items, run.repeats).at_most
    return at_most if budget is None else min(at_most, budget)


def judge_call(
    run: Run, job: Job, rubric: Rubric | None, marking_notes: MarkingNotes | None
) -> Messages:
    """Return the messages that let a judge mark one response by *rubric* and *marking_notes*."""
    assert job.response  # every job of a judge run has one
    revision, language = job.revision, Language(job.revision.language)
    return judge_messages(
        subject=subject_name(job.question, language),
        question=revision.asked,
        analysis=revision.analysis,
        answer_key=revision.reference_answer,
        full_marks=revision.full_marks,
        response_text=job.response.text,
        rubric=lines_of(rubric) if rubric else None,
        marking_notes=marking_notes.text if marking_notes else "",
        language=language,
        fence=fence_for(run, job.response.pk, job.response.text),
    )


def add_judge_jobs(judge_run: Run, responses: Iterable[Response] | None = None) -> int:
    """Plan a job for each subjective response without one in *judge_run*; return how many.

    A response without content or too long is not sent; a judgement says so. Only *responses* are
    considered, or all of the judged run, which finds those that a killed
    worker left out. It may be called at any time and repeatedly.
    """
    unplanned = Response.objects.filter(
        run=judge_run.judged_run, question__part=Part.SUBJECTIVE, is_error_text=False
    ).exclude(
        Exists(Job.objects.filter(run=judge_run, response=OuterRef("pk")))
        | Exists(Judgement.objects.filter(run=judge_run, response=OuterRef("pk")))
    )
    if responses is not None:
        unplanned = unplanned.filter(pk__in=[response.pk for response in responses])
    sent, kept = [], []
    for response in unplanned.select_related("revision"):
        why = withheld(response.text)
        if why is None:
            sent.append(response)
        else:
            kept.append(_not_sent(judge_run, response, why))
    with transaction.atomic():
        Judgement.objects.bulk_create(kept, ignore_conflicts=True, batch_size=500)
        record_judgements(judgement.response_id for judgement in kept)
    jobs = [
        Job(
            run=judge_run,
            question_id=response.question_id,
            revision_id=response.revision_id,
            repeat=response.repeat,
            response=response,
        )
        for response in sent
    ]
    Job.objects.bulk_create(jobs, ignore_conflicts=True, batch_size=500)
    return len(jobs)


def _not_sent(judge_run: Run, response: Response, why: JudgeStatus) -> Judgement:
    """Return the judgement of a response that is for teachers alone: no reply, no total."""
    assert judge_run.judge  # a judge run has one
    return Judgement(
        response=response,
        judge=judge_run.judge,
        run=judge_run,
        prompt_version=judge_run.run_settings["prompt_version"],
        full=response.revision.full_marks,
        status=why,
        flags=[HIDDEN_TEXT] if hidden_kinds(response.text) else [],
    )


def judge_runs_of(run: Run) -> list[Run]:
    """Return the runs in which judges mark the responses of *run*."""
    return list(run.judge_runs.filter(purpose=RunPurpose.JUDGE))


def rubric_of(question: Question, at: datetime) -> Rubric | None:
    """Return the rubric of *question* that was accepted at the time *at*; None for none."""
    # Imported rubrics count from their creation, others from their acceptance.
    imported = Q(accepted_at=None, created_at__lte=at)
    accepted = question.rubrics.filter(imported | Q(accepted_at__lte=at), accepted=True)
    return accepted.prefetch_related("points").order_by("-version").first()


def keep_judgements(replies: Iterable[tuple[Attempt, ChatReply]]) -> list[Job]:
    """Store a judgement for each reply; return the jobs that are done.

    If a reply has no readable total, its job is asked again, at most ``MOST_REPLIES`` times in all.
    """
    done, judged = [], []
    for attempt, reply in replies:
        judgement = _judgement(attempt, reply)
        judged.append(judgement.response_id)
        asked = Judgement.objects.filter(run=attempt.job.run, response=judgement.response)
        if judgement.status == JudgeStatus.SCORED or asked.count() >= MOST_REPLIES:
            done.append(attempt.job)
        elif attempt.job.fence == attempt.fence and attempt.job.status == JobStatus.LEASED:
            # The endpoint answered, so no attempt failed.
            free = {"attempts_made": 0, "lease_owner": "", "lease_until": None}
            Job.objects.filter(pk=attempt.job.pk).update(status=JobStatus.PENDING, **free)
            attempt.job.status = JobStatus.PENDING
    record_judgements(judged)
    return done


def _flags(attempt: Attempt, response: Response, reply: ChatReply) -> list[str]:
    """Return what there is to know of a judgement beside its reading."""
    endpoint = attempt.job.run.endpoint
    swapped = bool(endpoint and reply.model and not same_model(endpoint.model, reply.model))
    hidden = bool(hidden_kinds(response.text))
    return [HIDDEN_TEXT] * hidden + [OTHER_MODEL] * swapped


def _judgement(attempt: Attempt, reply: ChatReply) -> Judgement:
    job, text = attempt.job, reply.text or reply.refusal
    response, judge = job.response, job.run.judge
    assert response  # every job of a judge run has one
    assert judge
    full = job.revision.full_marks
    reading = read_judge_reply(text, full, finish_reason=reply.finish_reason)
    own = Judgement.objects.filter(response=response, judge=judge)
    before = own.filter(followed_by__isnull=True).first()
    return Judgement.objects.create(
        response=response,
        judge=judge,
        run=job.run,
        attempt=attempt,
        number=before.number + 1 if before else 1,
        follows=before,
        prompt_version=job.run.run_settings["prompt_version"],
        rubric=attempt.rubric,
        reply=storable(text),
        full=full,
        total=reading.total,
        status=reading.status,
        flags=[*reading.flags, *_flags(attempt, response, reply)],
    )


TABLE_FAULTS = {
    "no_csv": _("The file is not a table in CSV: line %(line)s cannot be read."),
    "empty": _("The table has no rows."),
    "columns": _("The table lacks, or has twice, a column with the name: %(missing)s."),
    "cells": _("Row %(row)s has %(cells)s cells, but there are %(columns)s columns."),
    "no_item": _("Row %(row)s has no item."),
    "twice": _("The item “%(item)s” is in row %(first)s and again in row %(row)s."),
    "number": _("Row %(row)s: “%(value)s” in the column %(column)s is not a number."),
    "full": _("Row %(row)s: full marks must be above 0, not %(value)s."),
    "human": _("Row %(row)s: the human mark %(value)s is not between 0 and %(full)s."),
    "unmarked": _("The table has no human mark."),
}


def marked_table(path: Path) -> MarkedTable:
    """Return the table of judge's and people's marks in the file *path*; raise BadInput."""
    try:
        return read_table(path.read_bytes())
    except OSError as error:
        raise BadInput(_("The file %(name)s cannot be read.") % {"name": path.name}) from error
    except TableFault as fault:
        raise BadInput(TABLE_FAULTS[fault.code] % fault.values) from fault


def estimate_file(path: Path, *, level: float = 0.95) -> dict[str, Any]:
    """Return both estimates of the table in *path*, as INTERFACE lists them; raise BadInput."""
    _check_level(level)
    made = estimate(marked_table(path), level=level)
    both = {"human_only": made.human_only, "ppi": made.ppi}
    estimates = {name: asdict(one) for name, one in both.items()}
    return {"n": made.n, "marked": made.marked, **estimates, "lambda": made.tuning}


def simulate_file(
    path: Path, *, draws: int, marked: int, random_seed: int, level: float = 0.95
) -> dict[str, Any]:
    """Return how the estimates do over *draws* samples of the fully marked table in *path*.

    Raises BadInput, also for a row without a human mark.
    """
    _check_level(level)
    if not 1 <= draws <= MOST_DRAWS:
        raise BadInput(_("The number of draws must be 1 to %(most)s.") % {"most": MOST_DRAWS})
    if random_seed < 0:
        raise BadInput(_("The random seed must be 0 or more."))
    table = marked_table(path)
    unmarked = int(np.isnan(table.human).sum())
    if unmarked:
        raise BadInput(
            _("A simulation needs a human mark in each row; %(n)s rows have none.")
            % {"n": unmarked}
        )
    try:
        made = simulate(
            table, draws=draws, marked=marked, rng=np.random.default_rng(random_seed), level=level
        )
    except ValueError as error:
        raise BadInput(
            _("%(marked)s rows cannot be drawn from %(rows)s: at least 2, and not all of them.")
            % {"marked": marked, "rows": len(table.full)}
        ) from error
    return asdict(made)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise BadInput(_("The level must be between 0 and 1, for example 0.95."))
