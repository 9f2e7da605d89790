"""The name of a call outside of the database: the key of its attempt, and what was asked.

A restored backup gives out keys anew. A reply that comes back late, in the spool of a worker or in
a file of a batch, is stored only with the request that it answers.
"""

from __future__ import annotations

import re
from uuid import UUID

# Hexadecimal digits of the hash of a request. With the key of a run and that of an attempt they
# stay within the 64 characters that providers of batches take.
DIGITS = 8
# Files of batches that are older than this name the attempt alone.
KEY = re.compile(r"[0-9]{1,18}(-[0-9a-f]+)?")


def call_key(attempt: int, request_hash: str) -> str:
    """Return the name of the call of *attempt*, whose request has *request_hash*."""
    return f"{attempt}-{request_hash[:DIGITS]}"


def attempt_of(key: str | int) -> int:
    """Return the key of the attempt in *key*. Raises ValueError if there is none."""
    return int(str(key).partition("-")[0])


def fits(key: str | int, request_hash: str) -> bool:
    """Return whether *key* is of a request with *request_hash*; one of before has no digits."""
    digits = str(key).partition("-")[2]
    return not digits or digits == request_hash[:DIGITS]


def custom_id(run: UUID, key: str | int) -> str:
    """Return the id of the request of the call *key* of *run* in a file of a batch."""
    return f"{run.hex}-{key}"


def key_in(given: str, run: UUID) -> str | None:
    """Return the key of the call that *given*, a ``custom_id``, names if it is one of *run*."""
    ours, _dash, key = given.partition("-")
    return key if ours == run.hex and KEY.fullmatch(key) else None
