"""Run a file of cases through the reader of answers or of judges' replies."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluations.services.case_check import check_cases
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Check cases: what a file expects beside what the readers say."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a JSON list of cases")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        return check_cases(options["file"]).as_dict()

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for case in result["failed"]:
            self.stdout.write("case {index}: expected {expected}, got {got}".format(**case))
        self.stdout.write(f"failed: {len(result['failed'])}")
