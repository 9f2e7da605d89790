"""The keys of cuts and their values in the reader's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from evaluations.facts.words import subject_name
from evaluations.statistics.cuts import CUT_KEYS, MACRO
from evaluations.statistics.figure import Report
from evaluations.statistics.tally import ALL
from gradeapp.common.choices import label
from questions.models import Dataset, Knowledge
from questions.rules.vocabulary import AbilityBranch, Language, Modal, Part, QuestionType
from questions.templatetags.names import task_name

KEYS: Mapping[str, str | Promise] = {
    "task": gettext_lazy("Task"),
    "subject": gettext_lazy("Subject"),
    "part": gettext_lazy("Part"),
    "question_type": gettext_lazy("Question type"),
    "year": gettext_lazy("Year"),
    "language": gettext_lazy("Language"),
    "dataset": gettext_lazy("Dataset"),
    "ability_branch": gettext_lazy("Ability branch"),
    "knowledge": gettext_lazy("Knowledge"),
    "subclass": gettext_lazy("Knowledge subclass"),
    "difficulty": gettext_lazy("Difficulty"),
    "modal": gettext_lazy("Modality"),
    "question": gettext_lazy("Question"),
}
assert set(KEYS) == set(CUT_KEYS)
LISTS = {
    "part": Part,
    "question_type": QuestionType,
    "language": Language,
    "ability_branch": AbilityBranch,
    "modal": Modal,
}
WORDS: Mapping[str, Callable[[str], str]] = {
    "subject": subject_name,
    "task": task_name,
    "difficulty": lambda value: _("Level %(level)s") % {"level": value},
    "question": lambda value: " · ".join(
        (task_name(value.rpartition("/")[0]), value.rpartition("/")[2])
    ),
}

# By key, then by value.
Names = dict[str, dict[str, str]]


def value_name(key: str, value: str) -> str:
    """Return the name of a value of *key*, of ``ALL``, of ``MACRO`` or of no value."""
    if value == ALL:
        return _("All questions")
    if value == MACRO:
        return _("Mean of the rows")
    if not value:
        return _("None given")
    if key in LISTS:
        return label(LISTS[key], value)
    return WORDS[key](value) if key in WORDS else value


def value_names(report: Report, keys: tuple[str, ...]) -> Names:
    """Return the names of all values in *report*; at most one query for each key."""
    return {key: _named(key, {row.key[key] for row in report.rows}) for key in keys}


def cut_names(cut: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return the names of the keys of *cut*, and of their values."""
    return [(str(KEYS[key]), _named(key, {value})[value]) for key, value in cut]


def _named(key: str, values: set[str]) -> dict[str, str]:
    """Return the names of *values* of *key*; knowledge and datasets have theirs in rows."""
    names = {value: value_name(key, value) for value in values}
    if key in ("knowledge", "subclass"):
        language = get_language() or "en"
        stored = Knowledge.objects.filter(slug__in=values)
        return names | {row.slug: row.label(language) for row in stored}
    if key == "dataset":
        return names | dict(Dataset.objects.filter(slug__in=values).values_list("slug", "name"))
    return names
