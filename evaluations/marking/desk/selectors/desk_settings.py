"""How one person likes the desk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from evaluations.marking.desk.rules.desk_keys import BASE, Action, chosen_keys, translation
from evaluations.models import DeskSettings
from gradeapp.accounts.models import User

TYPE_SIZES = (80, 90, 100, 110, 120, 130, 140, 150, 160)
NORMAL_SIZE = 100
DRAWN = {"Enter": "↵", "ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}
DRAWN |= {"Backspace": "⌫"}


@dataclass(frozen=True, slots=True)
class KeyRow:
    """An action in the list of keys: the keys that do it, as they are drawn."""

    action: Action
    keys: tuple[str, ...]


@dataclass(frozen=True)
class DeskPreferences:
    """The desk of one person. ``own`` maps an action to a character where it is not the default.

    ``type_size`` is in per cent, 80 to 160. Without ``shortcuts`` no character is a key. With
    ``advance`` a digit also moves on to the next scoring point.
    """

    shortcuts: bool = True
    own: Mapping[str, str] = field(default_factory=dict)
    type_size: int = NORMAL_SIZE
    advance: bool = False

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key that buttons show, by action; empty where there is none to show."""
        if not self.shortcuts:
            return {}
        chosen = chosen_keys(self.own).items()
        return {action.name.lower(): key or _drawn(action) for action, key in chosen}

    @property
    def pressed(self) -> str:
        """What the page's scripts take each character for, as JSON."""
        return json.dumps(translation(self.own), ensure_ascii=False)

    @property
    def rows(self) -> list[KeyRow]:
        """The list of keys in full, without the actions that have none."""
        rows = [KeyRow(action, self._keys(action)) for action in Action]
        return [row for row in rows if row.keys]

    def _keys(self, action: Action) -> tuple[str, ...]:
        own = chosen_keys(self.own)[action] if self.shortcuts else ""
        return tuple(key for key in (_drawn(action), own) if key)


def desk_preferences(user: User) -> DeskPreferences:
    """What *user* has chosen; the defaults for who never chose."""
    stored = DeskSettings.objects.filter(user=user).first()
    if stored is None:
        return DeskPreferences()
    return DeskPreferences(stored.shortcuts, stored.keys, stored.type_size, stored.advance)


def _drawn(action: Action) -> str:
    """The key that is no character and always does the action; empty where there is none."""
    return DRAWN.get(BASE[action], "")
