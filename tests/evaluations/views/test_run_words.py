"""Figures of runs as people read them."""

from __future__ import annotations

import pytest

from evaluations.templatetags.run_words import speed


@pytest.mark.parametrize(
    ("now", "overall", "said"),
    [
        (None, 2.0, "–"),
        (0.5, None, "30.0 /min"),
        (0.94, None, "56.4 /min"),
        (0.96, None, "1.0 /s"),
        # 0.9 and 1.1 a second around 0.93 over all: one unit, whatever the moment's speed is
        (0.9, 0.93, "54.0 /min"),
        (1.1, 0.93, "66.0 /min"),
        (0.2, 3.0, "0.2 /s"),
        (0.0, 3.0, "0.0 /s"),
    ],
)
def test_a_speed_keeps_its_unit(now: float | None, overall: float | None, said: str) -> None:
    assert speed(now, overall) == said
