"""The datasets, models, markers, rounds and years that can be chosen on the report page."""

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
    """A model that answered the dataset. Its *colour* does not depend on the other choices."""

    name: str
    answers: int
    colour: int

    @property
    def swatch(self) -> int:
        """Its number among the eight colours of charts."""
        return self.colour % 8


@dataclass(frozen=True, slots=True)
class MarkerChoice:
    """A marker of subjective answers of the dataset, and how many it marked."""

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
    """The choices of one dataset; *dataset* is "" without any answers."""

    dataset: str
    datasets: tuple[Dataset, ...] = ()
    models: tuple[ModelChoice, ...] = ()
    markers: tuple[MarkerChoice, ...] = ()
    years: tuple[int, ...] = ()
    rounds: tuple[RoundChoice, ...] = ()

    @property
    def marker(self) -> str:
        """The default marker: teachers if they have marked, else the first judge, else teachers."""
        return self.markers[0].name if self.markers else TEACHERS


def choices(dataset: str = "", rounds: Collection[str] = ()) -> Choices:
    """Return the choices of *dataset*, or of the dataset with the most scored responses.

    Teachers have the number of responses that they marked in *rounds* (public ids; unknown ones are
    ignored), or in all rounds.
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
    real_rounds = (
        MarkingRound.objects.filter(dataset__slug=chosen, practice=False)
        .annotate(marked=Count("answers", filter=Q(answers__final__isnull=False)))
        .filter(marked__gt=0)
        .order_by("pk")
    )
    offered = tuple(RoundChoice(str(one.public_id), one.name, one.marked) for one in real_rounds)
    wanted = [one.key for one in offered if one.key in rounds]
    models = (
        LanguageModel.objects.filter(runs__dataset__slug=chosen, runs__purpose=RunPurpose.ANSWER)
        .annotate(n=Count("runs__responses"))
        .filter(n__gt=0)
        .order_by("name")
        .values_list("name", "n")
    )
    questions = Question.objects.filter(task__dataset__slug=chosen, year__isnull=False)
    years = questions.order_by("-year").values_list("year", flat=True).distinct()
    return Choices(
        dataset=chosen,
        datasets=datasets,
        models=tuple(ModelChoice(name, n, colour) for colour, (name, n) in enumerate(models)),
        markers=_markers(ReportParams(chosen, rounds=tuple(wanted))),
        years=tuple(year for year in years if year is not None),
        rounds=offered,
    )


def _most_scored(slugs: list[str]) -> str:
    """Return the dataset with the most scored responses."""
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
