"""Checks of a file against the bank (names, images, knowledge), and storing its images."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from django.db.models import Model

from gradeapp.common.names import name_problem
from questions.importers.image_files import written_anew
from questions.importers.jsonl_images import HEAD_BYTES, image_kind
from questions.importers.records import Problem, QuestionRecord, SourceFile
from questions.models import Asset, Dataset, Knowledge, Question, QuestionRevision, Task
from questions.rules.taxonomy import SLUGS

MAX_FULL_MARKS = Decimal("9999.99")
MAX_POINTS = Decimal("999.99")
IMAGE_SENTENCES = {
    "image_content": "The image {name} is broken: its picture cannot be decoded.",
    "image_pixels": "The image {name} has more than 40 million pixels.",
    "image_too_large": "The image {name} is larger than 5 MB.",
    "image_work": "The image {name} takes too much memory or time to decode.",
}


def storable(file: SourceFile, images: Mapping[str, Path]) -> SourceFile:
    """*file* with the problems that only the bank knows of, each of which refuses it."""
    if not file.records:
        return file
    problems = [problem for record in file.records for problem in _too_large(file.name, record)]
    problems += [problem for record in file.records for problem in _hidden(file.name, record)]
    problems += _unknown_knowledge(file)
    if not file.refused:
        problems += image_problems(file.name, changed_images(file.records, images))
    return replace(file, problems=(*file.problems, *problems)) if problems else file


def image_problems(file: str, changed: Sequence[str]) -> list[Problem]:
    """What refuses *file* for each image that the bank has *changed*, by name."""
    sentence = "The bank has another image called {!r}; give this one a new name."
    return [
        Problem(file, None, "image_changed", sentence.format(name), fatal=True) for name in changed
    ]


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


def _hidden(name: str, record: QuestionRecord) -> Iterator[Problem]:
    """Names with characters that nobody sees, or that reorder what stands behind them."""
    for attribute, _model, _column in _LENGTHS:
        if name_problem(getattr(record, attribute)) == "invisible":
            text = (
                f"{attribute!r} of question {record.external_id[:80]!r} must not contain "
                "invisible or control characters."
            )
            yield Problem(name, None, "bad_name", text, fatal=True)


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
    digests = stored.values_list("dataset__slug", "name", "sha256", "source_sha256")
    return [
        name
        for slug, name, *known in digests
        if (slug, name) in used and sha256_of(images[name].read_bytes()) not in known
    ]


class ImagesChanged(Exception):
    """Another import has stored other images under the same *names* since these were compared."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(*names)
        self.names = names


@dataclass(slots=True)
class NewImages:
    """The images of one import, each written anew once; *folder* holds them until it is over."""

    images: Mapping[str, Path]
    folder: Path
    ready: dict[str, Path] = field(default_factory=dict)

    def prepare(self, file: SourceFile) -> SourceFile:
        """Write anew the images that *file* brings; the file with those that cannot be taken."""
        if not file.records or file.refused:
            return file
        used = {(record.dataset, name) for record in file.records for name in record.images}
        stored = Asset.objects.filter(dataset__slug__in={slug for slug, _ in used})
        used -= set(stored.values_list("dataset__slug", "name"))
        names = sorted({name for _, name in used} - self.ready.keys())
        inside = self.folder / str(len(self.ready))
        inside.mkdir(exist_ok=True)
        problems = []
        made = written_anew([self.images[name] for name in names], inside)
        for name, (path, reason) in zip(names, made, strict=True):
            if reason:
                text = IMAGE_SENTENCES[reason].format(name=repr(name))
                problems.append(Problem(file.name, None, reason, text, fatal=True))
            else:
                self.ready[name] = path
        return replace(file, problems=(*file.problems, *problems)) if problems else file

    def store(self, dataset: Dataset, records: Sequence[QuestionRecord]) -> None:
        """Keep the images of *records* that *dataset*, which is locked, does not have yet.

        Raises ImagesChanged if it has another one under the same name by now.
        """
        if changed := changed_images(records, self.images):
            raise ImagesChanged(changed)
        names = {name for record in records for name in record.images}
        known = Asset.objects.filter(dataset=dataset, name__in=names).values_list("name", flat=True)
        Asset.objects.bulk_create(self._asset(dataset, name) for name in sorted(names - set(known)))

    def _asset(self, dataset: Dataset, name: str) -> Asset:
        content = self.ready[name].read_bytes()
        return Asset(
            dataset=dataset,
            name=name,
            media_type=f"image/{image_kind(content[:HEAD_BYTES])}",
            sha256=sha256_of(content),
            source_sha256=sha256_of(self.images[name].read_bytes()),
            content=content,
            reencoded=True,
        )


def sha256_of(content: bytes) -> str:
    """The digest of an image, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
