"""Estimate a scoring rate from a judge's marks of all items and people's marks of some."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from evaluations.judging.services import estimate_file, simulate_file
from gradeapp.cli import GradeappCommand
from gradeapp.common.refusals import BadInput


class Command(GradeappCommand):
    help = "Estimate a scoring rate from a judge's marks of all items and people's marks of some."

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", type=Path, help="CSV: item, full, judge, human and, if there, stratum, cluster"
        )
        parser.add_argument("--level", type=float, default=0.95, help="of the intervals (0 to 1)")
        parser.add_argument("--simulate", type=int, metavar="N", help="draw N samples instead")
        parser.add_argument("--marked", type=int, metavar="M", help="rows in each of the samples")
        parser.add_argument("--random-seed", type=int, default=0, metavar="S")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        path, level = options["file"], options["level"]
        if options["simulate"] is None:
            if options["marked"] is not None:
                raise BadInput(_("--marked needs --simulate."))
            return estimate_file(path, level=level)
        if options["marked"] is None:
            raise BadInput(_("--simulate needs --marked: how many rows each sample has."))
        return simulate_file(
            path,
            draws=options["simulate"],
            marked=options["marked"],
            random_seed=options["random_seed"],
            level=level,
        )

    def show(self, result: dict[str, Any]) -> None:
        for name, value in result.items():
            if isinstance(value, dict):
                self.stdout.write(f"{name}: {shown(value)}")
            else:
                self.stdout.write(
                    f"{name}: {value:.4g}" if isinstance(value, float) else f"{name}: {value}"
                )


def shown(estimate: dict[str, float | None]) -> str:
    """Return an estimate such as ``0.3632 [0.3310, 0.3954]``."""
    if estimate["low"] is None:
        return f"{estimate['value']:.4f}, no interval (one marked item)"
    return "{value:.4f} [{low:.4f}, {high:.4f}]".format(**estimate)
