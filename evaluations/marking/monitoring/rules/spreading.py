"""Who marks a response again that was taken from somebody."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def spread(barred: Mapping[int, Collection[int]], teachers: Sequence[int]) -> dict[int, int | None]:
    """A teacher for each item: the one with the fewest so far who is not *barred* from it.

    Items come in the order of *barred*, equals in the order of *teachers*, so
    that the same input always gives the same plan. None where all are barred.
    """
    given = dict.fromkeys(teachers, 0)
    planned: dict[int, int | None] = {}
    for item, not_these in barred.items():
        free = [teacher for teacher in teachers if teacher not in not_these]
        planned[item] = min(free, key=given.__getitem__) if free else None
        if free:
            given[planned[item]] += 1  # type: ignore[index]
    return planned
