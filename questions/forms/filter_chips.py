"""The filters that are set, as chips that can be taken away one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.http import QueryDict

from questions.forms.filters import QuestionFilter

# What is part of the address and chooses no question.
NO_FILTERS = frozenset({"sort", "page"})


class Chip(NamedTuple):
    """One filter: its name, the chosen value as shown, and the query without it."""

    name: str
    label: str
    shown: str
    without: str


def chips(filters: QuestionFilter) -> list[Chip]:
    """A chip for every filter of *filters* that chooses."""
    return list(_chips(filters))


def _chips(filters: QuestionFilter) -> Iterator[Chip]:
    data = _as_querydict(filters)
    for name, value in filters.form.cleaned_data.items():
        if value in (None, "") or name in NO_FILTERS:
            continue
        rest = data.copy()
        rest.pop(name, None)
        rest.pop("page", None)
        field = filters.form.fields[name]
        yield Chip(name, str(field.label), _shown(field, value), rest.urlencode())


def _as_querydict(filters: QuestionFilter) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in filters.data.items():
        if value:
            data[name] = value
    return data


def _shown(field: object, value: object) -> str:
    """The words of the chosen entry; a text field shows what was typed."""
    for key, name in _flat(getattr(field, "choices", ())):
        if str(key) == str(value):
            return str(name).strip()
    return str(value)


def _flat(choices: object) -> Iterator[tuple[object, object]]:
    for key, name in choices:  # type: ignore[attr-defined]
        if isinstance(name, list | tuple):
            yield from _flat(name)
        else:
            yield key, name


def query_of(filters: QuestionFilter) -> str:
    """The filters and the sort as an address, without empty ones and without the page."""
    data = _as_querydict(filters)
    data.pop("page", None)
    return data.urlencode()
