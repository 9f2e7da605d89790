"""Tags of the pages of judges: rows of calibration, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from evaluations.facts.words import subject_name
from evaluations.judging.calibration.forms import KEY_NAMES
from evaluations.judging.calibration.selectors import Calibrated, human_band
from evaluations.statistics.calibration import FIGURES, OF_TEACHERS
from evaluations.statistics.confidence_sequence import FIRST_LOOK
from evaluations.statistics.figure import Figure, ReportRow
from evaluations.statistics.tally import ALL
from evaluations.statistics.total_estimate import TotalEstimate
from evaluations.templatetags.figures import figure, why_html
from gradeapp.common.choices import label
from questions.rules.vocabulary import AbilityBranch, Modal, QuestionType, Stream
from questions.templatetags.names import task_name

register = template.Library()

VALUE_NAMES: dict[str, Callable[[str], str]] = {
    "subject": subject_name,
    "task": task_name,
    "question_type": lambda value: label(QuestionType, value),
    "ability_branch": lambda value: label(AbilityBranch, value),
    "modal": lambda value: label(Modal, value),
    "length": lambda value: _("%(range)s characters") % {"range": value.replace("-", "\u2013")},
    "band": lambda value: value.replace("-", "\u2013").replace("%", " %"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """The figures of a judge and of teachers for one value of a key, in words."""

    name: str
    total: bool
    band: str
    markers: tuple[tuple[str, Mapping[str, Figure]], ...]


@register.filter
def key_name(key: str) -> str:
    """Return the name of a key of calibration."""
    return str(KEY_NAMES[key])


@register.filter
def calibration_lines(group: Calibrated) -> list[Line]:
    """Return the rows of a judge on one model and condition, ``ALL`` first."""
    return [_line(row) for row in (group.every, *group.rows)]


def _line(row: ReportRow) -> Line:
    value, key = row.key["value"], row.key["by"]
    name = VALUE_NAMES.get(key, str)(value) if value else _("none")
    judge = {name: row.figures[name] for name in ("pairs", *FIGURES)}
    teachers = {name: row.figures[OF_TEACHERS + name] for name in judge}
    markers = [(_("Judge"), judge)]
    if teachers["pairs"].value is not None:
        markers.append((_("Two teachers"), teachers))
    return Line(
        name=_("All") if value == ALL else name,
        total=value == ALL,
        band=human_band(row),
        markers=tuple(markers),
    )


@register.filter
def stream_name(stream: str) -> str:
    """Return the name of a stream."""
    return label(Stream, stream)


@register.simple_tag
def at_every_look(total: Figure) -> SafeString:
    """Render a total with the interval that is valid at every look, or why there is none."""
    if total.value is not None and total.low is None and total.n < FIRST_LOOK:
        return why_html(_("fewer than %(n)s questions marked") % {"n": FIRST_LOOK})
    return figure(total, "points")


@register.inclusion_tag("components/_pill.html")
def sample_goal(total: TotalEstimate, half_width: Decimal) -> dict[str, str]:
    """Render whether the interval that is valid at every look is narrow enough."""
    figure = total.human_only_always if total.aided.value is None else total.aided_always
    if figure.low is None or figure.high is None:
        return {"text": _("not known yet"), "kind": ""}
    if (figure.high - figure.low) / 2 <= float(half_width):
        return {"text": _("reached"), "kind": "green"}
    return {"text": _("not reached yet"), "kind": "amber"}
