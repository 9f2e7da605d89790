"""Notices on the run page: why a run waits, what failed, and what to do."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.models import Attempt, Job, ProviderAccount, Run
from evaluations.models.vocabulary import FIRST_STEP_FAILED, JobStatus, PauseReason, RunStatus
from evaluations.runs.selectors.run_words import error_words, pause_sentence
from evaluations.runs.selectors.runs import FAILED, LIVE, Progress
from evaluations.runs.selectors.workers import worker_sentence

# A worker renews its lease four times per lease; it counts as lost when it is this much late.
LATE = timedelta(seconds=10)
FEW = timedelta(seconds=10)

# Why a run waits for its endpoint. %(status)s is the HTTP status.
R = PauseReason
WAITS: Mapping[str, str | Promise] = {
    R.ASKED_TO_WAIT: gettext_lazy("The endpoint is limiting the rate of calls (%(status)s)."),
    R.ENDPOINT_DOWN: gettext_lazy("The endpoint does not respond."),
    R.ENDPOINT_ERRORS: gettext_lazy("The endpoint returns errors only (%(status)s)."),
    R.BROKEN_REPLIES: gettext_lazy("The endpoint sends replies that cannot be read."),
    R.NO_REPLY: gettext_lazy("Calls to the endpoint end without a complete reply."),
    R.REJECTED: gettext_lazy("The endpoint rejects every call (%(status)s)."),
    R.NOT_STORED: gettext_lazy("The results of calls cannot be stored: the disk may be full."),
}
NEXT_ATTEMPT = gettext_lazy("Waiting calls: %(n)s. Next attempt at %(time)s. No data is lost.")
RETRYING = gettext_lazy("Waiting calls: %(n)s. Retrying one of them now. No data is lost.")
# What an example shows of an error.
LONGEST_EXAMPLE = 200
# Why calls failed, as the end of a sentence. %(status)s is the HTTP status.
CAUSES: Mapping[str, str | Promise] = {
    "server": gettext_lazy("the endpoint returned %(status)s (server error)"),
    "timeout": gettext_lazy("the call timed out"),
    "interrupted": gettext_lazy("the connection was lost before the reply"),
    "bad_request": gettext_lazy("the endpoint rejected the call (%(status)s)"),
    "context_length": gettext_lazy("the prompt is too long for the model"),
    "malformed": gettext_lazy("the reply could not be parsed"),
    "oversize": gettext_lazy("the reply was too large"),
    "worker_lost": gettext_lazy("the worker was lost while waiting for the reply"),
}


@dataclass(frozen=True)
class RunNotice:
    """One sentence, its level (``warning`` or ``error``), and whether calls have failed.

    ``example`` is what the last failed call came back with; "" where nothing is known.
    """

    sentence: str
    level: str
    failed: bool = False
    example: str = ""

    @property
    def key(self) -> str:
        """A short hash of the sentence."""
        return hashlib.sha256(self.sentence.encode()).hexdigest()[:8]


def run_notice(run: Run, progress: Progress, now: datetime) -> RunNotice | None:
    """Return the notice of *run*; None if it works or ended without failures."""
    if progress.waits:
        example = "" if run.pause_reason == R.NOT_STORED else _example(run)
        # Somebody who tries now meets the wait of the account: no call is sent before its end.
        closed = _account_waits(run, progress, now) if run.resume_at is None else ""
        return RunNotice(closed or _waiting(run, progress, now), "warning", example=example)
    if why := pause_sentence(run):
        return RunNotice(why, "warning")
    if run.status in LIVE and progress.in_flight and (lost := _lost(run, now)):
        return RunNotice(lost, "warning")
    if run.status in LIVE and (wait := _account_waits(run, progress, now)):
        return RunNotice(wait, "warning")
    if run.status == RunStatus.FINISHED and progress.failed:
        return RunNotice(_failed(run, progress), "error", failed=True)
    return None


def page_notice(run: Run, progress: Progress, now: datetime) -> RunNotice | None:
    """Return the notice of the page of *run*, also if no worker works on it.

    A run that has waited for its endpoint long enough is then not said to be tried.
    """
    notice = run_notice(run, progress, now)
    if notice is not None and not progress.waits:
        return notice
    if not (sentence := worker_sentence(run, now)):
        return notice
    if notice is None:
        return RunNotice(sentence, "warning")
    words = {"why": _why(run), "n": progress.waiting + progress.in_flight, "then": sentence}
    return replace(notice, sentence=_("%(why)s Waiting calls: %(n)s. %(then)s") % words)


def _waiting(run: Run, progress: Progress, now: datetime) -> str:
    words = {
        "n": progress.waiting + progress.in_flight,
        "time": clock_time(run.resume_at, now),
    }
    then = str(RETRYING if run.resume_at is None else NEXT_ATTEMPT) % words
    return _("%(why)s %(then)s") % {"why": _why(run), "then": then}


def _why(run: Run) -> str:
    """Return why *run* waits for its endpoint."""
    return str(WAITS[run.pause_reason]) % {"status": _last_status(run)}


def _example(run: Run) -> str:
    """Return the text of the newest failed attempt.

    Not what came in its place: that may be a page which not everybody who sees runs may read.
    """
    failed = Attempt.objects.filter(job__run=run).exclude(error="").order_by("-pk")
    newest = failed.values_list("error_text", flat=True).first() or ""
    return " ".join(newest[: 2 * LONGEST_EXAMPLE].split())[:LONGEST_EXAMPLE]


def _account_waits(run: Run, progress: Progress, now: datetime) -> str:
    """Return until when the provider has asked all runs of the account to wait; "" if it has not.

    A wait that is over in a few seconds is part of every slow endpoint, and not said.
    """
    if run.by_batch or not (progress.waiting or progress.in_flight):
        return ""
    account = ProviderAccount.objects.filter(endpoints=run.endpoint_id).first()
    until = account.waits_until(now + FEW) if account else None
    if account is None or until is None:
        return ""
    words = {"name": account.name, "time": clock_time(until, now)}
    return (
        _(
            "The provider has asked the account %(name)s to wait until %(time)s. No call is sent "
            "before; an admin can end the wait on the page of the account. No data is lost."
        )
        % words
    )


def _lost(run: Run, now: datetime) -> str:
    """Return what happens to the calls of a lost worker; "" if all workers renew their leases."""
    place = run.workers.exclude(worker="").order_by("worker_until").first()
    if place is None or place.worker_until is None:
        return ""
    lease = timedelta(seconds=settings.RUN_LEASE_SECONDS)
    renewed_at = place.worker_until - lease
    jobs = Job.objects.filter(run=run, status=JobStatus.LEASED, lease_owner=place.worker)
    if now - renewed_at < lease / 4 + LATE or not (n := jobs.count()):
        return ""
    words = {
        "since": clock_time(renewed_at, now),
        "n": n,
        "time": clock_time(place.worker_until, now),
    }
    if run.status == RunStatus.STOPPING:
        sentence = _(
            "The worker of this run has not reported since %(since)s. Its calls in "
            "progress (%(n)s) will be released at %(time)s. No data is lost."
        )
    else:
        sentence = _(
            "The worker of this run has not reported since %(since)s. Its calls in "
            "progress (%(n)s) will be retried from %(time)s. No data is lost."
        )
    return sentence % words


def _failed(run: Run, progress: Progress) -> str:
    failed = Job.objects.filter(FAILED, run=run).order_by()
    # A later step that was never asked failed by the reason of the first.
    reasons = failed.exclude(error=FIRST_STEP_FAILED)
    kinds = list(reasons.values_list("error").annotate(n=Count("pk")).order_by("-n", "error"))
    kind = kinds[0][0] if kinds else FIRST_STEP_FAILED
    cause = CAUSES.get(kind) or error_words(kind)
    why = str(cause) % {"status": _last_status(run, kind)}
    if len(kinds) > 1:
        why = _("%(why)s, among other reasons") % {"why": why}
    words = {"failed": progress.failed, "planned": progress.planned, "why": why}
    return (
        _("Finished, but %(failed)s of %(planned)s calls failed: %(why)s. Retry the failed calls.")
        % words
    )


def _last_status(run: Run, kind: str = "") -> int | str:
    """Return the HTTP status of the newest failed attempt (of *kind*); a dash if there is none."""
    found = Attempt.objects.filter(job__run=run, http_status__isnull=False).order_by("-pk")
    found = found.filter(error=kind) if kind else found.exclude(error="")
    return found.values_list("http_status", flat=True).first() or "–"


def clock_time(time: datetime | None, now: datetime) -> str:
    """Return a local time such as 10:42:07, with the date if it is on another day."""
    if time is None:
        return ""
    local = timezone.localtime(time)
    same_day = local.date() == timezone.localtime(now).date()
    return f"{local:%H:%M:%S}" if same_day else f"{local:%Y-%m-%d %H:%M}"
