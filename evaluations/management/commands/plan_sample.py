"""Plan which sample of a run's responses teachers mark to know a total."""

from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.translation import gettext as _

from evaluations.judging.sampling.services import SampleWish, plan_sample
from evaluations.models import Judge, Run
from gradeapp.cli import GradeappCommand, aligned, whole_number
from gradeapp.common.refusals import BadInput, NotFound
from questions.rules.vocabulary import Stream


class Command(GradeappCommand):
    help = "Plan which sample of a run's responses teachers mark to know a total."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--run", type=whole_number, required=True, metavar="ID")
        parser.add_argument("--judge", default="", metavar="NAME", help="none if left out")
        parser.add_argument(
            "--within", default="6", metavar="POINTS", help="half width of the interval; 6"
        )
        parser.add_argument(
            "--stream", nargs="+", default=[Stream.SCIENCES.value], choices=[*Stream]
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        run = Run.objects.filter(pk=options["run"]).first()
        judge = Judge.objects.filter(name=options["judge"]).first()
        if run is None or (options["judge"] and judge is None):
            raise NotFound(_("There is no such run or judge model."))
        try:
            within = Decimal(options["within"])
        except InvalidOperation as error:
            raise BadInput(_("--within takes a number of points.")) from error
        streams = tuple(Stream(stream) for stream in options["stream"])  # type: ignore[call-arg]
        plan = plan_sample(SampleWish(run, judge, streams, within))
        return {
            "questions": plan.questions,
            "marked": plan.size,
            "without_judge": plan.without_judge,
            "reason": plan.reason or None,
            "strata": [
                {
                    "subject": one.stratum.subject,
                    "task": one.stratum.task,
                    "questions": one.stratum.units,
                    "marked": one.wanted,
                }
                for one in plan.strata
            ],
        }

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            f"mark {result['marked']} of {result['questions']} questions"
            f" ({result['without_judge']} without a judge)"
        )
        rows = [[str(value) for value in one.values()] for one in result["strata"]]
        for line in aligned([["subject", "task", "questions", "marked"], *rows]):
            self.stdout.write(line)
