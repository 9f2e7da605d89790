"""Names of rows and columns of the papers' tables in words: ``{{ row.name|paper_words }}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from evaluations.capability.rules.dimensions import Dimension
from evaluations.conditions import PromptSetting
from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.facts.words import in_percentage_points
from evaluations.reports.rules.paper_agibench import BRANCHES, RENAMED
from evaluations.reports.rules.paper_behind import Made
from evaluations.reports.rules.paper_cells import POOLED
from evaluations.reports.rules.paper_page import PageCell
from evaluations.reports.rules.published_tables import Words
from evaluations.reports.selectors.paper_cell import PartSum
from evaluations.reports.views.addresses import address_of
from evaluations.statistics.number_text import POINTS
from evaluations.statistics.tally import ALL
from gradeapp.common.named import Named
from questions.rules.task_names import chinese_task_name
from questions.rules.taxonomy import TAXONOMY
from questions.rules.vocabulary import AbilityBranch, Modal, Part, QuestionType, Stream, Subject

register = template.Library()
LISTS: tuple[type[Named], ...] = (Subject, Part, Stream, Modal, PromptSetting, Dimension)
# GAOKAO-Bench names its types of questions in words of its own.
TYPES: Mapping[str, QuestionType] = {
    "Single Choice": QuestionType.SINGLE_CHOICE,
    "Multi-Question Choice": QuestionType.SEVERAL_QUESTIONS,
    "Multi-Choice": QuestionType.MULTIPLE_CHOICE,
    "Five out of Seven": QuestionType.FIVE_OUT_OF_SEVEN,
    "Open-ended Question": QuestionType.OPEN_ENDED,
    "Cloze": QuestionType.CLOZE,
    "Correction": QuestionType.CORRECTION,
}
NAMED: Mapping[str, Named] = (
    {one.value: one for each in LISTS for one in each}
    | TYPES
    | {BRANCHES[branch.value]: branch for branch in AbilityBranch}
)
WORDS: Mapping[str, Promise | str] = {
    "Overall": _("Overall"),
    "Avg": _("Average"),
    "Human": _("Human"),
    "human": _("Human"),
    "teachers": _("Teachers"),
    "judge": _("Judge model"),
    "average": _("Average"),
    "Average": _("Average"),
    "top": _("Best"),
    "all": _("All"),
    "number": _("Number"),
    "instances": _("Number"),
    "questions": _("Questions"),
    "participants": _("Participants"),
    "percentage": _("Share"),
    "ratio": _("Share"),
    "average_length": _("Average length"),
    "average_tokens": _("Average tokens"),
    "difference": _("Difference"),
    "total": _("Full marks"),
    "with": _("with marking criterion"),
    "without": _("without marking criterion"),
    "spearman": _("Spearman"),
    "kendall-tau": _("Kendall τ-b"),
    "size_billion": _("Parameters, billions"),
    "temperature_used": _("Temperature used"),
    "temperature_maximum": _("Highest temperature"),
    "exact match": _("Exact match"),
    "f1": "F1",
    # The three prompts of AGIBench.
    "none": _("question alone"),
    "answer": _("asked for the answer"),
    "reason": _("asked for answer and reason"),
    "lead": _("Lead of people"),
    "over 100": _("over 100"),
    "over 1000": _("over 1,000"),
    "few-shot-gain": _("few-shot minus zero-shot"),
    "few-shot-cot-gain": _("few-shot CoT minus zero-shot CoT"),
    "cot-gain": _("zero-shot CoT minus zero-shot"),
    "cot-few-shot-gain": _("few-shot CoT minus few-shot"),
}
# Names that are no list of pieces, or mean something else in the table of this id.
WHOLE: Mapping[str, Promise] = {
    "multi-granularity/observation/2": _("Multi-granularity, observation 2"),
    "common sense, GPT-4 minus human": _("Common sense, GPT-4 minus human"),
    "reasoning, human minus GPT-4": _("Reasoning, human minus GPT-4"),
}
IN_TABLE: Mapping[tuple[str, str], Promise] = {
    ("gains", "Chinese"): _("Tasks in Chinese"),
    ("gains", "English"): _("Tasks in English"),
}
PIECES = re.compile("[:/]")


def _taxonomy() -> Mapping[str, str]:
    """Return the Chinese names of the rows of AGIBench's tables: branch, category, subclass."""
    names = {}
    for one in TAXONOMY:
        branch = f"{BRANCHES[one.branch.value]}/{RENAMED.get(one.slug, one.english)}"
        chinese = f"{one.branch.chinese} · {one.chinese}"
        names[branch] = chinese
        for sub in one.subclasses:
            names[f"{branch}/{RENAMED.get(one.slug, sub.english)}"] = f"{chinese} · {sub.chinese}"
    return names


CHINESE_PATHS = _taxonomy()


@register.filter
def paper_words(name: str, table: str = "") -> SafeString:
    """Return the name of a row or column of *table* with the words of the page's language.

    The parts of ``sciences:human`` and ``objective/Cloze`` stand beside each other. What has no
    word here (a model, a category) stays as it is printed, in English.
    """
    if whole := WHOLE.get(name) or IN_TABLE.get((table, name)):
        return format_html("{}", whole)
    is_chinese = (get_language() or "").startswith("zh")
    if is_chinese and (chinese := chinese_task_name(name) or CHINESE_PATHS.get(name)):
        return format_html("{}", chinese)
    pieces = ((_piece(one),) for one in PIECES.split(name))
    return format_html_join(" · ", "{}", pieces)


def _piece(name: str) -> SafeString:
    if named := NAMED.get(name):
        return format_html("{}", named.label(get_language() or "en"))
    if words := WORDS.get(name):
        return format_html("{}", words)
    return format_html('<span lang="en">{}</span>', name)


@register.filter
def in_language(words: Words) -> str:
    """Return a sentence of a data file in the language of the reader."""
    return words.label(get_language() or "en")


@register.filter
def paper_table_name(name: str) -> str:
    """Return ``table-1`` as "Table 1"; what has no number in the paper is "Beside the paper"."""
    kind, _dash, number = name.partition("-")
    if not number[:1].isdigit():
        return gettext("Beside the paper")
    words = gettext("Figure %(n)s") if kind == "figure" else gettext("Table %(n)s")
    return words % {"n": number[:1]}


@register.simple_tag
def paper_rows_link(params: ReportParams, shown: PageCell) -> str:
    """Return the URL of the answers behind a cell of a paper, or of the lists it is made from.

    "" if it is from no answers. *params* are of the answers of all models of the page.
    """
    behind = shown.behind
    if behind is None:
        return ""
    model, conditions = shown.asked
    own = replace(params, marker=shown.marker, paper="")
    if model:
        own = replace(own, models=(model,), conditions=tuple(conditions.split(POOLED)))
    if behind.made is Made.PAIRS:
        of_pairs = replace(own, marker="")
        return address_of("reports:pairs", of_pairs, pair=f"{TEACHERS}-{shown.marker}", subject=ALL)
    if behind.made is Made.LIST:
        (part,) = behind.parts
        return address_of("reports:rows", own, **part.query)
    return address_of(
        "reports:paper-cell", replace(own, paper=params.dataset), **shown.name._asdict()
    )


@register.simple_tag
def part_link(one: PartSum) -> str:
    """Return the URL of the list of answers of a part of a cell."""
    return address_of("reports:rows", one.params, **one.part.query)


@register.filter
def in_unit(number: str) -> str:
    """Return the text of a figure with its unit in the language of the reader."""
    return in_percentage_points(number.removesuffix(POINTS)) if number.endswith(POINTS) else number
