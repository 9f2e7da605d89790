"""Keeps what a source says of a task as a whole: how people did, and worked examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from questions.importers.records import FewShotRecord, TaskRecord
from questions.models import FewShotExample, HumanRate, Task
from questions.services.published_rates import new_rates


def store_task_facts(record: TaskRecord) -> bool:
    """Add what *record* says that is not there yet; whether anything was written.

    A changed rate corrects the earlier row. A changed example is replaced, for it
    is no evidence: a run keeps the words that it asked with. A task without
    questions is left alone. Call it in a transaction.
    """
    task = Task.objects.filter(dataset__slug=record.dataset, slug=record.task).first()
    if task is None:
        return False
    stored = list(HumanRate.objects.filter(task=task).order_by("pk"))
    rates = new_rates(record.human_rates, stored, task=task.pk)
    HumanRate.objects.bulk_create(rates)
    return _store_examples(task, record.examples) or bool(rates)


def _store_examples(task: Task, examples: Sequence[FewShotRecord]) -> bool:
    known = {example.number: example for example in FewShotExample.objects.filter(task=task)}
    changed = []
    for record in examples:
        values = asdict(record) | {
            "options": list(record.options),
            "answer_key": list(record.answer_key),
        }
        before = known.get(record.number)
        if before is None or any(getattr(before, name) != new for name, new in values.items()):
            changed.append(FewShotExample(task=task, **values))
    FewShotExample.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["task", "number"],
        update_fields=["passage", "stem", "options", "letters", "answer_key", "explanation"],
    )
    return bool(changed)
