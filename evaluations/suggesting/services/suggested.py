"""Replies of models that suggest, made into suggestions: once each, and never into more.

What was read in a reply, or why it was not, is stored as a ``SuggestionReading`` in the
transaction that adds the suggestions, so a second pass adds nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction

from evaluations.models import Response, Run, SuggestionReading
from evaluations.models.vocabulary import Asks
from evaluations.suggesting.rules.label_reply import (
    LABEL_READER_VERSION,
    read_label_reply,
)
from evaluations.suggesting.rules.reply_json import ReplyFault
from evaluations.suggesting.rules.rubric_reply import (
    RUBRIC_READER_VERSION,
    read_rubric_reply,
)
from evaluations.suggesting.selectors import asks_of, unread
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput, Conflict
from questions.rules.four_tuple import Label
from questions.rules.vocabulary import RubricSource
from questions.services.label_rows import ensure_taxonomy
from questions.services.rubrics import draft_rubric
from questions.services.suggestions import Suggestion, keep_suggestions

BATCH = 200


def keep_suggested(run: Run, responses: Iterable[Response] | None = None) -> int:
    """Read the replies of *run* that are not read yet (of *responses*, or all), in batches.

    The suggestions are those of the run's language model, stored in the name of
    whoever started it. Return how many replies were read, with or without a result.
    Raises IntegrityError where another worker was faster: nothing of that batch is stored.
    """
    store = _store_labels if asks_of(run) is Asks.LABELS else _store_rubrics
    among = None if responses is None else [response.pk for response in responses]
    keys = list(unread(run, among).values_list("pk", flat=True))
    for at in range(0, len(keys), BATCH):
        with transaction.atomic():
            store(run, list(unread(run, keys[at : at + BATCH])))
    return len(keys)


def _store_labels(run: Run, batch: Sequence[Response]) -> None:
    """Store the labels that a batch of replies suggests, with one audit row."""
    places = ensure_taxonomy()
    readings = [(one, read_label_reply(one.text, finish_reason=one.finish_reason)) for one in batch]
    SuggestionReading.objects.bulk_create(
        SuggestionReading(
            response=response,
            asks=Asks.LABELS,
            reader_version=LABEL_READER_VERSION,
            said=[{"label": label, "value": value} for label, value in reading.labels.items()],
            fault=reading.fault,
            fault_values=dict(reading.params),
            **_between(reading.span),
        )
        for response, reading in readings
    )
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


def _store_rubrics(run: Run, batch: Sequence[Response]) -> None:
    """Store the rubric drafts that a batch of replies proposes."""
    assert run.created_by is not None  # a person starts every run that suggests
    rows = []
    for response in batch:
        asked = response.revision
        reading = read_rubric_reply(
            response.text,
            asked.decimal_sub_marks,
            finish_reason=response.finish_reason,
            images=asked.images,
        )
        row = SuggestionReading(
            response=response,
            asks=Asks.RUBRIC,
            reader_version=RUBRIC_READER_VERSION,
            fault=reading.fault,
            fault_values=dict(reading.params),
            **_between(reading.span),
        )
        if reading.rubric is not None:
            try:
                draft_rubric(
                    response.question,
                    reading.rubric,
                    acting_user=run.created_by,
                    source=RubricSource.MODEL,
                    model_name=run.language_model.name,
                    seen_revision=response.revision_id,
                )
            except (BadInput, Conflict):  # the question has another text or other full marks by now
                row.fault = ReplyFault.QUESTION_CHANGED
            else:
                row.said = [
                    {"sub": point.sub, "text": point.text, "points": plain(point.points)}
                    for point in reading.rubric.points
                ]
        rows.append(row)
    SuggestionReading.objects.bulk_create(rows)


def _between(span: tuple[int, int] | None) -> dict[str, Any]:
    return {"start": span[0], "end": span[1]} if span else {}
