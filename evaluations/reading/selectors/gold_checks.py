"""The check of the keys of a dataset by the present scorer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evaluations.reading.rules.extraction.blanks import READER_VERSION as EXACT_VERSION
from evaluations.reading.rules.extraction.cascade import EXTRACTOR_VERSION
from evaluations.statistics.policies import SCORER_VERSION
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from questions.models import Dataset, Question
from questions.rules.vocabulary import Part

# What a passed check is valid for: another reader or scorer has to pass again.
SCORER = f"{EXTRACTOR_VERSION}+{EXACT_VERSION}+{SCORER_VERSION}"


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """The newest check of a dataset by the present scorer: when, and what it found.

    ``failed`` items are in quarantine or were decided about by a person.
    """

    at: datetime
    items: int
    failed: int


def gold_check(slug: str) -> GoldCheck | None:
    """Return the check ``gold_check_of`` of the dataset *slug*, None without a dataset."""
    dataset = Dataset.objects.filter(slug=slug).first()
    return gold_check_of(dataset) if dataset else None


def gold_check_of(dataset: Dataset) -> GoldCheck | None:
    """Return the newest check of *dataset* by the present scorer, None without one.

    A check of other keys does not count: one that looked at fewer or more items
    than the dataset has now was made before an import.
    """
    entry = AuditEntry.objects.filter(
        tag=Tag.GOLDS_CHECKED, target=f"dataset:{dataset.pk}", detail__scorer=SCORER
    ).first()
    if entry is None or entry.detail["items"] != objective_items(dataset):
        return None
    return GoldCheck(entry.at, entry.detail["items"], entry.detail["failed"])


def was_checked(dataset: Dataset) -> bool:
    """Return whether the keys of *dataset* were ever checked, by any scorer."""
    entries = AuditEntry.objects.filter(tag=Tag.GOLDS_CHECKED, target=f"dataset:{dataset.pk}")
    return entries.exists()


def objective_items(dataset: Dataset) -> int:
    """Count the items of *dataset* that are scored by rule."""
    return Question.objects.filter(task__dataset=dataset, part=Part.OBJECTIVE).count()
