"""The numbers behind aliases: drawn, so that neither their order nor the highest tells anything."""

from __future__ import annotations

from collections.abc import Collection
from math import ceil

from evaluations.marking.rules.drawing import shuffled

# Beside those in the plan: repeats of teachers who come later, half as many again and some.
SPARE_SHARE = 1.5
SPARE = 5


def highest_alias(responses: int, repeats: int) -> int:
    """The highest number of a round of so many *responses* and expected *repeats*.

    Without repeats there are no gaps. With some, there are more numbers than
    responses: a repeat takes a number in between, so that one that is added late does not
    stand behind all others.
    """
    return responses + (ceil(SPARE_SHARE * repeats) + SPARE if repeats else 0)


def draw_numbers(
    number: int, highest: int, taken: Collection[int], random_seed: int, purpose: str
) -> list[int]:
    """So many numbers of 1 to *highest* that are not *taken*, in a drawn order.

    Where *highest* is too small for them all it grows just enough. Raises ValueError
    for a negative number.
    """
    if number < 0:
        raise ValueError("the number of aliases is not negative")
    used = set(taken)
    free = [one for one in range(1, highest + 1) if one not in used]
    while len(free) < number:
        highest += 1
        free += [highest] if highest not in used else []
    return [int(one) for one in shuffled(free, random_seed, purpose)[:number]]
