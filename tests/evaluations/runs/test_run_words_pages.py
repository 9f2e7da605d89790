"""Figures of runs as people read them."""

from __future__ import annotations

import pytest

from evaluations.templatetags.patterns import tenths
from evaluations.templatetags.run_words import share, speed


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


@pytest.mark.parametrize(
    ("part", "whole", "to_a_tenth", "whole_percents"),
    [
        (55, 437, "12.6 %", "13 %"),  # 12.586
        (1313, 1418, "92.6 %", "93 %"),  # 92.595
        (3, 13, "23.1 %", "23 %"),  # 23.077
        (1, 8, "12.5 %", "13 %"),
        (1, 16, "6.3 %", "6 %"),  # 6.25: a half goes up
        (0, 7, "0.0 %", "0 %"),
        (1, 9999, "0.1 %", "1 %"),
        (9998, 9999, "99.9 %", "99 %"),
        (7, 7, "100.0 %", "100 %"),
        (0, 0, "–", "–"),
    ],
)
def test_a_share_is_rounded_and_says_all_of_all_alone(
    part: int, whole: int, to_a_tenth: str, whole_percents: str
) -> None:
    assert tenths(part, whole) == to_a_tenth
    assert share(part, whole) == whole_percents
