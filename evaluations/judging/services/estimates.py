"""Estimate a scoring rate from a table of judge's and people's marks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _

from evaluations.judging.rules.estimate_table import TableFault, read_table
from evaluations.statistics.estimate_simulation import simulate
from evaluations.statistics.prediction_powered import MarkedTable, estimate
from gradeapp.common.refusals import BadInput

MOST_DRAWS = 100_000

TABLE_FAULTS = {
    "no_csv": _("The file is not a table in CSV: line %(line)s cannot be read."),
    "empty": _("The table has no rows."),
    "columns": _("The table lacks, or has twice, a column with the name: %(missing)s."),
    "cells": _("Row %(row)s has %(cells)s cells, but there are %(columns)s columns."),
    "no_item": _("Row %(row)s has no item."),
    "twice": _("The item “%(item)s” is in row %(first)s and again in row %(row)s."),
    "number": _("Row %(row)s: “%(value)s” in the column %(column)s is not a number."),
    "full": _("Row %(row)s: full marks must be above 0, not %(value)s."),
    "human": _("Row %(row)s: the human mark %(value)s is not between 0 and %(full)s."),
    "unmarked": _("The table has no human mark."),
}


def marked_table(path: Path) -> MarkedTable:
    """Return the table of judge's and people's marks in the file *path*; raise BadInput."""
    try:
        return read_table(path.read_bytes())
    except OSError as error:
        raise BadInput(_("The file %(name)s cannot be read.") % {"name": path.name}) from error
    except TableFault as fault:
        raise BadInput(TABLE_FAULTS[fault.code] % fault.values) from fault


def estimate_file(path: Path, *, level: float = 0.95) -> dict[str, Any]:
    """Return both estimates of the table in *path*, as INTERFACE lists them; raise BadInput."""
    _check_level(level)
    made = estimate(marked_table(path), level=level)
    both = {"human_only": made.human_only, "ppi": made.ppi}
    estimates = {name: asdict(one) for name, one in both.items()}
    return {"n": made.n, "marked": made.marked, **estimates, "lambda": made.tuning}


def simulate_file(
    path: Path, *, draws: int, marked: int, random_seed: int, level: float = 0.95
) -> dict[str, Any]:
    """Return how the estimates do over *draws* samples of the fully marked table in *path*.

    Raises BadInput, also for a row without a human mark.
    """
    _check_level(level)
    if not 1 <= draws <= MOST_DRAWS:
        raise BadInput(_("The number of draws must be 1 to %(most)s.") % {"most": MOST_DRAWS})
    if random_seed < 0:
        raise BadInput(_("The random seed must be 0 or more."))
    table = marked_table(path)
    unmarked = int(np.isnan(table.human).sum())
    if unmarked:
        raise BadInput(
            _("A simulation needs a human mark in each row; %(n)s rows have none.")
            % {"n": unmarked}
        )
    try:
        made = simulate(
            table, draws=draws, marked=marked, rng=np.random.default_rng(random_seed), level=level
        )
    except ValueError as error:
        raise BadInput(
            _("%(marked)s rows cannot be drawn from %(rows)s: at least 2, and not all of them.")
            % {"marked": marked, "rows": len(table.full)}
        ) from error
    return asdict(made)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise BadInput(_("The level must be between 0 and 1, for example 0.95."))
