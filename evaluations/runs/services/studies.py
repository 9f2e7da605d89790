"""Start, stop and continue studies: one choice of questions under several conditions and models."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import Asking
from evaluations.models import Endpoint, Run, Study
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.selectors.chosen_questions import chosen_questions
from evaluations.runs.services.planning import check_size
from evaluations.runs.services.run_starts import as_text, check_budget, hashed, other_request
from evaluations.runs.services.run_states import OVER
from evaluations.runs.services.runs import RESUMABLE, resume_run, start_run, stop_run
from evaluations.runs.services.study_budgets import units
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.locking import hold_key
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Dataset

MOST_RUNS = 60


@transaction.atomic
def start_study(
    *,
    name: str,
    dataset: Dataset,
    choice: QuestionChoice,
    pairs: Sequence[tuple[Endpoint, Asking]],
    repeats: int = 1,
    budget: Decimal | None = None,
    acting_user: User | None,
    idempotency_key: str | None = None,
) -> Study:
    """Start a run of each pair of endpoint and way of asking over the same *choice* of questions.

    ``budget`` is what all runs may cost together, in the one currency of the endpoints. A second
    call with the same idempotency key returns the same study. Raises BadInput, and OtherRequest
    for another request with the key.
    """
    _check(name, pairs, budget)
    keys = [f"{idempotency_key}:{place}" for place in range(len(pairs))]
    study = _study_with_key(keys[0]) if idempotency_key else None
    made_before = study is not None
    check_size(len(chosen_questions(dataset, choice)) * repeats * len(pairs))
    study = study or Study.objects.create(
        name=name.strip(),
        dataset=dataset,
        choice=choice.as_dict(),
        budget=budget,
        currency=pairs[0][0].currency,
        created_by=acting_user,
    )
    together = {"name": name.strip(), "budget": as_text(budget), "runs": len(pairs)}
    for key, (endpoint, asking) in zip(keys, pairs, strict=True):
        start_run(
            endpoint=endpoint,
            dataset=dataset,
            acting_user=acting_user,
            idempotency_key=key if idempotency_key else None,
            asking=asking,
            choice=choice,
            repeats=repeats,
            study=study,
            together=together,
        )
    if made_before:
        return study
    # Compared as planned: what a row leaves out may be what another one spells out.
    if study.runs.values("plan_hash").distinct().count() < len(pairs):
        raise BadInput(_("Two rows of the study are the same. Raise the repeats for more answers."))
    record(
        Tag.STUDY_STARTED, study, actor=acting_user, runs=len(pairs), budget=as_text(study.budget)
    )
    return study


def _study_with_key(key: str) -> Study | None:
    """Return the study whose first run has this key, None if there is no such run.

    Waits for a request with the key that is not done. Raises OtherRequest if the run is of no
    study.
    """
    first = hashed(key) or ""
    hold_key(first)
    made = Run.objects.filter(idempotency_key=first).select_related("study").first()
    if made is not None and made.study is None:
        raise other_request(made)
    return made.study if made else None


def _check(name: str, pairs: Sequence[tuple[Endpoint, Asking]], budget: Decimal | None) -> None:
    if not name.strip():
        raise BadInput(_("Enter a name for the study."))
    if not pairs:
        raise BadInput(_("A study needs at least one endpoint and one condition."))
    if len(pairs) > MOST_RUNS:
        raise BadInput(_("A study has at most %(most)d runs.") % {"most": MOST_RUNS})
    if len({endpoint.currency for endpoint, _asking in pairs}) > 1:
        raise BadInput(_("The endpoints of a study must have the same currency."))
    if budget is not None:
        check_budget(budget)


@transaction.atomic
def stop_study(study: Study, *, acting_user: User | None) -> int:
    """Stop all runs of *study* that are not over; return their number. Raises Conflict if none."""
    live = study.runs.exclude(status__in=(*OVER, RunStatus.STOPPED, RunStatus.STOPPING))
    stopped = [stop_run(run, acting_user=acting_user) for run in live.order_by("pk")]
    if not stopped:
        raise Conflict(_("No run of this study is in progress."))
    return len(stopped)


@transaction.atomic
def resume_study(
    study: Study,
    *,
    acting_user: User | None,
    budget: Decimal | None = None,
    unless_running: bool = False,
) -> list[Run]:
    """Resume the stopped and paused runs of *study*, with a higher *budget* if it was reached.

    Raises BadInput for a budget that is not above what may have been spent, Conflict if nothing
    is to be resumed, and with *unless_running* if a live run makes the calls of a stopped one.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if budget is not None:
        check_budget(budget)
        if units([budget]) <= study.committed:
            raise BadInput(_("The budget must be higher than what may already have been spent."))
        study.budget = budget
        study.save(update_fields=["budget"])
        record(Tag.STUDY_BUDGET, study, actor=acting_user, budget=as_text(budget))
    waiting = study.runs.filter(status__in=RESUMABLE).order_by("pk")
    if budget is None and waiting.filter(pause_reason=PauseReason.STUDY_BUDGET).exists():
        raise BadInput(_("The budget is used up. Enter a higher budget to resume."))
    resumed = [
        resume_run(run, acting_user=acting_user, unless_running=unless_running) for run in waiting
    ]
    if not resumed and budget is None:
        raise Conflict(_("No run of this study is stopped or paused."))
    return resumed
