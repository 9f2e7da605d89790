"""Score objective responses by the present rules; earlier scores stay beside the new ones."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluations.rules.scoring.policies import Policy
from evaluations.services.rescoring import rescore
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Score objective responses that have no score by the present rules."

    def arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--all", action="store_true", help="the responses of every run")
        which.add_argument("--run", help="the number or the public id of one run")
        parser.add_argument("--policy", default=Policy.STRICT.value, help="published or strict")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        return rescore(options["policy"], run=options["run"]).as_dict()

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for outcome, count in result["outcomes"].items():
            self.stdout.write(f"  {outcome}: {count}")
