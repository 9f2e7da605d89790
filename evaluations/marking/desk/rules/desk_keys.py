"""The keys of the marking desk: what each does, a person's own choice of them, and what clashes.

Points stay on the digits, and Enter, Tab and the arrows keep their meaning. Every
key that writes a character can be another one or none (WCAG 2.1.4); actions on the
other keys can have a character beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from gradeapp.common.named import Named

# What Chinese keyboards write in place of the keys that the desk knows.
FULL_WIDTH = str.maketrans("。，？", ".,?")
LONGEST_KEY = 1


class Action(Named):
    """Something that a key does at the desk."""

    HALF = "half", "Add or remove a half", "加半分或去掉半分"
    FULL = "full", "Full marks for the scoring point, or for the whole", "该采分点（或整题）给满分"
    ZERO = "zero", "Zero for the scoring point, or for the whole", "该采分点（或整题）给零分"
    COMMENT = "comment", "Comment; Esc returns to the points", "写评语；Esc 回到采分点"
    FLAG = "flag", "Flags; a digit sets one", "标记；按数字选择"
    SKIP = "skip", "Skip: the response returns at the end", "跳过：该作答最后再出现"
    UNDO = "undo", "Go to your last mark", "回到您上一份评分"
    CHANGE = "change", "Change the mark that is shown", "修改所示评分"
    QUESTION = "question", "Question", "试题"
    KEY = "key", "Answer key", "参考答案"
    ANALYSIS = "analysis", "Analysis", "解析"
    MARKING_NOTES = "rulings", "Marking notes, if there are any", "评卷细则（如有）"
    PASSAGE = "passage", "Fold or unfold a long question", "折叠或展开长题目"
    SUB_BACK = "sub-back", "Previous sub-question, in all columns", "各栏同时转到上一小题"
    SUB_ON = "sub-on", "Next sub-question, in all columns", "各栏同时转到下一小题"
    RAW = "raw", "The response as plain text", "按原文显示作答"
    HELP = "help", "Show the list of keys", "显示快捷键列表"
    SAVE = "save", "Save and show the next response", "保存并显示下一份"
    BACK = "back", "Previous scoring point", "上一个采分点"
    ON = "on", "Next scoring point", "下一个采分点"
    LESS = "less", "One step less", "减一档"
    MORE = "more", "One step more", "加一档"
    CLEAR = "clear", "Clear the points", "清除得分"


# The key by which the desk's scripts know an action.
BASE: Mapping[Action, str] = MappingProxyType(
    {
        Action.HALF: ".",
        Action.FULL: "m",
        Action.ZERO: "o",
        Action.COMMENT: "c",
        Action.FLAG: "f",
        Action.SKIP: "s",
        Action.UNDO: "u",
        Action.CHANGE: "e",
        Action.QUESTION: "q",
        Action.KEY: "a",
        Action.ANALYSIS: "n",
        Action.MARKING_NOTES: "h",
        Action.PASSAGE: "p",
        Action.SUB_BACK: "[",
        Action.SUB_ON: "]",
        Action.RAW: "r",
        Action.HELP: "?",
        Action.SAVE: "Enter",
        Action.BACK: "ArrowUp",
        Action.ON: "ArrowDown",
        Action.LESS: "ArrowLeft",
        Action.MORE: "ArrowRight",
        Action.CLEAR: "Backspace",
    }
)


class KeyFault(StrEnum):
    """Why a choice of keys is refused."""

    NO_ACTION = "no_action"
    NOT_A_KEY = "not_a_key"
    DIGIT = "digit"
    TWICE = "twice"


class KeyRefused(ValueError):
    """A refused choice: the fault, the key, and the actions that it was meant for."""

    def __init__(self, code: KeyFault, key: str, *actions: str) -> None:
        super().__init__(code.value)
        self.code = code
        self.key = key
        self.actions = actions


def default(action: Action) -> str:
    """The character that does *action* unless told otherwise; empty for the keys that are none."""
    return BASE[action] if len(BASE[action]) == LONGEST_KEY else ""


def chosen_keys(own: Mapping[str, str]) -> dict[Action, str]:
    """Each action's character: the person's *own*, else the default; empty for none."""
    return {action: own.get(action.value, default(action)) for action in Action}


def own_keys(wanted: Mapping[str, str]) -> dict[str, str]:
    """What of *wanted* (action to character, empty for none) differs from the defaults.

    Letters are taken as small ones. Raises KeyRefused for an action that there is
    not, for what is no single visible character, for a digit, and for a
    character of two actions, counting those that *wanted* does not name.
    """
    cleaned = {_action(name).value: _character(name, key) for name, key in wanted.items()}
    taken: dict[str, Action] = {}
    for action, key in chosen_keys(cleaned).items():
        if key and key in taken:
            raise KeyRefused(KeyFault.TWICE, key, taken[key], action)
        taken[key] = action
    return {name: key for name, key in cleaned.items() if key != default(Action(name))}


def translation(own: Mapping[str, str]) -> dict[str, str]:
    """From the character that is pressed to the key that the scripts know.

    A default that is nobody's key any more leads to nothing (an empty text).
    """
    chosen = chosen_keys(own)
    freed = {default(action): "" for action, key in chosen.items() if key != default(action)}
    found = {key: BASE[action] for action, key in chosen.items() if key and key != default(action)}
    return {pressed: base for pressed, base in (freed | found).items() if pressed}


def _action(name: str) -> Action:
    try:
        return Action(name)
    except ValueError:
        raise KeyRefused(KeyFault.NO_ACTION, "", name) from None


def _character(name: str, text: str) -> str:
    key = text.strip().translate(FULL_WIDTH).lower()
    if key.isdecimal():
        raise KeyRefused(KeyFault.DIGIT, key, name)
    if key and (len(key) != LONGEST_KEY or not key.isprintable()):
        raise KeyRefused(KeyFault.NOT_A_KEY, key, name)
    return key
