"""Build the report ``paper-tables``: the tables of a paper, rebuilt beside the printed cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import Count, Max
from django.utils.translation import gettext as _

from evaluations.conditions import ConditionOrigin
from evaluations.facts.pairs import mark_pairs
from evaluations.facts.params import (
    JUDGE_PREFIX,
    TEACHERS,
    ReportParams,
    markers_of,
    models_with_answers,
    validated,
)
from evaluations.models import BlindAnswer, Judgement, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reports.providers import capabilities_of
from evaluations.reports.rules import paper_agibench, paper_agieval, paper_gaokao
from evaluations.reports.rules.paper_cells import (
    NOT_LOADED,
    Cells,
    Loaded,
    StandIns,
    compared,
    counts,
    stand_ins,
)
from evaluations.reports.rules.published_tables import Paper, PublishedPaper, published_paper
from evaluations.reports.selectors.frames import (
    questions_frame,
    reasoned_frame,
    repeat_frame,
)
from evaluations.reports.selectors.rows_behind import matched_conditions, pattern_counts
from evaluations.statistics.figure import Report
from evaluations.statistics.gaokao_750 import Precision
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition
from gradeapp.common.refusals import BadInput
from questions.models import Dataset, HumanRate, Question, Task

if TYPE_CHECKING:
    import pandas as pd

NAME = "paper-tables"
# Without questions nothing can be rebuilt.
NO_QUESTIONS = "no_questions"


def paper_tables(params: ReportParams) -> Report:
    """Return every printed cell of ``params.paper`` beside ours.

    One row for each cell, keyed by table, row and column, with the model and condition that stand
    for the printed one; models that are not in the paper have rows or columns of their own.
    ``models`` may also name pairs (``GPT-4=my-model``): the loaded model stands for the printed
    one. ``params`` of the report says who stands for whom, how many cells of each table are
    rebuilt and equal, and has the notes on misprints.

    Raises BadInput for an unknown paper, and what ``validated`` raises.
    """
    paper = known_paper(params.paper)
    if Dataset.objects.filter(slug=params.dataset).exists():
        chosen, params = _read_models(paper, params)
        loaded = loaded_conditions(params)
        who = stand_ins(paper, printed_models(paper), loaded, chosen)
        cells = _REBUILT[paper.paper](paper, params, who)
        rows = compared(paper, cells, NOT_LOADED, loaded, Policy(params.policy))
    else:
        who = StandIns({})
        rows = compared(paper, {}, NO_QUESTIONS)
    about: dict[str, object] = {
        **params.as_dict(),
        "title": paper.title,
        "models": dict(who.models),
        "cells": counts(rows),
        "notes": {note.id: note.en for note in paper.notes},
    }
    return Report(NAME, about, rows)


def params_of_answers(params: ReportParams) -> ReportParams:
    """Return *params* (of a paper) with the loaded models alone, as their answers are chosen."""
    if not Dataset.objects.filter(slug=params.dataset).exists():
        return params
    return _read_models(known_paper(params.paper), params)[1]


def markers_in(params: ReportParams) -> list[str]:
    """Return whose marks the tables of *params* show; in GAOKAO-Bench always the teachers' too."""
    if params.paper != Paper.GAOKAO_BENCH:
        return [params.marker or TEACHERS]
    chosen = [params.marker] if params.marker else markers_of(params.dataset)
    return list(dict.fromkeys([TEACHERS, *chosen]))


def loaded_papers() -> list[Paper]:
    """Return the papers whose questions are loaded."""
    slugs = set(Dataset.objects.filter(slug__in=list(Paper)).values_list("slug", flat=True))
    return [paper for paper in Paper if paper.value in slugs]


def known_paper(name: str) -> PublishedPaper:
    """Return the paper *name*. Raises BadInput, which lists the papers."""
    if name not in list(Paper):
        raise BadInput(
            _("There is no paper “%(name)s”; choose one of: %(known)s.")
            % {"name": name, "known": ", ".join(Paper)}
        )
    return published_paper(Paper(name))


def _read_models(
    paper: PublishedPaper, params: ReportParams
) -> tuple[dict[str, str], ReportParams]:
    """Return the pairs among the models, and *params* limited to the models named alone, if any.

    A name with an equals sign is a pair unless a loaded model has that name.
    """
    loaded = models_with_answers(params.dataset)
    alone = [name for name in params.models if name and (name in loaded or "=" not in name)]
    chosen = dict(name.split("=", 1) for name in params.models if name and name not in alone)
    every = dict.fromkeys((*alone, *chosen.values()))
    validated(replace(params, models=tuple(every)))
    printed = printed_models(paper)
    for name in chosen:
        if name not in printed:
            raise BadInput(
                _("The paper has no model “%(name)s”; choose one of: %(known)s.")
                % {"name": name, "known": ", ".join(printed)}
            )
    return chosen, replace(params, models=tuple(every) if alone else ())


def printed_models(paper: PublishedPaper) -> list[str]:
    """Return the models that the paper names, in its order."""
    if paper.paper == Paper.GAOKAO_BENCH:
        return list(paper.table("table-1").rows)
    if paper.paper == Paper.AGIBENCH:
        return list(paper.table("table-3").rows)
    names = [column.name.partition(":")[2] for column in paper.table("table-2").columns]
    return [name for name in dict.fromkeys(names) if name not in ("average", "top")]


def loaded_conditions(params: ReportParams) -> list[Loaded]:
    """Return the conditions under which *params* has answers, by model and name."""
    runs = Run.objects.filter(
        params.of_runs(), purpose=RunPurpose.ANSWER, responses__isnull=False
    ).values_list(
        *("language_model__name", "condition__name", "condition__setting"),
        *("condition__prompts__prompt_set__slug", "condition__origin"),
    )
    rows = runs.annotate(
        n=Count("responses__question", distinct=True),
        repeats=Count("responses__repeat", distinct=True),
        age=Max("pk"),
    )
    return [
        Loaded(
            asked=ModelCondition(model, condition or ""),
            setting=setting or "",
            prompts=prompts or "",
            imported=origin == ConditionOrigin.IMPORTED,
            questions=n,
            repeats=repeats,
            age=age,
        )
        for model, condition, setting, prompts, origin, n, repeats, age in rows.order_by(
            "language_model__name", "condition__name"
        )
    ]


def _gaokao(paper: PublishedPaper, params: ReportParams, who: StandIns) -> Cells:
    teachers, *judges = markers_in(params)
    published = params.policy == Policy.PUBLISHED
    return paper_gaokao.rebuilt(
        paper_gaokao.GaokaoMaterial(
            paper=paper,
            stand_ins=who,
            questions=_with_lengths(questions_frame(params.dataset)),
            answers={
                marker: reasoned_frame(replace(params, marker=marker))
                for marker in (teachers, *judges)
            },
            with_criterion={judge: _sees_criterion(judge) for judge in judges},
            pairs=mark_pairs(replace(params, marker="")),
            question_of=_marked_questions(params),
            precision=Precision.PUBLISHED if published else Precision.FULL,
        )
    )


def _marked_questions(params: ReportParams) -> dict[int, int]:
    """Return the questions of the responses that people mark, by the key of the response."""
    answers = BlindAnswer.objects.filter(round__dataset__slug=params.dataset).order_by()
    return dict(answers.values_list("response_id", "question_id"))


def _sees_criterion(judge: str) -> bool:
    """Return whether *judge* was asked here, with the rubric; released gradings are without."""
    given = Judgement.objects.filter(judge__name=judge.removeprefix(JUDGE_PREFIX))
    return given.filter(attempt__isnull=False).exists()


def _with_lengths(questions: pd.DataFrame) -> pd.DataFrame:
    """Return *questions* with ``file_type``, and ``characters`` and ``words`` of the text."""
    of_dataset = Question.objects.filter(pk__in=questions["question"].tolist())
    texts = dict(of_dataset.values_list("pk", "current__stem"))
    types = dict(Task.objects.filter(questions__in=of_dataset).values_list("slug", "question_type"))
    stems = questions["question"].map(texts)
    return questions.assign(
        file_type=questions["task"].map(types),
        characters=stems.map(len),
        words=stems.map(lambda text: len(text.split())),
    )


def _agieval(paper: PublishedPaper, params: ReportParams, who: StandIns) -> Cells:
    rates = HumanRate.objects.filter(task__dataset__slug=params.dataset, corrected_by=None)
    human: dict[str, dict[str, float]] = {}
    for task, kind, value in rates.order_by("pk").values_list("task__slug", "kind", "value"):
        human.setdefault(kind, {})[task] = float(value)
    return paper_agieval.rebuilt(
        paper_agieval.AgievalMaterial(
            paper=paper,
            stand_ins=who,
            questions=questions_frame(params.dataset),
            answers=reasoned_frame(params),
            human=human,
            capabilities=capabilities_of(params.dataset),
        )
    )


def _agibench(paper: PublishedPaper, params: ReportParams, who: StandIns) -> Cells:
    return paper_agibench.rebuilt(
        paper_agibench.AgibenchMaterial(
            paper=paper,
            stand_ins=who,
            questions=_with_lengths(questions_frame(params.dataset)),
            answers=reasoned_frame(params),
            repeats=repeat_frame(params),
            patterns=pattern_counts(params),
            matched=matched_conditions(params),
        )
    )


_REBUILT: dict[Paper, Callable[[PublishedPaper, ReportParams, StandIns], Cells]] = {
    Paper.GAOKAO_BENCH: _gaokao,
    Paper.AGIEVAL: _agieval,
    Paper.AGIBENCH: _agibench,
}
