"""Tags and filters for figures, and for the codes of reports in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from evaluations.facts.params import ReportParams, round_names
from evaluations.facts.words import (
    marker_name,
    number_words,
    reason_words,
    short_subject,
    subject_name,
)
from evaluations.reports.forms import table_words
from evaluations.reports.rules.page_tables import Gap
from evaluations.reports.selectors.reports import OF_SETTINGS
from evaluations.reports.views.addresses import address_of, of_asked, query_of
from evaluations.schemes import FinalRule
from evaluations.statistics.coverage import Coverage, Shortfalls, coverage
from evaluations.statistics.cuts import MACRO
from evaluations.statistics.figure import Figure, ReportRow
from evaluations.statistics.ledger import outcome_of
from evaluations.statistics.number_text import interval_text, number_text, plain_points
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from evaluations.statistics.tally import ALL
from gradeapp.accounts.roles import Capability
from gradeapp.common.choices import label
from questions.models import Question
from questions.rules.vocabulary import ItemStatus, Part

register = template.Library()
COLOURS = 8
# Tables have thousands of figures, and a template for each takes ten times as long. The line break
# keeps what stands beside a figure apart from it.
WHY = '<span class="why">–&nbsp;{}</span>\n'
SHORT_WHY = '<span class="why" title="{0}">–<span class="visually-hidden"> {0}</span></span>\n'
LINKED = '<a href="{}">{}</a>'
WITHHELD = '<details class="withheld"><summary>{}</summary>%s</details>'
INTERVAL = '<span class="interval">{}</span>'
for words in (marker_name, reason_words, short_subject, subject_name):
    register.filter(words)


@register.filter
def rounds_words(params: ReportParams) -> str:
    """Return the names of the rounds that a report is limited to; "" if it is not."""
    return _("rounds: %(names)s") % {"names": rounds_listed(params)} if params.rounds else ""


@register.filter
def rounds_listed(params: ReportParams) -> str:
    """Return the names of the rounds whose marks count, or "all"."""
    return _(", ").join(round_names(params)) or pgettext("rounds", "all")


@register.filter
def asked_words(params: ReportParams) -> str:
    """Return the models, conditions and runs that a report is limited to, or "All models"."""
    parts = [_(", ").join(params.models) or _("All models"), _(", ").join(params.conditions)]
    if params.runs:
        parts.append(_("runs: %(numbers)s") % {"numbers": _(", ").join(map(str, params.runs))})
    if params.without_blind:
        parts.append(_("without questions asked blind"))
    return " · ".join(filter(None, parts))


@register.filter
def items_words(params: Mapping[str, Any]) -> str:
    """Return the number of questions such as "926 of 927 questions (1 excluded)"; "" if all."""
    left_out = params.get("left_out")
    if not left_out:
        return ""
    why = " · ".join(
        f"{count:,} {label(ItemStatus, status).lower()}" for status, count in left_out.items()
    )
    every = params["items"]
    numbers = {"counted": f"{every - sum(left_out.values()):,}", "all": f"{every:,}"}
    return _("%(counted)s of %(all)s questions (%(why)s)") % {**numbers, "why": why}


@register.filter
def part_name(part: str) -> str:
    """Return the name of a part: objective or subjective."""
    return label(Part, part)


@register.filter
def policy_name(policy: str) -> str:
    """Return the name of a policy."""
    return label(Policy, policy)


@register.filter
def outcome_name(outcome: str) -> str:
    """Return the name of an outcome of the ledger."""
    return label(LedgerOutcome, outcome)


@register.filter
def rule_name(rule: str) -> str:
    """Return the name of the rule of a final mark."""
    return label(FinalRule, rule)


@register.filter
def outcome_words(row: ScoredAnswer) -> str:
    """Return the outcome of an answer, with the reason if it has no points."""
    outcome = outcome_name(outcome_of(row))
    if not row.reason or row.reason == outcome_of(row):
        return outcome
    return _("%(outcome)s: %(why)s") % {"outcome": outcome, "why": reason_words(row.reason)}


@register.simple_tag(takes_context=True)
def evidence_link(context: Mapping[str, Any], question: Question, response: UUID | None) -> str:
    """Return the URL of the response, or of the question if the call failed.

    Of the question too for those who may not see runs.
    """
    user = context["user"]
    if response is None or not user.may(Capability.SEE_RUNS):
        return reverse("questions:question", args=[question.public_id])
    return reverse("runs:response", args=[response])


@register.filter
def pair_name(pair: str) -> str:
    """Return who is compared with whom."""
    if pair == "teacher-teacher":
        return _("two teachers")
    return _("teachers and judge model %(name)s") % {"name": pair.removeprefix("teachers-judge:")}


@register.filter
def swatch(asked: ModelCondition, colours: Mapping[ModelCondition, int]) -> int:
    """Return the number of the chart colour of a model and condition, 0 to 7."""
    return swatch_number(colours.get(asked, 0))


@register.filter
def swatch_number(colour: int) -> int:
    """Return the number of *colour* among the eight of charts."""
    return colour % COLOURS


@register.filter
def number(value: float, kind: str) -> str:
    """Return a number in the style of its kind."""
    return number_words(value, kind)


@register.filter
def rows_words(rows: int) -> str:
    """Return how long a table is, such as "1,030 rows"."""
    return ngettext("%(n)s row", "%(n)s rows", rows) % {"n": f"{rows:,}"}


@register.filter
def points_text(value: float | Decimal) -> str:
    """Return points such as 7,000 or 2.25."""
    return plain_points(float(value))


@register.filter
def interval_words(figure: Figure, kind: str) -> str:
    """Return the interval of a figure such as "95 % interval 0.0–79.3"; "" for none."""
    bounds = interval_text(figure, kind)
    return _("95 %% interval %(bounds)s") % {"bounds": bounds} if bounds else ""


@register.filter
def limits_text(figures: Mapping[str, Figure]) -> str:
    """Return the limits of agreement such as ``−1.25 … +2.00``; "" for none."""
    ends = (figures["limits_low"].value, figures["limits_high"].value)
    return " … ".join(number_text(end, "difference") for end in ends if end is not None)


def why_html(reason: str) -> SafeString:
    """Return a dash with the *reason* why there is no figure, as HTML."""
    return format_html(WHY, reason)


@register.simple_tag
def figure(
    value: Figure | None,
    kind: str,
    link: str = "",
    interval: bool = True,
    short: Coverage | None = None,
) -> SafeString:
    """Return a figure with its interval and a link to its rows, or its reason, as HTML.

    A figure with too few marks (*short*) is shown after a click.
    """
    if value is None:
        return why_html(_("no responses"))
    if value.value is None:
        return why_html(reason_words(value.reason or ""))
    around = interval_text(value, kind) if interval else ""
    return _shown(short, number_words(value.value, kind), link, around)


@register.simple_tag
def short_figure(
    value: Figure, kind: str, link: str = "", short: Coverage | None = None
) -> SafeString:
    """Return a figure for a narrow cell, or a dash with the reason as its title, as HTML.

    A figure with too few marks (*short*) is shown after a click.
    """
    if value.value is None:
        return format_html(SHORT_WHY, reason_words(value.reason or ""))
    return _shown(short, number_words(value.value, kind), link)


def _shown(short: Coverage | None, text: str, link: str, around: str = "") -> SafeString:
    """Return *text* as HTML, folded under how many are marked if these are too few (*short*).

    By one ``format_html`` without empty values: it takes longer than all else here.
    """
    html, values = (LINKED, [link, text]) if link else ("{}", [text])
    if around:
        html, values = html + INTERVAL, [*values, around]
    if short is not None:
        html, values = WITHHELD % html, [coverage_words(short), *values]
    return format_html(html + "\n", *values)


@register.simple_tag
def shortfall(
    found: Shortfalls, asked: ModelCondition, place: str, part: str = ""
) -> Coverage | None:
    """Return the coverage of a figure of *asked* that is too low; None if it is shown."""
    return None if part == Part.OBJECTIVE else found.get(asked, {}).get(place)


@register.filter
def coverage_words(short: Coverage | None) -> str:
    """Return the text in place of a figure with too few marks, such as "38 of 654 marked"."""
    if short is None:
        return ""
    numbers = {"n": number_text(short.marked, "count"), "all": number_text(short.all, "count")}
    if short.subject:
        return _("%(subject)s: %(n)s of %(all)s marked") % {
            **numbers,
            "subject": subject_name(short.subject),
        }
    return _("%(n)s of %(all)s marked") % numbers


@register.filter
def gap_words(gaps: Sequence[Gap] | None) -> str:
    """Return by part how many answers have points; "" if all have."""
    return " · ".join(
        (
            _("incomplete: %(scored)s of %(all)s marked")
            if gap.part == Part.SUBJECTIVE
            else _("incomplete: %(scored)s of %(all)s objective responses scored")
        )
        % {"scored": number_text(gap.scored, "count"), "all": number_text(gap.all, "count")}
        for gap in gaps or ()
    )


@register.filter
def entry(values: Mapping[Any, Any] | None, key: str | ModelCondition) -> Any:
    """Return the value of *key* in *values*; None if there is none."""
    return (values or {}).get(key)


@register.simple_tag
def rows_link(params: ReportParams, asked: ModelCondition, **cell: str) -> str:
    """Return the URL of the answers of a figure of *asked*."""
    return address_of("reports:rows", of_asked(params, asked), **cell)


@register.simple_tag
def tab_link(params: ReportParams, view: str) -> str:
    """Return the URL of another page of reports with the same filters."""
    return address_of(view, params)


@register.simple_tag
def cut_link(params: ReportParams, row: ReportRow, unscored: str = "") -> str:
    """Return the URL of the answers of a row of report ``cuts``; "" for a mean of rows."""
    cut = [f"{key}:{row.key[key]}" for key in params.by.split(",") if row.key[key] != ALL]
    if any(one.endswith(f":{MACRO}") for one in cut):
        return ""
    return address_of("reports:rows", of_asked(params, row.asked), cut=cut, unscored=unscored)


@register.simple_tag
def year_link(params: ReportParams, asked: ModelCondition, year: str) -> str:
    """Return the URL of the answers of *asked* to the questions of *year*."""
    return address_of("reports:rows", of_asked(params, asked), cut=f"year:{year}")


@register.filter
def few_marked(row: ReportRow, percent: int) -> Coverage | None:
    """Return the coverage of *row* if less than *percent* of its answers have points."""
    found = coverage(row.figures)
    return found if found.is_below(percent) else None


@register.filter
def is_total(row: ReportRow) -> bool:
    """Return whether *row* of report ``cuts`` is over all questions, or a mean of rows."""
    return bool({ALL, MACRO} & set(row.key.values()))


@register.inclusion_tag("evaluations/reports/_rate_bar.html")
def rate_bar(figures: Mapping[str, Figure], colour: int) -> dict[str, Any]:
    """Render a rate as a bar with its interval, and a line where people are."""
    rate, human = figures["rate"], figures.get("human")
    assert rate.value is not None
    end = {"bar": round(1000 * min(rate.value, 1)), "colour": colour}
    if rate.low is not None and rate.high is not None:
        low, high = round(1000 * rate.low), round(1000 * min(rate.high, 1))
        end |= {"low": low, "width": max(high - low, 4)}
    if human is not None and human.value is not None:
        end["people"] = round(1000 * human.value)
    return end


@register.simple_tag
def pairs_link(params: ReportParams, asked: ModelCondition, pair: str, subject: str) -> str:
    """Return the URL of the pairs of a figure of agreement."""
    of_all = of_asked(params, asked, of_any_marker=True)
    return address_of("reports:pairs", of_all, pair=pair, subject=subject)


@register.simple_tag
def report_link(params: ReportParams) -> str:
    """Return the URL of the report page of *params*, with all models, conditions and runs."""
    return address_of("reports:overview", replace(params, models=(), conditions=(), runs=()))


@register.simple_tag
def export_link(params: ReportParams, name: str, suffix: str = "csv") -> str:
    """Return the URL of the table *name* as a file; agreement has all pairs."""
    address = reverse("reports:export", args=[name, suffix])
    shown = replace(params, marker="") if name == "agreement" else params
    keys = list(filter(None, params.by.split(",")))
    by = keys if name == "cuts" or (name in OF_SETTINGS and len(keys) == 1) else ()
    return f"{address}?{query_of(shown, by=by)}"


@register.simple_tag
def exports_link(params: ReportParams) -> str:
    """Return the URL of the page that makes files of *params*."""
    return address_of("reports:exports", params, by=params.by and params.by.split(","))


@register.filter
def table_name(name: str) -> str:
    """Return the name of a table that can be exported, in words."""
    return table_words().get(name, name)
