"""Limits: which figures a lead is warned of, and the pace of a round."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from evaluations.marking.monitoring.rules.limits import LIMITS, limits_of, outside
from evaluations.marking.monitoring.rules.pace import expected_finish
from evaluations.marking.monitoring.rules.spreading import spread

NOW = datetime(2026, 9, 1, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "value", "n", "warned"),
    [
        ("severity", 0.05, 20, False),  # equal to the limit passes
        ("severity", -0.06, 20, True),
        ("severity", 0.06, 19, False),  # not enough marks yet
        ("partner_share", -0.051, 20, True),
        ("within_tolerance", 0.75, 20, False),
        ("within_tolerance", 0.74, 20, True),
        ("seed_hits", 0.6, 5, True),
        ("seed_hits", 0.6, 4, False),
        ("self_consistency", 0.8, 5, False),
        ("safe_excess", 0.21, 20, True),
        ("safe_excess", -0.5, 20, False),
        ("pace", 0.3, 20, True),
        ("pace", 3.0, 20, False),
        ("pace", None, 0, False),
    ],
)
def test_what_is_warned_of(name: str, value: float | None, n: int, warned: bool) -> None:
    assert outside({name: (value, n)}, LIMITS) == ((name,) if warned else ())


def test_a_round_has_its_own_limits_or_none() -> None:
    limits = limits_of({"severity": "0.1", "pace": None, "seed_hits": "x", "other": "1"})
    assert limits["severity"].value == Decimal("0.1")
    assert limits["severity"].both
    assert "pace" not in limits
    assert limits["seed_hits"] == LIMITS["seed_hits"]
    assert set(limits) == set(LIMITS) - {"pace"}


def test_the_finish_is_as_far_as_the_newest_marks_went() -> None:
    # 20 marks in the last 100 minutes, breaks included: 5 minutes each, so 12 take an hour
    saved_at = [NOW - timedelta(minutes=100 - number) for number in range(20)]
    assert expected_finish(saved_at, 12, NOW) == NOW + timedelta(hours=1)
    assert expected_finish(saved_at, 0, NOW) is None
    assert expected_finish(saved_at[:19], 12, NOW) is None
    assert expected_finish([NOW] * 20, 12, NOW) is None


def test_what_was_taken_is_spread_evenly_over_who_may_have_it() -> None:
    # 1 to A; 2 to B, who has fewer; 3 to A, first of equals; 4 may not go to B; 5 to nobody
    barred = {1: set(), 2: set(), 3: set(), 4: {8}, 5: {7, 8}}
    assert spread(barred, [7, 8]) == {1: 7, 2: 8, 3: 7, 4: 7, 5: None}
