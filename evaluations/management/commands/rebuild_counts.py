"""rebuild_counts: count the jobs, calls and responses of all runs anew."""

from __future__ import annotations

from typing import Any

from evaluations.runs.services.run_counts import rebuild_counts
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Count the jobs, calls and responses of all runs anew. Workers wait meanwhile."

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"rows": rebuild_counts()}

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{result['rows']} rows")
