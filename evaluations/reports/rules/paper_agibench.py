"""Rebuild the tables of AGIBench (Tang et al. 2023, arXiv:2309.06495).

The paper asks each question three times with each of three prompts. Table 6 and figure 4 pool these
nine replies; so do we, over the conditions of the three prompts that are loaded. A figure of fewer
prompts is of so many questions × prompts less.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from evaluations.reports.rules.paper_cells import (
    PARTLY,
    Cells,
    Loaded,
    PartFigure,
    StandIns,
    best,
    of_part,
)
from evaluations.reports.rules.paper_sums import (
    gaps_by,
    means_by,
    of_conditions,
    put,
    put_row,
    rates_by,
    reason_of,
    shares_by,
)
from evaluations.reports.rules.published_tables import PublishedPaper
from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.repeats import Item, accuracies, repeatability
from evaluations.statistics.rows import ModelCondition
from questions.rules.taxonomy import TAXONOMY
from questions.rules.vocabulary import AbilityBranch

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("none", "answer", "reason")
BRANCHES = {
    AbilityBranch.COMMON_SENSE.value: "Common Sense",
    AbilityBranch.REASONING.value: "Reasoning",
    AbilityBranch.UNDERSTANDING.value: "Understanding",
}
# The paper's names where the released file, whose names the bank has, writes otherwise.
RENAMED = {"political": "Politics", "economic": "Economics"}
BRANCH_VALUES = {name: value for value, name in BRANCHES.items()}
KNOWLEDGE_SLUGS = {RENAMED.get(one.slug, one.english): one.slug for one in TAXONOMY}
HUMAN = "Human"
BEST = "GPT-4"
NO_HUMAN = "no_human_rate"
TOO_FEW = "too_few_repeats"
NOT_ANSWERED = "not_answered"
NO_QUESTIONS = "no_questions"
LEAD = "lead"
REPLIES_OF_TWELVE = "replies_not_released"
NO_TRIAL = "no_few_shot_trial"


@dataclass(frozen=True, slots=True)
class AgibenchMaterial:
    """What the tables are made from.

    ``questions`` has a row for each question, with ``characters`` of its text; ``repeats`` a row
    for each answer. ``patterns`` counts the replies that each printed pattern matched, 0 for none,
    which were given under the conditions ``matched``.
    """

    paper: PublishedPaper
    stand_ins: StandIns
    questions: pd.DataFrame
    answers: pd.DataFrame
    repeats: pd.DataFrame
    patterns: Mapping[int, int]
    matched: Collection[ModelCondition] = ()

    def conditions(self, name: str) -> dict[str, Loaded]:
        """Return the conditions of a model by prompt; without one of the paper, its best other."""
        own = self.stand_ins.conditions(name)
        found: dict[str, Loaded] = {}
        for kind in KINDS:
            if (one := best([one for one in own if kind_of(one) == kind])) is not None:
                found[kind] = one
        if not found and (other := best(own)) is not None:
            found[other.asked.condition] = other
        return found


class _Rated(NamedTuple):
    """The rates of a model and its ``gaps`` to people by level, and the conditions pooled."""

    rates: Mapping[str, Figure]
    gaps: Mapping[str, Figure]
    whose: Sequence[Loaded]


def kind_of(loaded: Loaded) -> str:
    """Return which of the three prompts a condition is of; "" for another.

    Of imported answers only the name of the condition can tell (``answer``, ``agibench:answer``).
    """
    name = loaded.asked.condition if loaded.imported else loaded.prompts
    kind = name.removeprefix("agibench:")
    return kind if kind in KINDS else ""


def rebuilt(material: AgibenchMaterial) -> Cells:
    """Return every cell that the loaded questions, answers and rates of people give."""
    questions = labelled(material.questions)
    cells = _of_questions(material, questions) | _of_people(material, questions)
    rated: list[_Rated] = []
    for name in material.stand_ins.models:
        conditions = material.conditions(name)
        whose = list(conditions.values())
        answers = labelled(of_conditions(material.answers, [one.asked for one in whose]))
        figures = {
            by: _rates(answers, questions, by) for by in ("branch", "cell", "difficulty", "modal")
        }
        by_cell = _with_averages(figures["cell"], figures["branch"])
        for table, of_model in (
            ("table-6", by_cell),
            ("figure-4", figures["difficulty"]),
            ("modals", figures["modal"]),
        ):
            rows = list(material.paper.table(table).rows)
            cells |= put(table, rows, name, of_model, *whose, lacking=NO_QUESTIONS)
        cells |= _repeats(material, name, conditions)
        gaps = gaps_by(answers, questions, "difficulty", len(KINDS))
        rated.append(_Rated(figures["difficulty"], gaps, whose))
        if name == BEST:
            cells |= _summary(
                figures["branch"], gaps_by(answers, questions, "branch", len(KINDS)), whose
            )
    return cells | _leads(material, questions, rated)


def _rates(answers: pd.DataFrame, questions: pd.DataFrame, by: str) -> dict[str, Figure]:
    """Return ``rates_by``, and why there is no rate of questions that nobody answered."""
    asked = (str(key) for key in questions[by].dropna().unique())
    return dict.fromkeys(asked, missing(NOT_ANSWERED)) | rates_by(
        answers, questions, by, len(KINDS)
    )


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return *frame* with the names of the paper: ``branch``, ``cell`` (of table 6), ``leaf``."""
    names = {slug: name for name, slug in KNOWLEDGE_SLUGS.items()}
    leaves = {
        sub.slug: RENAMED.get(one.slug, sub.english) for one in TAXONOMY for sub in one.subclasses
    }
    frame = frame.assign(branch=frame["ability_branch"].map(BRANCHES))
    frame["cell"] = frame["branch"] + "/" + frame["knowledge"].map(names)
    frame["leaf"] = frame["cell"] + "/" + frame["subclass"].map(leaves)
    return frame


def _with_averages(
    cells: Mapping[str, Figure], branches: Mapping[str, Figure]
) -> dict[str, Figure]:
    return {**cells, **{f"{branch}/Avg": figure for branch, figure in branches.items()}}


def _of_questions(material: AgibenchMaterial, questions: pd.DataFrame) -> Cells:
    """Return table 2, table 5, and the counts of levels, modals and lengths."""
    cells: Cells = {}
    if not questions.empty:
        leaves = shares_by(questions, "leaf")
        cells |= put("table-2", list(material.paper.table("table-2").rows), "percentage", leaves)
        levels = shares_by(questions[questions["difficulty"].notna()], "difficulty")
        cells |= put("figure-1", list(levels), "percentage", levels)
        modals = {
            str(modal): Figure(int(n), int(n))
            for modal, n in questions.groupby("modal").size().items()
        }
        cells |= put("modals", list(material.paper.table("modals").rows), "questions", modals)
        n = len(questions)
        for limit in (100, 1000):
            longer = int((questions["characters"] > limit).sum())
            figure = Figure(100 * longer / n, n)
            cells |= put("figure-2", ["all"], f"over {limit}", {"all": figure})
    return cells | _patterns(material)


def _patterns(material: AgibenchMaterial) -> Cells:
    """Return table 5 for the replies that printed patterns read, of all under their conditions."""
    total = sum(material.patterns.values())
    # One row for each question under a condition.
    asked = zip(material.answers["model"], material.answers["condition"], strict=True)
    answered = sum(ModelCondition(*one) in material.matched for one in asked)
    questions = (answered, len(material.matched) * len(material.questions))
    rows = list(material.paper.table("table-5").rows)
    numbers, ratios = {}, {}
    for row in rows:
        n = material.patterns.get(int(row), 0)
        if total:
            numbers[row] = of_part(Figure(n, total), *questions)
            ratios[row] = of_part(Figure(100 * n / total, total), *questions)
    cells = put("table-5", rows, "number", numbers, lacking=REPLIES_OF_TWELVE)
    cells |= put("table-5", rows, "ratio", ratios, lacking=REPLIES_OF_TWELVE)
    trial = material.paper.table("table-4")
    for column in trial.columns:
        cells |= put("table-4", list(trial.rows), column.name, {}, lacking=NO_TRIAL)
    return cells


def _of_people(material: AgibenchMaterial, questions: pd.DataFrame) -> Cells:
    """Return the columns of people: the mean of the human rates of the questions."""
    by_cell = _with_averages(
        means_by(questions, "human", "cell"), means_by(questions, "human", "branch")
    )
    cells: Cells = {}
    for table, figures in (
        ("table-6", by_cell),
        ("figure-4", means_by(questions, "human", "difficulty")),
        ("modals", means_by(questions, "human", "modal")),
    ):
        rows = list(material.paper.table(table).rows)
        cells |= put(table, rows, HUMAN, figures, lacking=NO_HUMAN)
    return cells


def _leads(material: AgibenchMaterial, questions: pd.DataFrame, rated: Iterable[_Rated]) -> Cells:
    """Return by level how far people are ahead of the best of the loaded models.

    Only a model that answered all questions of the level can be the best, each under every prompt
    under which it was asked at all.
    """
    with_questions = set(questions["difficulty"].dropna().map(str))
    cells: Cells = {}
    for level in material.paper.table("figure-4").rows:
        own = [one for one in rated if level in one.rates]
        whole = [(value, one) for one in own if (value := _of_all(one, level)) is not None]
        if whole:
            _value, first = max(whole, key=lambda one: one[0])
            lead = _negated(_gap(first.gaps, first.rates, level))
            cells |= put_row("figure-4", level, [LEAD], {LEAD: lead}, *first.whose)
        else:
            lacking = _why_no_best([one.rates[level].reason or "" for one in own])
            lacking = lacking if level in with_questions else NO_QUESTIONS
            cells |= put_row("figure-4", level, [LEAD], {}, lacking=lacking)
    return cells


def _of_all(rated: _Rated, level: str) -> float | None:
    """Return the rate of a *level* over all its questions under each prompt asked; else None."""
    rate = rated.rates[level]
    if not isinstance(rate, PartFigure):
        return None
    asked, every = len(rated.whose), max(len(KINDS), len(rated.whose))
    return rate.value if rate.answered * every == rate.questions * asked else None


def _why_no_best(reasons: Sequence[str]) -> str:
    """Return why none of the models with these *reasons* can be the best of a level."""
    if PARTLY in reasons:
        return PARTLY
    return next((one for one in reasons if one != NOT_ANSWERED), NOT_ANSWERED)


def _gap(gaps: Mapping[str, Figure], rates: Mapping[str, Figure], key: str) -> Figure:
    """Return the gap of *key*, or why there is none."""
    rate = rates.get(key) or missing(NO_QUESTIONS)
    if rate.value is None:
        return rate
    return gaps.get(key) or missing(NO_HUMAN)


def _negated(gap: Figure) -> Figure:
    """Return how far people are ahead where *gap* is how far the model is."""
    return gap if gap.value is None else replace(gap, value=0.0 - gap.value)


def _summary(
    rates: Mapping[str, Figure], gaps: Mapping[str, Figure], whose: Sequence[Loaded]
) -> Cells:
    """Return the two differences of table 1 from the rates and gaps by branch."""
    figures = {
        "common sense, GPT-4 minus human": _gap(gaps, rates, "Common Sense"),
        "reasoning, human minus GPT-4": _negated(_gap(gaps, rates, "Reasoning")),
    }
    return put_row("table-1", "multi-granularity/observation/2", list(figures), figures, *whose)


def _repeats(material: AgibenchMaterial, name: str, conditions: Mapping[str, Loaded]) -> Cells:
    """Return figures 5 and 6: one row for each prompt of a model.

    A question counts as answered if it has points in as many repeats as any.
    """
    cells: Cells = {}
    for kind, loaded in conditions.items():
        own = of_conditions(material.repeats, [loaded.asked])
        items = complete_items(own)
        many = bool(items) and len(items[0]) > 1
        found = accuracies(items) | repeatability(items) if many else {}
        lacking = TOO_FEW if items or own.empty else reason_of(own["reason"])
        figures = {
            word: of_part(Figure(100 * one.value, one.n), len(items), len(material.questions))
            if one.value is not None
            else one
            for word, one in found.items()
        }
        for table in ("figure-5", "figure-6"):
            columns = [column.name for column in material.paper.table(table).columns]
            cells |= put_row(table, f"{name}/{kind}", columns, figures, loaded, lacking=lacking)
    return cells


def complete_items(repeats: pd.DataFrame) -> list[Item]:
    """Return the answers of each question that has points in as many repeats as any question."""
    if repeats.empty:
        return []
    ordered = repeats.sort_values(["question", "repeat"])
    items = [list(rows.itertuples()) for _question, rows in ordered.groupby("question")]
    times = max(map(len, items))
    complete = [
        item
        for item in items
        if len(item) == times and all(row.points == row.points for row in item)
    ]
    # Rows of a frame have the fields that the figures of repeats read.
    return cast(list[Item], complete)
