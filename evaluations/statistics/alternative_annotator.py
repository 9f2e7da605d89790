"""The alternative annotator test: may a judge stand in for a teacher?

Each teacher is left out in turn. On each response that they marked, the judge and the left-out
teacher are compared with the other teachers who marked it: who is nearer (root mean square
difference)? The judge wins against a teacher if a one-sided t-test, corrected for the number of
teachers, shows that it is nearer more often than the teacher, or less often by less than *epsilon*.
Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
arXiv:2501.10970, sections 3 and 4; Benjamini and Yekutieli (2001), Annals of Statistics 29,
1165-1188.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluations.statistics.figure import Figure, missing

# What the paper recommends for experts; 0.15 for skilled annotators, 0.1 for crowd workers.
EPSILON = 0.2
LEVEL = 0.05
FEWEST_TEACHERS = 3
# Below this the paper does not use the t-test.
FEWEST_ITEMS = 30
PASSES = 0.5


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One response: the judge's mark, and the marks of teachers by their key, in one unit."""

    judge: float
    teachers: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class AgainstTeacher:
    """The judge against one teacher over ``n`` responses.

    ``judge_nearer`` and ``teacher_nearer`` (0 to 1) are the shares of responses in which each is
    at least as near to the others; equal distances count for both. ``p`` is one-sided,
    ``rejected`` whether it stands after the correction.
    """

    teacher: int
    n: int
    judge_nearer: float
    teacher_nearer: float
    p: float
    rejected: bool


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """The result of the test, or its ``reason`` for refusing.

    ``winning_rate`` is the share of teachers against whom the judge wins (passed from 0.5 on),
    ``advantage`` the mean of ``judge_nearer``: the probability that the judge is at least as near
    to the others as a teacher is. Reasons: ``too_few_teachers`` (fewer than 3 have 30 responses
    that another teacher marked too), ``too_few_items`` (3 teachers, but not one with so many).
    """

    teachers: tuple[AgainstTeacher, ...]
    winning_rate: float | None
    advantage: float | None
    epsilon: float
    reason: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether the judge may stand in for a teacher; None where the test was refused."""
        return None if self.winning_rate is None else self.winning_rate >= PASSES

    def figures(self) -> dict[str, Figure]:
        """Return ``winning_rate`` (n: teachers) and ``advantage`` (n: marks of these teachers)."""
        if self.winning_rate is None or self.advantage is None:
            return {name: missing(self.reason) for name in ("winning_rate", "advantage")}
        return {
            "winning_rate": Figure(self.winning_rate, len(self.teachers)),
            "advantage": Figure(self.advantage, sum(row.n for row in self.teachers)),
        }


def alternative_annotator(
    items: Sequence[JudgedItem], *, epsilon: float = EPSILON, level: float = LEVEL
) -> AlternativeAnnotator:
    """Test the judge against each teacher with enough responses.

    *epsilon* (0 to 1) is what the judge's cost and speed are worth, *level* the false discovery
    rate. Teachers with fewer than 30 responses take part as others only.
    """
    differences: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for item in items:
        for teacher, mark in item.teachers.items():
            others = [given for other, given in item.teachers.items() if other != teacher]
            if others:
                judge, own = _distance(item.judge, others), _distance(mark, others)
                near = math.isclose(judge, own, abs_tol=1e-9)
                differences[teacher].append(
                    (float(judge < own or near), float(own < judge or near))
                )
    tested = {one: np.array(d) for one, d in differences.items() if len(d) >= FEWEST_ITEMS}
    if len(tested) < FEWEST_TEACHERS:
        reason = "too_few_items" if len(differences) >= FEWEST_TEACHERS else "too_few_teachers"
        return AlternativeAnnotator((), None, None, epsilon, reason)
    p = {one: _p_value(nearer[:, 1] - nearer[:, 0], epsilon) for one, nearer in tested.items()}
    rejected = benjamini_yekutieli(list(p.values()), level)
    rows = tuple(
        AgainstTeacher(
            teacher,
            len(nearer),
            float(nearer[:, 0].mean()),
            float(nearer[:, 1].mean()),
            p[teacher],
            stands,
        )
        for (teacher, nearer), stands in zip(tested.items(), rejected, strict=True)
    )
    return AlternativeAnnotator(
        teachers=rows,
        winning_rate=sum(rejected) / len(rows),
        advantage=math.fsum(row.judge_nearer for row in rows) / len(rows),
        epsilon=epsilon,
    )


def _distance(mark: float, others: Sequence[float]) -> float:
    """Return the root mean square difference of *mark* to *others*."""
    return math.sqrt(math.fsum((mark - other) ** 2 for other in others) / len(others))


def _p_value(differences: np.ndarray[tuple[int], np.dtype[np.float64]], epsilon: float) -> float:
    """Return the p of the mean of *differences* being epsilon or more; one-sided t-test."""
    # Imported here: scipy takes a second to load.
    from scipy.special import stdtr

    n = len(differences)
    deviation = float(differences.std(ddof=1))
    above = float(differences.mean()) - epsilon
    if deviation <= 1e-12:
        return 0.0 if above < 0 else 1.0
    return float(stdtr(n - 1, above / (deviation / math.sqrt(n))))


def benjamini_yekutieli(p: Sequence[float], level: float) -> list[bool]:
    """Return which hypotheses are rejected at false discovery rate *level*, under any dependence.

    The largest k with p(k) <= k level / (m H(m)), H(m) = 1 + 1/2 + ... + 1/m; all up to it.
    """
    m = len(p)
    harmonic = math.fsum(1 / k for k in range(1, m + 1))
    ordered = sorted(range(m), key=lambda i: p[i])
    last = max(
        (k for k, i in enumerate(ordered, 1) if p[i] <= k * level / (m * harmonic)), default=0
    )
    rejected = set(ordered[:last])
    return [i in rejected for i in range(m)]
