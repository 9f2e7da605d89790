"""Reading runs that suggest: what they may ask, what was kept of their replies, what was not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, QuerySet

from evaluations.models import Endpoint, Extraction, Job, Response, Run
from evaluations.models.vocabulary import JobStatus, RunPurpose, SuggestionOutcome
from evaluations.suggesting.rules.asks import Asks
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
    refused: tuple[Extraction, ...]

    @property
    def read(self) -> int:
        """Replies that were looked at."""
        return self.kept + self.unreadable


def askable(
    questions: QuerySet[Question], endpoint: Endpoint, asks: Asks, *, again: bool
) -> QuerySet[Question]:
    """Those of *questions* that a run may ask for *asks*: none that is excluded.

    Without *again* only those that lack what is asked for, and that the model of
    *endpoint* has not been asked yet as they stand now: nothing is paid for twice.
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
        run__language_model=endpoint.language_model,
        run__run_settings__asks=asks.value,
    ).exclude(status=JobStatus.FAILED)
    found = found.filter(~Exists(asked))
    if asks is Asks.LABELS:
        return found.filter(UNLABELLED)
    return found.filter(~Exists(Rubric.objects.filter(question=OuterRef("pk"))))


def asks_of(run: Run) -> Asks | None:
    """What *run* asks suggestions for; None for a run that does not."""
    return Asks(run.run_settings["asks"]) if run.purpose == RunPurpose.SUGGEST else None


def unread(run: Run, asks: Asks, among: Iterable[int] | None = None) -> QuerySet[Response]:
    """The replies of *run*, or those *among* these keys, that nobody has read yet."""
    readings = Extraction.objects.filter(response=OuterRef("pk"), policy=asks.value)
    found = Response.objects.filter(~Exists(readings), run=run)
    if among is not None:
        found = found.filter(pk__in=list(among))
    return found.select_related("question", "revision").order_by("pk")


def readings(run: Run, asks: Asks) -> QuerySet[Extraction]:
    """What was read in each reply of *run*."""
    return Extraction.objects.filter(response__run=run, policy=asks.value)


def suggested(run: Run) -> Suggested | None:
    """What became of the replies of *run*; None for a run that does not suggest."""
    asks = asks_of(run)
    if asks is None:
        return None
    found = readings(run, asks)
    counts = found.order_by().values_list("outcome", "method").annotate(n=Count("pk"))
    refused = [(method, n) for outcome, method, n in counts if outcome != SuggestionOutcome.READ]
    unreadable = sum(n for _method, n in refused)
    rows = found.exclude(outcome=SuggestionOutcome.READ).select_related("response__question__task")
    return Suggested(
        asks=asks,
        kept=sum(n for _outcome, _method, n in counts) - unreadable,
        unreadable=unreadable,
        reasons=tuple(sorted(refused, key=lambda one: (-one[1], one[0]))),
        refused=tuple(rows.order_by(*BY_PLACE)[:SHOWN]),
    )


def suggestion_in(response: Response) -> Extraction | None:
    """What was read in one reply of a run that suggests; None where nothing has been yet."""
    asks = asks_of(response.run)
    if asks is None:
        return None
    return response.extractions.filter(policy=asks.value).order_by("pk").last()
