"""What the report page reads: choices, pairs of a judge, and the collector left as it was."""

from __future__ import annotations

import gc
from collections import Counter

import pytest
from django.http import QueryDict

from evaluations.reports.forms import ReportFilter
from evaluations.reports.selectors.pair_sums import PairSums
from evaluations.reports.selectors.report_choices import Choices, MarkerChoice, choices
from gradeapp.common.collector import collector_paused
from tests.evaluations.report_world import ALPHA, BETA, JUDGE, chosen, judged, mark, run_of, written


@collector_paused()
def broken_off() -> None:
    assert not gc.isenabled()
    raise KeyError


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_left_as_it_was(was_on: bool) -> None:
    try:
        gc.enable() if was_on else gc.disable()
        with pytest.raises(KeyError):
            broken_off()
        assert gc.isenabled() == was_on
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("kinds", "marker", "shown", "number"),
    [
        (["teachers-judge:a", "teachers-judge:b"], "judge:b", "teachers-judge:b", 1),
        (["teachers-judge:b", "teachers-judge:a", "teachers-judge:b"], "teachers", "b", 2),
        (["teachers-judge:b", "teachers-judge:a"], "teachers", "teachers-judge:a", 1),
        (["teacher-teacher"], "teachers", "teachers-teachers", 0),
    ],
)
def test_the_judge_that_is_shown(kinds: list[str], marker: str, shown: str, number: int) -> None:
    sums = PairSums(numbers=Counter(kinds))
    kind = sums.judge_pair(marker)
    assert kind.endswith(shown)
    assert sums.numbers[kind] == number


@pytest.mark.django_db
def test_what_can_be_chosen() -> None:
    assert choices().dataset == ""
    chosen(run_of(ALPHA, "small"), "A")
    run = run_of(BETA, "large")
    chosen(run, "A", "B")
    mark(written(run), "1", "2")
    judged(written(run_of(ALPHA, "large"), year=2013), "3")
    found = choices()
    assert found.dataset == "large"
    assert [one.slug for one in found.datasets] == ["large", "small"]
    assert [(one.name, one.answers, one.colours) for one in found.models] == [
        (ALPHA, 1, (0,)),
        (BETA, 3, (1,)),
    ]
    assert [(one.name, one.marked) for one in found.markers] == [
        ("teachers", 1),
        (f"judge:{JUDGE}", 1),
    ]
    assert found.years == (2020, 2013)
    assert choices("small").dataset == "small"
    assert choices("no-such").dataset == "large"


def test_thousands_of_marks_are_written_alike() -> None:
    """As on the buttons of the page that lead to another marker."""
    found = Choices("exam", markers=(MarkerChoice("teachers", 1030),))
    options = ReportFilter(QueryDict(), found).fields["marker"].choices
    assert options == [("teachers", "Subjective: teachers (1,030 marked)")]
