"""Random seeds that nobody finds by trying them all."""

from __future__ import annotations

from django.utils.crypto import salted_hmac

SALT = "gradeapp.common.random_seeds"
# Trying so many seeds of a round takes a year on one core.
LEAST = 10**12
MOST = 2**53  # a JSON number holds it


def hard_to_guess(random_seed: int) -> int:
    """Return *random_seed* if it is ``LEAST`` or more, else a larger one that follows from it.

    The larger one is an HMAC under ``SECRET_KEY``: the same seed gives the same number in one
    installation, and nobody outside can compute it.
    """
    if random_seed >= LEAST:
        return random_seed
    digest = salted_hmac(SALT, str(random_seed), algorithm="sha256").digest()
    return LEAST + int.from_bytes(digest) % (MOST - LEAST)
