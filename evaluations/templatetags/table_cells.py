"""Tags for the cells of tables with thousands of figures: one tag writes several cells.

A tag for each figure takes five times as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from django import template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from evaluations.facts.params import ReportParams
from evaluations.facts.words import reason_words
from evaluations.reports.views.addresses import address_of, of_asked
from evaluations.statistics.figure import Figure, ReportRow
from evaluations.statistics.number_text import number_text
from evaluations.templatetags.figures import SHORT_WHY

register = template.Library()
CELL = '<td class="number">{}</td>\n'
OUTCOME_CELL = '<td class="number"><a href="{}&amp;outcome={}">{}</a></td>\n'
NO_OUTCOME_CELL = '<td class="number"><span class="muted">0</span></td>\n'


# The columns of the table of agreement that one tag writes, with their kinds.
AGREEMENT = {
    **dict.fromkeys(("spearman", "kendall_tau_b"), "coefficient"),
    **dict.fromkeys(("exact", "within_tolerance"), "rate"),
    "mean_abs_difference": "marks",
    "bias": "difference",
    "limits": "difference",
    **dict.fromkeys(("icc_2_1", "kappa_quadratic", "alpha_interval"), "coefficient"),
}


@register.simple_tag
def short_cells(figures: Mapping[str, Figure], kind: str, *names: str) -> SafeString:
    """Return table cells with the figures *names*, as HTML."""
    return _row([_cell(figures[name], kind) for name in names])


@register.simple_tag
def agreement_cells(figures: Mapping[str, Figure]) -> SafeString:
    """Return the table cells of ``AGREEMENT``, as HTML."""
    return _row(
        [
            _limits(figures["limits_low"], figures["limits_high"], kind)
            if name == "limits"
            else _cell(figures[name], kind)
            for name, kind in AGREEMENT.items()
        ]
    )


def _row(cells: Sequence[SafeString]) -> SafeString:
    return format_html("{}" * len(cells), *cells)


def _cell(figure: Figure, kind: str) -> SafeString:
    if figure.value is None:
        return format_html(CELL, format_html(SHORT_WHY, reason_words(figure.reason or "")))
    return _number_cell(number_text(figure.value, kind))


def _limits(low: Figure, high: Figure, kind: str) -> SafeString:
    if low.value is None or high.value is None:
        return _cell(low, kind)
    ends = (number_text(one, kind) for one in (low.value, high.value))
    return format_html(CELL, " … ".join(ends))


@lru_cache(maxsize=4096)
def _number_cell(text: str) -> SafeString:
    """Return a table cell; the same numbers come again and again."""
    return format_html(CELL, text)


@register.simple_tag
def outcome_cells(params: ReportParams, row: ReportRow) -> SafeString:
    """Return table cells with the numbers of responses by outcome, linked to them, as HTML."""
    of_task = address_of("reports:rows", of_asked(params, row.asked), task=row.key["task"])
    rows = conditional_escape(of_task)
    counts = [(name, int(count.value or 0)) for name, count in row.figures.items()]
    html = "".join(OUTCOME_CELL if n else NO_OUTCOME_CELL for _name, n in counts)
    values = [value for name, n in counts if n for value in (rows, name, f"{n:,}")]
    return format_html(html, *values)
