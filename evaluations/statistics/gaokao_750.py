"""Converting scoring rates into points of a 750-point examination, per stream.

Source: GAOKAO-Bench (Zhang et al. 2023, arXiv:2305.12474), section on the
converted total score, and the benchmark's released merge script, whose
roundings are kept under ``Precision.PUBLISHED``. Each subject has a number of
objective and of subjective points; a subject's points are rate x points of its
part, a stream's total is the sum over its six subjects.

The released scripts round binary floats with Python's ``round`` (ties go to the
even digit, and what is a tie is decided on the float). This module rounds in
the same way and in the same order, so that released tables come out digit for
digit; it is no model for rounding marks, which are ``Decimal``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean

from questions.rules.vocabulary import Part, Stream, Subject

FULL_TOTAL = 750


class Precision(StrEnum):
    """How a conversion rounds."""

    PUBLISHED = "published"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Weight:
    """Points that a subject's two parts are worth in the examination."""

    objective: int
    subjective: int

    @property
    def total(self) -> int:
        """Full points of the subject."""
        return self.objective + self.subjective

    def of(self, part: Part) -> int:
        """Full points of one part."""
        return self.objective if part is Part.OBJECTIVE else self.subjective


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
    """Raise ValueError unless every stream's subjects are worth 750 points together."""
    for stream, subjects in streams.items():
        total = sum(weights[subject].total for subject in subjects)
        if total != FULL_TOTAL or len(set(subjects)) != len(subjects):
            raise ValueError(f"the subjects of {stream} are worth {total}, not {FULL_TOTAL}")


check_table(WEIGHTS, STREAMS)

Where = tuple[Subject, Part]
Rates = Mapping[Where, float]


@dataclass(frozen=True, slots=True)
class SubjectPoints:
    """Converted points of one subject; None where the rate of a part is not known."""

    subject: Subject
    objective: float | None
    subjective: float | None
    total: float | None


@dataclass(frozen=True, slots=True)
class StreamPoints:
    """Converted points of one stream.

    ``total`` is None when ``missing`` holds at least one part, and ``reason`` then
    names it: a partial sum is never passed off as a total.
    """

    stream: Stream
    subjects: tuple[SubjectPoints, ...]
    total: float | None
    missing: tuple[Where, ...]

    @property
    def reason(self) -> str | None:
        """Why there is no total (see ``missing_reason``); None when there is one."""
        return missing_reason(self.missing) if self.missing else None


def missing_reason(parts: Iterable[Where]) -> str:
    """``missing:Physics/subjective``; several parts are separated by commas."""
    return "missing:" + ",".join(f"{subject}/{part}" for subject, part in parts)


def published_item_mean(marks: Iterable[float | None]) -> float | None:
    """Mean of one item's marks as the released subjective scoring takes it.

    Null marks are skipped and the mean is rounded to 2 decimals; None when no
    mark is left. Range: that of the marks (a released judge total above full
    marks stays as it was released). Source: GAOKAO-Bench, released script for
    subjective scores.
    """
    given = [mark for mark in marks if mark is not None]
    return round(mean(given), 2) if given else None


def part_points(subject: Subject, part: Part, rate: float, precision: Precision) -> float:
    """Points of one part, 0 to the part's full points for a rate of 0 to 1.

    ``PUBLISHED`` rounds the rate to 3 decimals and the points to 3 decimals.
    """
    full = WEIGHTS[subject].of(part)
    if precision is Precision.FULL:
        return full * rate
    return round(full * round(rate, 3), 3)


def subject_points(subject: Subject, rates: Rates, precision: Precision) -> SubjectPoints:
    """Both parts of one subject and their sum; a part without a rate is None, as is the sum."""
    parts = [
        None
        if (rate := rates.get((subject, part))) is None
        else part_points(subject, part, rate, precision)
        for part in (Part.OBJECTIVE, Part.SUBJECTIVE)
    ]
    objective, subjective = parts
    if objective is None or subjective is None:
        return SubjectPoints(subject, objective, subjective, None)
    total = objective + subjective
    if precision is Precision.PUBLISHED:
        total = round(total, 3)
    return SubjectPoints(subject, objective, subjective, total)


def converted(stream: Stream, rates: Rates, precision: Precision) -> StreamPoints:
    """One stream in points out of 750, from the scoring rates of its subjects' parts.

    ``rates`` maps (subject, part) to a rate of 0 to 1; parts of other streams
    are ignored. ``PUBLISHED`` rounds rates, points and subject totals to 3
    decimals and the stream's total to 1; ``FULL`` rounds nothing. When the rate
    of any part is missing the total is None and ``missing`` names every such part.
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
