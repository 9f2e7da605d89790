"""Build the reports ``settings`` and ``gains``, which compare the prompt settings of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from evaluations.facts.params import ReportParams
from evaluations.reports.rules.paper_cells import Loaded, best
from evaluations.reports.selectors.cuts import cut_keys
from evaluations.reports.selectors.paper_tables import loaded_conditions
from evaluations.statistics.figure import Report
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.settings import gains, side_by_side
from gradeapp.common.refusals import BadInput
from questions.rules.vocabulary import Part

if TYPE_CHECKING:
    import pandas as pd

SETTINGS, GAINS = "settings", "gains"
DEFAULT_KEY = "task"


def settings_key(by: str) -> str:
    """Return the one key in *by*, ``task`` without one. Raises BadInput for others and for two."""
    keys = cut_keys(by or DEFAULT_KEY)
    if len(keys) > 1:
        raise BadInput(_("This report takes one key: by=task, for example."))
    return keys[0]


def settings_report(
    name: str, frame: pd.DataFrame, params: ReportParams, about: Mapping[str, object]
) -> Report:
    """Return the report *name*, ``SETTINGS`` or ``GAINS``, of *params* (valid, with a marker).

    *frame* has the answers by question (``question_frame``). The report is over the
    objective questions: how many answers people have marked does not move it.
    ``params`` of the report has in ``settings`` the condition that stands for each setting of a
    model. Conditions whose setting is not known take no part. Raises BadInput as
    ``settings_key``.
    """
    key = settings_key(params.by)
    chosen = chosen_settings(params)
    stands: dict[str, dict[str, str]] = {}
    for asked, setting in chosen.items():
        stands.setdefault(asked.model, {})[setting] = asked.condition
    make = side_by_side if name == SETTINGS else gains
    return make(
        frame[frame["part"] == Part.OBJECTIVE],
        chosen,
        key,
        params=dict(about) | {"by": key, "settings": stands},
    )


def chosen_settings(params: ReportParams) -> dict[ModelCondition, str]:
    """Return the condition that stands for each setting of a model, with that setting.

    Of several it is the one that would stand in the tables of a paper: two are never pooled.
    """
    by_setting: dict[tuple[str, str], list[Loaded]] = {}
    for one in loaded_conditions(params):
        if one.setting:
            by_setting.setdefault((one.asked.model, one.setting), []).append(one)
    found = (best(group) for group in by_setting.values())
    return {one.asked: one.setting for one in found if one is not None}
