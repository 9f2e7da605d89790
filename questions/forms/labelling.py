"""What the labelling desk shows and what it sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import get_language

from questions.forms.filters import QuestionFilter, named_choices
from questions.models import Question
from questions.rules.four_tuple import LEVELS, Label
from questions.rules.vocabulary import AbilityBranch, Modal
from questions.selectors.labelling import KnowledgeChoice, knowledge_choices

SECOND = "second"


@dataclass(frozen=True)
class Filters:
    """The filters of the address: which items, which labelling, with or without suggestions."""

    rows: Any
    second: bool
    suggestions: bool
    query: str

    def without(self, *names: str) -> str:
        """The query without some of its parameters."""
        return _query(QueryDict(self.query), names)


def read_filters(data: QueryDict) -> Filters:
    """The filters that stand in *data*; one with a value that does not exist is left out."""
    rows = QuestionFilter(data, queryset=Question.objects.filter(current__isnull=False)).qs
    return Filters(
        rows=rows,
        second=data.get("mode") == SECOND,
        suggestions=data.get("suggestions") != "off",
        query=_query(data, ("after", "page")),
    )


def _query(data: QueryDict, left_out: tuple[str, ...]) -> str:
    kept = data.copy()
    for name in left_out:
        kept.pop(name, None)
    return kept.urlencode()


@dataclass(frozen=True)
class LabelChoices:
    """The values that each of the four labels can have, and those that are chosen."""

    branches: list[tuple[str, str]]
    knowledge: list[KnowledgeChoice]
    levels: tuple[int, ...]
    modals: list[tuple[str, str]]
    chosen: Mapping[str, str]

    @property
    def knowledge_name(self) -> str:
        """What stands in the field for typing."""
        slug = self.chosen.get(Label.KNOWLEDGE, "")
        return next((entry.name for entry in self.knowledge if entry.slug == slug), "")


def label_choices(chosen: Mapping[str, str]) -> LabelChoices:
    """Names in the language of the request."""
    return LabelChoices(
        branches=named_choices(AbilityBranch),
        knowledge=knowledge_choices(get_language() or "en"),
        levels=LEVELS,
        modals=named_choices(Modal),
        chosen=chosen,
    )


def chosen_labels(row: Any) -> dict[str, str]:
    """The labels of a row or an opinion as the fields hold them; knowledge by its slug."""
    if row is None:
        return {}
    values = {label.value: getattr(row, label.value) for label in Label}
    values["knowledge"] = row.knowledge.slug if row.knowledge else ""
    return {name: str(value or "") for name, value in values.items()}


def sent_labels(data: QueryDict) -> dict[str, object]:
    """The four fields as they were sent."""
    return {label.value: data.get(label.value, "") for label in Label}


def number(data: QueryDict, name: str) -> int:
    """A key that a page sends back; 0 where there is none or it is no number."""
    text = data.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
