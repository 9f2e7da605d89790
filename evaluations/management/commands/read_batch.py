"""Read a file of replies to the batches of a run."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from evaluations.llm.batch_files import bounded_lines
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services.batches import read_replies
from gradeapp.cli import GradeappCommand, whole_number
from gradeapp.common.refusals import BadInput


class Command(GradeappCommand):
    help = "Store the replies in a batch file as live replies are stored. Safe to repeat."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=whole_number, metavar="RUN", help="a run by batch")
        parser.add_argument("file", type=Path, metavar="FILE", help="the file of replies")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        try:
            with options["file"].open("rb") as file:
                run, lines = get_run(options["run"]), bounded_lines(file)
                report = read_replies(run, lines, acting_user=None)
        except OSError as error:
            words = {"path": options["file"], "why": error.strerror or "unknown reason"}
            raise BadInput(_("%(path)s cannot be read: %(why)s.") % words) from None
        return {"run": options["run"], **report.as_dict()}

    def show(self, result: dict[str, Any]) -> None:
        super().show({name: value for name, value in result.items() if name != "problems"})
        for problem in result["problems"]:
            self.stdout.write(problem)
