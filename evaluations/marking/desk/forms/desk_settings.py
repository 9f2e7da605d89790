"""The form of "Preferences": a field for each key, the switch, and the size of type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from evaluations.marking.desk.rules.desk_keys import BASE, Action, chosen_keys, default
from evaluations.marking.desk.selectors.desk_settings import DRAWN, TYPE_SIZES, DeskPreferences

PREFIX = "key-"


class DeskSettingsForm(forms.Form):
    """What may be chosen at all; whether keys clash is the service's to say."""

    shortcuts = forms.BooleanField(required=False, label=_("Character keys as shortcuts"))
    advance = forms.BooleanField(
        required=False,
        label=_("Advance after a digit"),
        help_text=_(
            "One digit gives the points and moves on to the next scoring point if a "
            "point has at most 9. The half-point key then still applies to that "
            "digit."
        ),
    )
    type_size = forms.TypedChoiceField(
        coerce=int,
        choices=[(size, f"{size} %") for size in TYPE_SIZES],
        widget=forms.RadioSelect,
        label=_("Font size"),
    )

    def __init__(self, data: Mapping[str, Any] | None, *, chosen: DeskPreferences) -> None:
        first = {
            "shortcuts": chosen.shortcuts,
            "type_size": chosen.type_size,
            "advance": chosen.advance,
        }
        super().__init__(data, initial=first)
        language = get_language() or "en"
        for action, key in chosen_keys(chosen.own).items():
            field = forms.CharField(
                required=False, max_length=8, initial=key, label=action.label(language)
            )
            field.widget.attrs |= {"class": "key-field", "autocomplete": "off", "maxlength": 1}
            self.fields[f"{PREFIX}{action.value}"] = field

    def key_rows(self) -> Iterator[tuple[BoundField, str, str]]:
        """Each key's field, its default, and the key beside it that always works."""
        for action in Action:
            field = self[f"{PREFIX}{action.value}"]
            yield field, default(action), DRAWN.get(BASE[action], "")

    def as_settings(self) -> dict[str, Any]:
        """The arguments of ``save_desk_settings``."""
        given = self.cleaned_data
        keys = {action.value: given[f"{PREFIX}{action.value}"] for action in Action}
        chosen = {name: given[name] for name in ("shortcuts", "type_size", "advance")}
        return {**chosen, "keys": keys}
