"""Texts for the states and errors of runs."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext_lazy as _

from evaluations.models import Run
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.selectors.batches import status_without_batch_api
from evaluations.runs.selectors.endpoint_sentences import endpoint_sentence
from evaluations.runs.selectors.runs import waits_for_endpoint

P = PauseReason
PAUSES: Mapping[str, Promise | str] = {
    P.AUTH: _(
        "The endpoint rejects the API key in the variable %(variable)s. Set the "
        "correct key in the worker's environment, then resume. No data is lost."
    ),
    P.QUOTA: _(
        "The account of this API key has no quota left. Top it up, then resume. No data is lost."
    ),
    P.NOT_FOUND: _("The endpoint does not know the model, or its address lacks /v1."),
    P.REDIRECT: _(
        "The endpoint redirects to another address. Redirects are not "
        "followed; enter the final address."
    ),
    P.BUDGET: _("The budget is used up: the next call could cost more than is left."),
    P.STUDY_BUDGET: _(
        "The budget of the study is used up: the next call could cost more than is left. Raise the "
        "budget on the page of the study."
    ),
    P.SPENDING_CAP: _(
        "The spending cap of this installation is reached: the next call could cost more than is "
        "left. Resume once an operator has raised the cap on the page Spending or, for a cap per "
        "month, a new month (UTC) has begun."
    ),
    P.BY_PERSON: _("The run was paused by a person. No data is lost. Resume it to go on."),
    P.ENDPOINT_DOWN: _("The endpoint does not respond. It is retried every minute."),
    P.ASKED_TO_WAIT: _(
        "The endpoint asks us to wait without saying how long. Resume the run later."
    ),
    P.NO_KEY: _(
        "The variable %(variable)s, which holds the API key of the endpoint, is not "
        "set in the worker's environment. Set it, then resume. No data is lost."
    ),
    P.ADDRESS: _(
        "The endpoint cannot be called: its address cannot be resolved or is not allowed, its "
        "certificate is not trusted, or its key may not be sent there. Test the endpoint to see "
        "which."
    ),
    P.BATCH_REJECTED: _(
        "The endpoint answered no request of a batch; the table of batches says why. Resume the "
        "run to send the requests again, or make batch files and carry them. No data is lost."
    ),
    P.ENDPOINT_CHANGED: _(
        "The model or address of the endpoint has changed since this run started."
    ),
}
NO_BATCH_API = _(
    "The endpoint answered %(status)s to its batch API: it may have none at this address. Make "
    "batch files and carry them, or run again with direct calls. No data is lost."
)
NO_KEY_NAMED = _(
    "The endpoint asks for an API key, and none is set. Enter the variable that "
    "holds it at the endpoint %(endpoint)s, then resume. No data is lost."
)
STORED_KEY_REJECTED = _(
    "The endpoint rejects its stored API key. Enter the correct one at the endpoint %(endpoint)s, "
    "then resume. No data is lost."
)
STORED_KEY_UNREADABLE = _(
    "The stored API key cannot be read. Enter it again at the endpoint %(endpoint)s, then resume. "
    "No data is lost."
)
ERRORS: Mapping[str, Promise | str] = {
    "rate_limit": _("429: rate limited"),
    "server": _("endpoint error (5xx)"),
    "timeout": _("timed out"),
    "interrupted": _("connection lost before the reply"),
    "address": _("address not allowed"),
    "connect": _("no connection"),
    "auth": _("API key rejected or missing"),
    "quota": _("account out of credit"),
    "not_found": _("unknown model"),
    "bad_request": _("call rejected (400)"),
    "context_length": _("prompt too long for the model"),
    "no_images": _("the model takes no images"),
    "redirect": _("redirected"),
    "malformed": _("reply not readable"),
    "oversize": _("reply too large"),
    "cancelled": _("given up"),
    "worker_lost": _("worker lost while waiting"),
    "first_step_failed": _("the first step failed"),
}
# What an endpoint says of a batch, by the names of OpenAI.
REMOTE_STATES: Mapping[str, Promise | str] = {
    "validating": _("being checked"),
    "in_progress": _("in progress"),
    "finalizing": _("replies are being written"),
    "completed": _("completed"),
    "failed": _("rejected"),
    "expired": _("expired"),
    "cancelling": _("being cancelled"),
    "cancelled": _("cancelled"),
}
# What we say ourselves of a batch, stored as it stands here; other texts are the endpoint's.
DISCARDED = gettext_noop("Discarded by a person.")
ENDPOINT_CHANGED = gettext_noop("The endpoint has changed. Set it back, or discard the batch.")
FEWER_REPLIES = gettext_noop("the file has fewer replies than the endpoint counts")
NO_FILES_YET = gettext_noop("the batch is completed, but the endpoint has no file of replies yet")
STEP_FAILED = gettext_noop("The worker failed at this batch; its log says why. It tries again.")
BATCH_ERRORS = frozenset({DISCARDED, ENDPOINT_CHANGED, FEWER_REPLIES, NO_FILES_YET, STEP_FAILED})
WAITING, ALL_FAILED = _("Waiting"), _("All failed")
SOME_FAILED = _("Finished, some failed")
COLOURS = {
    RunStatus.RUNNING: "green",
    RunStatus.FINISHED: "",
    RunStatus.PAUSED: "amber",
    RunStatus.STOPPING: "amber",
    RunStatus.STOPPED: "amber",
    RunStatus.QUEUED: "accent",
}


def pause_sentence(run: Run) -> str:
    """Return why *run* is paused and what to do; "" if it is not paused."""
    if run.status != RunStatus.PAUSED:
        return ""
    endpoint = run.endpoint
    facts = {
        "endpoint": endpoint.name if endpoint else "",
        "variable": endpoint.key_variable if endpoint else "",
    }
    if run.pause_reason == P.AUTH and not facts["variable"]:
        stored = endpoint is not None and endpoint.has_key
        return str((STORED_KEY_REJECTED if stored else NO_KEY_NAMED) % facts)
    if run.pause_reason == P.NO_KEY and not facts["variable"]:
        return str(STORED_KEY_UNREADABLE % facts)
    if run.pause_reason == P.BATCH_REJECTED and (status := status_without_batch_api(run)):
        return str(NO_BATCH_API % {"status": status})
    return str(PAUSES.get(run.pause_reason, "")) % facts


def error_words(kind: str) -> Promise | str:
    """Return the kind of an error in words; an unknown kind unchanged."""
    return ERRORS.get(kind, kind)


def batch_error(text: str) -> str:
    """Return the ``error`` of a batch: our own sentence in words, an endpoint's as it came."""
    return translation.gettext(text) if text in BATCH_ERRORS else endpoint_sentence(text)


def shown_state(run: Run) -> tuple[str | Promise, str]:
    """Return the state of *run* in words, and the colour of its pill.

    Waiting for the endpoint and the single call in between have the same state. A finished run with
    failed calls is shown as failed; *run* is from ``runs()``, with its counts.
    """
    if waits_for_endpoint(run):
        return WAITING, "amber"
    failed, planned = getattr(run, "failed", 0), getattr(run, "planned", 0)
    if run.status == RunStatus.FINISHED and failed:
        return (ALL_FAILED if failed == planned else SOME_FAILED), "red"
    status = RunStatus(run.status)
    return status.label(get_language() or "en"), COLOURS.get(status, "")
