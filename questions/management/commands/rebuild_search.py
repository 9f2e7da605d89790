"""rebuild_search: make the texts that search looks in anew."""

from __future__ import annotations

from typing import Any

from gradeapp.cli import GradeappCommand
from questions.services.revisions import rebuild_search_texts


class Command(GradeappCommand):
    help = "Make the texts that search looks in anew from the questions. Safe to repeat."

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        rows, changed = rebuild_search_texts()
        return {"rows": rows, "changed": changed}

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{result['rows']} rows; {result['changed']} changed")
