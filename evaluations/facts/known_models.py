"""Responses whose model follows from which runs a round has been made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OfRound:
    """A response of a round: what was asked, its model and whether it has no text.

    ``asked`` is one revision of a question in one round, whose text tells it from every other.
    """

    response: int
    asked: Hashable
    model: int
    is_empty: bool


def of_known_models(responses: Iterable[OfRound]) -> set[int]:
    """Return the keys of the responses whose model is likely to be guessed by who knows the runs.

    That is, where one model has given more than half of the responses to what was asked. Empty
    ones do not count beside others, because they are recognized.
    """
    asked: dict[Hashable, list[OfRound]] = defaultdict(list)
    for one in responses:
        asked[one.asked].append(one)
    known: set[int] = set()
    for same in asked.values():
        counted = [one for one in same if not one.is_empty] or same
        most = max(Counter(one.model for one in counted).values())
        if most * 2 > len(counted):
            known.update(one.response for one in same)
    return known
