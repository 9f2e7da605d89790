"""Words of the checks of judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.facts.params import ReportParams
from evaluations.judging.rules.verdicts import EXACT, FIRST_UNREADABLE, TOGETHER, UNREADABLE
from evaluations.judging.selectors import is_proven, relatives
from evaluations.models import Judge
from evaluations.statistics.outcomes import CanaryKind, JudgeVerdict

register = template.Library()
KINDS = {
    JudgeVerdict.PASSED: "green",
    JudgeVerdict.OPEN: "amber",
    JudgeVerdict.SUSPENDED: "red",
}


@register.filter
def canary_name(kind: str) -> str:
    """Return the name of a class of canaries."""
    if kind == TOGETHER:
        return _("All classes of false credit")
    if kind == EXACT:
        return _("More than one point off an exact worth")
    return CanaryKind(kind).label(get_language() or "en")


@register.filter
def verdict_name(verdict: str) -> str:
    """Return the name of a verdict."""
    return JudgeVerdict(verdict).label(get_language() or "en")


@register.filter
def verdict_kind(verdict: str) -> str:
    """Return the colour of the pill of a verdict."""
    return KINDS[JudgeVerdict(verdict)]


@register.filter
def suspension_words(reason: Mapping[str, Any]) -> str:
    """Return why a judge was suspended in a sentence."""
    values = {"failed": reason["failed"], "n": reason["n"]}
    if reason["code"] == FIRST_UNREADABLE:
        return (
            _("None of the first %(n)s responses got a readable total, so the run was stopped.")
            % values
        )
    if reason["code"] == UNREADABLE:
        return _("%(failed)s of %(n)s responses got no readable total.") % values
    name = canary_name(reason["code"])
    return _("%(name)s: marked wrongly in %(failed)s of %(n)s cases.") % {**values, "name": name}


@register.inclusion_tag("evaluations/judging/_verdict.html")
def judge_verdict(params: ReportParams) -> dict[str, Any]:
    """Show the verdict on the judge of *params*, and its models that are of the judge's family."""
    judges = Judge.objects.select_related("current_check", "endpoint__language_model")
    judge = judges.filter(name=params.judge).first() if params.is_judge else None
    if judge is None:
        return {"judge": None}
    return {
        "judge": judge,
        "check": judge.current_check,
        "unproven": judge.endpoint is not None and not is_proven(judge),
        "relatives": relatives(judge, params),
    }
