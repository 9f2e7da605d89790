"""Suggestions of models: kept as opinions of their own, never as labels.

A file has one JSON object a line. It names its question by ``id`` or by
``dataset``, ``task`` and ``external_id``, the model by ``model``, and any of the
four labels: ``ability_branch``, ``knowledge`` (a slug), ``difficulty``, ``modal``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.name_checks import SENTENCES
from gradeapp.common.names import name_problem
from gradeapp.common.refusals import BadInput
from gradeapp.common.strict_json import JsonRefusal, cleaned, numbered_objects
from questions.models import Knowledge, LabelOpinion, Question, Task
from questions.rules.four_tuple import BadLabel, Label, Value, read_change
from questions.selectors.opinions import counting_suggestions

MOST_ROWS = 100_000
MOST_PROBLEMS = 50
# Of a line: names, a model and four labels.
LONGEST = 16 * 1024
CHUNK = 500
PLACE = ("dataset", "task", "external_id")
FIELDS = {"id", "model", *PLACE, *Label}

Key = UUID | tuple[str, str, str]
Some = TypeVar("Some")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What one model says of one question."""

    question: int
    model: str
    labels: Mapping[Label, Value]


@dataclass(frozen=True, slots=True)
class KeptSuggestions:
    """How many were new and how many the model had said before; or what refused the file."""

    new: int
    same: int
    problems: tuple[tuple[int, str], ...] = ()


class _RowProblem(ValueError):
    """Why a line is refused, in one sentence."""


def import_suggestions(stream: BinaryIO, *, acting_user: User) -> KeptSuggestions:
    """Keep every line of *stream*, or none: then the problems name their lines.

    Raises BadInput for a file without any line.
    """
    knowledge = dict(Knowledge.objects.values_list("slug", "pk"))
    found: list[tuple[int, Key, str, dict[Label, Value]]] = []
    problems: list[tuple[int, str]] = []
    for number, row in numbered_objects(stream, longest=LONGEST):
        try:
            if number > MOST_ROWS:
                raise _RowProblem(
                    _("A file can have at most %(most)d lines.") % {"most": MOST_ROWS}
                )
            found.append((number, *_read(row, knowledge)))
        except _RowProblem as problem:
            problems.append((number, str(problem)))
        if len(problems) >= MOST_PROBLEMS or number > MOST_ROWS:
            break
    if not found and not problems:
        raise BadInput(_("The file contains no suggestion."), code="empty_file")
    suggestions, more = _located(found)
    problems = sorted([*problems, *more])[:MOST_PROBLEMS]
    if problems:
        return KeptSuggestions(0, 0, tuple(problems))
    return keep_suggestions(suggestions, acting_user=acting_user)


@transaction.atomic
def keep_suggestions(suggestions: Iterable[Suggestion], *, acting_user: User) -> KeptSuggestions:
    """Store *suggestions* as opinions of their models; what a model said last is not repeated.

    The questions are held: what another file or a run brings meanwhile comes before or after.
    """
    given = {(one.question, one.model): one for one in suggestions}
    for chunk in _chunks(sorted({one.question for one in given.values()})):
        rows = Question.objects.filter(pk__in=chunk).order_by("pk").values_list("pk", flat=True)
        list(rows.select_for_update(no_key=True))
    last = counting_suggestions(one.question for one in given.values())
    new = [
        LabelOpinion(
            question_id=one.question,
            model_name=one.model,
            ability_branch=str(one.labels.get(Label.ABILITY_BRANCH) or ""),
            knowledge_id=one.labels.get(Label.KNOWLEDGE),
            difficulty=one.labels.get(Label.DIFFICULTY),
            modal=str(one.labels.get(Label.MODAL) or ""),
            follows_id=last[key].key if key in last else None,
        )
        for key, one in given.items()
        if key not in last or last[key].labels != {name: one.labels.get(name) for name in Label}
    ]
    LabelOpinion.objects.bulk_create(new, batch_size=CHUNK)
    if new:
        models = sorted({opinion.model_name for opinion in new})
        record(
            Tag.SUGGESTIONS_KEPT,
            Question(pk=new[0].question_id),
            actor=acting_user,
            models=models,
            new=len(new),
        )
    return KeptSuggestions(len(new), len(given) - len(new))


def _read(
    row: dict[str, Any] | JsonRefusal, knowledge: Mapping[str, int]
) -> tuple[Key, str, dict[Label, Value]]:
    if isinstance(row, JsonRefusal):
        raise _RowProblem(row.text)
    if cleaned(row)[1]:
        raise _RowProblem(_("The line holds a character that cannot be stored."))
    if unknown := sorted(set(row) - FIELDS):
        raise _RowProblem(_("There is no field called “%(name)s”.") % {"name": unknown[0][:60]})
    model = row.get("model")
    if not isinstance(model, str) or not 0 < len(model.strip()) <= 120:
        raise _RowProblem(_("The line does not state the model."))
    if problem := name_problem(model.strip()):
        raise _RowProblem(str(SENTENCES[problem]))
    try:
        labels = read_change({name: value for name, value in row.items() if name in set(Label)})
    except BadLabel as bad:
        params = {"value": str(bad.value)[:60], "label": bad.label}
        raise _RowProblem(_("“%(value)s” is not a value of “%(label)s”.") % params) from None
    if slug := labels.get(Label.KNOWLEDGE):
        if str(slug) not in knowledge:
            raise _RowProblem(
                _("There is no knowledge point called “%(slug)s”.") % {"slug": str(slug)[:80]}
            )
        labels[Label.KNOWLEDGE] = knowledge[str(slug)]
    if not any(labels.values()):
        raise _RowProblem(_("The line contains no label."))
    return _key(row), model.strip(), labels


def _key(row: Mapping[str, Any]) -> Key:
    if "id" in row:
        if not row.keys().isdisjoint(PLACE):
            raise _RowProblem(_("The line names its question in two ways."))
        try:
            return UUID(str(row["id"]))
        except ValueError:
            raise _RowProblem(_("There is no such question.")) from None
    dataset, task, external_id = (row.get(name) for name in PLACE)
    if not (isinstance(dataset, str) and isinstance(task, str) and isinstance(external_id, str)):
        raise _RowProblem(_("The line does not state the question."))
    return dataset, task, external_id


def _located(
    found: list[tuple[int, Key, str, dict[Label, Value]]],
) -> tuple[list[Suggestion], list[tuple[int, str]]]:
    """The suggestions with the keys of their questions, and what is wrong with other lines.

    Their question is unknown, or its model speaks of it in a line before.
    """
    keys = _question_keys({key for _number, key, _model, _labels in found})
    suggestions: list[Suggestion] = []
    problems: list[tuple[int, str]] = []
    lines: dict[tuple[int, str], int] = {}
    for number, key, model, labels in found:
        if key not in keys:
            problems.append((number, _("There is no such question.")))
        elif (first := lines.setdefault((keys[key], model), number)) != number:
            sentence = _("Line %(line)s has the same question and model.") % {"line": first}
            problems.append((number, sentence))
        else:
            suggestions.append(Suggestion(keys[key], model, labels))
    return suggestions, problems


def _question_keys(wanted: set[Key]) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for chunk in _chunks([key for key in wanted if isinstance(key, UUID)]):
        named = Question.objects.filter(public_id__in=chunk)
        found.update(named.values_list("public_id", "pk"))
    places = {key[:2] for key in wanted if isinstance(key, tuple)}
    # By the tasks that there are: a file may name any number of others.
    tasks = Task.objects.values_list("dataset__slug", "slug", "pk") if places else ()
    named_tasks = {pk: (dataset, task) for dataset, task, pk in tasks if (dataset, task) in places}
    rows = Question.objects.filter(task__in=named_tasks)
    for task, external_id, pk in rows.values_list("task", "external_id", "pk"):
        found[*named_tasks[task], external_id] = pk
    return found


def _chunks(keys: list[Some]) -> Iterator[list[Some]]:
    return (keys[at : at + CHUNK] for at in range(0, len(keys), CHUNK))
