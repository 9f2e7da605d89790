"""Save the limits of provider accounts."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from evaluations.models import ProviderAccount, Run
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.services.runs import resume_run
from evaluations.runs.services.seen_limits import check_seen
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import BadInput, Refusal

MOST_IN_FLIGHT = 4096
MOST_A_MINUTE = 2**31 - 1
NOTHING_REPORTED = dict.fromkeys(
    ("reported_requests", "reported_until", "reported_tokens", "reported_tokens_until")
)


def limits_in_words(account: ProviderAccount) -> str:
    """Return name and limits of *account* as a form names what it shows."""
    limits = (account.max_in_flight, account.requests_per_minute, account.tokens_per_minute)
    return " ".join(map(str, (*limits, account.name)))


@transaction.atomic
def save_account(
    *,
    name: str,
    max_in_flight: int | None,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
    acting_user: User | None,
    account: ProviderAccount | None = None,
    seen: str = "",
) -> ProviderAccount:
    """Create an account, or change *account*. A limit of None means none. Raises BadInput.

    *seen* is the ``limits_in_words`` that the person had before their eyes; Conflict, if given and
    others hold by now.
    New limits hold at once, also for calls of workers that are at work. A new account that is sent
    twice is one.
    """
    limits = {
        "max_in_flight": (max_in_flight, MOST_IN_FLIGHT),
        "requests_per_minute": (requests_per_minute, MOST_A_MINUTE),
        "tokens_per_minute": (tokens_per_minute, MOST_A_MINUTE),
    }
    if not name.strip() or len(name) > 60:
        raise BadInput(_("Enter a name of at most 60 characters."))
    if any(value is not None and not 1 <= value <= most for value, most in limits.values()):
        raise BadInput(_("A limit must be a whole number above zero, or empty."))
    given = {field: value for field, (value, _most) in limits.items()}
    named = ProviderAccount.objects.filter(name=name)
    if account is None:
        account, is_free = named.get_or_create(name=name, defaults=given)
        if not is_free and named.filter(**given).exists():
            return account
    else:
        account = ProviderAccount.objects.select_for_update().get(pk=account.pk)
        check_seen(seen, limits_in_words(account))
        is_free = not named.exclude(pk=account.pk).exists()
    if not is_free:
        raise BadInput(_("There is already an account called %(name)s.") % {"name": name})
    # The version is raised too: whoever has read the old limits reads them again.
    rows = ProviderAccount.objects.filter(pk=account.pk)
    rows.update(name=name, version=F("version") + 1, **given)
    record(Tag.ACCOUNT_SAVED, account, actor=acting_user, name=name, **given)
    account.refresh_from_db()
    return account


@dataclass(frozen=True)
class Resumed:
    """The runs that were resumed, and those that were not, each with the sentence why."""

    runs: list[Run] = field(default_factory=list)
    refused: list[tuple[Run, str]] = field(default_factory=list)


def end_wait(account: ProviderAccount, *, acting_user: User | None) -> Resumed:
    """Let calls be sent again although the provider has asked to wait, or has no calls left.

    Does nothing where it has not said so.

    The runs that are paused because an endpoint of the account has asked to wait are resumed, as
    ``resume_run`` does: each tries a single call first.
    """
    resumed = Resumed()
    with transaction.atomic():
        now = database_now()
        rows = ProviderAccount.objects.filter(pk=account.pk)
        asked = rows.select_for_update().get().waits_until(now)
        if asked is None:
            return resumed
        # The present time, not none: a call in flight that comes back does not close it again.
        rows.update(closed_until=now, version=F("version") + 1, **NOTHING_REPORTED)
        record(Tag.ACCOUNT_REOPENED, account, actor=acting_user, until=asked.isoformat())
        paused = Run.objects.filter(endpoint__account=account, status=RunStatus.PAUSED)
        paused = paused.filter(pause_reason=PauseReason.ASKED_TO_WAIT).order_by("pk")
        waiting = list(paused.values_list("pk", flat=True))
    # After the commit, so that the account is not locked while many jobs change.
    for pk in waiting:
        with transaction.atomic():
            run = paused.select_for_update(of=("self",)).filter(pk=pk).first()
            if run is None:
                continue  # somebody has stopped or resumed it
            try:
                resumed.runs.append(resume_run(run, acting_user=acting_user))
            except Refusal as refusal:
                resumed.refused.append((run, str(refusal)))
    return resumed
