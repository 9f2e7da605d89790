"""The floor of the import: parse the files, store the rows, and nothing else.

It checks nothing, compares nothing and could not be run twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import transaction

from questions.importers.catalogue import file_kind
from questions.models import Dataset, Question, QuestionRevision, Task


@transaction.atomic
def bare(path: Path) -> int:
    """Store the items of the benchmark's folder with one bulk statement a table; how many."""
    dataset = Dataset.objects.create(slug="bare", name="bare")
    files = sorted((path / "Data").rglob("*.json"))
    rows = [pair for file in files for pair in _rows(dataset, json.loads(file.read_bytes()))]
    Question.objects.bulk_create(question for question, _ in rows)
    QuestionRevision.objects.bulk_create(revision for _, revision in rows)
    return len(rows)


def _rows(
    dataset: Dataset, document: dict[str, Any]
) -> Iterator[tuple[Question, QuestionRevision]]:
    slug = document.get("keyword") or document["keywords"]
    kind = file_kind(slug)
    assert kind is not None  # the benchmark's own files
    task = Task.objects.create(
        dataset=dataset,
        slug=slug,
        part=kind.question_type.part,
        question_type=kind.question_type,
        language=kind.language,
    )
    for item in document["example"]:
        question = Question(
            task=task,
            external_id=str(item["index"]),
            position=item["index"],
            subject=kind.subject or "",
            part=task.part,
            year=int(item["year"]),
            paper=item["category"],
        )
        keys = item["answer"] if isinstance(item["answer"], list) else []
        revision = QuestionRevision(
            question=question,
            number=1,
            question_type=kind.question_type,
            language=kind.language,
            stem=item["question"],
            letters=kind.letters,
            answer_key=keys,
            reference_answer="" if keys else item["answer"],
            analysis=item["analysis"],
            sub_marks=[str(item["score"])] * max(len(keys), 1),
            full_marks=item["score"] * max(len(keys), 1),
        )
        yield question, revision
