"""Import GAOKAO-Bench's own prompts for judges, without the marking criterion."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluations.judging.services.judges import import_judge_prompts
from gradeapp.cli import GradeappCommand


class Command(GradeappCommand):
    help = "Import GAOKAO-Bench's own prompts for judges. Safe to repeat."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path", type=Path, help="its file Sub_Grade_Prompt_wo_marking_criterion.json"
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        made = import_judge_prompts(options["path"], acting_user=None)
        return {"set": made.slug, "version": made.number, "tasks": len(made.content["by_task"])}
