"""The responses that move between the two policies, in columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evaluations.reading.rules.scoring.ablation import Evidence, MovedItem, Reason
from evaluations.statistics.policies import Policy
from gradeapp.common.csv_cells import Cell
from gradeapp.common.tables import Table, table

COLUMNS = (
    *("run", "task", "question", "repeat", "response", "key", "full"),
    *("published_read", "published_words", "published_points"),
    *("strict_read", "strict_outcome", "strict_method", "strict_words", "strict_points"),
    *(f"change_{reason.value}" for reason in Reason),
    "change",
)


def ablation_table(
    run: int, items: Iterable[MovedItem], words: Mapping[int, Mapping[str, str]]
) -> Table:
    """One row a response of *run*; the reasons' columns add up to ``change``, in points.

    *words* are what each policy read, by response and policy.
    """
    return table(COLUMNS, (_row(run, one, words.get(one.response, {})) for one in items))


def spelled(evidence: Evidence | None) -> str:
    """What was read, ``A - BD`` with a gap; empty where nothing was."""
    if evidence is None or not any(evidence.answers):
        return ""
    return " ".join(answer or "-" for answer in evidence.answers)


def _row(run: int, one: MovedItem, words: Mapping[str, str]) -> list[Cell]:
    strict = one.strict
    by_reason = {step.reason: float(step.points) for step in one.steps}
    return [
        *(run, one.task, one.external_id, one.repeat, str(one.public_id)),
        *(" ".join(one.key), float(one.full)),
        spelled(one.published),
        words.get(Policy.PUBLISHED, ""),
        float(one.published.points) if one.published else None,
        spelled(strict),
        *((strict.outcome, f"{strict.method} {strict.pattern}".strip()) if strict else ("", "")),
        words.get(Policy.STRICT, ""),
        float(strict.points) if strict else None,
        *(by_reason.get(reason) for reason in Reason),
        float(one.change),
    ]
