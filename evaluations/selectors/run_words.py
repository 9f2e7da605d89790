"""States and errors of runs in sentences for people."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.models import Run
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.rules.judging.judge_reply import JudgeStatus

P, J = PauseReason, JudgeStatus
PAUSES: Mapping[str, Promise | str] = {
    P.AUTH: _("The endpoint refuses the key. Set the right one, then resume."),
    P.QUOTA: _("The account behind the key has nothing left. Top it up, then resume."),
    P.NOT_FOUND: _("The endpoint does not know the model, or its address lacks the /v1."),
    P.REDIRECT: _("The endpoint sends elsewhere, which is never followed. Use its own address."),
    P.BUDGET: _("The budget is reached: the next call could cost more than is left."),
    P.ENDPOINT_DOWN: _("The endpoint does not answer. It is tried again every minute."),
    P.ASKED_TO_WAIT: _("The endpoint asks to wait. The run goes on by itself."),
    P.NO_KEY: _("The variable that holds the key is not set where the worker runs."),
    P.ADDRESS: _("The endpoint's address cannot be found, or leads to a private network."),
    P.ENDPOINT_CHANGED: _("The endpoint has another model or address than when this run began."),
}
ERRORS: Mapping[str, Promise | str] = {
    "rate_limit": _("429: asked to slow down"),
    "server": _("error of the endpoint (5xx)"),
    "timeout": _("no answer in time"),
    "interrupted": _("connection lost before the answer"),
    "connect": _("no connection"),
    "auth": _("key refused"),
    "quota": _("account empty"),
    "not_found": _("unknown model"),
    "bad_request": _("call refused (400)"),
    "context_length": _("prompt too long for the model"),
    "redirect": _("sent elsewhere"),
    "malformed": _("answer not readable"),
    "oversize": _("answer too large"),
    "cancelled": _("given up"),
    "worker_lost": _("worker lost while waiting"),
}
JUDGED: Mapping[str, Promise | str] = {
    J.SCORED: _("scored"),
    J.OVER_FULL_MARKS: _("more than full marks"),
    J.BELOW_ZERO: _("below zero"),
    J.SEVERAL_TOTALS: _("several totals"),
    J.UNCLEAR_TOTAL: _("unclear total"),
    J.WRONG_DENOMINATOR: _("other full marks"),
    J.NO_TOTAL: _("no total"),
    J.EMPTY: _("empty reply"),
    J.REFUSED: _("refused"),
    J.TRUNCATED: _("cut off"),
}
COLOURS = {
    RunStatus.RUNNING: "green",
    RunStatus.FINISHED: "",
    RunStatus.PAUSED: "amber",
    RunStatus.STOPPING: "amber",
    RunStatus.STOPPED: "amber",
    RunStatus.QUEUED: "accent",
}


def pause_sentence(run: Run) -> Promise | str:
    """Why *run* is paused and what helps, "" where it is not."""
    return PAUSES.get(run.pause_reason, "") if run.status == RunStatus.PAUSED else ""


def error_words(kind: str) -> Promise | str:
    """An error's kind in a few words; an unknown kind as it is."""
    return ERRORS.get(kind, kind)


def judge_words(status: str) -> Promise | str:
    """What became of a judge's reply."""
    return JUDGED.get(status, status)


def colour(status: str) -> str:
    """The pill's colour of a run's status."""
    return COLOURS.get(RunStatus(status), "")
