"""The parameters of reports, and their validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from evaluations.models import FinalMark, Judge, Judgement, LanguageModel, MarkingRound, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.statistics.policies import Policy
from gradeapp.common.refusals import BadInput, NotFound
from questions.models import Dataset, Question

TEACHERS = "teachers"
JUDGE_PREFIX = "judge:"
# Before the name of a marker: an estimate from its marks and a sample that teachers marked.
ESTIMATE_PREFIX = "estimate:"


@dataclass(frozen=True, slots=True)
class ReportParams:
    """Parameters of a report. No *models* means all; no *marker* means the report's default.

    ``conditions`` are the names of the conditions under which the models were asked, and ``runs``
    the numbers of the runs whose answers count; none means all.

    ``marker`` is who marked the subjective answers: ``teachers`` or ``judge:NAME``; of totals also
    ``estimate:teachers`` or ``estimate:judge:NAME``, from a sample. ``rounds`` are
    the public ids of the marking rounds whose marks count; none means all. Marks of practice rounds
    never count. ``by`` names the keys that a report groups by, separated by commas.
    ``paper`` names the paper whose tables are rebuilt (report ``paper-tables``).
    ``without_blind`` leaves out answers to questions of which the model did not get all images.
    """

    dataset: str
    models: tuple[str, ...] = ()
    marker: str = ""
    policy: str = Policy.STRICT.value
    by: str = ""
    year: int | None = None
    rounds: tuple[str, ...] = ()
    without_blind: bool = False
    conditions: tuple[str, ...] = ()
    runs: tuple[int, ...] = ()
    paper: str = ""

    @property
    def judge(self) -> str:
        """The name of the judge; "" if the marker is not a judge."""
        return self.marker.removeprefix(JUDGE_PREFIX) if self.is_judge else ""

    @property
    def is_estimate(self) -> bool:
        """Whether the marker is an estimate from a sample."""
        return self.marker.startswith(ESTIMATE_PREFIX)

    @property
    def is_judge(self) -> bool:
        """Whether the marker is a judge."""
        return self.marker.startswith(JUDGE_PREFIX)

    def as_dict(self) -> dict[str, object]:
        """Return the parameters that are set, as a dict that JSON can hold."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value not in ("", (), None, False)
        }

    def of_runs(self, path: str = "") -> Q:
        """Return the filter on the run at *path* (such as ``response__run__``)."""
        wanted = Q(**{f"{path}dataset__slug": self.dataset})
        if self.models:
            wanted &= Q(**{f"{path}language_model__name__in": self.models})
        if self.conditions:
            wanted &= Q(**{f"{path}condition__name__in": self.conditions})
        return wanted & Q(**{f"{path}pk__in": self.runs}) if self.runs else wanted

    def of_rounds(self, path: str) -> Q:
        """Return the filter on the round at *path*: the chosen ones, or all but practice rounds."""
        wanted = Q(**{f"{path}__practice": False})
        return wanted & Q(**{f"{path}__public_id__in": self.rounds}) if self.rounds else wanted


def models_with_answers(dataset: str) -> list[str]:
    """Return the names of the models that have answered *dataset*."""
    models = LanguageModel.objects.filter(
        runs__dataset__slug=dataset, runs__purpose=RunPurpose.ANSWER
    )
    return list(models.order_by("name").distinct().values_list("name", flat=True))


def markers_of(dataset: str) -> list[str]:
    """Return who has marked answers to *dataset*: ``teachers`` and each ``judge:NAME``."""
    given = Judgement.objects.filter(judge=OuterRef("pk"), response__run__dataset__slug=dataset)
    names = Judge.objects.filter(Exists(given)).order_by("name").values_list("name", flat=True)
    finals = FinalMark.objects.official().filter(answer__response__run__dataset__slug=dataset)
    return ([TEACHERS] if finals.exists() else []) + [f"{JUDGE_PREFIX}{name}" for name in names]


def validated(params: ReportParams) -> ReportParams:
    """Return *params* unchanged if all its values exist; raise NotFound or BadInput otherwise."""
    if not Dataset.objects.filter(slug=params.dataset).exists():
        slugs = Dataset.objects.order_by("slug").values_list("slug", flat=True)
        raise NotFound(
            _("There is no dataset “%(name)s”. Available: %(known)s.")
            % {"name": params.dataset, "known": _listed(slugs)}
        )
    if params.policy not in list(Policy):
        raise BadInput(
            _("There is no policy “%(name)s”; choose one of: %(known)s.")
            % {"name": params.policy, "known": _listed(Policy)}
        )
    models = models_with_answers(params.dataset)
    for model in params.models:
        if model not in models:
            raise NotFound(
                _("“%(name)s” has no responses in %(dataset)s. Available: %(known)s.")
                % {"name": model, "dataset": params.dataset, "known": _listed(models)}
            )
    markers = markers_of(params.dataset)
    # Teachers are valid before they have marked anything: their figures have the reason no_data.
    if params.marker and params.marker not in (TEACHERS, *markers):
        raise NotFound(
            _("“%(name)s” has not marked anything in %(dataset)s. Available markers: %(known)s.")
            % {"name": params.marker, "dataset": params.dataset, "known": _listed(markers)}
        )
    questions = Question.objects.filter(task__dataset__slug=params.dataset, year__isnull=False)
    if params.year is not None and not questions.filter(year=params.year).exists():
        years = questions.order_by("year").values_list("year", flat=True).distinct()
        raise NotFound(
            _("There are no questions from %(year)s. Available years: %(known)s.")
            % {"year": params.year, "known": _listed(years)}
        )
    _check_runs(params)
    _check_rounds(params)
    return params


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names)) or _("none")


def _check_runs(params: ReportParams) -> None:
    """Raise NotFound for a condition or a run that answered nothing in the dataset."""
    answered = Run.objects.filter(dataset__slug=params.dataset, purpose=RunPurpose.ANSWER)
    if params.models:
        answered = answered.filter(language_model__name__in=params.models)
    names = set(answered.order_by().values_list("condition__name", flat=True))
    for name in params.conditions:
        if name not in names:
            raise NotFound(
                _("No response in %(dataset)s has the condition “%(name)s”. Available: %(known)s.")
                % {"name": name, "dataset": params.dataset, "known": _listed(sorted(names))}
            )
    known = set(answered.filter(pk__in=params.runs).values_list("pk", flat=True))
    for run in params.runs:
        if run not in known:
            raise NotFound(
                _("There is no run %(number)s with answers to %(dataset)s.")
                % {"number": run, "dataset": params.dataset}
            )


def _check_rounds(params: ReportParams) -> None:
    """Raise a Refusal for a round of another dataset, or a practice round."""
    rounds = MarkingRound.objects.filter(dataset__slug=params.dataset) if params.rounds else ()
    known = {str(found.public_id): found for found in rounds}
    for public_id in params.rounds:
        if public_id not in known:
            raise NotFound(
                _("There is no marking round “%(name)s” in %(dataset)s.")
                % {"name": public_id, "dataset": params.dataset}
            )
        if known[public_id].practice:
            raise BadInput(
                _("“%(name)s” is a practice round. Its marks are not used in reports.")
                % {"name": known[public_id].name}
            )


def round_names(params: ReportParams) -> list[str]:
    """Return the names of the chosen rounds, oldest first; [] if all count."""
    if not params.rounds:
        return []
    rounds = MarkingRound.objects.filter(public_id__in=params.rounds).order_by("pk")
    return list(rounds.values_list("name", flat=True))
