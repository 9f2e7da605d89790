"""The charts of the report page, with their words in the reader's language."""

from __future__ import annotations

from django.utils.translation import gettext as _

from evaluations.facts.params import ReportParams
from evaluations.facts.words import short_subject
from evaluations.reports.rules.charts import (
    Spread,
    pairs_scatter,
    rates_chart,
    spreads,
    spreads_box,
    totals_bar,
)
from evaluations.reports.rules.page_tables import gaps_of
from evaluations.reports.selectors.report_pages import Overview
from evaluations.statistics.coverage import Shortfalls
from evaluations.statistics.policies import Policy
from gradeapp.common.charts import Chart
from gradeapp.common.choices import label
from questions.rules.vocabulary import Stream, Subject


def stream_names() -> dict[str, str]:
    """The streams in the reader's language."""
    return {stream.value: label(Stream, stream) for stream in Stream}


def subject_names() -> dict[str, str]:
    """The subjects, short enough for the edge of a chart."""
    return {subject.value: short_subject(subject) for subject in Subject}


def totals_chart(
    found: Overview, models: list[str], params: ReportParams, short: Shortfalls
) -> Chart:
    """Converted totals; one decimal where they are released so."""
    digits = 1 if params.policy == Policy.PUBLISHED else 0
    gaps = gaps_of(found.rates)
    return totals_bar(
        found.converted, models, stream_names(), digits=digits, gaps=gaps.keys(), short=short
    )


def subjects_chart(found: Overview, part: str, colours: dict[str, int], short: Shortfalls) -> Chart:
    """Scoring rates of one part."""
    return rates_chart(found.rates, part, colours, subject_names(), short)


def teachers_chart(found: Overview) -> Chart:
    """First against second marks."""
    first, second = _("First teacher, % of full marks"), _("Second teacher, % of full marks")
    return pairs_scatter(found.teacher_pairs, first, second)


def judge_chart(found: Overview, marker: str) -> tuple[str, list[Spread], Chart]:
    """Which pair, its spreads, and their boxes."""
    pair, pairs = found.judge_pairs(marker)
    spread = spreads(pairs)
    label = _("Judge less teachers, % of full marks")
    return pair, spread, spreads_box(spread, subject_names(), label)
