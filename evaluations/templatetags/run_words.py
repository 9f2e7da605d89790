"""Figures and states of runs as people read them: ``{{ 5142|counted }}``, ``{{ 420|lasting }}``."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext

from evaluations.judging.rules.judge_reply import JudgeStatus
from evaluations.judging.words import judge_words
from evaluations.models import Run, vocabulary
from evaluations.runs import kinds
from evaluations.runs.selectors import run_words
from gradeapp.common.named import Named

register = template.Library()
SIGNS = {"CNY": "¥", "USD": "$", "EUR": "€", "GBP": "£"}
LISTS: dict[str, type[Named]] = {
    "AttemptStatus": vocabulary.AttemptStatus,
}

register.filter("shown_state", run_words.shown_state)
register.filter("error_words", run_words.error_words)
register.filter("judge_words", judge_words)


@register.filter
def state(value: str, name: str) -> str:
    """The name of *value* in the closed list called *name*; the value itself where unknown."""
    try:
        return LISTS[name](value).label(get_language() or "en")
    except ValueError:
        return value


@register.filter
def setting_words(run: Run) -> str:
    """How *run* asks, or what it judges, reads or suggests."""
    return kinds.kind_of(run).setting(run)


@register.filter
def counted(value: int) -> str:
    """5142 as 5,142."""
    return f"{value:,}"


@register.filter
def money(amount: Decimal | None, currency: str) -> str:
    """An amount with its sign; four decimals below one, so that a single call is not 0."""
    if amount is None:
        return "–"
    digits = 2 if amount >= 1 or amount == 0 else 4
    return f"{SIGNS.get(currency, currency)} {amount:,.{digits}f}".strip()


@register.filter
def lasting(seconds: float | None) -> str:
    """A length of time: 12 s, 7 min, 2 h 10 min."""
    if seconds is None:
        return "–"
    minutes, hours = round(seconds / 60), int(seconds // 3600)
    if seconds < 59.5:
        return gettext("%(n)d s") % {"n": round(seconds)}
    if minutes < 60:
        return gettext("%(n)d min") % {"n": minutes}
    rest = round((seconds - hours * 3600) / 60)
    hours, rest = (hours + 1, 0) if rest == 60 else (hours, rest)
    return gettext("%(h)d h %(n)d min") % {"h": hours, "n": rest}


@register.filter
def speed(per_second: float | None, overall: float | None = None) -> str:
    """Answers a second, or a minute where that says more.

    *overall* decides which where it is known, so that a speed of the moment does not
    change its unit all the time.
    """
    if per_second is None:
        return "–"
    deciding = overall or per_second
    if deciding and deciding < 0.95:
        return gettext("%(n).1f /min") % {"n": per_second * 60}
    return gettext("%(n).1f /s") % {"n": per_second}


@register.filter
def share(part: int, whole: int) -> str:
    """A share in percent, rounded, but 100 % means all and 0 % none; a dash of nothing."""
    if not whole:
        return "–"
    percent = (200 * part + whole) // (2 * whole)
    return f"{min(max(percent, 1), 99) if 0 < part < whole else percent} %"


@register.filter
def seconds(value: float | None) -> str:
    """The seconds of one call."""
    return "–" if value is None else gettext("%(n).1f s") % {"n": value}


@register.filter
def scored(status: str) -> bool:
    """Whether a judgement has a total."""
    return status == JudgeStatus.SCORED


@register.filter
def kind_of(status: str) -> str | Promise:
    """The pill's colour of an attempt."""
    return {"answered": "green", "error": "red", "unknown": "amber"}.get(status, "")
