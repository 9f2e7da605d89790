"""Write a report, responses, scores or marks to a file, with a manifest beside it."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import EISDIR
from pathlib import Path
from typing import IO, Any

from django.utils.translation import gettext as _

from evaluations.facts.params import ReportParams, validated
from evaluations.management.report_arguments import add_report_arguments, report_params
from evaluations.reports.selectors.export_tables import NAMES, ROWS, SUMMARIES, check_name
from evaluations.reports.services.exports import (
    JSON,
    Asked,
    check_asked,
    note_export,
    write_export,
)
from gradeapp.cli import GradeappCommand
from gradeapp.common.refusals import BadInput
from gradeapp.common.table_files import FileFormat
from questions.models import Dataset
from questions.selectors.bank import by_place
from questions.services import exports as bank

QUESTIONS = "questions"
KNOWN = (*NAMES, QUESTIONS)
# What is written beside the file.
BESIDE = ("part", "manifest.json")


class Command(GradeappCommand):
    help = (
        "Write a table as CSV that spreadsheets open safely, or by the suffix of the file as a "
        "workbook (.xlsx), Parquet (.parquet) or JSON Lines (.jsonl), and FILE.manifest.json "
        "beside it; no table has the texts of replies, which the page “Search the responses” "
        "writes as JSON Lines; questions to a FILE called .zip as JSON Lines with their images; "
        "the summaries of GAOKAO-Bench as JSON."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help=f"one of: {', '.join(KNOWN)}")
        add_report_arguments(parser)
        parser.add_argument("--output", type=Path, required=True, help="the file to write")
        parser.add_argument("--no-bom", action="store_true", help="CSV without byte order mark")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        name, params, file = options["name"], report_params(options), options["output"]
        check_place(file)
        if name == QUESTIONS:
            return export_questions(validated(params), file)
        check_name(name, KNOWN)
        asked = check_asked(Asked(name, params, format_of(name, file), not options["no_bom"]))
        with readable_errors(file), whole_file(file) as out:
            about = write_export(asked, out)
        with readable_errors(file):
            write_manifest(file, about)
        note_export(asked, about, acting_user=None)
        return {"file": str(file), **about}

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        # Tables with a row for each response, which people take for the responses themselves.
        if result.get("parameters", {}).get("export") in ROWS:
            self.stdout.write(
                _(
                    "The texts of the replies are not in this table: the page “Search the "
                    "responses” (Runs) downloads them as JSON Lines, GET /api/v1/responses/ lists "
                    "them."
                )
            )


def format_of(name: str, file: Path) -> str:
    """Return the format of *file*: by its suffix, CSV for any other; JSON for a summary."""
    if name in SUMMARIES:
        return JSON
    suffix = file.suffix.lower().removeprefix(".")
    return suffix if suffix in list(FileFormat) else FileFormat.CSV.value


def check_place(file: Path) -> None:
    """Raise BadInput where *file*, or one beside it that is written too, is a device or a pipe.

    It would be replaced by a regular file, or written to without an end.
    """
    for one in (file, *(file.with_name(f"{file.name}.{end}") for end in BESIDE if file.name)):
        if one.exists() and not (one.is_file() or one.is_dir()):
            raise BadInput(
                _("Cannot write “%(file)s”: it is there, and is no regular file.") % {"file": one}
            )


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


@contextmanager
def whole_file(file: Path) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of *file* once it is whole; it is deleted on an error."""
    if file.is_dir():  # "/" and "." have no name to write beside
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("w+b") as out:
            yield out
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


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
