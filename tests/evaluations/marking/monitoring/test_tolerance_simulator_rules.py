"""The tolerance simulator against a table worked by hand."""

from __future__ import annotations

from decimal import Decimal as D

import pytest

from evaluations.marking.monitoring.rules.tolerance_simulator import (
    MarkedTwice,
    Outcome,
    Setting,
    beyond,
    grid,
    simulate,
)
from evaluations.schemes import Scheme


def pair(
    answer: int,
    first: str,
    second: str,
    full: str = "10",
    *,
    corrected: bool = False,
    one_more: bool = False,
    **later: str,
) -> MarkedTwice:
    """Two marks under a tolerance of 1, the mean of which counts unless told otherwise."""
    known = {name: D(value) for name, value in later.items()}
    known.setdefault("final", (D(first) + D(second)) / 2)
    known.setdefault("tolerance", D(1))
    marks = (D(first), D(second), D(full))
    return MarkedTwice(answer, "physics", *marks, corrected=corrected, one_more=one_more, **known)


ROUND = [
    pair(1, "4", "5"),  # 1 apart, 4.5
    pair(2, "6", "6"),  # equal, 6
    pair(3, "2", "5", third="4", final="4.5"),  # 3 apart; 2 and 3 are closest
    pair(4, "0", "8", third="4", lead="7", final="7"),  # 8 apart; no pair passes; the lead
]


def outcome(setting: Setting, scheme: Scheme = Scheme.THREE_AND_LEAD) -> Outcome:
    return simulate(ROUND, scheme, setting)


def test_the_rounds_own_tolerance_moves_nothing() -> None:
    found = outcome(Setting(own=True))
    assert (found.pairs, found.beyond, found.answered, found.undecided) == (4, 2, 2, 1)
    assert (found.known, found.moved, found.change, found.full) == (4, 0, 0, 40)


def test_a_decision_beside_marks_that_agree_by_now_stays_under_every_tolerance() -> None:
    """A returned mark was given again, or both were under a new rubric."""
    kept = [
        pair(1, "10", "10", lead="6", final="6"),
        pair(2, "2", "5", third="4", lead="9", final="9"),  # 2 and 3 would pass, with 4.5
    ]
    for setting in (Setting(own=True), Setting(share=D("0.5")), Setting()):
        found = simulate(kept, Scheme.THREE_AND_LEAD, setting)
        assert (found.known, found.moved, found.change) == (2, 0, 0)


def test_what_the_lead_corrected_uncalled_stays_under_every_tolerance() -> None:
    kept = [
        pair(1, "4", "5", lead="9", final="9", corrected=True),
        pair(2, "2", "5", third="4", lead="9", final="9", corrected=True),
    ]
    for points in ("0", "1", "5"):
        found = simulate(kept, Scheme.THREE_AND_LEAD, Setting(points=D(points)))
        assert (found.known, found.moved, found.change) == (2, 0, 0)


@pytest.mark.parametrize("scheme", [Scheme.TWO_AND_LEAD, Scheme.THREE_AND_LEAD])
def test_a_third_mark_that_judges_asked_for_counts_within_the_tolerance_too(
    scheme: Scheme,
) -> None:
    # 4 and 5 pass; a third mark of 5 lies closer to the second, one of 8 closer to none
    asked = [
        pair(1, "4", "5", third="5", final="5", one_more=True),
        pair(2, "4", "5", third="8", final="4.5", one_more=True),
    ]
    for setting in (Setting(own=True), Setting(points=D(3))):
        found = simulate(asked, scheme, setting)
        assert (found.known, found.moved, found.change) == (2, 0, 0)


def test_a_wider_one_takes_the_mean_instead_of_the_third_mark() -> None:
    # 30 % of 10 is 3 points: response 3 becomes (2 + 5) / 2 = 3.5 instead of 4.5
    found = outcome(Setting(share=D("0.3")))
    assert (found.beyond, found.answered, found.undecided) == (1, 1, 1)
    assert (found.known, found.moved, found.change, found.distance) == (4, 1, D(-1), D(1))


def test_a_difference_equal_to_the_tolerance_passes() -> None:
    assert outcome(Setting(points=D(8))).beyond == 0
    assert outcome(Setting(points=D("7.99"))).beyond == 1


def test_a_wider_one_can_spare_the_lead() -> None:
    # 4 points: the third mark of response 4 lies midway, 4 from both, and counts
    found = outcome(Setting(points=D(4)))
    assert (found.beyond, found.undecided) == (1, 0)
    # response 3: 3.5 instead of 4.5; response 4: 4 instead of 7
    assert (found.moved, found.change, found.distance) == (2, D(-4), D(4))


def test_a_narrower_one_asks_for_marks_that_nobody_gave() -> None:
    found = outcome(Setting())
    # 0 points: only the equal pair passes. Response 1 has no third mark: its final is not known.
    # Response 3: no pair passes, and no lead decided it. Response 4: the lead's mark stays.
    assert (found.beyond, found.answered, found.undecided) == (3, 2, 2)
    assert (found.known, found.moved, found.change, found.full) == (2, 0, 0, 20)


def test_with_two_teachers_and_a_lead_every_one_beyond_is_a_decision() -> None:
    decided = [pair(1, "4", "5"), pair(2, "0", "8", lead="7", final="7"), pair(3, "1", "6")]
    found = simulate(decided, Scheme.TWO_AND_LEAD, Setting(points=D(1)))
    assert (found.beyond, found.answered, found.undecided, found.known) == (2, 2, 2, 2)


def test_a_round_of_means_is_tried_as_if_it_had_third_marks() -> None:
    found = simulate([pair(1, "0", "8")], Scheme.MEAN, Setting(points=D(1)))
    assert (found.beyond, found.answered, found.known) == (1, 0, 0)


def test_a_share_has_its_least_points_and_is_rounded_down_to_the_step() -> None:
    setting = Setting(share=D("0.25"), points=D(1), step=D("0.5"))
    limits = [setting.of(pair(1, "0", "0", full)) for full in ("2", "5", "9", "10")]
    # 1 at least; 1.25 down to 1; 2.25 down to 2; 2.5
    assert limits == [D(1), D(1), D(2), D("2.5")]


def test_what_lies_beyond_is_listed_the_farthest_apart_first() -> None:
    assert [one.answer for one in beyond(ROUND, Setting(points=D("0.5")))] == [4, 3, 1]


def test_the_grid_ends_at_half_of_the_full_marks() -> None:
    points = grid(True, least=D(1), step=D("0.5"), full=D(12))
    assert [setting.points for setting in points][-2:] == [D(5), D(6)]
    shares = grid(False, least=D(1), step=D("0.5"), full=D(12))
    assert (shares[0].share, shares[-1].share) == (0, D("0.5"))
    assert {setting.points for setting in shares} == {D(1)}
