"""Totals that are known from a sample: a judge marked all responses of a run, teachers a part."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from evaluations.facts.params import ESTIMATE_PREFIX, JUDGE_PREFIX, TEACHERS, ReportParams
from evaluations.judging.sampling.selectors import SampleState, samples, state_of
from evaluations.models import MarkingSample
from evaluations.statistics.figure import Figure, ReportRow
from evaluations.statistics.gaokao_750 import STREAMS, WEIGHTS
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL
from evaluations.statistics.total_estimate import (
    SubjectEstimate,
    TotalEstimate,
    estimated_subjects,
)
from gradeapp.common.refusals import BadInput, NotFound
from questions.rules.vocabulary import Stream

OF_TEACHERS = f"{ESTIMATE_PREFIX}{TEACHERS}"


def markers_of_sample(sample: MarkingSample) -> list[str]:
    """Return the markers that estimate from *sample*: its judge, if any, and teachers alone."""
    judge = [f"{ESTIMATE_PREFIX}{JUDGE_PREFIX}{sample.judge.name}"] if sample.judge else []
    return [*judge, OF_TEACHERS]


def check_estimate(name: str, params: ReportParams) -> None:
    """Raise a Refusal unless the report *name* of *params* can have estimates as its marker."""
    if name != "converted":
        raise BadInput(_("Only the report “converted” has estimates from samples."))
    if params.policy != Policy.STRICT or _narrowed(params):
        raise BadInput(
            _(
                "An estimate from a sample is about all responses of a run, under the policy"
                " strict: leave out years, rounds and questions without images."
            )
        )
    known = {one for sample in _samples(params) for one in markers_of_sample(sample)}
    if params.marker not in known:
        raise NotFound(
            _("No sample of %(dataset)s gives “%(name)s”. Available: %(known)s.")
            % {
                "dataset": params.dataset,
                "name": params.marker,
                "known": ", ".join(sorted(known)) or _("none"),
            }
        )


def shown_samples(params: ReportParams) -> list[MarkingSample]:
    """Return the first samples of the chains whose estimates ``converted`` of *params* shows.

    None where it is about part of the responses, under another policy, or of another marker.
    """
    if params.policy != Policy.STRICT or _narrowed(params):
        return []
    if params.marker and not params.is_estimate:
        return []
    wanted = params.marker
    return [one for one in _samples(params) if not wanted or wanted in markers_of_sample(one)]


def _samples(params: ReportParams) -> Sequence[MarkingSample]:
    return list(samples().filter(params.of_runs("run__")).order_by("pk"))


def _narrowed(params: ReportParams) -> bool:
    return bool(params.year or params.rounds or params.without_blind)


def estimated_rows(
    params: ReportParams, found: Sequence[MarkingSample] | None = None
) -> list[ReportRow]:
    """Return the rows of report ``converted`` that are estimated from samples.

    As the others, but the key names the ``run`` and the ``sample`` too. The row of ``ALL`` has
    ``total``, the same with bounds that hold at every look (``total_at_every_look``), and ``rate``,
    the scoring rate (0 to 1) of the subjective part. n counts the questions that teachers marked.
    *found* are the ``shown_samples``, if they are known already.
    """
    rows: list[ReportRow] = []
    for sample in shown_samples(params) if found is None else found:
        state = state_of(sample)
        for marker in markers_of_sample(sample):
            if params.marker in ("", marker):
                rows += _rows_of(state, marker)
    return rows


def _rows_of(state: SampleState, marker: str) -> list[ReportRow]:
    run, aided = state.sample.run, marker != OF_TEACHERS
    asked = ModelCondition(run.language_model.name, run.condition.name if run.condition else "")
    refused = state.fitness.reason if state.fitness else "without_judge"
    rows = []
    for total in state.totals:
        about = {"stream": total.stream.value, "marker": marker, "policy": Policy.STRICT.value}
        about |= {"run": str(run.pk), "sample": str(state.sample.public_id)}
        subjects = estimated_subjects(state.rows, state.objective, total.stream, refused=refused)
        rows += [
            ReportRow(
                asked._asdict() | {"subject": one.subject.value} | about,
                _subject_figures(one, aided=aided),
            )
            for one in subjects
        ]
        figures = _total_figures(total, state, aided=aided)
        rows.append(ReportRow(asked._asdict() | {"subject": ALL} | about, figures))
    return rows


def _subject_figures(one: SubjectEstimate, *, aided: bool) -> dict[str, Figure]:
    subjective = one.aided if aided else one.human_only
    total = _plus(one.objective, subjective)
    return {"objective": one.objective, "subjective": subjective, "total": total}


def _plus(objective: Figure, subjective: Figure) -> Figure:
    """Return known *objective* points and estimated *subjective* ones together."""
    if objective.value is None or subjective.value is None:
        return objective if objective.value is None else subjective
    known = objective.value
    low, high = (
        None if bound is None else known + bound for bound in (subjective.low, subjective.high)
    )
    return Figure(known + subjective.value, subjective.n, low, high)


def _total_figures(total: TotalEstimate, state: SampleState, *, aided: bool) -> dict[str, Figure]:
    whole = total.aided if aided else total.human_only
    always = total.aided_always if aided else total.human_only_always
    return {"total": whole, "total_at_every_look": always, "rate": _rate(whole, total, state)}


def _rate(whole: Figure, total: TotalEstimate, state: SampleState) -> Figure:
    """Return the scoring rate of the subjective part that the total *whole* stands for."""
    if whole.value is None:
        return whole
    subjects = STREAMS[Stream(total.stream)]
    known = sum(WEIGHTS[one].objective * state.objective[one] for one in subjects)
    full = sum(WEIGHTS[one].subjective for one in subjects)
    value, low, high = (
        None if points is None else (points - known) / full
        for points in (whole.value, whole.low, whole.high)
    )
    return Figure(value, whole.n, low, high)
