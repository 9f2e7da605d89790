from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.llm.budget import Budget, BudgetSpentError, Price, most_prompt_tokens

PRICE = Price(per_million_input=Decimal("2.50"), per_million_output=Decimal("10"))


# 1000 x 2.50 / 1,000,000 = 0.0025; 200 x 10 / 1,000,000 = 0.002
@pytest.mark.parametrize(
    ("read", "written", "cost"),
    [
        (0, 0, "0"),
        (1000, 0, "0.0025"),
        (0, 200, "0.002"),
        (1000, 200, "0.0045"),
        (1, 1, "0.0000125"),
        (1_000_000, 1_000_000, "12.50"),
    ],
)
def test_cost_is_exact(read: int, written: int, cost: str) -> None:
    assert PRICE.cost(read, written) == Decimal(cost)


@pytest.mark.parametrize(("cached", "most"), [(None, "0.0045"), ("1", "0.0045"), ("9", "0.0110")])
def test_the_most_is_that_of_the_dearer_kind_of_input(cached: str | None, most: str) -> None:
    price = Price(Decimal("2.50"), Decimal(10), None if cached is None else Decimal(cached))
    assert price.most(1000, 200) == Decimal(most)


def test_reserve_and_settle() -> None:
    budget = Budget(Decimal("1.00"), spent=Decimal("0.20"))
    budget.reserve(Decimal("0.50"))
    assert budget.left == Decimal("0.30")
    budget.finalize(Decimal("0.50"), Decimal("0.10"))
    assert (budget.spent, budget.reserved, budget.left) == (
        Decimal("0.30"),
        Decimal(0),
        Decimal("0.70"),
    )


def test_exactly_the_rest_may_be_spent_and_no_more() -> None:
    budget = Budget(Decimal("1.00"))
    budget.reserve(Decimal("0.40"))
    assert not budget.can_reserve(Decimal("0.61"))
    with pytest.raises(BudgetSpentError):
        budget.reserve(Decimal("0.61"))
    budget.reserve(Decimal("0.60"))
    assert budget.left == Decimal(0)


def test_without_a_limit() -> None:
    budget = Budget(None)
    budget.reserve(Decimal("1000000"))
    assert budget.left is None


def test_nonsense_is_refused() -> None:
    budget = Budget(Decimal(1))
    with pytest.raises(ValueError, match="not negative"):
        budget.reserve(Decimal(-1))
    with pytest.raises(ValueError, match="than was reserved"):
        budget.finalize(Decimal("0.1"), Decimal(0))


amounts = st.decimals(min_value=0, max_value=3, places=4)


@given(calls=st.lists(st.tuples(amounts, st.decimals(0, 1, places=2)), max_size=40))
def test_spending_never_passes_the_limit(calls: list[tuple[Decimal, Decimal]]) -> None:
    budget = Budget(Decimal(10))
    reserved = []
    for most, share in calls:
        if budget.can_reserve(most):
            budget.reserve(most)
            reserved.append((most, most * share))
    for most, cost in reserved:
        budget.finalize(most, cost)
    assert budget.reserved == 0
    assert budget.spent == sum((cost for _, cost in reserved), Decimal(0)) <= 10


def test_prompt_tokens_are_bounded_by_bytes() -> None:
    messages = [{"role": "user", "content": "题"}, {"role": "assistant", "content": None}]
    assert most_prompt_tokens(messages) == 3 + 16 + 16
