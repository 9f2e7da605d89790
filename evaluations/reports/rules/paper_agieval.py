"""Rebuild the tables of AGIEval (Zhong et al. 2023, arXiv:2304.06364)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluations.conditions import PromptSetting
from evaluations.reports.rules.paper_cells import Cells, Loaded, StandIns, best, of_part
from evaluations.reports.rules.paper_sums import (
    exact_by_task,
    minus,
    of_conditions,
    plain_mean,
    put,
    put_row,
    rates_by,
)
from evaluations.reports.rules.published_tables import PublishedPaper
from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.rows import ModelCondition

if TYPE_CHECKING:
    import pandas as pd

_S = PromptSetting
TABLES = {
    "table-2": (_S.ZERO_SHOT, _S.ZERO_SHOT_COT),
    "table-3": (_S.FEW_SHOT, _S.FEW_SHOT_COT),
}
GAINS = {
    "few-shot-gain": (_S.FEW_SHOT, _S.ZERO_SHOT),
    "few-shot-cot-gain": (_S.FEW_SHOT_COT, _S.ZERO_SHOT_COT),
    "cot-gain": (_S.ZERO_SHOT_COT, _S.ZERO_SHOT),
    "cot-few-shot-gain": (_S.FEW_SHOT_COT, _S.FEW_SHOT),
}
AVERAGE = "Average"
LANGUAGES = {"zh": "Chinese", "en": "English"}
TASKS_MISSING = "tasks_missing"
NOT_THIS_SETTING = "no_such_setting"
TOKENIZER = "tokenizer_unknown"
NOT_REVIEWED = "not_reviewed"


@dataclass(frozen=True, slots=True)
class AgievalMaterial:
    """What the tables are made from.

    ``human`` has by kind (``average``, ``top``) the rate of people by task (0 to 1).
    ``capabilities`` has by model and condition the shares of the four capabilities (0 to 1).
    """

    paper: PublishedPaper
    stand_ins: StandIns
    questions: pd.DataFrame
    answers: pd.DataFrame
    human: Mapping[str, Mapping[str, float]]
    capabilities: Mapping[ModelCondition, Mapping[str, Figure]]

    @property
    def tasks(self) -> list[str]:
        """The 21 rows that the paper averages over."""
        return [row for row in self.paper.table("table-2").rows if row != AVERAGE]

    def conditions(self, name: str) -> dict[PromptSetting, Loaded]:
        """Return the condition that stands for a model under each setting."""
        own = self.stand_ins.conditions(name)
        found = {}
        for setting in PromptSetting:
            fitting = [one for one in own if (one.setting or _S.ZERO_SHOT) == setting]
            if (one := best(fitting)) is not None:
                found[setting] = one
        return found


def rebuilt(material: AgievalMaterial) -> Cells:
    """Return every cell that the loaded questions, answers and rates of people give."""
    cells = _of_questions(material)
    for name in material.stand_ins.models:
        conditions = material.conditions(name)
        rates = {setting: _by_task(material, loaded) for setting, loaded in conditions.items()}
        cells |= _accuracies(material, name, conditions, rates)
        cells |= _gains(material, name, conditions, rates)
        cells |= _exact(material, name, conditions)
        cells |= _capabilities(material, name, conditions)
    return cells


def _of_questions(material: AgievalMaterial) -> Cells:
    """Return table 1 and the columns of people."""
    cells: Cells = {}
    for task, n in material.questions.groupby("task").size().items():
        if task not in material.paper.table("table-1").rows:
            continue
        figures = {"instances": Figure(int(n), int(n)), "average_tokens": missing(TOKENIZER)}
        cells |= put_row("table-1", str(task), list(figures), figures)
    for kind, rates in material.human.items():
        figures = {task: Figure(100 * rate, 1) for task, rate in rates.items()}
        figures[AVERAGE] = plain_mean(figures, material.tasks, TASKS_MISSING)
        for table in TABLES:
            cells |= put(table, [*material.tasks, AVERAGE], f"human:{kind}", figures)
    return cells


def _by_task(material: AgievalMaterial, loaded: Loaded) -> dict[str, Figure]:
    """Return accuracy by task, and the average of the 21 rows."""
    own = of_conditions(material.answers, [loaded.asked])
    figures = rates_by(own, material.questions, "task")
    figures[AVERAGE] = plain_mean(figures, material.tasks, TASKS_MISSING)
    return figures


def _accuracies(
    material: AgievalMaterial,
    name: str,
    conditions: Mapping[PromptSetting, Loaded],
    rates: Mapping[PromptSetting, Mapping[str, Figure]],
) -> Cells:
    """Return the columns of a model in tables 2 and 3."""
    cells: Cells = {}
    for table, settings in TABLES.items():
        rows = list(material.paper.table(table).rows)
        for setting in settings:
            column = f"{setting}:{name}"
            if setting in conditions:
                cells |= put(table, rows, column, rates[setting], conditions[setting])
            else:
                cells |= put(table, rows, column, {}, lacking=NOT_THIS_SETTING)
    return cells


def _gains(
    material: AgievalMaterial,
    name: str,
    conditions: Mapping[PromptSetting, Loaded],
    rates: Mapping[PromptSetting, Mapping[str, Figure]],
) -> Cells:
    """Return what examples and chain of thought add, by task, language and on average."""
    cells: Cells = {}
    languages = {
        word: [t for t in material.tasks if t in set(_tasks_in(material, code))]
        for code, word in LANGUAGES.items()
    }
    for column, (setting, base) in GAINS.items():
        if setting not in conditions and base not in conditions:
            continue
        pair = [rates.get(setting, {}), rates.get(base, {})]
        whose = [conditions[one] for one in (setting, base) if one in conditions]
        lacking = "no_data" if len(whose) == 2 else NOT_THIS_SETTING
        figures = {
            task: minus(pair[0].get(task), pair[1].get(task), lacking)
            for task in (*material.tasks, AVERAGE)
        }
        for word, tasks in languages.items():
            means = [plain_mean(one, tasks, TASKS_MISSING) for one in pair]
            figures[word] = minus(means[0], means[1], TASKS_MISSING)
        cells |= put("gains", list(figures), f"{column}:{name}", figures, *whose)
    return cells


def _tasks_in(material: AgievalMaterial, language: str) -> Iterator[str]:
    questions = material.questions
    yield from questions[questions["language"] == language]["task"].unique()


def _exact(
    material: AgievalMaterial, name: str, conditions: Mapping[PromptSetting, Loaded]
) -> Cells:
    """Return exact match and F1 of the tasks with exact answers."""
    cells: Cells = {}
    for setting, loaded in conditions.items():
        answers = of_conditions(material.answers, [loaded.asked])
        figures = exact_by_task(answers, material.questions)
        rows = list(material.paper.table("exact-answers").rows)
        # A task whose answers all have no points has no exact match either, for the same reason.
        rates = rates_by(answers[answers["task"].isin(rows)], material.questions, "task")
        lacking = {task: one for task, one in rates.items() if one.value is None}
        for metric in ("exact match", "f1"):
            own = lacking | {task: both[metric] for task, both in figures.items()}
            cells |= put("exact-answers", rows, f"{metric}:{setting}:{name}", own, loaded)
    return cells


def _capabilities(
    material: AgievalMaterial, name: str, conditions: Mapping[PromptSetting, Loaded]
) -> Cells:
    """Return figure 3: how people judged wrong answers under zero-shot with chain of thought.

    Wrong answers are a sample of the answers to all questions, or of those that are loaded.
    """
    loaded = conditions.get(_S.ZERO_SHOT_COT)
    columns = [column.name for column in material.paper.table("figure-3").columns]
    shares = material.capabilities.get(loaded.asked, {}) if loaded else {}
    own = of_conditions(material.answers, [loaded.asked] if loaded else [])
    answered = own[own["n"] > 0]["question"].nunique()
    figures = {
        column: of_part(Figure(100 * one.value, one.n), answered, len(material.questions))
        for column, one in shares.items()
        if one.value is not None
    }
    whose = [loaded] if loaded else []
    lacking = NOT_REVIEWED if loaded else NOT_THIS_SETTING
    return put_row("figure-3", name, columns, figures, *whose, lacking=lacking)
