"""Reading runs that suggest: what they may ask, what was kept of their replies, what was not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, QuerySet

from evaluations.models import Job, LanguageModel, Response, Run, SuggestionReading
from evaluations.models.vocabulary import Asks, JobStatus, RunPurpose
from questions.models import Question, Rubric
from questions.rules.vocabulary import ItemStatus, Part
from questions.selectors.labels import UNLABELLED

SHOWN = 50
BY_PLACE = ("response__question__task__slug", "response__question__position")


@dataclass(frozen=True, slots=True)
class Suggested:
    """What became of the replies of a run: kept as suggestions, or refused by reason.

    ``refused`` are the first of those that could not be read, each with its response.
    """

    asks: Asks
    kept: int
    unreadable: int
    reasons: tuple[tuple[str, int], ...]
    refused: tuple[SuggestionReading, ...]

    @property
    def read(self) -> int:
        """Replies that were looked at."""
        return self.kept + self.unreadable


def askable(
    questions: QuerySet[Question], model: LanguageModel, asks: Asks, *, again: bool
) -> QuerySet[Question]:
    """Those of *questions* that a run may ask for *asks*: none that is excluded.

    Without *again* only those that lack what is asked for, and that *model*
    has not been asked yet as they stand now: nothing is paid for twice.
    """
    found = questions.filter(current__isnull=False).exclude(status=ItemStatus.EXCLUDED)
    if asks is Asks.RUBRIC:
        found = found.filter(part=Part.SUBJECTIVE)
    if again:
        return found
    asked = Job.objects.filter(
        question=OuterRef("pk"),
        revision=OuterRef("current"),
        run__purpose=RunPurpose.SUGGEST,
        run__language_model=model,
        run__run_settings__asks=asks.value,
    ).exclude(status=JobStatus.FAILED)
    found = found.filter(~Exists(asked))
    if asks is Asks.LABELS:
        return found.filter(UNLABELLED)
    return found.filter(~Exists(Rubric.objects.filter(question=OuterRef("pk"))))


def asks_of(run: Run) -> Asks:
    """Return what *run*, a run that suggests, asks for."""
    return Asks(run.run_settings["asks"])


def unread(run: Run, among: Iterable[int] | None = None) -> QuerySet[Response]:
    """Return the replies of *run*, or those *among* these keys, that were not read yet."""
    found = Response.objects.filter(run=run, suggestion__isnull=True)
    if among is not None:
        found = found.filter(pk__in=list(among))
    return found.select_related("question", "revision").order_by("pk")


def suggested(run: Run) -> Suggested | None:
    """Return what became of the replies of *run*; None for a run that does not suggest."""
    if run.purpose != RunPurpose.SUGGEST:
        return None
    found = SuggestionReading.objects.filter(response__run=run)
    counts = dict(found.order_by().values_list("fault").annotate(n=Count("pk")))
    kept = counts.pop("", 0)
    rows = found.exclude(fault="").select_related("response__question__task")
    return Suggested(
        asks=asks_of(run),
        kept=kept,
        unreadable=sum(counts.values()),
        reasons=tuple(sorted(counts.items(), key=lambda one: (-one[1], one[0]))),
        refused=tuple(rows.order_by(*BY_PLACE)[:SHOWN]),
    )
