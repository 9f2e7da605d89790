"""Check that every answer key, written as models write answers, gets full marks."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluations.reading.services.gold_check import check_golds
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Check the scorer on the keys themselves; what fails goes to the gate."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dataset", help="one dataset instead of all")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        return check_golds(options["dataset"]).as_dict()

    def show(self, result: dict[str, Any]) -> None:
        for one in result["datasets"]:
            self.stdout.write(
                "{dataset}: {items} items, {passed} of {written} written keys get full marks, "
                "{failed_items} items fail, {quarantined} in quarantine".format(**one)
            )
            for failed in one["failed"]:
                self.stdout.write(
                    "  {task} {question}: {key} as {form}: {outcome} {answers}".format(**failed)
                )
        self.stdout.write(f"{result['scorer']}, {result['seconds']} s")
