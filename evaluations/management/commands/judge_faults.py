"""List the replies of judges whose totals are impossible or whose points do not add up."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from evaluations.judging.selectors import reply_faults
from evaluations.models import Judge
from gradeapp.cli import GradeappCommand, get_by_name
from questions.models import Dataset


class Command(GradeappCommand):
    help = "List the replies of judges whose totals are impossible or whose points do not add up."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dataset", required=True, metavar="SLUG")
        parser.add_argument("--judge", default="", metavar="NAME", help="only this judge")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        dataset = get_by_name(Dataset, "slug", options["dataset"])
        if options["judge"]:
            get_by_name(Judge, "name", options["judge"])
        replies, faults = reply_faults(dataset.slug, options["judge"])
        listed = [{**asdict(one), "full": float(one.full)} for one in faults]
        return {"replies": replies, "faults": listed}

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(f"{result['replies']} replies, {len(result['faults'])} with a fault")
        for one in result["faults"]:
            details = ", ".join(f"{name} {value}" for name, value in one["details"].items())
            place = f"{one['task']} {one['external_id']}"
            self.stdout.write(f"{one['judge']}: {place}, {one['fault']}: {details}")
