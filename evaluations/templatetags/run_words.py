"""Filters for figures and states of runs, such as ``{{ 5142|counted }}``, ``{{ 420|lasting }}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import OptionOrder
from evaluations.models import Attempt, Run
from evaluations.models.vocabulary import AttemptStatus, UsageState
from evaluations.runs import kinds
from evaluations.runs.selectors import run_words
from evaluations.runs.selectors.endpoint_sentences import endpoint_sentence
from evaluations.runs.selectors.reply_states import states_of
from evaluations.statistics.outcomes import JudgeStatus as J
from evaluations.statistics.outcomes import ReplyEnding
from gradeapp.common.choices import label

register = template.Library()
SIGNS = {"CNY": "¥", "USD": "$", "EUR": "€", "GBP": "£"}
JUDGED: Mapping[str, Promise | str] = {
    J.SCORED: _("scored"),
    J.OVER_FULL_MARKS: _("more than full marks"),
    J.BELOW_ZERO: _("below zero"),
    J.SEVERAL_TOTALS: _("several totals"),
    J.UNCLEAR_TOTAL: _("unclear total"),
    J.WRONG_DENOMINATOR: _("different full marks"),
    J.NO_TOTAL: _("no total"),
    J.EMPTY: _("empty reply"),
    J.REFUSED: _("refused"),
    J.TRUNCATED: _("cut off"),
}
ENDINGS: Mapping[str, ReplyEnding] = {
    "content_filter": ReplyEnding.FILTERED,
    "tool_calls": ReplyEnding.TOOL_CALLS,
}

register.filter("shown_state", run_words.shown_state)
register.filter("error_words", run_words.error_words)


@register.filter
def endpoint_words(text: str) -> str:
    """Return what was said of a failed call: our own sentence in words, others as they came."""
    return endpoint_sentence(text)


@register.filter
def remote_state(state: str) -> Promise | str:
    """Return what an endpoint says of a batch in words, or as it came."""
    return run_words.REMOTE_STATES.get(state, state)


@register.filter
def batch_error(text: str) -> str:
    """Return what went wrong with a batch: our own sentence in words, an endpoint's as it came."""
    return run_words.batch_error(text)


@register.filter
def order_words(order: str) -> str:
    """Return the order of options in words."""
    return label(OptionOrder, order)


@register.filter
def judge_words(status: str) -> Promise | str:
    """Return the status of a judge's reply in words."""
    return JUDGED.get(status, status)


@register.filter
def usage_state(value: str) -> str:
    """Return what is said of the usage of an answered attempt."""
    return label(UsageState, value)


@register.filter
def attempt_status(value: str) -> str:
    """Return the name of the status of an attempt."""
    return label(AttemptStatus, value)


@register.filter
def attempt_states(attempt: Attempt) -> Sequence[str]:
    """Return what the reply of an attempt is besides a complete answer, in words."""
    return states_of(attempt)


@register.filter
def ending_words(finish_reason: str) -> str:
    """Return what a finish reason other than ``stop`` says of a response; an unknown one as is."""
    ending = ENDINGS.get(finish_reason)
    return label(ReplyEnding, ending) if ending else finish_reason


@register.filter
def setting_words(run: Run) -> str:
    """Return how *run* asks, or what it judges, reads or suggests."""
    return kinds.kind_of(run).setting(run)


@register.filter
def counted(value: int) -> str:
    """Return 5142 as 5,142."""
    return f"{value:,}"


@register.filter
def money(amount: Decimal | None, currency: str) -> str:
    """Return an amount with its currency; four decimals below 1, because a call may cost 0.0001."""
    if amount is None:
        return "–"
    digits = 2 if amount >= 1 or amount == 0 else 4
    return f"{SIGNS.get(currency, currency)} {amount:,.{digits}f}".strip()


@register.filter
def lasting(seconds: float | None) -> str:
    """Return a duration such as 12 s, 7 min, 2 h 10 min."""
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
    """Return answers per second, or per minute if that is slow.

    The unit is chosen by *overall*, if it is known, so that it does not change all the time.
    """
    if per_second is None:
        return "–"
    deciding = overall or per_second
    if deciding and deciding < 0.95:
        return gettext("%(n).1f /min") % {"n": per_second * 60}
    return gettext("%(n).1f /s") % {"n": per_second}


@register.filter
def share(part: int, whole: int) -> str:
    """Return a share in percent; it is rounded to 0 % only for none and to 100 % only for all."""
    if not whole:
        return "–"
    percent = (200 * part + whole) // (2 * whole)
    return f"{min(max(percent, 1), 99) if 0 < part < whole else percent} %"


@register.filter
def seconds(value: float | None) -> str:
    """Return the seconds of one call."""
    return "–" if value is None else gettext("%(n).1f s") % {"n": value}


@register.filter
def scored(status: str) -> bool:
    """Return whether a judgement has a total."""
    return status == J.SCORED


@register.filter
def kind_of(status: str) -> str | Promise:
    """Return the colour of the pill of an attempt."""
    return {"answered": "green", "error": "red", "unknown": "amber"}.get(status, "")
