"""The tables of a review as CSV: its figures, and every judgement behind them."""

from __future__ import annotations

from collections.abc import Sequence

from evaluations.capability.rules.dimensions import Dimension
from evaluations.capability.selectors.capability_review import review_report
from evaluations.capability.selectors.capability_rows import all_versions
from evaluations.models import CapabilityJudgement, CapabilityReview
from evaluations.statistics.columns import report_table
from gradeapp.common.csv_cells import Cell
from gradeapp.common.refusals import NotFound
from gradeapp.common.tables import Table, table

COLUMNS = (
    *("review", "dataset", "policy", "random_seed", "task", "question", "revision", "model"),
    *(
        "condition",
        "run",
        "repeat",
        "response",
        "points",
        "full",
        "read",
        "place",
        "reviewer",
        "version",
    ),
    "counts",
    *(one.value for one in Dimension),
    *("weaknesses", "note", "seconds", "created_at"),
)


def review_table(review: CapabilityReview, name: str) -> Table:
    """The table called *name*: ``figures`` or ``judgements``. Raises NotFound for any other."""
    if name == "figures":
        return report_table(review_report(review))
    if name == "judgements":
        rows = list(all_versions(review))
        newest = {row.slot_id: row.version for row in rows}
        return table(COLUMNS, [_cells(review, row, newest) for row in rows])
    raise NotFound(name)


def _cells(
    review: CapabilityReview, row: CapabilityJudgement, newest: dict[int, int]
) -> Sequence[Cell]:
    """One version; ``counts`` says whether it is the newest. An empty cell: does not apply."""
    item = row.slot.item
    response = item.response
    return [
        str(review.public_id),
        review.dataset.slug,
        review.policy,
        review.random_seed,
        item.question.task.slug,
        item.question.external_id,
        item.revision.number,
        response.run.language_model.name,
        response.run.condition.name if response.run.condition else "",
        response.run_id,
        response.repeat,
        str(response.public_id),
        item.points,
        item.full,
        " ".join(answer or "-" for answer in item.read),
        row.slot.place,
        row.reviewer.username,
        row.version,
        "yes" if row.version == newest[row.slot_id] else "no",
        *(getattr(row, one.value) for one in Dimension),
        " ".join(row.weaknesses),
        row.note,
        row.seconds,
        row.created_at.isoformat(),
    ]
