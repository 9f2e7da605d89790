"""The signature of an audit entry: a keyed hash under SECRET_KEY, which the database has not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from gradeapp.audit.hashing import text_of

SALT = "gradeapp.audit.entry"
SIGNED = ("at", "actor_id", "tag", "target", "detail")


def signature(
    at: datetime,
    actor_id: int | None,
    tag: str,
    target: str,
    detail: Mapping[str, object],
    *,
    key: str = "",
) -> str:
    """Return the signature of an entry under *key* (SECRET_KEY by default), hexadecimal."""
    # Once through JSON, as the database gives it back: keys become text.
    stored = json.loads(json.dumps(detail))
    text = text_of(dict(zip(SIGNED, (at, actor_id, tag, target, stored), strict=True)))
    return salted_hmac(
        SALT, text, secret=key or settings.SECRET_KEY, algorithm="sha256"
    ).hexdigest()


def is_signed(row: Mapping[str, object]) -> bool:
    """Return whether *row* of the audit trail has a signature of a key of this site."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    given = [row[name] for name in SIGNED]
    return any(
        constant_time_compare(str(row["signature"]), signature(*given, key=key))  # type: ignore[arg-type]
        for key in keys
    )
