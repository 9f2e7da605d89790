"""Load the sample exam, its people and a round to mark. Safe to repeat."""

from __future__ import annotations

from typing import Any

from evaluations.demo import load_sample
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Load the sample exam, its people, two students' answers and a round. Safe to repeat."

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        return load_sample()

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"The sample exam is loaded: {result['questions']} questions.")
