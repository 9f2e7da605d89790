"""Form fields that choose people: those of one name have their username beside it."""

from __future__ import annotations

from typing import Any

from django import forms

from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart
from gradeapp.common.number_fields import KeysField


class _NamesApart:
    """The labels of the people in the ``queryset`` of a field."""

    queryset: Any
    names: dict[int, str] | None = None

    def label_from_instance(self, person: User) -> str:
        """Return the name of *person* among all that can be chosen."""
        if self.names is None:
            self.names = names_apart(list(self.queryset))
        return self.names.get(person.pk, str(person))


class PersonField(_NamesApart, forms.ModelChoiceField):  # type: ignore[type-arg]
    """A choice of one person."""


class PeopleField(_NamesApart, KeysField):
    """A choice of several people."""
