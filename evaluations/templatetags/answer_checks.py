"""Checks of answers in words: ``{{ check|said_words }}``, ``{{ source|source_name }}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy

from evaluations.models import Run
from evaluations.models.vocabulary import CheckSource
from evaluations.reading.rules.extraction.model_reader import ReplyStatus
from evaluations.reading.selectors.model_reading import ReadByModel, read_by_model
from evaluations.reading.selectors.reading_labour import Labour, labour
from evaluations.statistics.outcomes import ReadingOutcome

register = template.Library()
R = ReplyStatus
STATUSES: Mapping[str, Promise] = {
    R.REFUSED: gettext_lazy("The endpoint withheld the reply."),
    R.TRUNCATED: gettext_lazy("The reply was cut off. The endpoint may need a higher token limit."),
    R.EMPTY: gettext_lazy("The reply is empty."),
    R.OTHER_FORM: gettext_lazy("The reply is not in the requested format."),
    R.OTHER_NUMBER: gettext_lazy(
        "The number of answers in the reply differs from the number of sub-questions."
    ),
    R.OTHER_LETTERS: gettext_lazy("The reply contains letters that the question does not have."),
    R.NO_EVIDENCE: gettext_lazy("The quotation in the reply does not occur in the response."),
}
OUTCOMES: Mapping[str, Promise] = {
    ReadingOutcome.READ: gettext_lazy("Answered"),
    ReadingOutcome.NO_ANSWER: gettext_lazy("No answer"),
    ReadingOutcome.REFUSED: gettext_lazy("Refused to answer"),
    ReadingOutcome.AMBIGUOUS: gettext_lazy("Ambiguous"),
    ReadingOutcome.TRUNCATED: gettext_lazy("Cut off"),
}


@register.filter
def source_name(source: str) -> str:
    """Return why a person checks a reading."""
    return CheckSource(source).label(get_language() or "en")


@register.filter
def said_outcome(outcome: str) -> str | Promise:
    """Return the outcome of reading a response in words."""
    return OUTCOMES[outcome]


@register.filter
def said_words(row: Any) -> str:
    """Return the answers of a check or a reading, by number, or why there are none."""
    said = row if isinstance(row, Mapping) else {"outcome": row.outcome, "answers": row.answers}
    if said["outcome"] != ReadingOutcome.READ:
        return str(OUTCOMES[said["outcome"]])
    answers = [answer or "–" for answer in said["answers"]]
    if len(answers) == 1:
        return answers[0]
    return "  ".join(f"{number} {answer}" for number, answer in enumerate(answers, start=1))


@register.filter
def reply_words(status: str) -> str | Promise:
    """Return why the reply of a reading model was not used."""
    return STATUSES[status]


@register.filter
def share_of(row: Labour, reader: str) -> str:
    """Return the count and share of a reader, such as 12 (24.0 %)."""
    share = row.share(reader)
    return "–" if share is None else f"{row.by[reader]:,} ({share * 100:.1f} %)"


@register.simple_tag
def readings_by_model(run: Run) -> ReadByModel | None:
    """Return the counts of the replies of *run*; None if it is not a run that reads."""
    return read_by_model(run)


@register.simple_tag
def labour_of(run: Run) -> Labour:
    """Return who read how many answers of *run*."""
    return labour([run])[0]
