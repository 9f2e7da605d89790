"""What follows where an import moves questions to the other part (objective or subjective).

Other apps register it in their ``apps.py``; this module knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Follow = Callable[[Sequence[int]], None]
_follows: list[Follow] = []


def register(follow: Follow) -> None:
    """Add a function of the ids of the questions, called in the transaction that moved them."""
    if follow not in _follows:
        _follows.append(follow)


def follow_part_moves(questions: Sequence[int]) -> None:
    """Do what is registered for *questions* (ids), whose part is another one now."""
    if questions:
        for follow in _follows:
            follow(questions)
