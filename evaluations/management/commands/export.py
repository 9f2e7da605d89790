"""Write a report, the scores or the marks to a CSV file, with a manifest beside it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.facts.params import TEACHERS, ReportParams, validated
from evaluations.management.report_arguments import add_report_arguments, report_params
from evaluations.marking.rounds.selectors.exports import MARK_COLUMNS
from evaluations.marking.services.finalizing import finalize_all_due
from evaluations.reports.selectors.reports import (
    REPORTS,
    SCORE_COLUMNS,
    build_report,
    mark_rows,
    score_rows,
)
from evaluations.reports.services import note_export
from evaluations.statistics.columns import report_table
from gradeapp.cli import GradeappCommand
from gradeapp.common.csv_file import manifest, render, sha256
from gradeapp.common.refusals import BadInput
from gradeapp.common.tables import Table, table
from questions.models import Dataset
from questions.selectors.bank import by_place
from questions.services import exports as bank

QUESTIONS = "questions"
ROWS = {"scores": (SCORE_COLUMNS, score_rows), "marks": (MARK_COLUMNS, mark_rows)}
NAMES = (*REPORTS, *ROWS, QUESTIONS)


class Command(GradeappCommand):
    help = (
        "Write a CSV file that spreadsheets open safely, and FILE.manifest.json beside it; "
        "questions to a FILE called .zip as JSON Lines with their images."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help=f"one of: {', '.join(NAMES)}")
        add_report_arguments(parser)
        parser.add_argument("--output", type=Path, required=True, help="the file to write")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        name, params, file = options["name"], report_params(options), options["output"]
        if name == QUESTIONS:
            return export_questions(validated(params), file)
        made, parameters = exported(name, params)
        content = render(made)
        about = manifest(len(made.rows), sha256(content), {"export": name, **parameters})
        with readable_errors(file):
            file.write_bytes(content)
            write_manifest(file, about)
        note_export(name, params, about, acting_user=None)
        return {"file": str(file), **about}


@contextmanager
def readable_errors(file: Path) -> Iterator[None]:
    """Raise BadInput, with a sentence, if the file cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise BadInput(
            _("Cannot write “%(file)s”: %(reason)s.") % {"file": file, "reason": reason}
        ) from error


def write_manifest(file: Path, about: Mapping[str, object]) -> None:
    """Write FILE.manifest.json."""
    text = json.dumps(about, ensure_ascii=False, indent=2) + "\n"
    file.with_name(f"{file.name}.manifest.json").write_text(text, encoding="utf-8")


def export_questions(params: ReportParams, file: Path) -> dict[str, Any]:
    """Write the questions of one dataset: as CSV, or as JSON Lines with images to a .zip file."""
    dataset = Dataset.objects.get(slug=params.dataset)
    questions, parameters = by_place().filter(task__dataset=dataset), {"dataset": dataset.slug}
    if params.year is not None:
        questions, parameters["year"] = questions.filter(year=params.year), str(params.year)
    write = bank.export_jsonl if file.suffix.lower() == ".zip" else bank.export_csv
    with readable_errors(file), file.open("wb") as out:
        about = write(questions, out, {"export": QUESTIONS, **parameters})
        write_manifest(file, about)
    bank.note_export(about, dataset, acting_user=None)
    return {"file": str(file), **about}


def exported(name: str, params: ReportParams) -> tuple[Table, dict[str, object]]:
    """Return the table *name*, and its parameters."""
    if name in ROWS:
        finalize_all_due(timezone.now())
        columns, rows = ROWS[name]
        params = replace(validated(params), marker=params.marker or TEACHERS)
        return table(columns, rows(params)), params.as_dict()
    if name not in NAMES:
        raise BadInput(
            _("There is no export “%(name)s”; choose one of: %(known)s.")
            % {"name": name, "known": ", ".join(NAMES)}
        )
    report = build_report(name, params)
    return report_table(report), report.params
