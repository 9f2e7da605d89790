"""Bring the questions of a published benchmark, or of our own format, into the bank."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from gradeapp.cli import GradeappCommand
from questions.services.imports import SOURCES, import_questions


class Command(GradeappCommand):
    help = "Import questions. Safe to repeat: a second import of the same files changes nothing."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help=f"one of: {', '.join(SOURCES)}")
        parser.add_argument("path", type=Path, help="a file, or the folder of the benchmark")
        parser.add_argument("--dry-run", action="store_true", help="read and check, keep nothing")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        report = import_questions(options["source"], options["path"], dry_run=options["dry_run"])
        return report.as_dict()

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for problem in result["problems"]:
            place = problem["file"] if problem["row"] is None else "{file}:{row}".format(**problem)
            self.stdout.write(f"{place}: {problem['code']}: {problem['text']}")
