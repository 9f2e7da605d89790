"""Problems in words, and the two versions of an item with their differences marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from gradeapp.rendering import render_pieces, render_text
from questions.models import ItemProblem, Question, QuestionRevision
from questions.rules.differences import different_pieces
from questions.rules.options import option_groups
from questions.rules.vocabulary import ProblemCode
from questions.selectors.bank import image_addresses

register = template.Library()


@register.filter
def problem_words(problem: ItemProblem) -> str:
    """What is wrong, in one line with the values that it is about."""
    if problem.code == ProblemCode.CONFLICTING_KEY and problem.other is not None:
        return _conflict(problem, problem.other)
    words = SENTENCES.get(problem.code)
    return words(problem.detail) if words else ""


def _joined(values: Any) -> str:
    return ", ".join(map(str, values or ()))


def _parts(detail: Mapping[str, Any]) -> str:
    """Which sub-questions are alike: "3 = whole", "2 = 1"."""
    whole = _("whole question")
    return _joined(f"{here or whole} = {there or whole}" for here, there in detail["parts"])


def _outside(detail: Mapping[str, Any]) -> str:
    values = {"keys": _joined(detail["keys"]), "letters": detail["letters"]}
    return _("answer key %(keys)s, options %(letters)s") % values


def _several(detail: Mapping[str, Any]) -> str:
    return _("answer key %(keys)s where one letter is expected") % {"keys": _joined(detail["keys"])}


def _count(detail: Mapping[str, Any]) -> str:
    return _("answer keys: %(keys)s, sub-questions: %(marks)s") % dict(detail)


def _empty_key(detail: Mapping[str, Any]) -> str:
    subs = detail["subs"]
    return _("in sub-question %(subs)s") % {"subs": _joined(subs)} if len(subs) > 1 else ""


def _options(detail: Mapping[str, Any]) -> str:
    return _("options %(options)s") % {"options": _joined(detail["options"])}


def _against(detail: Mapping[str, Any]) -> str:
    pairs = zip(detail["keys"], detail["says"], strict=True)
    subs = detail["subs"] or [None] * len(detail["keys"])
    return " · ".join(
        (f"({sub}) " if sub else "")
        + _("the answer key is %(key)s, the analysis concludes %(says)s")
        % {"key": key, "says": says}
        for sub, (key, says) in zip(subs, pairs, strict=True)
    )


def _figure(detail: Mapping[str, Any]) -> str:
    if detail["links"]:
        return _("images on another server: %(links)s") % {"links": detail["links"]}
    return f"…{detail['words']}…"


def _alike(detail: Mapping[str, Any]) -> str:
    percent = f"{detail['similarity'] * 100:.0f} %"
    if not detail["parts"]:
        return _("similarity %(percent)s") % {"percent": percent}
    return _("sub-questions %(parts)s") % {"parts": _parts(detail)}


def _conflict(problem: ItemProblem, other: QuestionRevision) -> str:
    """The two keys: "D ↔ C", or of the sub-questions that are the same "(3) A ↔ B"."""
    pairs = problem.detail["parts"] or [[0, 0]]
    return " · ".join(
        (f"({here}) " if here else "")
        + f"{_key_of(problem.revision, here)} ↔ {_key_of(other, there)}"
        for here, there in pairs
    )


def _key_of(revision: QuestionRevision, sub: int) -> str:
    keys = revision.answer_key
    return str(keys[sub - 1]) if 0 < sub <= len(keys) else " ".join(keys)


def _rubric(detail: Mapping[str, Any]) -> str:
    return " · ".join(
        _("(%(sub)s) rubric %(given)s, full marks %(full)s")
        % {"sub": sub, "given": given, "full": full}
        for sub, given, full in zip(detail["subs"], detail["given"], detail["full"], strict=True)
    )


def _unread(detail: Mapping[str, Any]) -> str:
    return _("written as: %(forms)s") % {"forms": _joined(detail["forms"])}


def _reported(detail: Mapping[str, Any]) -> str:
    return " · ".join(detail["words"])


SENTENCES = {
    ProblemCode.KEY_OUTSIDE: _outside,
    ProblemCode.SEVERAL_LETTERS: _several,
    ProblemCode.KEY_COUNT: _count,
    ProblemCode.EMPTY_KEY: _empty_key,
    ProblemCode.EMPTY_OPTIONS: _options,
    ProblemCode.REPEATED_OPTIONS: _options,
    ProblemCode.KEY_AGAINST_ANALYSIS: _against,
    ProblemCode.MISSING_FIGURE: _figure,
    ProblemCode.EXACT_DUPLICATE: _alike,
    ProblemCode.NEAR_DUPLICATE: _alike,
    ProblemCode.RUBRIC_SUM: _rubric,
    ProblemCode.GOLD_UNREAD: _unread,
    ProblemCode.REPORTED: _reported,
}


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an item as it is shown: its texts rendered, what differs marked."""

    question: Question
    revision: QuestionRevision
    asked: SafeString
    keys: list[tuple[str, str, bool]]
    answer: SafeString
    analysis: SafeString


def version(
    one: QuestionRevision, other: QuestionRevision | None, *, compared: bool = True
) -> list[Version]:
    """One version, or two with their differences marked where they are *compared*."""
    if other is None:
        return [_version(one, None, compared=False)]
    return [_version(one, other, compared=compared), _version(other, one, compared=compared)]


def _version(
    revision: QuestionRevision, other: QuestionRevision | None, *, compared: bool
) -> Version:
    images = image_addresses(revision.question.task.dataset, revision.images)

    def shown(name: str) -> SafeString:
        against = getattr(other, name) if other is not None and compared else None
        return _marked(getattr(revision, name), against, images)

    return Version(
        question=revision.question,
        revision=revision,
        asked=shown("asked"),
        keys=_keys(revision, other),
        answer=shown("reference_answer"),
        analysis=shown("analysis"),
    )


def _keys(
    revision: QuestionRevision, other: QuestionRevision | None
) -> list[tuple[str, str, bool]]:
    """Each key with its number, the text of its option where that is clear, and if it differs."""
    options = tuple(revision.options)
    if not options and len(revision.answer_key) == 1:
        printed = option_groups(revision.stem, revision.letters)
        options = printed[-1].texts if printed else ()
    texts = dict(zip(revision.letters, options, strict=False))
    several = len(revision.answer_key) > 1
    same_number = other is not None and len(other.answer_key) == len(revision.answer_key)
    rows = []
    for place, key in enumerate(revision.answer_key):
        differs = same_number and other is not None and other.answer_key[place] != key
        number = f"{place + 1} " if several else ""
        rows.append((number + key, " / ".join(texts.get(letter, "") for letter in key), differs))
    return rows


def _marked(text: str, other: str | None, images: Mapping[str, str]) -> SafeString:
    """*text* rendered, with <mark> around what *other* has not; an empty *other* marks nothing."""
    if not other or not text:
        return render_text(text, images)
    pieces, _others = different_pieces(text, other)
    return render_pieces(pieces, images)


@register.filter
def item_name(question: Question) -> str:
    """Where an item stands: dataset, task and number."""
    task = question.task
    return f"{task.dataset.name} · {task.slug.replace('_', ' ')} · {question.external_id}"


@register.filter
def decision_kind(decision: str | None) -> str:
    """The colour of a decision's pill."""
    return {"keep": "green", "repair": "green", "exclude": "red"}.get(decision or "", "amber")


__all__ = ["problem_words", "version"]
