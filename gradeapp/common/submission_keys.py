"""Keys of forms that may be sent twice: the same for the same page, and known to nobody else."""

from __future__ import annotations

from uuid import UUID

from django.utils.crypto import salted_hmac

SALT = "gradeapp.common.submission_keys"
LENGTH = 16  # bytes of a UUID


def submission_key(*parts: object) -> UUID:
    """Return the key of what *parts* name: a person, an item and a version, for example.

    It is an HMAC of the parts under ``SECRET_KEY``. A key is refused where it is used for something
    else, so who could compute that of another person would learn whether they have saved. It is
    stored as it was sent and never verified: a form that was opened under an earlier secret key
    keeps its own.
    """
    text = repr([str(part) for part in parts])
    digest = salted_hmac(SALT, text, algorithm="sha256").digest()
    return UUID(bytes=digest[:LENGTH], version=5)
