"""Start, stop and resume runs, and retry failed calls, on behalf of people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import Asking, ImagePolicy, OptionOrder, read_condition
from evaluations.models import Endpoint, Job, Run, Study
from evaluations.models.vocabulary import JobStatus, PauseReason, RunPurpose, RunStatus
from evaluations.runs.kinds import followers, kind_of
from evaluations.runs.rules.question_choice import QuestionChoice, read_choice
from evaluations.runs.selectors.chosen_questions import chosen_questions, trial_of, whole_of
from evaluations.runs.selectors.runs import may_resume, money, waits_for_endpoint
from evaluations.runs.services.batches import look_soon
from evaluations.runs.services.conditions import condition_for
from evaluations.runs.services.frozen import freeze, half_priced
from evaluations.runs.services.planning import check_images, plan_jobs, to_be_asked
from evaluations.runs.services.prompt_sets import check_prompts
from evaluations.runs.services.run_estimates import expected_cost
from evaluations.runs.services.run_starts import (
    ACTIVE,
    as_text,
    check_not_running,
    check_ready,
    digest,
    hashed,
    planned_once,
    record_start,
)
from evaluations.runs.services.run_states import WORKABLE, finalize, known_outage
from evaluations.runs.services.sampling import check_sampling
from evaluations.runs.services.steps import queue_again
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Dataset, Question

MOST_REPEATS = 100
DEFAULT, ALL = Asking(), QuestionChoice()
RESUMABLE = (RunStatus.STOPPED, RunStatus.PAUSED)


def start_run(
    *,
    endpoint: Endpoint,
    dataset: Dataset,
    acting_user: User | None,
    idempotency_key: str | None = None,
    asking: Asking = DEFAULT,
    choice: QuestionChoice = ALL,
    repeats: int = 1,
    budget: Decimal | None = None,
    judge: Endpoint | None = None,
    study: Study | None = None,
    together: Mapping[str, object] | None = None,
    trial: bool = False,
    unless_running: bool = False,
    by_batch: bool = False,
    batch_api: bool = False,
) -> Run:
    """Plan a run over the *choice* of items of *dataset*, *repeats* times each, for a worker.

    ``asking`` says how they are asked: it gives the run its condition. ``budget`` is in the
    endpoint's currency. With *judge*, the followers start a run of that endpoint, with a budget of
    the same amount, which marks the subjective answers as they arrive. A run of a *study* shares
    its budget; *together* is what was asked for of the whole study. A *trial*, or a *choice* that
    is one, asks ten of them; ``extend_run`` goes on with the others. Calls *by_batch* cost half;
    with *batch_api* a worker sends them. The same idempotency key returns the same run. Raises
    BadInput, OtherRequest for another one with the key, Conflict with *unless_running* if a live
    run makes the same calls.
    """
    if not 1 <= repeats <= MOST_REPEATS:
        words = {"most": MOST_REPEATS}
        raise BadInput(_("The number of repeats must be between 1 and %(most)d.") % words)
    run = Run(
        purpose=RunPurpose.ANSWER,
        language_model=endpoint.language_model,
        endpoint=endpoint,
        dataset=dataset,
        repeats=repeats,
        status=RunStatus.QUEUED,
        budget=budget,
        idempotency_key=hashed(idempotency_key),
        created_by=acting_user,
        study=study,
        by_batch=by_batch or batch_api,
        batch_api=batch_api,
    )

    def plan() -> None:
        check_ready(endpoint, budget)
        _check_asking(endpoint, asking)
        items = _set_plan(run, asking, trial_of(choice) if trial else choice)
        if unless_running:
            check_not_running(run)
        run.save()
        record_start(run, plan_jobs(run, items))
        _start_judge(run, judge, acting_user)

    also = {name: value for name, value in (("study", together), ("batch_api", batch_api)) if value}
    beside = {"asking": asdict(asking), "judge": judge and judge.pk, "trial": trial, **also}
    return planned_once(run, plan, {**beside, **_asked_for(run, choice)})


def _start_judge(run: Run, judge: Endpoint | None, acting_user: User | None) -> None:
    """Let the followers start a run of *judge* beside *run*, with a budget of the same amount."""
    if judge is not None:
        for follower in followers():
            follower.after_start(run, judge, acting_user=acting_user, budget=run.budget)


def _check_asking(endpoint: Endpoint, asking: Asking) -> None:
    """Raise BadInput if *endpoint* cannot be asked so."""
    if asking.sampling is not None:
        check_sampling(endpoint, asking.sampling)
    check_images(endpoint, asking)


def _set_plan(run: Run, asking: Asking, asked: QuestionChoice) -> list[Question]:
    """Set condition, settings and expected cost of *run*; return the questions that it asks."""
    assert run.endpoint is not None  # only imported runs have none
    items, counts = to_be_asked(chosen_questions(run.dataset, asked), asking)
    run.condition = condition_for(run.endpoint, asking)
    assert run.condition.prompts is not None
    check_prompts(run.condition.prompts, asking.setting, items)
    run.fingerprint = run.condition.fingerprint
    settings = freeze(read_condition(run.condition.settings), run.endpoint).settings
    if run.by_batch:
        settings = half_priced(settings)
    run.run_settings = {**settings, **counts, **_chosen(asked)}
    run.plan_hash = _plan_hash(run, asked)
    run.expected_cost = expected_cost(run, asking, asked)
    return items


def _asked_for(run: Run, choice: QuestionChoice) -> dict[str, Any]:
    """Return what is asked for, of the fields of *run*: values of JSON."""
    return {
        "endpoint": run.endpoint_id,
        "dataset": run.dataset_id,
        "choice": choice.as_dict(),
        "repeats": run.repeats,
        "budget": as_text(run.budget),
        **({"by_batch": True} if run.by_batch else {}),
    }


def _plan_hash(run: Run, asked: QuestionChoice) -> str:
    """Return what two runs have in common that make the same calls.

    A trial has that of its whole choice: it makes some of the calls, and may go on with the others.
    A batch asks the same questions as calls one by one.
    """
    same = {**_asked_for(run, whole_of(asked)), "budget": None}
    same.pop("by_batch", None)
    return digest({**same, "purpose": run.purpose, "condition": run.fingerprint})


def _chosen(asked: QuestionChoice) -> dict[str, Any]:
    """Return what the settings of a run say of its questions."""
    chosen = {"choice": asked.as_dict(), "limit": asked.limit}
    return chosen if asked.trial is None else {**chosen, "trial_of": whole_of(asked).as_dict()}


@transaction.atomic
def stop_run(run: Run, *, acting_user: User | None) -> Run:
    """Stop the calls of *run*; answers of calls in flight are stored.

    Raises Conflict if finished.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.status in (RunStatus.FINISHED, RunStatus.IMPORTED):
        raise Conflict(_("This run has ended and cannot be stopped."))
    if run.status not in (RunStatus.STOPPING, RunStatus.STOPPED):
        run.status, run.pause_reason, run.resume_at = RunStatus.STOPPING, "", None
        run.save(update_fields=["status", "pause_reason", "resume_at"])
        record(Tag.RUN_STOPPED, run, actor=acting_user)
        look_soon(run)
        finalize(run.pk, database_now())
    run.refresh_from_db()
    return run


@transaction.atomic
def pause_run(run: Run, *, acting_user: User | None) -> Run:
    """Pause *run* until a person resumes it; answers of calls in flight are stored.

    A paused run keeps its place: it is not over, and the same run is not started beside it. Raises
    Conflict if it neither works nor waits.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    waits = run.status == RunStatus.PAUSED and run.resume_at is not None
    if run.status not in WORKABLE and not waits:
        raise Conflict(_("This run is not in progress and cannot be paused."))
    run.status, run.pause_reason, run.resume_at = RunStatus.PAUSED, PauseReason.BY_PERSON, None
    run.save(update_fields=["status", "pause_reason", "resume_at"])
    record(Tag.RUN_PAUSED, run, actor=acting_user)
    look_soon(run)
    return run


@transaction.atomic
def resume_run(
    run: Run,
    *,
    acting_user: User | None,
    budget: Decimal | None = None,
    unless_running: bool = False,
) -> Run:
    """Resume a stopped or paused run, with a higher *budget* if its budget was reached.

    If the last calls failed in an outage, a single one is tried first. Raises Conflict with
    *unless_running* if *run* is stopped and a live run makes the same calls; a paused run has kept
    its place.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.status in WORKABLE and waits_for_endpoint(run) and budget is None:
        return run  # the clock was faster
    if not may_resume(run):
        raise Conflict(_("This run is not stopped or paused and cannot be resumed."))
    if run.endpoint is None:
        raise Conflict(_("This run was imported and cannot be resumed."))
    if unless_running and run.status not in ACTIVE:
        check_not_running(run)
    check_ready(run.endpoint, budget)
    run.budget = budget if budget is not None else run.budget
    if run.pause_reason == PauseReason.BUDGET and run.budget is not None and budget is None:
        raise BadInput(_("The budget is used up. Enter a higher budget to resume."))
    if run.budget is not None and run.budget <= money(run).exposed:
        raise BadInput(_("The budget must be higher than what may already have been spent."))
    run.status, run.resume_at = RunStatus.QUEUED, None
    if not waits_for_endpoint(run):
        run.pause_reason = known_outage(run) or ""
    Job.objects.filter(run=run, status=JobStatus.PENDING).update(next_at=None)
    run.save(update_fields=["status", "pause_reason", "resume_at", "budget"])
    record(Tag.RUN_RESUMED, run, actor=acting_user, budget=as_text(run.budget))
    look_soon(run)
    return run


@transaction.atomic
def retry_failed(run: Run, *, acting_user: User | None, unless_running: bool = False) -> int:
    """Queue the failed jobs of *run* again, with all their attempts; return their number.

    What another run has asked since is not asked again. Raises Conflict if that leaves nothing, and
    with *unless_running* if *run* has finished and a live run makes the same calls.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    failed = Job.objects.filter(run=run, status=JobStatus.FAILED)
    n = queue_again(kind_of(run).worth_retrying(run, failed))
    if not n and failed.exists():
        raise Conflict(_("What failed here has been answered elsewhere: nothing is left to retry."))
    if not n:
        raise Conflict(_("This run has no failed calls."))
    if run.status == RunStatus.FINISHED:
        if unless_running:
            check_not_running(run)
        run.status, run.finished_at = RunStatus.QUEUED, None
        run.save(update_fields=["status", "finished_at"])
        for follower in followers():
            follower.reopen_beside(run)
    record(Tag.RUN_RESUMED, run, actor=acting_user, failed_again=n)
    return n


@transaction.atomic
def extend_run(run: Run, *, acting_user: User | None, unless_running: bool = False) -> int:
    """Ask the questions that the trial *run* left out, in the same run; return the new calls.

    What the trial asked is not asked again. Raises Conflict if *run* is no trial, or is not over,
    and with *unless_running* if a live run makes the calls of all of it.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    whole = run.run_settings.get("trial_of")
    if whole is None:
        raise Conflict(_("This run is not a trial: it has all its questions."))
    if run.status not in (RunStatus.FINISHED, *RESUMABLE) or run.endpoint is None:
        raise Conflict(_("The trial is still in progress."))
    check_ready(run.endpoint, None)
    choice = read_choice(whole)
    run.plan_hash = _plan_hash(run, choice)
    if unless_running:
        check_not_running(run)
    asked = set(Job.objects.filter(run=run).values_list("question_id", flat=True))
    images = ImagePolicy(run.run_settings["images"])
    order = OptionOrder(run.run_settings["option_order"])
    asking = Asking(images=images, option_order=order)
    items, counts = to_be_asked(chosen_questions(run.dataset, choice), asking)
    left = [one for one in items if one.pk not in asked]
    kept = {name: value for name, value in run.run_settings.items() if name != "trial_of"}
    run.run_settings = {**kept, **counts, "choice": whole, "limit": choice.limit}
    run.status, run.pause_reason, run.resume_at = RunStatus.QUEUED, "", None
    run.finished_at = None
    run.save(
        update_fields=[
            *("run_settings", "plan_hash", "status", "pause_reason", "resume_at", "finished_at")
        ]
    )
    n = plan_jobs(run, left)
    if run.expected_cost is not None and asked:
        run.expected_cost *= Decimal(len(items)) / len(asked)
        run.save(update_fields=["expected_cost"])
    for follower in followers():
        follower.reopen_beside(run)
    record(Tag.RUN_EXTENDED, run, actor=acting_user, planned=n)
    return n
