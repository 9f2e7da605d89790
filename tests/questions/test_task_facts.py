"""What AGIEval says of a task as a whole: human performance and few-shot examples, stored once."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from questions.models import FewShotExample, HumanRate, Task
from questions.services.imports import import_questions
from tests.questions.test_importer_agieval import ITEM, write, write_examples

pytestmark = pytest.mark.django_db


def table(explanation: str) -> list[list[str]]:
    return [
        ["", "lsat-ar", "lsat-lr"],
        ["sample 1", repr(ITEM), repr(ITEM)],
        ["explanation 1", explanation, "Because."],
    ]


def test_a_task_gets_its_rates_and_examples_once(tmp_path: Path) -> None:
    folder = write_examples(tmp_path, *table("Because."))
    for _ in range(2):
        import_questions("agieval", folder)
    task = Task.objects.get()
    rates = task.human_rates.values_list("kind", "value", "source", "question")
    assert list(rates) == [
        ("average", Decimal("0.56"), "AGIEval, human performance", None),
        ("top", Decimal("0.91"), "AGIEval, human performance", None),
    ]
    example = FewShotExample.objects.get()
    assert (example.task, example.number, example.explanation) == (task, 1, "Because.")
    assert (example.options, example.answer_key) == (["one", "two", "three", "four"], ["B"])


def test_a_changed_example_is_replaced(tmp_path: Path) -> None:
    import_questions("agieval", write_examples(tmp_path, *table("Because.")))
    import_questions("agieval", write_examples(tmp_path, *table("For this reason.")))
    assert FewShotExample.objects.get().explanation == "For this reason."


def test_a_refused_file_leaves_no_fact(tmp_path: Path) -> None:
    folder = write_examples(tmp_path, *table("Because."))
    write(folder, ITEM, task="lsat-lr")
    (folder / "lsat-ar.jsonl").write_text("{")
    report = import_questions("agieval", folder)
    assert (report.new, report.refused) == (1, 1)
    assert list(Task.objects.values_list("slug", flat=True)) == ["lsat-lr"]
    assert HumanRate.objects.count() == 2
    assert FewShotExample.objects.count() == 1


def test_a_dry_run_leaves_no_fact(tmp_path: Path) -> None:
    import_questions("agieval", write_examples(tmp_path, *table("Because.")), dry_run=True)
    assert not HumanRate.objects.exists()
    assert not FewShotExample.objects.exists()
