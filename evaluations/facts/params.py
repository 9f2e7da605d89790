"""What a report can be asked for: datasets, models, markers, policies; all else is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.db.models import Q
from django.utils.translation import gettext as _

from evaluations.models import FinalMark, Judge, LanguageModel, MarkingRound
from evaluations.models.vocabulary import RunPurpose
from evaluations.statistics.policies import Policy
from gradeapp.common.refusals import BadInput, NotFound
from questions.models import Dataset, Question

TEACHERS = "teachers"
JUDGE_PREFIX = "judge:"


@dataclass(frozen=True, slots=True)
class ReportParams:
    """What a report is made of; no *models* means all, no *marker* what the report says.

    ``marker`` marks the subjective answers: ``teachers`` or ``judge:NAME``. ``rounds``
    are the public ids of the marking rounds whose marks count; none means all of them.
    The marks of a practice round never count.
    """

    dataset: str
    models: tuple[str, ...] = ()
    marker: str = ""
    policy: str = Policy.STRICT.value
    by: str = ""
    year: int | None = None
    rounds: tuple[str, ...] = ()

    @property
    def judge(self) -> str:
        """The name of the judge; empty where the marker is none."""
        return self.marker.removeprefix(JUDGE_PREFIX) if self.is_judge else ""

    @property
    def is_judge(self) -> bool:
        """Whether a judge marks."""
        return self.marker.startswith(JUDGE_PREFIX)

    def as_dict(self) -> dict[str, object]:
        """The params of INTERFACE's JSON; what was not asked for is left out."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value not in ("", (), None)
        }

    def of_rounds(self, path: str) -> Q:
        """The filter on what belongs to the round at *path*: real rounds, or the chosen ones."""
        wanted = Q(**{f"{path}__practice": False})
        return wanted & Q(**{f"{path}__public_id__in": self.rounds}) if self.rounds else wanted


def models_with_answers(dataset: str) -> list[str]:
    """The names of the models that have answered *dataset*."""
    models = LanguageModel.objects.filter(
        runs__dataset__slug=dataset, runs__purpose=RunPurpose.ANSWER
    )
    return list(models.order_by("name").distinct().values_list("name", flat=True))


def markers_of(dataset: str) -> list[str]:
    """Who has marked answers to *dataset*: ``teachers`` and each ``judge:NAME``."""
    judges = Judge.objects.filter(judgements__response__run__dataset__slug=dataset)
    names = judges.order_by("name").distinct().values_list("name", flat=True)
    finals = FinalMark.objects.official().filter(answer__response__run__dataset__slug=dataset)
    return ([TEACHERS] if finals.exists() else []) + [f"{JUDGE_PREFIX}{name}" for name in names]


def checked(params: ReportParams) -> ReportParams:
    """*params*, or a Refusal that says what there is instead of what was asked for."""
    _check_dataset(params.dataset)
    if params.policy not in list(Policy):
        raise BadInput(
            _("There is no policy “%(name)s”; choose one of: %(known)s.")
            % {"name": params.policy, "known": _listed(Policy)}
        )
    models = models_with_answers(params.dataset)
    for model in params.models:
        if model not in models:
            raise NotFound(
                _("“%(name)s” has no answers to %(dataset)s; there are: %(known)s.")
                % {"name": model, "dataset": params.dataset, "known": _listed(models)}
            )
    _check_marker(params)
    if params.year is not None:
        _check_year(params.dataset, params.year)
    _check_rounds(params)
    return params


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names)) or _("none")


def _check_dataset(slug: str) -> None:
    if not Dataset.objects.filter(slug=slug).exists():
        known = Dataset.objects.order_by("slug").values_list("slug", flat=True)
        raise NotFound(
            _("There is no dataset “%(name)s”; there are: %(known)s.")
            % {"name": slug, "known": _listed(known)}
        )


def _check_marker(params: ReportParams) -> None:
    known = markers_of(params.dataset)
    # Teachers who have not marked yet are still teachers: their figures say no data.
    if params.marker and params.marker not in (TEACHERS, *known):
        raise NotFound(
            _("“%(name)s” has marked nothing of %(dataset)s; markers are: %(known)s.")
            % {"name": params.marker, "dataset": params.dataset, "known": _listed(known)}
        )


def _check_year(dataset: str, year: int) -> None:
    of_dataset = Question.objects.filter(task__dataset__slug=dataset, year__isnull=False)
    years = set(of_dataset.order_by().values_list("year", flat=True).distinct())
    if year not in years:
        raise NotFound(
            _("There are no questions of %(year)s; the years are: %(known)s.")
            % {"year": year, "known": _listed(sorted(filter(None, years)))}
        )


def _check_rounds(params: ReportParams) -> None:
    """Raise a Refusal for a round that is none of the dataset's, or only for practice."""
    if not params.rounds:
        return
    of_dataset = MarkingRound.objects.filter(dataset__slug=params.dataset)
    known = {str(one.public_id): one for one in of_dataset.only("public_id", "name", "practice")}
    for key in params.rounds:
        if key not in known:
            raise NotFound(
                _("There is no marking round “%(name)s” in %(dataset)s.")
                % {"name": key, "dataset": params.dataset}
            )
        if known[key].practice:
            raise BadInput(
                _("“%(name)s” is a practice round: its marks reach no report.")
                % {"name": known[key].name}
            )


def round_names(params: ReportParams) -> list[str]:
    """The names of the chosen rounds, oldest first; none where all count."""
    if not params.rounds:
        return []
    rounds = MarkingRound.objects.filter(public_id__in=params.rounds).order_by("pk")
    return list(rounds.values_list("name", flat=True))
