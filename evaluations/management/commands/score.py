"""Score objective responses by the present rules; earlier scores are kept."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluations.reading.services.rescoring import rescore
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Score objective responses that have no score by the present rules."

    def arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--all", action="store_true", help="the responses of every run")
        which.add_argument("--run", help="the number or the public id of one run")
        parser.add_argument(
            "--policy", help="published or strict; without it both, and strict is printed"
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        report = rescore(options["policy"], run=options["run"], on_progress=self.progress)
        return report.as_dict()

    def progress(self, done: int, total: int) -> None:
        """Write the progress to one line on standard error."""
        line = f"\r{done:,} of {total:,} responses"
        self.stderr.write(line, ending="\n" if done == total else "")

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for outcome, count in result["outcomes"].items():
            self.stdout.write(f"  {outcome}: {count}")
