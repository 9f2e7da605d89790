"""Imports questions: reads a source file by file and writes each whole or not at all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.tags import Tag
from gradeapp.common.collector import collector_paused
from gradeapp.common.refusals import BadInput
from questions.importers.agibench import read_agibench
from questions.importers.agieval import read_agieval
from questions.importers.gaokao_bench import read_gaokao_bench
from questions.importers.jsonl import read_jsonl
from questions.importers.jsonl_images import images_beside
from questions.importers.records import Problem, SourceFile
from questions.models import Dataset, Question, QuestionRevision
from questions.rules.vocabulary import ItemStatus
from questions.selectors.imports import OUTDATED
from questions.services.bank import Stored, store_records
from questions.services.gate import check_duplicates
from questions.services.import_checks import (
    ImagesChanged,
    NewImages,
    image_problems,
    storable,
)
from questions.services.import_log import ImportLog
from questions.services.import_order import LeftOut, Shifted
from questions.services.published_labels import store_task_facts

READERS: Mapping[str, Callable[[Path], Iterator[SourceFile]]] = {
    "gaokao-bench": read_gaokao_bench,
    "agieval": read_agieval,
    "agibench": read_agibench,
    "jsonl": read_jsonl,
}
SOURCES = tuple(READERS)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. ``read`` counts the items of the files that were taken.

    read = new + same + changed; ``quarantined`` counts the items of their tasks that
    wait for a curator; ``refused`` counts files. ``dataset`` is the slug, or
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
    allow_shifted: bool = False,
    acting_user: User | None = None,
    log: ImportLog | None = None,
) -> ImportReport:
    """Bring the questions at *path* into the bank; a second import of them changes nothing.

    Each file is one transaction, so a broken file refuses itself and not its
    neighbours; it is named in the problems. Raises BadInput for an unknown
    source, a missing path, and when no question at all could be read. A dry run
    does everything but compare items with each other, and keeps nothing. A
    changed item is named with the fields in which it differs (``changed_item``).
    A file whose changed items get the texts of others of their task is refused without
    *allow_shifted*; a dry run names it (``shifted``), and what the files leave out of a task.
    A *log* of the caller's is told of each file, and ends the import after any.
    """
    reader = _reader(source, path)
    started = time.perf_counter()
    log = log or ImportLog("questions", f"{source} {path}", Tag.QUESTIONS_IMPORTED, acting_user)
    counts: Counter[str] = Counter()
    tasks: dict[tuple[str, str], None] = {}
    left_out = LeftOut()
    with TemporaryDirectory(prefix="images-") as folder:
        images = NewImages(images_beside(path), Path(folder))
        for file in reader(path):
            file = images.prepare(storable(file, images.images))
            stored: Counter[str] = Counter()
            if file.records and not file.refused:
                left_out.take(file.name, file.records)
                file, stored = _store(file, images, log, dry_run=dry_run, allow=allow_shifted)
            counts["refused"] += file.refused
            if stored:
                counts += stored
                tasks |= dict.fromkeys((record.dataset, record.task) for record in file.records)
            log.problems += file.problems
            if not log.goes_on(file, stored):
                break
        else:
            log.note(left_out.problems())
            log.has_read(tasks)
    datasets = list(dict.fromkeys(dataset for dataset, _task in tasks))
    if not dry_run:
        log.finish()
        if compare_uncompared():
            counts["quarantined"] = _quarantined(tasks)
    counts["read"] = counts["new"] + counts["same"] + counts["changed"]
    if not counts["read"]:
        raise BadInput(_nothing_read(log.problems, path), code="nothing_read")
    return _report(", ".join(datasets), counts, log.problems, time.perf_counter() - started)


def compare_uncompared(unchanged_since: datetime | None = None) -> int:
    """Compare the datasets that imports wrote to with the whole bank; how many it compared.

    Those of an import that ended before it came to that are among them, and none that somebody else
    compares now. With *unchanged_since* only those that got no revision after that time.
    """
    datasets = Dataset.objects.filter(uncompared=True)
    if unchanged_since is not None:
        late = QuestionRevision.objects.filter(created_at__gt=unchanged_since)
        datasets = datasets.exclude(tasks__questions__revisions__in=late)
    compared = 0
    for dataset in list(datasets):
        with transaction.atomic(), collector_paused():
            held = Dataset.objects.filter(pk=dataset.pk, uncompared=True)
            if held.select_for_update(no_key=True, skip_locked=True).first():
                check_duplicates(dataset)
                compared += 1
    return compared


def _quarantined(tasks: Iterable[tuple[str, str]]) -> int:
    """How many items of *tasks* wait for a curator."""
    waiting = Question.objects.filter(status=ItemStatus.QUARANTINED)
    found = waiting.values_list("task__dataset__slug", "task__slug").annotate(Count("pk"))
    by_task = {(dataset, task): count for dataset, task, count in found.order_by()}
    return sum(by_task.get(task, 0) for task in tasks)


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
    file: SourceFile, images: NewImages, log: ImportLog, *, dry_run: bool, allow: bool
) -> tuple[SourceFile, Counter[str]]:
    """Write *file* in one transaction; the file with what changed in it, and the counts.

    Without *allow* nothing is written of one that seems shifted, and nothing of one that changes
    what its check did not name.
    """
    try:
        with transaction.atomic(), collector_paused():
            stored = store_records(file.records, images)
            changes = _changes(file.name, stored)
            if stored.moved_texts and not (dry_run or allow):
                raise Shifted(stored.moved_texts)
            written = [store_task_facts(task) for task in file.tasks]
            outdated = not log.was_checked(replace(file, problems=tuple(changes)))
            if dry_run or outdated:
                transaction.set_rollback(True)
            elif stored.counts["new"] or stored.counts["changed"] or any(written):
                log.wrote(stored.dataset, stored.counts, file.name)
    except ImagesChanged as changed:
        problems = image_problems(file.name, changed.names)
        return replace(file, problems=(*file.problems, *problems)), Counter()
    except Shifted as refused:
        found = [moved.problem(file.name, fatal=True) for moved in refused.moved_texts]
        return replace(file, problems=(*file.problems, *found, *changes)), Counter()
    found = [moved.problem(file.name, fatal=False) for moved in stored.moved_texts]
    if outdated:
        text = "The bank has changed since the check: confirm again what the file changes now."
        found.append(Problem(file.name, None, OUTDATED, text))
    return replace(file, problems=(*file.problems, *found, *changes)), stored.counts


def _changes(file: str, stored: Stored) -> list[Problem]:
    """What is said of each item that changes."""
    problems = []
    for item in stored.changed:
        text = f"Question {item.external_id} of {item.task} differs in: {', '.join(item.fields)}."
        problems.append(Problem(file, None, "changed_item", text))
        if item.repairs_lost:
            text = (
                f"What a person corrected in question {item.external_id} of {item.task} "
                f"counts no more, as the source counts: {', '.join(item.repairs_lost)}."
            )
            problems.append(Problem(file, None, "repair_overtaken", text))
        if item.rubric_overtaken:
            text = (
                f"The rubric that a person accepted for question {item.external_id} of "
                f"{item.task} counts no more, as the source brings another."
            )
            problems.append(Problem(file, None, "rubric_overtaken", text))
        if item.rubric_stays:
            text = (
                f"The accepted rubric of question {item.external_id} of {item.task} "
                "was written for another text or key."
            )
            problems.append(Problem(file, None, "rubric_of_earlier_text", text))
    return problems


def _nothing_read(problems: list[Problem], path: Path) -> str:
    """The sentence for a person whose import gave nothing: the first thing that went wrong."""
    first = next((problem for problem in problems if problem.fatal), None)
    first = first or next(iter(problems), None)
    if first is None:
        return _("“%(path)s” contains no questions.") % {"path": path}
    place = first.file if first.row is None else f"{first.file}:{first.row}"
    return f"{place}: {first.text}"
