"""Personal API tokens: made, looked up, counted and revoked (docs/decisions/0007-api-tokens.md).

A token is 256 random bits, shown once; only its SHA-256 is stored. It gives no right that its
person has not at the time of the request.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from gradeapp.accounts.backend import Backend
from gradeapp.accounts.factors import lacks_factor
from gradeapp.accounts.models import ApiToken, User
from gradeapp.accounts.scopes import Scope
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, NotFound, Refusal

START = "gradeapp_"
MOST_DAYS = 365
MOST_TOKENS = 20
# The time of the last use is written at most so often.
USE_NOTED = timedelta(minutes=1)
WINDOW = timedelta(minutes=1)


class BadToken(Refusal):
    """The token is unknown, expired, revoked, or its person may not use it any more."""

    status = 401
    code = "bad_token"


class TooManyRequests(Refusal):
    """A token, or the tokens of a person, were used too often; ``seconds`` until the next."""

    status = 429
    code = "too_many_requests"


def hashed(token: str) -> str:
    """The hash under which *token* is stored: 64 hexadecimal digits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def standing(user: User) -> list[str]:
    """The roles of *user*, and whether a superuser, as they are kept with a token."""
    return sorted([role.value for role in user.roles] + ["superuser"] * user.is_superuser)


def has_password(row: ApiToken, user: User) -> bool:
    """Return whether *row* was made with the password of *user*; another one ends it for good."""
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(row.session_hash, known) for known in hashes)


def fits(row: ApiToken, user: User) -> bool:
    """Return whether *user* has the password that *row* was made with, and no further role."""
    return set(standing(user)) <= set(row.standing) and has_password(row, user)


def own_tokens(user: User) -> QuerySet[ApiToken]:
    """The tokens of *user* that were not revoked, the newest first."""
    return ApiToken.objects.filter(user=user, revoked_at=None).order_by("-pk")


@transaction.atomic
def make_token(
    user: User,
    *,
    name: str,
    scopes: Collection[Scope],
    days: int,
    acting_user: User | None,
    form_key: UUID | None = None,
) -> tuple[ApiToken, str]:
    """Make a token of *user* for 1 to 365 *days*; return its row and the token, shown once.

    A form that is sent again has the same *form_key*, and ends the token that it made.
    Raises BadInput for a value that cannot be, Conflict where the person has too many.
    """
    if not name.strip():
        raise BadInput(_("Give the token a name."))
    if not scopes:
        raise BadInput(_("Choose what the token may do."))
    if not 1 <= days <= MOST_DAYS:
        raise BadInput(_("A token is valid for 1 to %(n)d days.") % {"n": MOST_DAYS})
    # Two requests at once count one after the other; what is changed at this time counts too.
    person = User.objects.select_for_update().get(pk=user.pk)
    if not person.may_log_in:
        raise BadInput(_("This person may not log in."))
    if lacks_factor(person):
        raise BadInput(_("Your role needs a second factor. Add one first."))
    if form_key is not None:
        for row in own_tokens(user).filter(form_key=form_key):
            revoke_token(user, row.pk, acting_user=acting_user)
    left = own_tokens(user).filter(expires_at__gt=timezone.now())
    if sum(has_password(row, person) for row in left) >= MOST_TOKENS:
        raise Conflict(_("You have %(n)d tokens. Revoke one first.") % {"n": MOST_TOKENS})
    token = START + secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        user=user,
        name=name.strip()[:60],
        hint=token[-4:],
        token_hash=hashed(token),
        scopes=sorted(scope.value for scope in scopes),
        standing=standing(person),
        # Of the password that the request was let in by: one that was changed since ends the token.
        session_hash=user.get_session_auth_hash(),
        expires_at=timezone.now() + timedelta(days=days),
        form_key=form_key,
    )
    record(
        Tag.TOKEN_MADE,
        row,
        actor=acting_user,
        owner=user.username,
        name=row.name,
        scopes=row.scopes,
        days=days,
    )
    return row, token


@transaction.atomic
def revoke_token(user: User, pk: int, *, acting_user: User | None) -> ApiToken:
    """Revoke a token of *user* for good; raises NotFound where they have none with this key."""
    row = ApiToken.objects.filter(user=user, pk=pk).first()
    if row is None:
        raise NotFound(_("You have no such token."))
    if ApiToken.objects.filter(pk=pk, revoked_at=None).update(revoked_at=timezone.now()):
        record(Tag.TOKEN_REVOKED, row, actor=acting_user, owner=user.username, name=row.name)
    return row


def revoke_all(user: User, *, acting_user: User | None) -> None:
    """Revoke every token of *user* for good."""
    for row in own_tokens(user):
        revoke_token(user, row.pk, acting_user=acting_user)


def narrow_tokens(user: User, left: Collection[str]) -> None:
    """Keep with the tokens of *user* only the roles *left*, and that of a superuser who is one.

    One that is given again is a further role.
    """
    kept = {*left, *["superuser"] * user.is_superuser}
    for row in own_tokens(user):
        row.standing = [one for one in row.standing if one in kept]
        row.save(update_fields=["standing"])


def is_known(token: str) -> bool:
    """Return whether *token* was made, and has neither expired nor been revoked."""
    rows = ApiToken.objects.filter(token_hash=hashed(token), revoked_at=None)
    return rows.filter(expires_at__gt=timezone.now()).exists()


def person_of(token: str) -> tuple[User, ApiToken]:
    """Return whose token *token* is, and its row; raises BadToken.

    One sentence for all that is wrong, so that it tells nothing about a token that was found. A
    password that was changed, or a role that was given since, ends a token: a new role is nothing
    that the token was made for. It is refused while its person lacks a second factor.
    """
    refused = BadToken(_("The token is unknown, expired or revoked."))
    row = ApiToken.objects.filter(token_hash=hashed(token), revoked_at=None).first()
    if row is None or row.expires_at <= timezone.now():
        raise refused
    user = Backend().get_user(row.user_id)
    if user is None or user.must_change_password or lacks_factor(user):
        raise refused
    if not fits(row, user):
        raise refused
    return user, row


def person_behind(token: str) -> tuple[User, ApiToken]:
    """Return who uses *token* and its row, counted and noted; raises BadToken, TooManyRequests."""
    user, row = person_of(token)
    now = timezone.now()
    count_request(row)
    if row.last_used_at is None or row.last_used_at < now - USE_NOTED:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
    return user, row


def count_request(row: ApiToken) -> None:
    """Count one request of a token, and of all tokens of its person, in the running minute.

    The counts are columns of the tokens, so that all processes share them. A window begins with
    the first request after the last one has ended: around its end up to twice as many pass.
    """
    now = timezone.now()
    rows = ApiToken.objects.filter(pk=row.pk)
    rows.filter(Q(window_at=None) | Q(window_at__lte=now - WINDOW)).update(
        window_at=now, window_count=0
    )
    most = settings.API_REQUESTS_PER_MINUTE
    used = sum(
        ApiToken.objects.filter(user_id=row.user_id, window_at__gt=now - WINDOW).values_list(
            "window_count", flat=True
        )
    )
    allowed = used < 2 * most and rows.filter(window_count__lt=most).update(
        window_count=F("window_count") + 1
    )
    if not allowed:
        since = rows.values_list("window_at", flat=True).get()
        seconds = max(1, round((since + WINDOW - now).total_seconds())) if since else 60
        sentence = _("Too many requests. Try again in %(n)d seconds.") % {"n": seconds}
        raise TooManyRequests(sentence, seconds=seconds)
