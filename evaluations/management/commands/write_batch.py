"""Write the due requests of a run by batch into batch files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from evaluations.models import Batch
from evaluations.models.vocabulary import BatchState
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services.batch_making import check_by_batch, make_batches
from evaluations.runs.services.batches import take_file
from gradeapp.cli import GradeappCommand, whole_number
from gradeapp.common.refusals import BadInput


class Command(GradeappCommand):
    help = "Write batch files; what waits for replies already is written again, word for word."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=whole_number, metavar="RUN", help="a run by batch")
        parser.add_argument("--output", type=Path, required=True, metavar="DIR")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        run, folder = get_run(options["run"]), options["output"]
        check_by_batch(run)
        if not folder.is_dir():
            raise BadInput(_("There is no folder “%(path)s”.") % {"path": folder})
        waiting = list(Batch.objects.filter(run=run, state=BatchState.WAITING, by_api=False))
        batches = waiting or make_batches(run, acting_user=None)
        files = []
        for batch in batches:
            path = folder / batch.file_name
            with path.open("wb") as out:
                out.writelines(take_file(batch, acting_user=None))
            files.append(str(path))
        return {"run": run.pk, "requests": sum(one.requests for one in batches), "files": files}
