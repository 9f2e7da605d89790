"""Places in a teacher's queue: those of the plan, and those drawn for what comes to it later."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence

# From one place of the plan to the next, so that there is room between them.
APART = 1000


def drawn_place(
    block: Hashable,
    blocks: Sequence[Hashable],
    own: Mapping[Hashable, tuple[int, int]],
    random_seed: int,
    *parts: int | str,
) -> int:
    """A place among those of *block*, or where they would be; at least 1.

    *blocks* are all blocks in their order, *own* the first and last place of those that stand in
    the queue. All places from before the first to after the last are alike; which one it is
    follows from the random seed and *parts*. Raises ValueError for a block that is not among
    *blocks*.
    """
    at = blocks.index(block)
    start, end = _cut(at, blocks, own), _cut(at + 1, blocks, own)
    digest = hashlib.sha256(repr((random_seed, "place", *parts)).encode("utf-8")).digest()
    return start + int.from_bytes(digest, "big") % max(end - start, 1)


def _cut(at: int, blocks: Sequence[Hashable], own: Mapping[Hashable, tuple[int, int]]) -> int:
    """Where the block *at* this index begins: blocks share evenly what lies between two places."""
    before = next((one for one in range(at - 1, -1, -1) if blocks[one] in own), -1)
    after = next((one for one in range(at, len(blocks)) if blocks[one] in own), len(blocks))
    last = own[blocks[before]][1] if before >= 0 else 0
    first = own[blocks[after]][0] if after < len(blocks) else last + APART
    # Rounded up: where places stand side by side, a block begins with its first one.
    return last - (-max(first - last, 0) * (at - before) // (after - before + 1))
