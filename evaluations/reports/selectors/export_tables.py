"""The tables that can be exported: reports, responses, scores and marks; and released summaries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from evaluations.facts.params import TEACHERS, ReportParams, validated
from evaluations.marking.rounds.selectors.exports import MARK_COLUMNS
from evaluations.reports.selectors.estimates import check_estimate
from evaluations.reports.selectors.reports import (
    EVERY_REPORT,
    OF_A_PAPER,
    SCORE_COLUMNS,
    build_report,
    mark_rows,
    marks_of,
    score_rows,
)
from evaluations.reports.selectors.response_table import response_table
from evaluations.reports.selectors.scored_answers import count_answers, scored_pages
from evaluations.statistics.columns import report_table
from evaluations.statistics.gaokao_summary import (
    TASKS,
    Summary,
    TaskSums,
    merged_summary,
    part_summary,
)
from gradeapp.common.csv_cells import Cell
from gradeapp.common.refusals import BadInput
from gradeapp.common.table_files import LongTable, in_pages, long_table
from questions.rules.vocabulary import Part

# Tables with a row for each response or mark; they may be long.
ROWS = ("responses", "scores", "marks")
TABLES = (*EVERY_REPORT, *ROWS)
# Files of GAOKAO-Bench: the name of the export, and of the released file.
SUMMARIES = {
    "gaokao-objective": "correction_score",
    "gaokao-subjective": "subjective_score",
    "gaokao-merged": "merge_score",
}
NAMES = (*TABLES, *SUMMARIES)
_NUMBERS: dict[str, type] = {
    **dict.fromkeys(("year", "repeat", "sub_answers", "run", "version", "seconds"), int),
    **dict.fromkeys(("full", "total", "tolerance", "final", "reference"), float),
}


@dataclass(frozen=True, slots=True)
class Made:
    """A table, or a summary as a JSON object, with the parameters that it was made from."""

    content: LongTable | Summary
    parameters: dict[str, object]


def check_name(name: str, known: Iterable[str] = NAMES) -> None:
    """Raise BadInput, which lists the valid names, unless *name* is in *known*."""
    if name not in known:
        raise BadInput(
            _("There is no export “%(name)s”; choose one of: %(known)s.")
            % {"name": name, "known": ", ".join(known)}
        )


def checked(name: str, params: ReportParams) -> ReportParams:
    """Return *params* as the export *name* takes them; raise a Refusal for values without rows."""
    check_name(name)
    if name in OF_A_PAPER:
        # Its models may be pairs, which the report checks itself.
        validated(replace(params, models=()))
        return params
    if params.is_estimate:
        validated(replace(params, marker=""))
        check_estimate(name, params)
        return params
    if name in EVERY_REPORT:
        return validated(params)
    return replace(validated(params), marker=params.marker or TEACHERS)


def export_table(name: str, params: ReportParams) -> Made:
    """Return the table or summary *name*; rows are read while they are taken.

    The caller holds the snapshot in which the rows are read. Raises a Refusal for an unknown name
    or parameter.
    """
    params = checked(name, params)
    if name in SUMMARIES:
        return Made(_summary(name, params), params.as_dict())
    if name == "responses":
        return Made(response_table(params), params.as_dict())
    if name == "scores":
        return Made(_rows(SCORE_COLUMNS, score_rows(params), points=float), params.as_dict())
    if name == "marks":
        # Its points are those of all scoring points, as text.
        rows = _rows(MARK_COLUMNS, mark_rows(params), rubric_version=int)
        return Made(rows, params.as_dict())
    report = build_report(name, params)
    return Made(long_table(report_table(report)), report.params)


def _rows(columns: Iterable[str], rows: Iterable[tuple[Cell, ...]], **numbers: type) -> LongTable:
    """The table of *rows*; *numbers* are columns of it alone that are no text."""
    types = _NUMBERS | numbers
    return LongTable({name: types.get(name, str) for name in columns}, in_pages(rows))


def count_rows(name: str, params: ReportParams, most: int | None = None) -> int:
    """Return the number of rows of the table *name*, at most *most*; 0 for a report (few)."""
    if name not in ROWS:
        return 0
    if name == "marks":
        marks = marks_of(params)
        return (marks if most is None else marks[:most]).count()
    return count_answers(params, most)


def _summary(name: str, params: ReportParams) -> Summary:
    """Return a summary of the answers of one model under one condition.

    Raises BadInput if *params* do not choose one model and condition, or if nothing has points.
    """
    found: dict[tuple[str, str], TaskSums] = {}
    known = {task for part in TASKS.values() for tasks in part.values() for task in tasks}
    for page in scored_pages(params):
        for row in page:
            if row.task in known:
                found.setdefault(row.asked, TaskSums()).add([row])
    if len(found) > 1:
        raise BadInput(
            _("This file is about one model and condition. Choose one of: %(known)s.")
            % {"known": ", ".join(f"{model} · {name}" for model, name in sorted(found))}
        )
    for (model, _condition), sums in found.items():
        about: dict[str, object] = {"model_name": model}
        if name != "gaokao-objective":
            about["correction_type"] = "model" if params.is_judge else "human"
            if params.is_judge:
                about["teacher_model_name"] = params.judge
        if name == "gaokao-merged":
            made = merged_summary(sums, about)
        else:
            part = Part.OBJECTIVE if name == "gaokao-objective" else Part.SUBJECTIVE
            made = part_summary(part, sums, about)
        if made.get("subject", made.keys() - about.keys()):
            return made
    raise BadInput(_("No response to the tasks of GAOKAO-Bench has points for this file."))
