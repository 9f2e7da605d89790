"""Import published answers with their marks and gradings, or answers in our own format."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluations.imports.services.answer_imports import SOURCES, import_answers
from gradeapp.cli import GradeappCommand, whole_number


class Command(GradeappCommand):
    help = "Import answers. Safe to repeat: a second import of the same files adds nothing."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help=f"one of: {', '.join(SOURCES)}")
        parser.add_argument("path", type=Path, help="a file, or a folder with its subfolders")
        parser.add_argument("--model", help="who answered, where the files do not say it")
        parser.add_argument("--repeat", type=whole_number, default=1, help="which sitting, from 1")

        parser.add_argument("--setting", default="", help="how the model was asked, if known")
        parser.add_argument("--condition", default="", help="a name for how it was asked")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        report = import_answers(
            options["source"],
            options["path"],
            model=options["model"],
            repeat=options["repeat"],
            setting=options["setting"],
            condition=options["condition"],
        )
        return report.as_dict()

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for problem in result["problems"]:
            place = problem["file"] if problem["row"] is None else "{file}:{row}".format(**problem)
            self.stdout.write(f"{place}: {problem['code']}: {problem['text']}")
