"""Imports questions: reads a source file by file and writes each whole or not at all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.tags import Tag
from gradeapp.refusals import BadInput
from questions.importers.gaokao_bench import read_gaokao_bench
from questions.importers.jsonl import read_jsonl
from questions.importers.jsonl_images import images_beside
from questions.importers.records import Problem, QuestionRecord, SourceFile
from questions.models import Dataset, Question, QuestionRevision, Task
from questions.services.bank import store_records
from questions.services.images import changed_images
from questions.services.import_log import ImportLog

READERS: Mapping[str, Callable[[Path], Iterator[SourceFile]]] = {
    "gaokao-bench": read_gaokao_bench,
    "jsonl": read_jsonl,
}
NOT_READ_YET = ("agieval", "agibench")
SOURCES = (*READERS, *NOT_READ_YET)

MAX_FULL_MARKS = Decimal("9999.99")
MAX_POINTS = Decimal("999.99")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. ``read`` counts the items of the files that were taken.

    read = new + same + changed; ``quarantined`` are those of them whose key
    contradicts itself; ``refused`` counts files. ``dataset`` is the slug, or
    several with commas.
    """

    dataset: str
    read: int
    new: int
    same: int
    changed: int
    quarantined: int
    refused: int
    problems: tuple[Problem, ...]
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """The JSON of INTERFACE."""
        counts = ("read", "new", "same", "changed", "quarantined", "refused")
        return {
            "dataset": self.dataset,
            **{name: getattr(self, name) for name in counts},
            "problems": [problem.as_dict() for problem in self.problems],
            "seconds": self.seconds,
        }


def import_questions(
    source: str,
    path: Path,
    *,
    dry_run: bool = False,
    acting_user: User | None = None,
    log: ImportLog | None = None,
) -> ImportReport:
    """Bring the questions at *path* into the bank; a second import of them changes nothing.

    Each file is one transaction, so a broken file refuses itself and not its
    neighbours; it is named in the problems. Raises BadInput for an unknown
    source, a missing path, and when no question at all could be read. A dry run
    does everything and keeps nothing. A *log* of the caller's is told of each
    file, and ends the import after any of them.
    """
    reader = _reader(source, path)
    started = time.perf_counter()
    log = log or ImportLog("questions", f"{source} {path}", Tag.QUESTIONS_IMPORTED, acting_user)
    images = images_beside(path)
    counts: Counter[str] = Counter()
    datasets: dict[str, None] = {}
    for file in reader(path):
        file = _storable(file, images)
        log.problems += file.problems
        counts["refused"] += file.refused
        stored: Counter[str] = Counter()
        if file.records and not file.refused:
            stored = _store(file, images, log, dry_run=dry_run)
            counts += stored
            datasets |= dict.fromkeys(record.dataset for record in file.records)
        if not log.goes_on(file, stored):
            break
    if not dry_run:
        log.finish()
    counts["read"] = counts["new"] + counts["same"] + counts["changed"]
    if not counts["read"]:
        raise BadInput(_nothing_read(log.problems, path), code="nothing_read")
    return _report(", ".join(datasets), counts, log.problems, time.perf_counter() - started)


def _report(
    dataset: str, counts: Mapping[str, int], problems: list[Problem], seconds: float
) -> ImportReport:
    return ImportReport(
        dataset=dataset,
        read=counts["read"],
        new=counts["new"],
        same=counts["same"],
        changed=counts["changed"],
        quarantined=counts["quarantined"],
        refused=counts["refused"],
        problems=tuple(problems),
        seconds=round(seconds, 3),
    )


def _reader(source: str, path: Path) -> Callable[[Path], Iterator[SourceFile]]:
    if source in NOT_READ_YET:
        raise BadInput(_("Questions of %(source)s are not read yet.") % {"source": source})
    if source not in READERS:
        known = ", ".join(SOURCES)
        raise BadInput(
            _("There is no source called “%(source)s”; choose one of: %(known)s.")
            % {"source": source, "known": known}
        )
    if not path.exists():
        raise BadInput(_("There is no file or folder “%(path)s”.") % {"path": path})
    return READERS[source]


def _store(
    file: SourceFile, images: Mapping[str, Path], log: ImportLog, *, dry_run: bool
) -> Counter[str]:
    with transaction.atomic():
        dataset, counts = store_records(file.records, images)
        if dry_run:
            transaction.set_rollback(True)
        elif counts["new"] or counts["changed"]:
            log.wrote(dataset, counts, file.name)
    return counts


def _nothing_read(problems: list[Problem], path: Path) -> str:
    """The sentence for a person whose import gave nothing: the first thing that went wrong."""
    first = next((problem for problem in problems if problem.fatal), None)
    first = first or next(iter(problems), None)
    if first is None:
        return _("“%(path)s” holds no question.") % {"path": path}
    place = first.file if first.row is None else f"{first.file}:{first.row}"
    return f"{place}: {first.text}"


def _storable(file: SourceFile, images: Mapping[str, Path]) -> SourceFile:
    """*file* with the problems that only the bank knows of, each of which refuses it."""
    problems = [problem for record in file.records for problem in _too_large(file.name, record)]
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
    return SourceFile(file.name, file.records, (*file.problems, *problems)) if problems else file


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
    points = max((point.points for point in record.rubric), default=Decimal(0))
    if record.full_marks > MAX_FULL_MARKS or points > MAX_POINTS:
        text = f"Question {record.external_id[:80]!r} is worth more than the bank can hold."
        yield Problem(name, None, "too_many_points", text, fatal=True)
