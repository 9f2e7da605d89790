"""Costs of calls, and a budget with reservations.

Amounts are Decimal in the endpoint's currency. The highest possible cost of a call is reserved
before the call and replaced by its cost afterwards, so that concurrent calls stay below the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_MILLION = Decimal(1_000_000)
# Tokens for the role name and the separators that a chat template adds to each message.
_TEMPLATE_TOKENS = 16
_IMAGE_TOKENS, _IMAGE_PATCH = 1600, 24
# What an honest endpoint may count that nobody sent or asked for: a prompt of its own, images by
# another rule, reasoning beyond the limit of a reply.
_TIMES, _BESIDE = 4, 16_384


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of a million input tokens and a million output tokens.

    Of the input tokens, those that the provider had cached may have a price of their own.
    """

    per_million_input: Decimal
    per_million_output: Decimal
    per_million_cached: Decimal | None = None

    def cost(
        self, prompt_tokens: int, completion_tokens: int, cached_tokens: int | None = None
    ) -> Decimal:
        """Return the exact cost of a call with these token counts.

        *cached_tokens* are part of *prompt_tokens*, at most all of them.
        """
        cached = min(cached_tokens or 0, prompt_tokens)
        cached_price = self.per_million_cached
        cached_price = self.per_million_input if cached_price is None else cached_price
        read = self.per_million_input * (prompt_tokens - cached) + cached_price * cached
        written = self.per_million_output * completion_tokens
        return (read + written) / _MILLION

    def most(self, prompt_tokens: int, completion_tokens: int) -> Decimal:
        """Return the most that a call with these token counts costs, whatever was cached."""
        uncached = self.cost(prompt_tokens, completion_tokens)
        return max(uncached, self.cost(prompt_tokens, completion_tokens, prompt_tokens))


def most_prompt_tokens(
    messages: Iterable[Mapping[str, Any]], images: Iterable[tuple[int, int]] = ()
) -> int:
    """Return an upper bound of the tokens of *messages*: a token is at least one byte of UTF-8.

    *images* are the sizes, in pixels, of the images in them (``most_image_tokens``).
    """
    sizes = (len(_text(message.get("content")).encode()) for message in messages)
    pictures = sum(most_image_tokens(*size) for size in images)
    return sum(size + _TEMPLATE_TOKENS for size in sizes) + pictures


def most_image_tokens(width: int, height: int) -> int:
    """Return an upper bound of the tokens of an image: one for 24 x 24 pixels, at least 1,600.

    Models that count by size take a token for 28 x 28 pixels or for 750 pixels, others a fixed
    number up to 1,600, whatever the size.
    """
    return max(_IMAGE_TOKENS, math.ceil(width / _IMAGE_PATCH) * math.ceil(height / _IMAGE_PATCH))


def most_counted(tokens: int) -> int:
    """Return the most tokens that are believed where at most *tokens* were sent or asked for."""
    return _TIMES * tokens + _BESIDE


def _text(content: object) -> str:
    """Return the text of a message; that of its parts where it has images."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content or "")


class BudgetSpentError(Exception):
    """The call could cost more than is left of the budget."""


class Budget:
    """Spent and reserved amounts of a run. ``limit`` None means no limit.

    ``spent`` starts with the amount that earlier work sessions of the run spent.
    """

    def __init__(self, limit: Decimal | None, spent: Decimal = Decimal(0)) -> None:
        self.limit = limit
        self.spent = spent
        self.reserved = Decimal(0)

    @property
    def left(self) -> Decimal | None:
        """The amount that may still be reserved; None without a limit."""
        return None if self.limit is None else self.limit - self.spent - self.reserved

    def can_reserve(self, most: Decimal) -> bool:
        """Return whether *most* may be reserved. The limit itself may be reached."""
        return self.left is None or most <= self.left

    def reserve(self, most: Decimal) -> None:
        """Reserve *most* for one call. Raises ``BudgetSpentError`` if it is not left."""
        if most < 0:
            raise ValueError("a reservation is not negative")
        if not self.can_reserve(most):
            raise BudgetSpentError(f"{most} is more than the {self.left} that is left")
        self.reserved += most

    def finalize(self, most: Decimal, cost: Decimal) -> None:
        """Release the reservation of *most* and count *cost* as spent; 0 if it was not billed."""
        if most > self.reserved:
            raise ValueError("more is released than was reserved")
        self.reserved -= most
        self.spent += cost
