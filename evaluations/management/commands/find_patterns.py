"""Search the responses of a run for answer patterns, without a worker."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from evaluations.models import PatternSearch, Run
from evaluations.reading.selectors.pattern_searches import as_dict
from evaluations.reading.services.pattern_searches import start_search, work_on_search
from gradeapp.cli import GradeappCommand, whole_number
from gradeapp.common.named import WorkStatus
from gradeapp.common.refusals import NotFound


def find_run(name: str) -> Run:
    """Return the run with the number or the public id *name*. Raises NotFound if there is none."""
    try:
        wanted = {"pk": int(name)} if name.isdecimal() else {"public_id": UUID(name)}
        run = Run.objects.filter(**wanted).first()
    except (ValueError, OverflowError):
        run = None
    if run is None:
        raise NotFound(_("There is no run “%(name)s”.") % {"name": name})
    return run


class Command(GradeappCommand):
    help = "Search a run's responses for patterns (HRE); a person accepts them on its page."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--run", required=True, help="the number or the public id of the run")
        parser.add_argument("--iterations", type=whole_number, default=10)
        parser.add_argument(
            "--sample", type=whole_number, default=100, help="responses drawn each time"
        )
        parser.add_argument(
            "--least", type=whole_number, default=2, help="least occurrences in a sample"
        )
        parser.add_argument("--random-seed", type=whole_number, default=1)

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        search = start_search(
            find_run(options["run"]),
            iterations=options["iterations"],
            sample_size=options["sample"],
            least_occurrences=options["least"],
            random_seed=options["random_seed"],
            acting_user=None,
        )
        work_on_search(search.pk)
        return as_dict(PatternSearch.objects.get(pk=search.pk))

    def trouble(self, result: dict[str, Any]) -> str:
        if result["status"] == WorkStatus.DONE:
            return ""
        return _("The search was not finished; it is %(state)s.") % {"state": result["status"]}

    def show(self, result: dict[str, Any]) -> None:
        self.stdout.write(
            f"search {result['search']} of run {result['run']}: {result['covered']} of "
            f"{result['responses']} responses read ({_percent(result['cover'])}); "
            f"the paper: {_percent(result['paper']['cover'])} of {result['paper']['responses']}"
        )
        for one in result["types"]:
            self.stdout.write(
                f"{one['question_type']}: {one['covered']} of {one['responses']} "
                f"({_percent(one['cover'])})"
            )
            for pattern in one["patterns"]:
                self.stdout.write(
                    f"  {pattern['count']:>6}  {pattern['name']}  {pattern['expression']}  "
                    f"agrees with the strict reading: {_percent(pattern['agreement_with_strict'])} "
                    f"of {pattern['compared_with_strict']}"
                )


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.1f} %"
