"""Convert scoring rates into points of a 750-point examination, per stream.

Source: GAOKAO-Bench (Zhang et al. 2023, arXiv:2305.12474), section on the converted total score,
and the benchmark's released merge script, whose roundings are kept under ``Precision.PUBLISHED``.
Each subject has a number of objective and of subjective points; the points of a part are its rate
times its full points, and the total of a stream is the sum over its six subjects.

The released scripts round binary floats with Python's ``round`` (ties to even, decided on the
float). This module rounds in the same way and order, so that released tables are reproduced digit
for digit. Marks are ``Decimal`` and are rounded elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean

from questions.rules.vocabulary import Part, Stream, Subject

FULL_TOTAL = 750


OBJECTIVE = Part.OBJECTIVE  # asked for thousands of times: each look into an enum takes a while


class Precision(StrEnum):
    """Rounding of a conversion."""

    PUBLISHED = "published"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Weight:
    """Full points of the two parts of a subject in the examination."""

    objective: int
    subjective: int

    @property
    def total(self) -> int:
        """The full points of the subject."""
        return self.objective + self.subjective

    def of(self, part: Part) -> int:
        """Return the full points of one part."""
        return self.objective if part is OBJECTIVE else self.subjective


WEIGHTS: dict[Subject, Weight] = {
    Subject.CHINESE: Weight(45, 105),
    Subject.ENGLISH: Weight(105, 45),
    Subject.SCIENCES_MATHEMATICS: Weight(60, 90),
    Subject.HUMANITIES_MATHEMATICS: Weight(60, 90),
    Subject.PHYSICS: Weight(44, 66),
    Subject.CHEMISTRY: Weight(50, 50),
    Subject.BIOLOGY: Weight(27, 63),
    Subject.POLITICS: Weight(50, 50),
    Subject.HISTORY: Weight(50, 50),
    Subject.GEOGRAPHY: Weight(40, 60),
}

# The order within a stream is the order in which the released script adds.
STREAMS: dict[Stream, tuple[Subject, ...]] = {
    Stream.SCIENCES: (
        Subject.CHINESE,
        Subject.ENGLISH,
        Subject.SCIENCES_MATHEMATICS,
        Subject.PHYSICS,
        Subject.CHEMISTRY,
        Subject.BIOLOGY,
    ),
    Stream.HUMANITIES: (
        Subject.CHINESE,
        Subject.ENGLISH,
        Subject.HUMANITIES_MATHEMATICS,
        Subject.POLITICS,
        Subject.HISTORY,
        Subject.GEOGRAPHY,
    ),
}


def check_table(
    weights: Mapping[Subject, Weight], streams: Mapping[Stream, tuple[Subject, ...]]
) -> None:
    """Raise ValueError unless the subjects of every stream are worth 750 points together."""
    for stream, subjects in streams.items():
        total = sum(weights[subject].total for subject in subjects)
        if total != FULL_TOTAL or len(set(subjects)) != len(subjects):
            raise ValueError(f"the subjects of {stream} are worth {total}, not {FULL_TOTAL}")


check_table(WEIGHTS, STREAMS)

Where = tuple[Subject, Part]
Rates = Mapping[Where, float]


@dataclass(frozen=True, slots=True)
class SubjectPoints:
    """Converted points of one subject; None if the rate of a part is not known."""

    subject: Subject
    objective: float | None
    subjective: float | None
    total: float | None


@dataclass(frozen=True, slots=True)
class StreamPoints:
    """Converted points of one stream; ``total`` is None if any part is in ``missing``."""

    stream: Stream
    subjects: tuple[SubjectPoints, ...]
    total: float | None
    missing: tuple[Where, ...]


def missing_reason(parts: Iterable[Where]) -> str:
    """Return a reason such as ``missing:Physics/subjective``, with commas between several parts."""
    return "missing:" + ",".join(f"{subject}/{part}" for subject, part in parts)


def no_questions_reason(parts: Iterable[Where]) -> str:
    """Return a reason such as ``no_questions_in:Chemistry/subjective`` for parts that do not exist.

    Unlike those of ``missing_reason``, no further answer or mark would give them points.
    """
    return "no_questions_in:" + ",".join(f"{subject}/{part}" for subject, part in parts)


def published_item_mean(marks: Iterable[float | None]) -> float | None:
    """Return the mean of one item's marks as the released script for subjective scores computes it.

    Null marks are skipped and the mean is rounded to 2 decimals; None if no mark is left. A
    released judge total above the full marks stays as it is. Source: GAOKAO-Bench, released script
    for subjective scores.
    """
    given = [mark for mark in marks if mark is not None]
    return round(mean(given), 2) if given else None


def part_points(subject: Subject, part: Part, rate: float, precision: Precision) -> float:
    """Return the points of one part for *rate* (0 to 1), from 0 to its full points.

    ``PUBLISHED`` rounds the rate to 3 decimals and the points to 3 decimals.
    """
    full = WEIGHTS[subject].of(part)
    if precision is Precision.FULL:
        return full * rate
    return round(full * round(rate, 3), 3)


def subject_points(subject: Subject, rates: Rates, precision: Precision) -> SubjectPoints:
    """Return the points of both parts of one subject and their sum.

    A part without a rate is None, and so is the sum.
    """
    objective, subjective = (
        None
        if (rate := rates.get((subject, part))) is None
        else part_points(subject, part, rate, precision)
        for part in (Part.OBJECTIVE, Part.SUBJECTIVE)
    )
    if objective is None or subjective is None:
        return SubjectPoints(subject, objective, subjective, None)
    total = objective + subjective
    if precision is Precision.PUBLISHED:
        total = round(total, 3)
    return SubjectPoints(subject, objective, subjective, total)


def converted(stream: Stream, rates: Rates, precision: Precision) -> StreamPoints:
    """Return the points of one stream out of 750.

    ``rates`` maps (subject, part) to a rate of 0 to 1; parts of other streams are ignored.
    ``PUBLISHED`` rounds rates, points and subject totals to 3 decimals and the stream's total to 1;
    ``FULL`` rounds nothing. If any rate is missing, the total is None and ``missing`` lists the
    parts.
    """
    subjects = tuple(subject_points(subject, rates, precision) for subject in STREAMS[stream])
    missing = tuple(
        (subject, part)
        for subject in STREAMS[stream]
        for part in (Part.OBJECTIVE, Part.SUBJECTIVE)
        if (subject, part) not in rates
    )
    if missing:
        return StreamPoints(stream, subjects, None, missing)
    total = sum(points.total for points in subjects if points.total is not None)
    if precision is Precision.PUBLISHED:
        total = round(total, 1)
    return StreamPoints(stream, subjects, total, ())
