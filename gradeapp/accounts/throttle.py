"""How often somebody may guess: counted before a password or a code is looked at.

django-axes and the limits of allauth count after the guess, so that 50 guesses sent at once all
reach the hash. Here each guess takes its place by a conditional UPDATE first, and gives it back
when it was right. See docs/decisions/0006-accounts.md.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Any, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import ngettext

from gradeapp.accounts.models import GuessCount
from gradeapp.common.refusals import Busy, Refusal

KEPT = timedelta(days=1)
PATIENCE = 3.0
# From one address in an hour: a school shares one.
MOST_SIGN_ONS = 300
Found = TypeVar("Found")


class Throttled(Refusal):
    """Too many wrong guesses; ``seconds`` is how long nobody is let in, from 1."""

    status = 429
    code = "too_many_attempts"

    def __init__(self, seconds: int) -> None:
        minutes = max(1, -(-seconds // 60))
        sentence = ngettext(
            "Too many failed attempts. Try again in %(n)d minute.",
            "Too many failed attempts. Try again in %(n)d minutes.",
            minutes,
        ) % {"n": minutes}
        super().__init__(sentence, seconds=seconds)
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Limit:
    """At most *most* wrong guesses in *window*, for what *key* says.

    A right guess takes the wrong ones back if *forgives*: only where nobody guesses who may not
    know that the right one was made.
    """

    key: str
    most: int
    window: timedelta
    forgives: bool = False


def login_limits(name: str, address: str) -> list[Limit]:
    """For a login: the account from this address, the account, and the address.

    A school shares one address, so that the limit of an address is wide. None of them forgives:
    a guesser would see from it that the name is somebody's, and when they logged in.
    """
    account = name.strip().casefold()
    hour = timedelta(hours=1)
    return [
        Limit(f"login|{account}|{address}", 5, timedelta(minutes=15)),
        Limit(f"account|{account}", 100, hour),
        Limit(f"address|{address}", 100, hour),
    ]


def code_limits(user_id: int) -> list[Limit]:
    """For the second factor of one person, from any address."""
    return [Limit(f"code|{user_id}", 5, timedelta(minutes=15), forgives=True)]


def reset_limits(name: str, address: str) -> list[Limit]:
    """For mails with a reset link: to one person, and asked for from one address."""
    hour = timedelta(hours=1)
    return [
        Limit(f"mail|{name.strip().casefold()}", 3, hour),
        Limit(f"mail-from|{address}", 20, hour),
    ]


def sign_on_limits(address: str) -> list[Limit]:
    """For logins that begin at the provider of single sign-on: each stores a session."""
    return [Limit(f"sign-on|{address}", MOST_SIGN_ONS, timedelta(hours=1))]


def invitation_limits(link_id: int) -> list[Limit]:
    """For what one invitation is refused with: each refusal tells of somebody's account."""
    return [Limit(f"invitation|{link_id}", 10, timedelta(days=1))]


def own_password_limits(user_id: int) -> list[Limit]:
    """For the own password of somebody who is logged in, asked for again."""
    return [Limit(f"own|{user_id}", 5, timedelta(minutes=15), forgives=True)]


def reserve(limits: list[Limit], *, now: datetime | None = None) -> None:
    """Take a place for one guess in each of *limits*, before it is looked at.

    Where all places are taken by guesses that are being looked at just now, as when a class logs
    in with one account, this waits for them up to ``PATIENCE`` seconds. Raises Throttled, and
    takes no place, if a limit is used up.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        refused, may_free = _try_reserve(limits, now or timezone.now())
        if refused is None:
            return
        if not may_free or time.monotonic() > deadline:
            raise refused
        time.sleep(0.05)


def _try_reserve(limits: list[Limit], now: datetime) -> tuple[Throttled | None, bool]:
    """Take the places or none; who is refused learns why, and whether a place may become free."""
    with transaction.atomic():
        for limit in limits:
            # The name that was typed may be a password: only its hash is stored.
            rows = GuessCount.objects.filter(key=hashed(limit.key))
            if not rows.filter(since__gt=now - limit.window).exists():
                GuessCount.objects.filter(since__lt=now - KEPT).delete()
                new = GuessCount(key=hashed(limit.key), since=now)
                GuessCount.objects.bulk_create([new], ignore_conflicts=True)
                rows.filter(since__lte=now - limit.window).update(count=0, pending=0, since=now)
            free = rows.filter(count__lt=limit.most - F("pending"))
            if not free.update(pending=F("pending") + 1):
                row = rows.get()
                transaction.set_rollback(True)
                seconds = round((row.since + limit.window - now).total_seconds())
                return Throttled(max(1, seconds)), row.count < limit.most
    return None, False


def _end(limit: Limit, **changes: Any) -> None:
    """Free the place of one guess, with what it changes besides."""
    rows = GuessCount.objects.filter(key=hashed(limit.key))
    rows.filter(pending__gt=0).update(pending=F("pending") - 1)
    if changes:
        rows.update(**changes)


def fail(limits: list[Limit], *, now: datetime | None = None) -> bool:
    """Count a guess that was wrong; returns whether a limit is used up by it.

    The window begins with the first of them: what right ones did before must not be seen in it.
    """
    used_up = False
    first = When(count=0, then=Value(now or timezone.now()))
    with transaction.atomic():
        for limit in limits:
            _end(limit, count=F("count") + 1, since=Case(first, default=F("since")))
            full = GuessCount.objects.filter(key=hashed(limit.key), count=limit.most)
            used_up = used_up or full.exists()
    return used_up


def cancel(limits: list[Limit]) -> None:
    """Free the places of a guess that was not looked at."""
    with transaction.atomic():
        for limit in limits:
            _end(limit)


def release(limits: list[Limit]) -> None:
    """Free the places of a guess that was right; a limit that forgives starts again from 0."""
    with transaction.atomic():
        for limit in limits:
            _end(limit, **({"count": 0} if limit.forgives else {}))


def guess(
    limits: list[Limit], look: Callable[[], Found], wrong: Callable[[bool], object] = bool
) -> Found:
    """What *look* returns or raises, counted: an error or False is a wrong guess, Busy is none.

    *wrong* is called for a wrong guess, with whether a limit is used up by it. Raises Throttled.
    """
    reserve(limits)
    try:
        found = look()
    except Busy:
        cancel(limits)
        raise
    except Exception:
        wrong(fail(limits))
        raise
    if found is False:
        wrong(fail(limits))
    else:
        release(limits)
    return found


def hashed(key: str) -> str:
    """The key as it is stored: 64 hexadecimal digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def client_address(request: HttpRequest | None) -> str:
    """Where a request comes from, as a declared proxy says it; an IPv6 network counts as one.

    ``GRADEAPP_PROXIES`` is how many proxies of one's own stand in front. The last that many
    entries of ``X-Forwarded-For`` were written by them; what stands before was written by the
    sender and is not read.
    """
    if request is None:
        return "local"
    text = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        entries = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        if len(entries) >= settings.PROXIES:
            text = entries[-settings.PROXIES].strip()
    try:
        address = ip_address(text)
    except ValueError:
        return "unknown"
    if address.version == 6:
        mapped = address.ipv4_mapped
        return str(mapped) if mapped else address.exploded[:19] + "::"
    return str(address)
