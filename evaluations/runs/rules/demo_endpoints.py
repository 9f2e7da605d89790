"""The endpoints of the demo, whose models take another port of this machine at each start."""

from __future__ import annotations

import re

LOCAL = "Small local model"
SCRIPTED = "Scripted demo (not a real model)"
ADDRESS = re.compile(r"http://127\.0\.0\.1:[0-9]{1,5}/v1")


def is_its_next_port(name: str, before: str, now: str) -> bool:
    """Return whether *before* and *now* are addresses of the demo's endpoint called *name*."""
    return name in (LOCAL, SCRIPTED) and all(ADDRESS.fullmatch(one) for one in (before, now))
