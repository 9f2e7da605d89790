"""Convert reports to charts, with the same figures as the tables.

Names of streams, subjects and axes are arguments, in the reader's language. A missing value is
None. A radar would draw None as 0, so what has a missing value is left out of it and listed.
What is drawn is a model under one condition; two conditions never share a bar, a line or a box.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluations.statistics.coverage import NO_SHORTFALLS, Shortfalls
from evaluations.statistics.figure import Report
from evaluations.statistics.gaokao_750 import FULL_TOTAL
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, subject_order
from gradeapp.common.charts import Chart
from questions.rules.vocabulary import Part

if TYPE_CHECKING:
    import pandas as pd

Names = Mapping[str, str]
Five = tuple[float, float, float, float, float]

# A radar with two axes would be a line.
FEWEST_AXES = 3
# A box of fewer than five values would only repeat them.
FEWEST_IN_A_BOX = 5
WHISKER = 1.5


# Marks by two markers in per cent of full marks, each with its number, by model and condition.
Places = dict[ModelCondition, list[list[float]]]


@dataclass(frozen=True, slots=True)
class Spread:
    """Differences of one subject, or of ``ALL``, in per cent of full marks.

    ``five`` is None if n is too small.
    """

    asked: ModelCondition
    subject: str
    n: int
    five: Five | None


def totals_bar(
    report: Report,
    colours: Mapping[ModelCondition, int],
    streams: Names,
    *,
    digits: int = 0,
    gaps: Collection[ModelCondition] = (),
    short: Shortfalls = NO_SHORTFALLS,
) -> Chart:
    """Return report ``converted`` as bars with intervals, one for each stream and condition.

    *colours* has what to draw. The bars of a condition have its colour; those of the second stream
    are light with an edge. What has no total is left out; a total with too few marks (*short*) is
    missing. The name of what is in *gaps*, some of whose answers have no points, gets a star.
    """
    totals = {
        (row.asked, row.key["stream"]): row.figures["total"]
        for row in report.rows
        if row.key["subject"] == ALL and row.key["stream"] not in short.get(row.asked, {})
    }
    known = {one for (one, _), figure in totals.items() if figure.value is not None}
    drawn = [one for one in colours if one in known]
    series = []
    for place, (stream, name) in enumerate(streams.items()):
        figures = [totals.get((one, stream)) for one in drawn]
        series.append(
            {
                "name": name,
                "values": [figure.value if figure else None for figure in figures],
                "intervals": [
                    [figure.low, figure.high] if figure and figure.low is not None else None
                    for figure in figures
                ],
                "soft": place > 0,
            }
        )
    names = [f"{one} *" if one in gaps else str(one) for one in drawn]
    data = {
        "categories": names,
        "series": series,
        "colours": [colours[one] for one in drawn],
        "max": FULL_TOTAL,
        "digits": digits,
    }
    left_out = tuple(str(one) for one in colours if one not in known)
    unfinished = tuple(str(one) for one in drawn if one in gaps)
    return Chart("bar", data, not drawn, left_out, unfinished)


def rates_chart(
    report: Report,
    part: str,
    colours: Mapping[ModelCondition, int],
    subjects: Names,
    short: Shortfalls = NO_SHORTFALLS,
) -> Chart:
    """Return report ``rates`` of one part in per cent: a radar, or bars for less than 3 subjects.

    ``colours`` has what to draw. The axes are the subjects in which any of them has a rate; a
    line without a rate in one of these is left out of a radar, and has a gap in bars. A subjective
    rate with too few marks (*short*) is missing.
    """
    withheld = short if part == Part.SUBJECTIVE else NO_SHORTFALLS
    rates = {
        (row.asked, row.key["subject"]): row.figures["rate"].value
        for row in report.rows
        if row.key["part"] == part
        and row.key["subject"] != ALL
        and row.key["subject"] not in withheld.get(row.asked, {})
    }
    known = {s for (one, s), value in rates.items() if value is not None and one in colours}
    axes = sorted(known, key=subject_order)
    values = {
        one: [None if (rate := rates.get((one, s))) is None else 100 * rate for s in axes]
        for one in colours
    }
    as_radar = len(axes) >= FEWEST_AXES
    drawn = {one: v for one, v in values.items() if None not in v} if as_radar else values
    series = [{"name": str(one), "values": v, "colour": colours[one]} for one, v in drawn.items()]
    names = [subjects.get(subject, subject) for subject in axes]
    left_out = tuple(str(one) for one in colours if one not in drawn)
    style = {"series": series, "digits": 1, "unit": " %"}
    if as_radar:
        radar = style | {"axes": [{"name": name, "max": 100} for name in names]}
        return Chart("radar", radar, not drawn, left_out)
    return Chart("bar", style | {"categories": names, "max": 100}, not axes, left_out)


def pair_places(pairs: pd.DataFrame) -> Places:
    """Return two marks in per cent of full marks and how many pairs have them, by condition.

    *pairs* is a frame of pairs.
    """
    places: Places = defaultdict(list)
    of_place = pairs.assign(
        x=(100 * pairs["x"] / pairs["full"]).round(2), y=(100 * pairs["y"] / pairs["full"]).round(2)
    )
    numbers = of_place.groupby(["model", "condition", "x", "y"]).size()
    for (model, condition, x, y), n in numbers.items():
        places[ModelCondition(model, condition)].append([x, y, n])
    return dict(places)


def pairs_scatter(
    places: Places,
    x_label: str,
    y_label: str,
    colours: Mapping[ModelCondition, int],
) -> Chart:
    """Return marks of two markers as points of each condition, each with its n.

    *places* is from ``pair_places``, *colours* has what to draw.
    """
    series = [
        {
            "name": str(one),
            "points": places[one],
            "colour": colour,
        }
        for one, colour in colours.items()
        if one in places
    ]
    axis = {"min": 0, "max": 100}
    data = {
        "x": {"label": x_label} | axis,
        "y": {"label": y_label} | axis,
        "series": series,
        "diagonal": True,
    }
    return Chart("scatter", data, empty=not series)


def spreads(pairs: pd.DataFrame) -> list[Spread]:
    """Return the differences (y - x) in per cent of full marks, by model, condition and subject.

    *pairs* is a frame of pairs. ``ALL`` subjects of one model and condition follow its single
    subjects.
    """
    found = []
    shares = pairs.assign(share=100 * ((pairs["y"] - pairs["x"]) / pairs["full"]))
    for named in (shares, shares.assign(subject=ALL)):
        for (model, condition, subject), own in named.groupby(["model", "condition", "subject"]):
            values = own["share"].to_numpy()
            asked = ModelCondition(model, condition)
            found.append(Spread(asked, subject, len(values), five_numbers(values)))
    return sorted(found, key=lambda one: (one.asked, subject_order(one.subject)))


def five_numbers(values: Sequence[float] | NDArray[np.float64]) -> Five | None:
    """Return lower whisker, quartiles and upper whisker; None for fewer than five values.

    Quartiles by linear interpolation (type 7 of Hyndman and Fan 1996, The American Statistician 50,
    361-365); a whisker ends at the farthest value within 1.5 interquartile ranges of the box.
    Source: Tukey (1977), Exploratory Data Analysis, section 2.
    """
    if len(values) < FEWEST_IN_A_BOX:
        return None
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    lower, median, upper = (float(q) for q in np.quantile(ordered, [0.25, 0.5, 0.75]))
    reach = WHISKER * (upper - lower)
    inside = ordered[(ordered >= lower - reach) & (ordered <= upper + reach)]
    # An interpolated quartile may be beyond the last value inside; the whisker then ends at it.
    low, high = min(float(inside[0]), lower), max(float(inside[-1]), upper)
    return low, lower, median, upper, high


def spreads_box(
    found: Sequence[Spread],
    subjects: Names,
    label: str,
    colours: Mapping[ModelCondition, int],
) -> Chart:
    """Return boxes on an axis that is symmetric about 0, in the colours of their conditions.

    One for each subject; with several models or conditions one for each of these, over all
    subjects.
    """
    several = len({spread.asked for spread in found}) > 1
    drawn = [spread for spread in found if (spread.subject == ALL) == several]
    ends = [abs(end) for spread in drawn if spread.five for end in spread.five]
    reach = 10 * (int(max(ends, default=0)) // 10 + 1)
    data = {
        "categories": [
            str(spread.asked) if several else subjects.get(spread.subject, spread.subject)
            for spread in drawn
        ],
        "boxes": [list(spread.five) if spread.five else None for spread in drawn],
        "colours": [colours.get(spread.asked, 0) for spread in drawn],
        "axis": {"label": label, "min": -reach, "max": reach},
        "zero": True,
    }
    return Chart("box", data, empty=not ends)
