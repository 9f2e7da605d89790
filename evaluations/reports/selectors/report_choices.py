"""What the report page lets one choose: datasets, models, markers and years."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q

from evaluations.facts.params import JUDGE_PREFIX, TEACHERS, ReportParams
from evaluations.models import (
    FinalMark,
    Judgement,
    LanguageModel,
    MarkingRound,
    ObjectiveScore,
    Response,
)
from evaluations.models.vocabulary import RunPurpose
from questions.models import Dataset, Question


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that answered the dataset; its *colour* stays whatever else is chosen."""

    name: str
    answers: int
    colour: int

    @property
    def swatch(self) -> int:
        """Its place among the eight colours of charts."""
        return self.colour % 8


@dataclass(frozen=True, slots=True)
class MarkerChoice:
    """Who marked subjective answers of the dataset, and how many."""

    name: str
    marked: int


@dataclass(frozen=True, slots=True)
class RoundChoice:
    """A marking round with final marks that count in reports; *key* is its public id."""

    key: str
    name: str
    marked: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose from; without any answers *dataset* is empty."""

    dataset: str
    datasets: tuple[Dataset, ...] = ()
    models: tuple[ModelChoice, ...] = ()
    markers: tuple[MarkerChoice, ...] = ()
    years: tuple[int, ...] = ()
    rounds: tuple[RoundChoice, ...] = ()

    @property
    def marker(self) -> str:
        """Teachers where they have marked, else the first judge, else teachers to come."""
        return self.markers[0].name if self.markers else TEACHERS


def choices(dataset: str = "", rounds: Collection[str] = ()) -> Choices:
    """What can be chosen in *dataset*, or in the one with the most scored responses.

    Teachers are offered with the number of responses that they marked in *rounds*
    (public ids; those that are not offered are passed over), or in all rounds.
    """
    datasets = tuple(
        Dataset.objects.filter(runs__purpose=RunPurpose.ANSWER, runs__responses__isnull=False)
        .distinct()
        .order_by("name")
    )
    slugs = [one.slug for one in datasets]
    if not slugs:
        return Choices("")
    chosen = dataset if dataset in slugs else _most_scored(slugs)
    offered = _rounds(chosen)
    wanted = [one.key for one in offered if one.key in rounds]
    markers = _markers(ReportParams(chosen, rounds=tuple(wanted)))
    return Choices(chosen, datasets, _models(chosen), markers, _years(chosen), offered)


def _most_scored(slugs: list[str]) -> str:
    if len(slugs) == 1:
        return slugs[0]
    scored = (
        Exists(ObjectiveScore.objects.filter(response=OuterRef("pk")))
        | Exists(FinalMark.objects.official().filter(answer__response=OuterRef("pk")))
        | Exists(Judgement.objects.filter(response=OuterRef("pk"), total__isnull=False))
    )
    counts = Response.objects.filter(scored).order_by().values_list("run__dataset__slug")
    numbers = dict(counts.annotate(n=Count("pk")))
    return max(slugs, key=lambda slug: numbers.get(slug, 0))


def _models(dataset: str) -> tuple[ModelChoice, ...]:
    found = (
        LanguageModel.objects.filter(runs__dataset__slug=dataset, runs__purpose=RunPurpose.ANSWER)
        .annotate(n=Count("runs__responses"))
        .filter(n__gt=0)
        .order_by("name")
    )
    pairs = found.values_list("name", "n")
    return tuple(ModelChoice(name, n, colour) for colour, (name, n) in enumerate(pairs))


def _rounds(dataset: str) -> tuple[RoundChoice, ...]:
    found = (
        MarkingRound.objects.filter(dataset__slug=dataset, practice=False)
        .annotate(marked=Count("answers", filter=Q(answers__final__isnull=False)))
        .filter(marked__gt=0)
        .order_by("pk")
    )
    return tuple(RoundChoice(str(one.public_id), one.name, one.marked) for one in found)


def _markers(params: ReportParams) -> tuple[MarkerChoice, ...]:
    dataset = params.dataset
    finals = FinalMark.objects.counting().filter(
        params.of_rounds("answer__round"), answer__response__run__dataset__slug=dataset
    )
    by_teachers = finals.aggregate(n=Count("answer__response", distinct=True))["n"]
    judgements = Judgement.objects.filter(response__run__dataset__slug=dataset).order_by()
    by_judge = judgements.values_list("judge__name").annotate(n=Count("response", distinct=True))
    judges = [MarkerChoice(f"{JUDGE_PREFIX}{name}", n) for name, n in sorted(by_judge)]
    return (*([MarkerChoice(TEACHERS, by_teachers)] if by_teachers else []), *judges)


def _years(dataset: str) -> tuple[int, ...]:
    asked = Question.objects.filter(task__dataset__slug=dataset, year__isnull=False)
    years = asked.order_by("-year").values_list("year", flat=True).distinct()
    return tuple(year for year in years if year is not None)
