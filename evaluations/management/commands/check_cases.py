"""Check the readers on cases: those of a file, or the corrections of people."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from evaluations.judging.rules.judge_reply import read_reply_case
from evaluations.reading.services.answer_cases import case_report, write_corrections
from evaluations.reading.services.case_check import check_cases
from gradeapp.cli import GradeappCommand
from gradeapp.common.refusals import BadInput

# Readers of other features, by the key that marks their cases.
CASE_READERS = {"reply": read_reply_case}


class Command(GradeappCommand):
    help = "Check cases: what a file or the corrections expect beside what the readers say."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="a JSON list of cases")
        parser.add_argument(
            "--corrections", action="store_true", help="what people corrected in the check queue"
        )
        parser.add_argument("--save", type=Path, help="a file to write the corrections to")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        if (options["file"] is None) is not options["corrections"]:
            raise BadInput(_("Specify a file of test cases, or use --corrections."))
        if options["file"] is not None:
            if options["save"] is not None:
                raise BadInput(_("Specify a file of test cases, or use --corrections."))
            return check_cases(options["file"], readers=CASE_READERS).as_dict()
        if options["save"] is not None:
            write_corrections(options["save"], acting_user=None)
        return case_report().as_dict()

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for case in result["failed"]:
            self.stdout.write("case {index}: expected {expected}, got {got}".format(**case))
        self.stdout.write(f"failed: {len(result['failed'])}")
