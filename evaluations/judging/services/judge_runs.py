"""Start judges, ask them, and store their judgements with their whole replies."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.facts.answer_facts import record_judgements
from evaluations.judging.rules.canaries import each_class
from evaluations.judging.rules.judge_condition import (
    MOST_TOKENS,
    JudgeCondition,
    read_judge_condition,
)
from evaluations.judging.rules.judge_prompt import Unread, judge_messages
from evaluations.judging.rules.judge_prompt_sets import GRADEAPP_SET
from evaluations.judging.rules.judge_reply import (
    HIDDEN_TEXT,
    JudgeReading,
)
from evaluations.judging.rules.judged_texts import withheld
from evaluations.judging.services.canaries import add_duplicates, plan_canaries
from evaluations.judging.services.checks import needs_canaries
from evaluations.judging.services.judges import ensure_judge, hold_judges
from evaluations.judging.services.replies import canary_of
from evaluations.marking.rounds.selectors.marking_notes import notes_for_judge
from evaluations.models import (
    Canary,
    CanaryReply,
    Job,
    Judge,
    Judgement,
    Response,
    Run,
)
from evaluations.models.vocabulary import RunPurpose, RunStatus
from evaluations.runs.kinds import Prompt
from evaluations.runs.selectors.prompt_items import subject_name
from evaluations.runs.services.calls import fence_for
from evaluations.runs.services.frozen import freeze
from evaluations.runs.services.images import pictured
from evaluations.runs.services.run_starts import as_text, check_ready, hashed, planned_once
from evaluations.statistics.outcomes import JudgeStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.hidden_text import hidden_kinds
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Question, Rubric
from questions.rules.vocabulary import Language, Part
from questions.selectors.rubrics import lines_of


@transaction.atomic
def start_judge_run(
    run: Run,
    judge: Judge,
    *,
    acting_user: User | None,
    budget: Decimal | None = None,
    again: bool = False,
    canaries: int | None = None,
    idempotency_key: str | None = None,
) -> Run:
    """Start a run in which *judge* marks the present and future subjective responses of *run*.

    *again*: as a further sample, if the judge marks the run already. *canaries* are the canaries of
    each class; None for as many as suit the length of the run. The same idempotency key returns the
    same run. Raises BadInput for a judge without an endpoint or a run without answers, Conflict if
    the judge already marks the run, and OtherRequest for another request with the key.
    """
    _check_pair(run, judge)
    assert judge.endpoint is not None  # it was checked
    if not judge.fingerprint:
        # From before conditions were stored: its marks are not pooled with new ones.
        judge = ensure_judge(judge.endpoint)
    endpoint = judge.endpoint
    assert endpoint is not None
    Run.objects.select_for_update().get(pk=run.pk)
    condition = read_judge_condition(judge.condition)
    frozen = freeze(condition, endpoint)
    judge_run = Run(
        purpose=RunPurpose.JUDGE,
        language_model=endpoint.language_model,
        endpoint=endpoint,
        dataset=run.dataset,
        judged_run=run,
        judge=judge,
        fingerprint=frozen.fingerprint,
        repeats=run.repeats,
        status=RunStatus.QUEUED,
        budget=budget,
        random_seed=secrets.randbits(63),
        idempotency_key=hashed(idempotency_key),
        created_by=acting_user,
    )

    def plan() -> None:
        before = run.judge_runs.filter(judge=judge).count()
        _check_start(judge, condition, begun=bool(before) and not again)
        check_ready(endpoint, budget)
        each = _canaries_for(run) if canaries is None else canaries
        judge_run.run_settings = {**frozen.settings, "sample": before + 1, "canaries": each}
        judge_run.save()
        # The canaries stand between the responses: both are planned in a random order.
        add_judge_jobs(judge_run, mixed_with=plan_canaries(judge_run, each))
        record(Tag.RUN_STARTED, judge_run, actor=acting_user, judge=judge.name, judged=run.pk)

    asked = {"judged": run.pk, "judge": judge.pk, "budget": as_text(budget), "again": again}
    return planned_once(judge_run, plan, asked)


def _check_start(judge: Judge, condition: JudgeCondition, *, begun: bool) -> None:
    """Raise Conflict if *judge* has *begun* to mark the run, or its endpoint has another model."""
    if begun:
        raise Conflict(_("%(judge)s is already marking this run.") % {"judge": judge.name})
    assert judge.endpoint is not None  # it was checked
    if condition.model != judge.endpoint.model:
        raise Conflict(
            _("The endpoint of %(judge)s has another model now. Choose the endpoint again.")
            % {"judge": judge.name}
        )


def _canaries_for(run: Run) -> int:
    subjective = {"question__part": Part.SUBJECTIVE}
    calls, responses = run.jobs, run.responses
    judged = max(calls.filter(**subjective).count(), responses.filter(**subjective).count())
    return each_class(calls.count() + responses.count(), judged)


def _check_pair(run: Run, judge: Judge) -> None:
    """Raise BadInput if *judge* cannot be called, or *run* has no answers of a model."""
    if judge.endpoint is None:
        raise BadInput(
            _("%(judge)s only represents published marks and cannot be called.")
            % {"judge": judge.name}
        )
    if run.purpose != RunPurpose.ANSWER:
        raise BadInput(
            _("A judge model marks the responses of a model, not of another judge model.")
        )


def judge_prompt(run: Run, job: Job) -> Prompt:
    """Return the prompt of *job*: a response or a canary, with the current rubric and notes.

    After a reply that could not be read the fault is named, and the next reply has more room.
    """
    assert run.judge is not None  # a judge run has one
    condition, now = read_judge_condition(run.run_settings), timezone.now()
    canary = canary_of(job)
    rubric = rubric_of(job.question, now) if condition.criterion else None
    notes = None
    if condition.notes and job.response is not None:
        notes = notes_for_judge(job.response, now)
    text = canary.text if canary is not None else _text(job)
    revision, language = job.revision, Language(job.revision.language)
    fence = fence_for(run, job.pk if canary else _response_key(job), text)
    unread, tried = _unread(job, canary)
    messages = judge_messages(
        subject=subject_name(job.question, language),
        question=revision.asked,
        analysis=revision.analysis if condition.analysis else "",
        answer_key=revision.reference_answer,
        full_marks=revision.full_marks,
        response_text=text,
        rubric=lines_of(rubric) if rubric else None,
        marking_notes=notes.text if notes else "",
        language=language,
        fence=fence,
        prompts=run.judge.prompts.content if run.judge.prompts else GRADEAPP_SET,
        task=job.question.task.slug,
        form=condition.form,
        unread=unread,
    )
    shown = pictured(
        *(messages, revision, job.question.task.dataset_id),
        settings=run.run_settings,
        data_begins=f"\n<{fence}>\n",
    )
    most = min(MOST_TOKENS, condition.sampling.max_tokens * 2**tried) if tried else None
    return Prompt(*(shown.messages, rubric, notes, shown.sent, len(shown.omitted)), max_tokens=most)


def _text(job: Job) -> str:
    assert job.response is not None  # a job without a canary has one
    return job.response.text


def _response_key(job: Job) -> int:
    assert job.response_id is not None
    return job.response_id


def _unread(job: Job, canary: Canary | None) -> tuple[Unread | None, int]:
    """Return the last reply to *job* and why it could not be read, and the number of replies."""
    rows: Any = CanaryReply.objects if canary is not None else Judgement.objects
    earlier = list(rows.filter(attempt__job=job).order_by("number"))
    if not earlier:
        return None, 0
    last = earlier[-1]
    reading = JudgeReading(None, last.status, (), (), last.details)
    return Unread(last.reply, reading), len(earlier)


def add_judge_jobs(
    judge_run: Run,
    responses: Iterable[Response] | None = None,
    *,
    mixed_with: Sequence[tuple[Canary, Job]] = (),
) -> int:
    """Plan a job for each subjective response without one in *judge_run*; return how many.

    A response without content or too long is not sent; a judgement says so. Only *responses* are
    considered, or all of the judged run, which finds those that a killed worker left out. It may be
    called at any time and repeatedly. *mixed_with* are canaries that are planned between them. A
    finished run with new jobs is queued again.
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
    made = [*mixed_with, *add_duplicates(judge_run, sent, after=len(mixed_with))]
    planned: list[Job] = [*jobs, *(job for _canary, job in made)]
    Random(judge_run.random_seed).shuffle(planned)
    Job.objects.bulk_create(planned, ignore_conflicts=True, batch_size=500)
    _keep_canaries(judge_run, made)
    if jobs:
        over = Run.objects.filter(pk=judge_run.pk, status=RunStatus.FINISHED)
        over.update(status=RunStatus.QUEUED, finished_at=None)
    if kept:  # after the run, which is locked before its judge
        with transaction.atomic():
            hold_judges([judgement.judge_id for judgement in kept])
            Judgement.objects.bulk_create(kept, ignore_conflicts=True, batch_size=500)
            record_judgements(judgement.response_id for judgement in kept)
    return len(jobs)


def _keep_canaries(judge_run: Run, made: Sequence[tuple[Canary, Job]]) -> None:
    """Store the canaries whose jobs were stored; their keys are read again."""
    if not made:
        return
    places = {(job.question_id, job.repeat): canary for canary, job in made}
    stored = Job.objects.filter(run=judge_run, response=None, canary=None)
    canaries = []
    for job in stored:
        canary = places.get((job.question_id, job.repeat))
        if canary is not None:
            canary.job = job
            canaries.append(canary)
    Canary.objects.bulk_create(canaries)


def _not_sent(judge_run: Run, response: Response, why: JudgeStatus) -> Judgement:
    """Return the judgement of a response that is for teachers alone: no reply, no total."""
    assert judge_run.judge  # a judge run has one
    return Judgement(
        response=response,
        judge=judge_run.judge,
        run=judge_run,
        sample=judge_run.run_settings.get("sample", 1),
        prompt_version=judge_run.run_settings["prompt_version"],
        full=response.revision.full_marks,
        status=why,
        flags=[HIDDEN_TEXT] if hidden_kinds(response.text) else [],
    )


def ask_canaries_again(judge_run: Run) -> bool:
    """Plan new canaries if another model answers than the canaries were judged by.

    Return whether there are any.
    """
    if not needs_canaries(judge_run):
        return False
    made = plan_canaries(judge_run, judge_run.run_settings["canaries"])
    add_judge_jobs(judge_run, [], mixed_with=made)
    return bool(made)


def judge_runs_of(run: Run) -> list[Run]:
    """Return the runs in which judges mark the responses of *run*, in the order of the judges."""
    return list(run.judge_runs.filter(purpose=RunPurpose.JUDGE).order_by("judge_id", "pk"))


def rubric_of(question: Question, at: datetime) -> Rubric | None:
    """Return the rubric of *question* that was accepted at the time *at*; None for none."""
    # Imported rubrics count from their creation, others from their acceptance.
    imported = Q(accepted_at=None, created_at__lte=at)
    accepted = question.rubrics.filter(imported | Q(accepted_at__lte=at), accepted=True)
    return accepted.prefetch_related("points").order_by("-version").first()
