"""Names of models and conditions that differ from known ones only by case, width or spaces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from evaluations.imports.rules.answer_records import AnswerFile
from evaluations.models import Condition, LanguageModel
from gradeapp.common.names import folded
from questions.importers.records import Problem

# A model, and one of its conditions or "".
Asked = tuple[str, str]


def similar_model(model: str) -> str:
    """Return a known model that reads as *model*; "" if there is none, or *model* is known."""
    return _similar(model, LanguageModel.objects.values_list("name", flat=True))


def similar_condition(model: str, condition: str) -> str:
    """Return a condition of *model* that reads as *condition*, as ``similar_model`` does."""
    known = Condition.objects.filter(language_model__name=model)
    return _similar(condition, known.values_list("name", flat=True))


def _similar(name: str, known: Iterable[str]) -> str:
    alike = [one for one in known if folded(one) == folded(name)]
    return "" if name in alike else next(iter(alike), "")


def name_problems(file: AnswerFile, seen: Iterable[Asked] = ()) -> list[Problem]:
    """Return a problem for each model and condition of *file* whose name reads as a known one.

    *seen* are those of earlier files that are not stored.
    """
    rows: dict[Asked, int] = {}
    for answer in file.answers:
        rows.setdefault((answer.model, ""), answer.row)
        rows.setdefault((answer.model, answer.condition), answer.row)
    known: dict[Asked, list[str]] = defaultdict(list)
    for model, condition in (*_stored({model for model, _ in rows}), *seen):
        known[_place(model, condition)].append(condition or model)
    problems: list[Problem] = []
    for (model, condition), row in rows.items():
        name, place = condition or model, _place(model, condition)
        if other := next((one for one in known[place] if one != name), ""):
            text = (
                f"there is a model “{other}”; “{name}” differs from it only in case, width or"
                " spaces."
            )
            if condition:
                text = (
                    f"{model} has a condition “{other}”; “{name}” differs from it only in case,"
                    " width or spaces."
                )
            problems.append(Problem(file.name, row, "similar_name", f"Row {row}: {text}"))
        known[place].append(name)
    return problems


def names_in(file: AnswerFile) -> set[Asked]:
    """Return the models and conditions of *file*."""
    asked = {(answer.model, answer.condition) for answer in file.answers}
    return asked | {(model, "") for model, _ in asked}


def _place(model: str, condition: str) -> Asked:
    """Return what names have in common that read as one: of models, or of conditions of a model."""
    return (model, folded(condition)) if condition else ("", folded(model))


def _stored(models: set[str]) -> Iterable[Asked]:
    for name in LanguageModel.objects.values_list("name", flat=True):
        yield name, ""
    conditions = Condition.objects.filter(language_model__name__in=models)
    yield from conditions.values_list("language_model__name", "name")
