"""rebuild_facts: copy the facts that reports read anew from scores, marks and judgements."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluations.facts.answer_facts import rebuild_facts
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Copy the facts that reports read anew from scores, marks and judgements."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="only compare; change nothing, fail if any differs"
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        self.check_only = options["check"]
        rows, differing = rebuild_facts(check=self.check_only)
        return {"rows": rows, "differing": differing}

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{result['rows']} rows; {result['differing']} differed")

    def trouble(self, result: dict[str, Any]) -> str:
        if self.check_only and result["differing"]:
            return f"{result['differing']} rows differ: run rebuild_facts."
        return ""
