"""Estimate the calls and the cost of a run before it is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Max, QuerySet

from evaluations.conditions import Asking, ImagePolicy
from evaluations.model_families import shared_family
from evaluations.models import Attempt, Endpoint, Job, Run, Study
from evaluations.models.vocabulary import JobStatus, RunPurpose, RunStatus
from evaluations.runs.answering import prompt_sizes
from evaluations.runs.kinds import Cost, followers
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.rules.sampling import most_completion_tokens
from evaluations.runs.selectors.chosen_questions import chosen_questions
from evaluations.runs.selectors.runs import WORKED_ON, is_live, money
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.earlier_calls import cost_of, earlier_calls
from evaluations.runs.services.frozen import price_of, sampling_of, with_prices
from evaluations.runs.services.images import most_tokens_of_images
from evaluations.runs.services.job_queue import SHOWN
from evaluations.runs.services.planning import check_images, check_size, to_be_asked
from evaluations.runs.services.prompt_sets import check_prompts, current_prompts
from evaluations.runs.services.sampling import check_sampling
from questions.models import Dataset, Question

DEFAULT, ALL = Asking(), QuestionChoice()
# So many of the next calls say how dear one may be.
SOME = 50


@dataclass(frozen=True)
class Estimate:
    """The number of items of a run, and its cost.

    ``note`` is the note of the endpoint. ``beside`` are the costs of the runs that followers start
    with it. ``family`` is that of the model and its judge, where they share one.
    """

    items: int
    answering: Cost
    note: str
    beside: tuple[Cost, ...] = ()
    family: str = ""


def estimate(
    *,
    endpoint: Endpoint,
    dataset: Dataset,
    repeats: int,
    choice: QuestionChoice = ALL,
    asking: Asking = DEFAULT,
    judge: Endpoint | None = None,
    by_batch: bool = False,
    batch_api: bool = False,
) -> Estimate:
    """Estimate ``start_run`` with the same arguments. Raises BadInput for an empty dataset."""
    check_images(endpoint, asking)
    items, _counts = to_be_asked(chosen_questions(dataset, choice), asking)
    most_tokens = endpoint.max_tokens
    if asking.sampling is not None:
        check_sampling(endpoint, asking.sampling)
        most_tokens = most_completion_tokens(asking.sampling)
    prompts = current_prompts(asking.prompt_set)
    check_prompts(prompts, asking.setting, items)
    check_size(len(items) * repeats)
    sizes = prompt_sizes(prompts, asking, items)
    size = sum(sizes)
    later_steps = max(0, len(sizes) - len(items))
    if asking.images is ImagePolicy.SEND:
        revisions = [question.current for question in items if question.current]
        most_steps = -(-len(sizes) // len(items))
        size += most_tokens_of_images(dataset, revisions, asking.largest_side) * most_steps
    earlier = earlier_calls(
        endpoint, RunPurpose.ANSWER, nearest={"job__run__condition__setting": asking.setting.value}
    )
    answering = cost_of(
        endpoint,
        earlier,
        len(sizes) * repeats,
        size * repeats,
        reply_tokens=most_tokens,
        with_reply=later_steps * repeats,
    )
    if by_batch or batch_api:
        answering = half_price(answering)
    if judge is None:
        return Estimate(len(items), answering, endpoint.note)
    beside = tuple(follower.cost(items, repeats, judge) for follower in followers())
    models = [(one.model, one.language_model.name) for one in (endpoint, judge)]
    return Estimate(len(items), answering, endpoint.note, beside, shared_family(*models))


def expected_cost(run: Run, asking: Asking, choice: QuestionChoice) -> Decimal | None:
    """Return the expected cost of *run* before its first call; None if its calls cost nothing."""
    endpoint = run.endpoint
    if endpoint is None or not endpoint.has_prices:
        return None
    found = estimate(
        endpoint=endpoint,
        dataset=run.dataset,
        repeats=run.repeats,
        choice=choice,
        asking=asking,
        by_batch=run.by_batch,
    )
    return found.answering.expected


def half_price(cost: Cost) -> Cost:
    """Return *cost* of calls by batch, which come within a day."""
    return replace(cost, expected=cost.expected / 2, at_most=cost.at_most / 2, seconds=None)


def most_cost(found: Estimate, budget: Decimal | None) -> Decimal:
    """Return the most that the run of *found* and those beside it may cost, each with *budget*."""
    costs = [one.at_most for one in (found.answering, *found.beside)]
    return sum((one if budget is None else min(one, budget) for one in costs), Decimal(0))


def most_cost_of_run(wanted: Mapping[str, Any]) -> Decimal:
    """Return the most that ``start_run(**wanted)`` may cost. Raises BadInput as ``estimate``."""
    names = ("endpoint", "dataset", "repeats", "choice", "asking", "judge", "by_batch", "batch_api")
    found = estimate(**{name: wanted[name] for name in names if name in wanted})
    return most_cost(found, wanted.get("budget"))


def most_cost_of_retry(run: Run) -> Decimal:
    """Return the most that the failed calls of *run* may cost when they are made again."""
    return _most_cost_of(run, Job.objects.filter(run=run, status=JobStatus.FAILED))


def most_cost_of_resume(run: Run, budget: Decimal | None) -> Decimal:
    """Return the most that the rest of *run* may cost when a person resumes it.

    A new *budget* bounds its own calls. What would go on by itself, as a run that waits for its
    endpoint, costs nothing by that.
    """
    if budget is not None:
        return budget + most_cost_beside(run, _rest(run))
    if run.status in WORKED_ON or run.resume_at is not None:
        return Decimal(0)
    judged = run.judged_run
    if judged is not None and is_live(judged):
        # Its answers that are still to come are judged too.
        unanswered = _rest(judged) | Job.objects.filter(run=judged, status=JobStatus.LEASED)
        to_come = _cost_of_judging(run, judged, unanswered)
        return _within_budget(run, _own_cost_of(run, _rest(run)) + to_come)
    return _most_cost_of(run, _rest(run))


def _rest(run: Run) -> QuerySet[Job]:
    """Return the jobs of *run* that are still to be called for."""
    return Job.objects.filter(run=run, status__in=(JobStatus.PENDING, JobStatus.WAITING))


def costs_anything(run: Run) -> bool:
    """Return whether more calls of *run*, or of the runs of judges beside it, have prices."""
    beside = [one for follower in followers() for one in follower.runs_beside(run)]
    return any(one.endpoint is not None and one.endpoint.has_prices for one in (run, *beside))


def _most_cost_of(run: Run, jobs: QuerySet[Job]) -> Decimal:
    """Return the most that *jobs* of *run* may cost, and the runs beside it by their answers.

    Each may cost as much as the dearest call so far, or as the dearest of the next ones before the
    first call; together no more than the budget leaves.
    """
    return _own_cost_of(run, jobs) + most_cost_beside(run, jobs)


def _own_cost_of(run: Run, jobs: QuerySet[Job]) -> Decimal:
    # Without the prices that it takes when it goes on, it would cost nothing.
    run = copy(run)
    run.run_settings = with_prices(run)
    called = Attempt.objects.filter(job__run=run)
    found = called.aggregate(most=Max("reserved"), size=Max("prompt_bytes"))
    dearest = found["most"]
    if dearest is not None and not dearest:
        longest = most_completion_tokens(sampling_of(run))
        dearest = price_of(run).most(found["size"] or 0, longest)
    elif dearest is None:
        some = jobs.filter(status=JobStatus.PENDING).select_related(*SHOWN).order_by("pk")[:SOME]
        dearest = max((call_for(run, job).most for job in some), default=Decimal(0))
    cost: Decimal = jobs.count() * dearest
    return _within_budget(run, cost)


def most_cost_beside(run: Run, jobs: QuerySet[Job]) -> Decimal:
    """Return the most that the runs of judges beside *run* may cost by the answers to *jobs*.

    A run beside that is stopped stays so.
    """
    beside = [one for follower in followers() for one in follower.runs_beside(run)]
    costs = [
        _within_budget(one, _cost_of_judging(one, run, jobs))
        for one in beside
        if one.status != RunStatus.STOPPED
    ]
    return sum(costs, Decimal(0))


def _cost_of_judging(judging: Run, run: Run, jobs: QuerySet[Job]) -> Decimal:
    """Return the most that *judging* may cost by the answers to *jobs* of *run*."""
    judge = judging.endpoint
    if judge is None:
        return Decimal(0)
    items = list(Question.objects.filter(pk__in=jobs.values("question")))
    costs = [follower.cost(items, run.repeats, judge).at_most for follower in followers()]
    return sum(costs, Decimal(0))


def _within_budget(run: Run, cost: Decimal) -> Decimal:
    """Return *cost*, or what the budget of *run* leaves if that is less."""
    if run.budget is None:
        return cost
    return min(cost, max(run.budget - money(run).exposed, Decimal(0)))


def most_cost_of_study_resume(study: Study, budget: Decimal | None) -> Decimal:
    """Return the most that the rest of *study* may cost when a person resumes its runs.

    A budget of the study bounds their own calls, and not those of judges beside them.
    """
    found = study.runs.filter(status__in=(RunStatus.STOPPED, RunStatus.PAUSED), resume_at=None)
    runs = [run for run in found if not is_live(run)]
    beside = sum((most_cost_beside(run, _rest(run)) for run in runs), Decimal(0))
    if budget is not None:
        return budget + beside
    cost = sum((_own_cost_of(run, _rest(run)) for run in runs), Decimal(0))
    if study.budget is not None:
        cost = min(cost, max(study.budget - study.committed * Study.UNIT, Decimal(0)))
    return cost + beside


def most_cost_of_study(wanted: Mapping[str, Any]) -> Decimal:
    """Return the most that ``start_study(**wanted)`` may cost. Raises BadInput as ``estimate``."""
    given = {name: wanted[name] for name in ("dataset", "choice", "repeats")}
    at_most = study_cost(wanted["pairs"], **given).at_most
    budget = wanted.get("budget")
    return at_most if budget is None else min(at_most, budget)


def study_cost(
    pairs: Sequence[tuple[Endpoint, Asking]],
    *,
    dataset: Dataset,
    choice: QuestionChoice,
    repeats: int,
) -> Cost:
    """Estimate all runs of a study together. Raises BadInput as ``estimate``.

    The runs of one endpoint share its calls in flight, and those of several go on at once: the
    time is that of the endpoint that takes longest, None if one has few earlier calls.
    """
    check_size(len(chosen_questions(dataset, choice)) * repeats * len(pairs))
    costs = [
        estimate(endpoint=one, dataset=dataset, repeats=repeats, choice=choice, asking=asking)
        for one, asking in pairs
    ]
    seconds: dict[int, float] = {}
    for (endpoint, _asking), cost in zip(pairs, costs, strict=True):
        if cost.answering.seconds is not None:
            seconds[endpoint.pk] = seconds.get(endpoint.pk, 0.0) + cost.answering.seconds
    answering = [cost.answering for cost in costs]
    known = all(one.seconds is not None for one in answering)
    return Cost(
        calls=sum(one.calls for one in answering),
        expected=sum((one.expected for one in answering), Decimal(0)),
        at_most=sum((one.at_most for one in answering), Decimal(0)),
        earlier_calls=min((one.earlier_calls for one in answering), default=0),
        currency=answering[0].currency if answering else "",
        tokens=sum(one.tokens for one in answering),
        most_tokens=sum(one.most_tokens for one in answering),
        seconds=max(seconds.values()) if seconds and known else None,
    )
