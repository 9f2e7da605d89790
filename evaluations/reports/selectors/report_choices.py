"""What can be chosen on the report page: datasets, conditions, runs, markers, rounds, years."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, Sum

from evaluations.facts.answer_facts import facts_version
from evaluations.facts.params import JUDGE_PREFIX, TEACHERS, ReportParams
from evaluations.models import (
    FinalMark,
    Judge,
    Judgement,
    MarkingRound,
    ObjectiveScore,
    Response,
    Run,
)
from evaluations.models.vocabulary import RunPurpose
from evaluations.reports.selectors.kept_reports import kept_value
from evaluations.statistics.rows import ModelCondition
from gradeapp.common.snapshot import one_snapshot, sees_only_committed
from questions.models import Asset, Dataset, Question


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A model, or the name of a condition, with its number of answers.

    ``colours`` are those of its models and conditions; they do not depend on the other choices.
    """

    name: str
    answers: int
    colours: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunChoice:
    """A run that answered the dataset."""

    pk: int
    asked: ModelCondition
    answers: int


@dataclass(frozen=True, slots=True)
class MarkerChoice:
    """A marker of subjective answers of the dataset, and how many it marked."""

    name: str
    marked: int


@dataclass(frozen=True, slots=True)
class RoundChoice:
    """A marking round with final marks that count in reports; *key* is its public id.

    ``published``: it holds published marks, which its name does not say.
    """

    key: str
    name: str
    marked: int
    published: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of one dataset; *dataset* is "" without any answers."""

    dataset: str
    datasets: tuple[Dataset, ...] = ()
    runs: tuple[RunChoice, ...] = ()
    markers: tuple[MarkerChoice, ...] = ()
    years: tuple[int, ...] = ()
    rounds: tuple[RoundChoice, ...] = ()
    has_images: bool = False

    @property
    def colours(self) -> dict[ModelCondition, int]:
        """What was asked, by model and condition, with its colour."""
        return {asked: n for n, asked in enumerate(sorted({run.asked for run in self.runs}))}

    @property
    def models(self) -> list[NamedChoice]:
        """The models, by name."""
        return self._named(lambda asked: asked.model)

    @property
    def conditions(self) -> list[NamedChoice]:
        """The names of conditions."""
        return self._named(lambda asked: asked.condition)

    def _named(self, name_of: Callable[[ModelCondition], str]) -> list[NamedChoice]:
        answers: Counter[str] = Counter()
        for run in self.runs:
            answers[name_of(run.asked)] += run.answers
        colours = self.colours.items()
        return [
            NamedChoice(name, n, tuple(c for asked, c in colours if name_of(asked) == name))
            for name, n in sorted(answers.items())
        ]

    def chosen(self, params: ReportParams) -> dict[ModelCondition, int]:
        """Return what *params* chooses, with its colours."""
        wanted = {run.asked for run in self._wanted(params)}
        return {asked: colour for asked, colour in self.colours.items() if asked in wanted}

    def answers(self, params: ReportParams) -> int:
        """Return how many answers the runs have that *params* chooses."""
        return sum(run.answers for run in self._wanted(params))

    def _wanted(self, params: ReportParams) -> list[RunChoice]:
        return [
            run
            for run in self.runs
            if (not params.models or run.asked.model in params.models)
            and (not params.conditions or run.asked.condition in params.conditions)
            and (not params.runs or run.pk in params.runs)
        ]

    @property
    def marker(self) -> str:
        """The default marker: teachers if they have marked, else the first judge, else teachers."""
        return self.markers[0].name if self.markers else TEACHERS


def choices(dataset: str = "", rounds: Collection[str] = ()) -> Choices:
    """Return the choices of *dataset*, or of the dataset with the most scored responses.

    Teachers have the number of responses that they marked in *rounds* (public ids; unknown ones are
    ignored), or in all rounds.
    """
    answers = Response.objects.filter(run=OuterRef("pk"))
    runs = Run.objects.filter(Exists(answers), purpose=RunPurpose.ANSWER)
    datasets = tuple(
        Dataset.objects.filter(Exists(runs.filter(dataset=OuterRef("pk")))).order_by("name")
    )
    slugs = [one.slug for one in datasets]
    if not slugs:
        return Choices("")
    chosen = dataset if dataset in slugs else _most_scored(slugs)
    offered, markers = _marked(chosen, rounds)
    answered = (
        Run.objects.filter(dataset__slug=chosen, purpose=RunPurpose.ANSWER)
        .annotate(n=Sum("counts__responses"))
        .filter(n__gt=0)
        .order_by("-pk")
        .values_list("pk", "language_model__name", "condition__name", "n")
    )
    questions = Question.objects.filter(task__dataset__slug=chosen, year__isnull=False)
    years = questions.order_by("-year").values_list("year", flat=True).distinct()
    return Choices(
        dataset=chosen,
        datasets=datasets,
        runs=tuple(
            RunChoice(pk, ModelCondition(model, condition or ""), n)
            for pk, model, condition, n in answered
        ),
        markers=markers,
        years=tuple(year for year in years if year is not None),
        rounds=offered,
        has_images=Asset.objects.filter(dataset__slug=chosen).exists(),
    )


Marked = tuple[tuple[RoundChoice, ...], tuple[MarkerChoice, ...]]


def _marked(dataset: str, rounds: Collection[str]) -> Marked:
    """Return the rounds and markers of *dataset*, from memory if nobody marked since.

    Whoever writes a final mark or a judgement raises the version of the facts.
    """
    if not sees_only_committed():
        return _marked_anew(dataset, rounds)
    with one_snapshot():
        held = MarkingRound.objects.filter(dataset__slug=dataset).order_by("pk")
        state = (
            facts_version(dataset),
            tuple(held.values_list("pk", "public_id", "name", "practice")),
            tuple(Judge.objects.order_by("pk").values_list("pk", "name")),
        )
        key = ("marked", dataset, tuple(sorted(rounds)), state)
        return kept_value(key, lambda: _marked_anew(dataset, rounds), lambda _made: 4_000)


def _marked_anew(dataset: str, rounds: Collection[str]) -> Marked:
    real_rounds = (
        MarkingRound.objects.filter(dataset__slug=dataset, practice=False)
        .annotate(marked=Count("answers", filter=Q(answers__final__isnull=False)))
        .filter(marked__gt=0)
        .order_by("pk")
    )
    offered = tuple(
        RoundChoice(str(one.public_id), one.name, one.marked, one.published) for one in real_rounds
    )
    wanted = tuple(one.key for one in offered if one.key in rounds)
    return offered, _markers(ReportParams(dataset, rounds=wanted))


def _most_scored(slugs: list[str]) -> str:
    """Return the dataset with the most scored responses."""
    if len(slugs) == 1:
        return slugs[0]
    usable = Judgement.objects.counting().filter(total__isnull=False, judge__suspended_at=None)
    scored = (
        Exists(ObjectiveScore.objects.filter(response=OuterRef("pk")))
        | Exists(FinalMark.objects.official().filter(answer__response=OuterRef("pk")))
        | Exists(usable.filter(response=OuterRef("pk")))
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
    judgements = (
        Judgement.objects.counting().filter(response__run__dataset__slug=dataset).order_by()
    )
    by_judge = judgements.values_list("judge__name").annotate(n=Count("response", distinct=True))
    judges = [MarkerChoice(f"{JUDGE_PREFIX}{name}", n) for name, n in sorted(by_judge)]
    return (*([MarkerChoice(TEACHERS, by_teachers)] if by_teachers else []), *judges)
