"""A form that starts a run: what it will cost, and the start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from django.forms import Form

from evaluations.models import Run
from evaluations.runs.services.run_estimates import Estimate
from evaluations.runs.tasks import ask_for_work
from gradeapp.accounts.models import User
from gradeapp.common.refusals import Refusal


def started(form: Form, user: User, begin: Callable[..., Run]) -> Run:
    """What *begin* starts with the form's budget and key; the workers hear after the commit."""
    key, budget = form.cleaned_data["key"], form.cleaned_data["budget"]
    with transaction.atomic():
        run = begin(acting_user=user, budget=budget, idempotency_key=str(key) if key else None)
        transaction.on_commit(partial(ask_for_work, run.pk))
    return run


def estimate_context(form: Form, estimated: Callable[[], Estimate]) -> dict[str, Any]:
    """What is *estimated* of a form that can be read, or the sentence why there is none."""
    if not form.is_bound or not form.is_valid():
        return {}
    try:
        return {"estimate": estimated()}
    except Refusal as refusal:
        return {"estimate_refused": str(refusal)}
