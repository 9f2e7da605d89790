"""Self-preference: whether a judge gives models of its own family more than others.

A judge may be generous to all. So its difference to the teachers on a model of its own family is
compared with its difference on models of other families, on the same questions under the same
condition: what is hard about a question, and how generous the judge is, fall out. Source of the
effect: Panickssery, Bowman and Feng (2024), arXiv:2404.13076.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from evaluations.model_families import family_of
from evaluations.statistics.calibration import JudgedMark
from evaluations.statistics.cluster_bootstrap import Draws, interval
from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.rows import ModelCondition


def self_preference(
    marks: Sequence[JudgedMark], asked: ModelCondition, family: str, rng: np.random.Generator
) -> Figure:
    """Return how much more a judge of *family* gives *asked*, a model of that family, than others.

    *marks* are all marks of one judge. The value is the mean over questions of (mean difference of
    judge and final mark on *asked* less the mean difference on models of other families under the
    same condition), as a share of full marks (-2 to 2); above 0 the judge favours its family. n
    counts questions that both answered; the interval is of draws of questions. A model without a
    known family is in no comparison. Reasons: ``family_unknown`` (of the judge or of the model),
    ``other_family`` (the model is not of the judge's), ``no_other_family`` (no question was also
    answered by a model of another family and marked by both).
    """
    own = family_of(asked.model)
    if not family or not own:
        return missing("family_unknown")
    if own != family:
        return missing("other_family")
    mine, others = map(_by_question, compared(marks, asked, family))
    both = sorted(mine)
    if not both:
        return missing("no_other_family")
    apart = np.array([np.mean(mine[one]) - np.mean(others[one]) for one in both])
    draws = Draws.of(np.array(both, dtype=np.int64), rng)
    bounds = interval(draws.means(apart)) if draws else None
    low, high = bounds if bounds is not None else (None, None)
    return Figure(float(apart.mean()), len(both), low, high)


def compared(
    marks: Sequence[JudgedMark], asked: ModelCondition, family: str
) -> tuple[list[JudgedMark], list[JudgedMark]]:
    """Return those of *marks* that the figure is about: of *asked*, and of models of others.

    Both have the same questions. A model that is not of *family* has none.
    """
    if not family or family_of(asked.model) != family:
        return [], []
    mine = [one for one in marks if one.asked == asked]
    others = [
        one
        for one in marks
        if one.condition == asked.condition and family_of(one.model) not in ("", family)
    ]
    both = {one.question for one in mine} & {one.question for one in others}
    return [one for one in mine if one.question in both], [
        one for one in others if one.question in both
    ]


def _by_question(marks: Iterable[JudgedMark]) -> dict[int, list[float]]:
    """Return the differences of judge and final mark by question, as shares of full marks."""
    found: dict[int, list[float]] = defaultdict(list)
    for one in marks:
        found[one.question].append((one.points - one.final) / one.full)
    return found
