"""Money: what a call costs, what it can cost at most, and a limit that reservations keep.

Amounts are Decimal in the endpoint's currency. The most that one call can cost
is set aside before it is made and settled after it, so that many calls in
flight together cannot pass the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_MILLION = Decimal(1_000_000)
# Role names and separators that a chat template puts around each message.
_TEMPLATE_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens, read and written."""

    per_million_input: Decimal
    per_million_output: Decimal

    def cost(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        """The price of a call with these tokens, exact."""
        read = self.per_million_input * prompt_tokens
        written = self.per_million_output * completion_tokens
        return (read + written) / _MILLION


def most_prompt_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """An upper bound of the tokens of *messages*: a token is at least one byte of UTF-8."""
    sizes = (len(str(message.get("content") or "").encode()) for message in messages)
    return sum(size + _TEMPLATE_TOKENS for size in sizes)


class BudgetSpentError(Exception):
    """The call cannot be made: it might cost more than is left."""


class Budget:
    """Spent and reserved amounts under ``limit``; None has no limit.

    ``spent`` starts with what earlier sessions of the same run have spent.
    """

    def __init__(self, limit: Decimal | None, spent: Decimal = Decimal(0)) -> None:
        self.limit = limit
        self.spent = spent
        self.reserved = Decimal(0)

    @property
    def left(self) -> Decimal | None:
        """What may still be reserved, None without a limit."""
        return None if self.limit is None else self.limit - self.spent - self.reserved

    def can_reserve(self, most: Decimal) -> bool:
        """Whether a call that costs at most *most* may be made; exactly the rest may be spent."""
        return self.left is None or most <= self.left

    def reserve(self, most: Decimal) -> None:
        """Set *most* aside for one call. Raises ``BudgetSpentError`` and reserves nothing."""
        if most < 0:
            raise ValueError("a reservation is not negative")
        if not self.can_reserve(most):
            raise BudgetSpentError(f"{most} is more than the {self.left} that is left")
        self.reserved += most

    def settle(self, most: Decimal, cost: Decimal) -> None:
        """Give the reservation of *most* back and count *cost* as spent; 0 for an unbilled call."""
        if most > self.reserved:
            raise ValueError("more is settled than was reserved")
        self.reserved -= most
        self.spent += cost
