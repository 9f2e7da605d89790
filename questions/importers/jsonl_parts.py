"""The parts of a line of our exam format that are lists or objects: rubric, labels, human rates.

Also the line that tells of a whole task. The keys are documented in docs/datasets.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from gradeapp.common.strict_json import JsonRefusal
from questions.importers.jsonl_values import (
    check_keys,
    list_of,
    marks_of,
    member_of,
    name_of,
    number_of,
    slug_of,
    text_of,
    texts_of,
    whole_of,
    wrong_type,
)
from questions.importers.records import (
    FewShotRecord,
    HumanRateRecord,
    LabelsRecord,
    RubricGroupRecord,
    ScoringPointRecord,
    TaskRecord,
)
from questions.rules.vocabulary import AbilityBranch, Modal

LABEL_KEYS = ("ability_branch", "knowledge", "difficulty", "modal")
RATE_KEYS = ("value", "source", "sample_size", "weight")
POINT_KEYS = ("text", "points", "sub", "group")
GROUP_KEYS = ("cap", "text", "sub", "choose")
EXAMPLE_KEYS = ("number", "passage", "stem", "options", "letters", "answer", "explanation")
TASK_KEYS = ("about", "dataset", "task", "human_rates", "examples")
KINDS = ("average", "top")
MAX_SOURCE = 200
MAX_GROUP_TEXT = 200
MAX_SUB = 1000
MAX_WEIGHT = Decimal(10_000_000)
MAX_PEOPLE = 1_000_000_000


def objects_of(row: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in the list under *key*; none where it is left out."""
    values = list_of(row, key)
    if not all(isinstance(value, dict) for value in values):
        raise wrong_type(key, "a list of objects")
    return values


# ---- rubric ----


def point_from(value: dict[str, Any]) -> ScoringPointRecord:
    """One scoring point."""
    check_keys(value, ("text", "points"), POINT_KEYS)
    text = text_of(value, "text")
    if not text.strip():
        raise JsonRefusal("bad_value", "A scoring point has no text.")
    return ScoringPointRecord(
        text=text,
        points=marks_of(value["points"], "points"),
        sub=whole_of(value, "sub", 1, MAX_SUB, default=1) or 1,
        group=whole_of(value, "group", 1, MAX_SUB, default=None),
    )


def point_object(point: ScoringPointRecord) -> dict[str, Any]:
    """*point* as ``point_from`` reads it."""
    group = {} if point.group is None else {"group": point.group}
    return {"text": point.text, "points": point.points, "sub": point.sub} | group


def group_from(value: dict[str, Any]) -> RubricGroupRecord:
    """One group of scoring points under a cap."""
    check_keys(value, ("cap",), GROUP_KEYS)
    return RubricGroupRecord(
        cap=marks_of(value["cap"], "cap"),
        text=text_of(value, "text", MAX_GROUP_TEXT),
        sub=whole_of(value, "sub", 1, MAX_SUB, default=1) or 1,
        choose=whole_of(value, "choose", 1, MAX_SUB, default=None),
    )


def group_object(group: RubricGroupRecord) -> dict[str, Any]:
    """*group* as ``group_from`` reads it."""
    choose = {} if group.choose is None else {"choose": group.choose}
    return {"cap": group.cap, "text": group.text, "sub": group.sub} | choose


# ---- labels and rates ----


def labels_from(row: dict[str, Any]) -> LabelsRecord | None:
    """The labels of a question; None where it has none."""
    value = row.get("labels")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise wrong_type("labels", "an object")
    check_keys(value, (), LABEL_KEYS)
    branch = value.get("ability_branch") is not None
    return LabelsRecord(
        ability_branch=member_of(value, "ability_branch", AbilityBranch) if branch else None,
        knowledge=slug_of(value, "knowledge", 80) if value.get("knowledge") else "",
        difficulty=whole_of(value, "difficulty", 1, 5, default=None),
        modal=member_of(value, "modal", Modal) if value.get("modal") is not None else None,
    )


def labels_object(labels: LabelsRecord | None) -> dict[str, Any] | None:
    """*labels* as ``labels_from`` reads them; an object without keys is no None."""
    if labels is None:
        return None
    values = {key: getattr(labels, key) for key in LABEL_KEYS}
    return {key: value for key, value in values.items() if value}


def rate_from(value: dict[str, Any], *, of_task: bool = False) -> HumanRateRecord:
    """One human rate; that of a task may say ``kind``: average or top."""
    check_keys(value, ("value", "source"), (*RATE_KEYS, "kind") if of_task else RATE_KEYS)
    rate = number_of(value["value"], "value")
    if not 0 <= rate <= 1 or rate != round(rate, 4):
        raise JsonRefusal("bad_value", "A human rate lies from 0 to 1, with four decimals.")
    weight = number_of(value.get("weight", 1), "weight")
    if not 0 < weight < MAX_WEIGHT or weight != round(weight, 2):
        raise JsonRefusal("bad_value", "A weight is over 0, with two decimals.")
    kind = text_of(value, "kind") or KINDS[0]
    if kind not in KINDS:
        raise JsonRefusal("bad_value", f"'kind' is {kind[:60]!r}; it must be average or top.")
    return HumanRateRecord(
        value=rate,
        source=name_of(value, "source", MAX_SOURCE),
        sample_size=whole_of(value, "sample_size", 1, MAX_PEOPLE, default=None),
        weight=weight,
        kind=kind,
    )


def rate_object(rate: HumanRateRecord) -> dict[str, Any]:
    """*rate* as ``rate_from`` reads it."""
    optional: dict[str, Any] = {
        "sample_size": rate.sample_size,
        "weight": None if rate.weight == 1 else rate.weight,
        "kind": None if rate.kind == KINDS[0] else rate.kind,
    }
    known = {key: value for key, value in optional.items() if value is not None}
    return {"value": rate.value, "source": rate.source} | known


# ---- a whole task ----


def task_from(row: dict[str, Any]) -> TaskRecord:
    """What a line with ``"about": "task"`` says of a task."""
    check_keys(row, ("about", "dataset", "task"), TASK_KEYS)
    if row["about"] != "task":
        raise JsonRefusal("bad_value", "'about' can only be 'task'.")
    examples = tuple(_example(value) for value in objects_of(row, "examples"))
    if len({example.number for example in examples}) < len(examples):
        raise JsonRefusal("duplicate_id", "Two examples of the task have the same number.")
    return TaskRecord(
        dataset=slug_of(row, "dataset", 50),
        task=name_of(row, "task", 120),
        human_rates=tuple(
            rate_from(value, of_task=True) for value in objects_of(row, "human_rates")
        ),
        examples=examples,
    )


def task_object(task: TaskRecord) -> dict[str, Any]:
    """*task* as ``task_from`` reads it."""
    return {
        "about": "task",
        "dataset": task.dataset,
        "task": task.task,
        "human_rates": [rate_object(rate) for rate in task.human_rates],
        "examples": [_filled(_example_object(example)) for example in task.examples],
    }


def _example(value: dict[str, Any]) -> FewShotRecord:
    check_keys(value, ("number", "stem"), EXAMPLE_KEYS)
    return FewShotRecord(
        number=whole_of(value, "number", 1, 1000, default=None) or 1,
        stem=text_of(value, "stem"),
        answer_key=tuple(texts_of(value, "answer")),
        explanation=text_of(value, "explanation"),
        passage=text_of(value, "passage"),
        options=tuple(texts_of(value, "options")),
        letters=text_of(value, "letters", 26),
    )


def _example_object(example: FewShotRecord) -> dict[str, Any]:
    return {
        "number": example.number,
        "stem": example.stem,
        "passage": example.passage,
        "options": list(example.options),
        "letters": example.letters,
        "answer": list(example.answer_key),
        "explanation": example.explanation,
    }


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    always: Iterable[str] = ("number", "stem")
    return {key: value for key, value in values.items() if value or key in always}
