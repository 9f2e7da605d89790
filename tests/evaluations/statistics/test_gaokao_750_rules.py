"""The weight table, and converting rates into points out of 750."""

from __future__ import annotations

import pytest

from evaluations.statistics.gaokao_750 import (
    STREAMS,
    WEIGHTS,
    Precision,
    Weight,
    check_table,
    converted,
    missing_reason,
    part_points,
    published_item_mean,
    subject_points,
)
from questions.rules.vocabulary import Part, Stream, Subject

# The table of the issue, written out once more by hand.
TABLE = [
    ("Chinese", 45, 105, 150),
    ("English", 105, 45, 150),
    ("Sciences Mathematics", 60, 90, 150),
    ("Humanities Mathematics", 60, 90, 150),
    ("Physics", 44, 66, 110),
    ("Chemistry", 50, 50, 100),
    ("Biology", 27, 63, 90),
    ("Politics", 50, 50, 100),
    ("History", 50, 50, 100),
    ("Geography", 40, 60, 100),
]

# Rates of the released summaries for gpt-4-0314 with the judge gpt-4-1106-preview.
RELEASED_RATES = {
    Subject.CHINESE: (0.539, 0.709),
    Subject.ENGLISH: (0.931, 0.761),
    Subject.SCIENCES_MATHEMATICS: (0.537, 0.271),
    Subject.HUMANITIES_MATHEMATICS: (0.633, 0.335),
    Subject.PHYSICS: (0.555, 0.508),
    Subject.CHEMISTRY: (0.444, 0.531),
    Subject.BIOLOGY: (0.807, 0.799),
    Subject.POLITICS: (0.759, 0.936),
    Subject.HISTORY: (0.756, 0.884),
    Subject.GEOGRAPHY: (0.8, 0.846),
}


def rates_of(table: dict[Subject, tuple[float, float]]) -> dict[tuple[Subject, Part], float]:
    return {
        (subject, part): rate
        for subject, pair in table.items()
        for part, rate in zip((Part.OBJECTIVE, Part.SUBJECTIVE), pair, strict=True)
    }


@pytest.mark.parametrize(("subject", "objective", "subjective", "total"), TABLE)
def test_weights(subject: str, objective: int, subjective: int, total: int) -> None:
    weight = WEIGHTS[Subject(subject)]  # type: ignore[call-arg]
    assert (weight.objective, weight.subjective, weight.total) == (objective, subjective, total)


@pytest.mark.parametrize(
    ("weights", "streams"),
    [
        (WEIGHTS | {Subject.PHYSICS: Weight(45, 66)}, STREAMS),
        (WEIGHTS, STREAMS | {Stream.SCIENCES: (Subject.CHINESE,) * 5}),
    ],
    ids=["751 points", "one subject five times"],
)
def test_a_wrong_table_is_refused(
    weights: dict[Subject, Weight], streams: dict[Stream, tuple[Subject, ...]]
) -> None:
    with pytest.raises(ValueError, match="are worth"):
        check_table(weights, streams)


@pytest.mark.parametrize("precision", list(Precision))
@pytest.mark.parametrize("stream", list(Stream))
@pytest.mark.parametrize(("rate", "total"), [(0.0, 0.0), (0.5, 375.0), (1.0, 750.0)])
def test_equal_rates_everywhere(
    stream: Stream, precision: Precision, rate: float, total: float
) -> None:
    everywhere = rates_of(dict.fromkeys(Subject, (rate, rate)))
    assert converted(stream, everywhere, precision).total == pytest.approx(total, abs=1e-9)


def test_published_rounding_of_one_part() -> None:
    # 297/388 = 0.765463...; rate 0.765, 66 x 0.765 = 50.49; unrounded 50.520618...
    published = part_points(Subject.PHYSICS, Part.SUBJECTIVE, 297 / 388, Precision.PUBLISHED)
    assert published == 50.49
    full = part_points(Subject.PHYSICS, Part.SUBJECTIVE, 297 / 388, Precision.FULL)
    assert full == pytest.approx(66 * 297 / 388)


# From the released merged summary, per subject: objective, subjective, total.
RELEASED_POINTS = [
    (Subject.ENGLISH, 97.755, 34.245, 132.0),
    (Subject.SCIENCES_MATHEMATICS, 32.22, 24.39, 56.61),
    (Subject.HUMANITIES_MATHEMATICS, 37.98, 30.15, 68.13),
    (Subject.CHINESE, 24.255, 74.445, 98.7),
    (Subject.PHYSICS, 24.42, 33.528, 57.948),
    (Subject.CHEMISTRY, 22.2, 26.55, 48.75),
    (Subject.BIOLOGY, 21.789, 50.337, 72.126),
    (Subject.HISTORY, 37.8, 44.2, 82.0),
    (Subject.GEOGRAPHY, 32.0, 50.76, 82.76),
    (Subject.POLITICS, 37.95, 46.8, 84.75),
]


@pytest.mark.parametrize(("subject", "objective", "subjective", "total"), RELEASED_POINTS)
def test_released_subject_points_digit_for_digit(
    subject: Subject, objective: float, subjective: float, total: float
) -> None:
    points = subject_points(subject, rates_of(RELEASED_RATES), Precision.PUBLISHED)
    assert (points.objective, points.subjective, points.total) == (objective, subjective, total)


@pytest.mark.parametrize(
    ("stream", "total"), [(Stream.SCIENCES, 466.1), (Stream.HUMANITIES, 548.3)]
)
def test_released_totals(stream: Stream, total: float) -> None:
    # Sciences: 98.7 + 132.0 + 56.61 + 57.948 + 48.75 + 72.126 = 466.134
    # Humanities: 98.7 + 132.0 + 68.13 + 84.75 + 82.0 + 82.76 = 548.34
    result = converted(stream, rates_of(RELEASED_RATES), Precision.PUBLISHED)
    assert result.total == total
    assert result.missing == ()


def test_a_missing_part_makes_no_total_and_is_named() -> None:
    rates = rates_of(RELEASED_RATES)
    del rates[Subject.PHYSICS, Part.SUBJECTIVE]
    del rates[Subject.BIOLOGY, Part.OBJECTIVE]
    result = converted(Stream.SCIENCES, rates, Precision.FULL)
    assert result.total is None
    assert missing_reason(result.missing) == "missing:Physics/subjective,Biology/objective"
    physics = result.subjects[3]
    assert physics.objective == pytest.approx(44 * 0.555)
    assert (physics.subjective, physics.total) == (None, None)
    assert converted(Stream.HUMANITIES, rates, Precision.FULL).total is not None


@pytest.mark.parametrize(
    ("marks", "mean"),
    [
        ([5, None], 5),
        ([3, 4], 3.5),
        ([12.0, 11.0], 11.5),
        ([1, 1, 2], 1.33),
        ([2.5, 3, 3.25], 2.92),
        ([None, None], None),
        ([], None),
    ],
)
def test_item_mean_as_released(marks: list[float | None], mean: float | None) -> None:
    assert published_item_mean(marks) == mean
