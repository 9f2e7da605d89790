"""Bring the questions of a published benchmark, or of our own format, into the bank."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from gradeapp.cli import GradeappCommand
from questions.services.imports import SOURCES, import_questions
from questions.services.zipped_imports import import_zip


class Command(GradeappCommand):
    help = "Import questions. Safe to repeat: a second import of the same files changes nothing."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help=f"one of: {', '.join(SOURCES)}")
        parser.add_argument("path", type=Path, help="a file, a .zip, or a benchmark's folder")
        parser.add_argument("--dry-run", action="store_true", help="read and check, keep nothing")

        parser.add_argument(
            "--allow-shifted",
            action="store_true",
            help="import a file too in which questions get the texts of others",
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        path: Path = options["path"]
        is_zip = path.suffix.lower() == ".zip" and path.is_file()
        bring = import_zip if is_zip else import_questions
        about = {name: options[name] for name in ("dry_run", "allow_shifted")}
        return bring(options["source"], path, **about).as_dict()

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for problem in result["problems"]:
            place = problem["file"] if problem["row"] is None else "{file}:{row}".format(**problem)
            self.stdout.write(f"{place}: {problem['code']}: {problem['text']}")
