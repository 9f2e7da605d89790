"""Random seeds that nobody can guess."""

from __future__ import annotations

import secrets

MOST = 2**53  # a JSON number holds it


def new_seed() -> int:
    """Return a seed that nobody knows and nobody finds by trying."""
    return secrets.randbelow(MOST)
