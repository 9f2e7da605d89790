"""Checks of a file against the bank (names, images, knowledge), and storing its images."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from django.db.models import Model

from questions.importers.jsonl_images import HEAD_BYTES, image_kind
from questions.importers.records import Problem, QuestionRecord, SourceFile
from questions.models import Asset, Dataset, Knowledge, Question, QuestionRevision, Task
from questions.rules.taxonomy import SLUGS

MAX_FULL_MARKS = Decimal("9999.99")
MAX_POINTS = Decimal("999.99")


def storable(file: SourceFile, images: Mapping[str, Path]) -> SourceFile:
    """*file* with the problems that only the bank knows of, each of which refuses it."""
    if not file.records:
        return file
    problems = [problem for record in file.records for problem in _too_large(file.name, record)]
    problems += _unknown_knowledge(file)
    if not file.refused:
        problems += [
            Problem(
                file.name,
                None,
                "image_changed",
                f"The bank has another image called {name!r}; give this one a new name.",
                fatal=True,
            )
            for name in changed_images(file.records, images)
        ]
    return replace(file, problems=(*file.problems, *problems)) if problems else file


def _unknown_knowledge(file: SourceFile) -> Iterator[Problem]:
    named = {record.labels.knowledge for record in file.records if record.labels} - {"", *SLUGS}
    if named:
        named -= set(Knowledge.objects.filter(slug__in=named).values_list("slug", flat=True))
    for slug in sorted(named):
        text = f"The bank has no knowledge called {slug[:80]!r}."
        yield Problem(file.name, None, "unknown_knowledge", text, fatal=True)


_LENGTHS: tuple[tuple[str, type[Model], str], ...] = (
    ("dataset", Dataset, "slug"),
    ("task", Task, "slug"),
    ("external_id", Question, "external_id"),
    ("paper", Question, "paper"),
    ("paper_published", QuestionRevision, "paper_published"),
)


def _too_large(name: str, record: QuestionRecord) -> Iterator[Problem]:
    """What one database would cut and another refuse."""
    for attribute, model, column in _LENGTHS:
        longest = model._meta.get_field(column).max_length or 0  # type: ignore[union-attr]
        if len(getattr(record, attribute)) > longest:
            text = f"{attribute!r} of question {record.external_id[:80]!r} is over {longest} long."
            yield Problem(name, None, "too_long", text, fatal=True)
    lines = [point.points for point in record.rubric]
    points = max((*lines, *(group.cap for group in record.rubric_groups)), default=Decimal(0))
    if record.full_marks > MAX_FULL_MARKS or points > MAX_POINTS:
        text = f"Question {record.external_id[:80]!r} is worth more than the bank can hold."
        yield Problem(name, None, "too_many_points", text, fatal=True)


def changed_images(records: Sequence[QuestionRecord], images: Mapping[str, Path]) -> list[str]:
    """The images that the bank holds under the same name with another content.

    An image must not change under a revision that was answered or marked.
    """
    used = {(record.dataset, name) for record in records for name in record.images}
    stored = Asset.objects.filter(dataset__slug__in={slug for slug, _ in used})
    return [
        name
        for slug, name, sha256 in stored.values_list("dataset__slug", "name", "sha256")
        if (slug, name) in used and _sha256(images[name].read_bytes()) != sha256
    ]


def store_images(
    dataset: Dataset, records: Sequence[QuestionRecord], images: Mapping[str, Path]
) -> None:
    """Keep the images of *records* that *dataset* does not have yet."""
    names = {name for record in records for name in record.images}
    known = Asset.objects.filter(dataset=dataset, name__in=names).values_list("name", flat=True)
    Asset.objects.bulk_create(
        _asset(dataset, name, images[name].read_bytes()) for name in sorted(names - set(known))
    )


def _asset(dataset: Dataset, name: str, content: bytes) -> Asset:
    return Asset(
        dataset=dataset,
        name=name,
        media_type=f"image/{image_kind(content[:HEAD_BYTES])}",
        sha256=_sha256(content),
        content=content,
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
