"""Replies of models that suggest, made into suggestions: once each, and never into more.

What was read in a reply, or why it was not, is kept beside it as its extraction:
``answers`` holds the labels or scoring points, or what the reason names. That row
and the suggestion are written together, so a second pass makes nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from evaluations.models import Extraction, Response, Run
from evaluations.models.vocabulary import SuggestionOutcome
from evaluations.suggesting.rules.asks import Asks
from evaluations.suggesting.rules.label_reply import (
    LABEL_READER_VERSION,
    LabelReading,
    read_label_reply,
)
from evaluations.suggesting.rules.reply_json import ReplyFault
from evaluations.suggesting.rules.rubric_reply import (
    RUBRIC_READER_VERSION,
    RubricReading,
    read_rubric_reply,
)
from evaluations.suggesting.selectors import asks_of, unread
from gradeapp.common.refusals import BadInput
from questions.models import Rubric
from questions.rules.four_tuple import Label
from questions.rules.rubric import RubricLines
from questions.rules.rubric_files import plain
from questions.services.rubrics import MODEL, draft_rubric
from questions.services.suggestions import Suggestion, keep_suggestions
from questions.services.taxonomy import ensure_taxonomy

BATCH = 200
LONGEST_SOURCE = Rubric._meta.get_field("source").max_length
JSON = "json"
VERSIONS = {Asks.LABELS: LABEL_READER_VERSION, Asks.RUBRIC: RUBRIC_READER_VERSION}


@dataclass(frozen=True, slots=True)
class _Read:
    """What stands in a reply, as its extraction keeps it; ``fault`` "" where it was taken."""

    answers: list[dict[str, Any]]
    span: tuple[int, int] | None = None
    fault: str = ""


def keep_suggested(run: Run, responses: Iterable[Response] | None = None) -> int:
    """Read the replies of *run* that are not read yet (of *responses*, or all), in batches.

    The suggestions are those of the run's language model, kept in the name of
    whoever started it. How many replies were read, for good or ill.
    """
    asks = asks_of(run)
    assert asks is not None  # only runs that suggest come here
    keep = _keep_labels if asks is Asks.LABELS else _keep_rubrics
    among = None if responses is None else [response.pk for response in responses]
    keys = list(unread(run, asks, among).values_list("pk", flat=True))
    for at in range(0, len(keys), BATCH):
        with transaction.atomic():
            keep(run, list(unread(run, asks, keys[at : at + BATCH])))
    return len(keys)


def _keep_labels(run: Run, batch: Sequence[Response]) -> None:
    """One audit row a batch; knowledge is named by its key from here on."""
    places = ensure_taxonomy()
    readings = [(one, read_label_reply(one.text, finish_reason=one.finish_reason)) for one in batch]
    _store(Asks.LABELS, [(response, _of_labels(reading)) for response, reading in readings])
    suggestions = [
        Suggestion(
            response.question_id,
            run.language_model.name,
            {
                label: places[str(value)] if label is Label.KNOWLEDGE and value else value
                for label, value in reading.labels.items()
            },
        )
        for response, reading in readings
        if not reading.fault
    ]
    assert run.created_by is not None  # a person starts every run that suggests
    keep_suggestions(suggestions, acting_user=run.created_by)


def _keep_rubrics(run: Run, batch: Sequence[Response]) -> None:
    found = []
    for response in batch:
        marks = response.revision.decimal_sub_marks
        reading = read_rubric_reply(response.text, marks, finish_reason=response.finish_reason)
        read = _of_rubric(reading)
        if reading.rubric is not None and not _drafted(run, response, reading.rubric):
            read = _Read([], reading.span, ReplyFault.QUESTION_CHANGED)
        found.append((response, read))
    _store(Asks.RUBRIC, found)


def _drafted(run: Run, response: Response, rubric: RubricLines) -> bool:
    """Whether *rubric* was kept as a draft; not where the item has other marks by now."""
    assert run.created_by is not None
    source = f"{MODEL}{run.language_model.name}"[:LONGEST_SOURCE]
    try:
        draft_rubric(response.question, rubric, acting_user=run.created_by, source=source)
    except BadInput:
        return False
    return True


def _of_labels(reading: LabelReading) -> _Read:
    if reading.fault:
        return _Read(_named(reading.params), reading.span, reading.fault)
    answers = [{"label": label.value, "value": value} for label, value in reading.labels.items()]
    return _Read(answers, reading.span)


def _named(params: Mapping[str, str | int]) -> list[dict[str, Any]]:
    return [dict(params)] if params else []


def _of_rubric(reading: RubricReading) -> _Read:
    if reading.rubric is None:
        return _Read(_named(reading.params), reading.span, reading.fault)
    answers = [
        {"sub": point.sub, "text": point.text, "points": plain(point.points)}
        for point in reading.rubric.points
    ]
    return _Read(answers, reading.span)


def _store(asks: Asks, found: Iterable[tuple[Response, _Read]]) -> None:
    """Raises IntegrityError where another worker was faster: then nothing of the batch is kept."""
    Extraction.objects.bulk_create(
        Extraction(
            response=response,
            policy=asks.value,
            reader_version=VERSIONS[asks],
            answers=read.answers,
            spans=[list(read.span)] if read.span else [],
            outcome=(SuggestionOutcome.UNREADABLE if read.fault else SuggestionOutcome.READ).value,
            method=read.fault or JSON,
            confidence=0.0 if read.fault else 1.0,
        )
        for response, read in found
    )
