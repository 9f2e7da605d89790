"""Readings from the replies of models that read answers.

A reply is stored with its reading in one transaction and is not requested again:
a reply that is not accepted goes to a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluations.llm.client import ChatReply
from evaluations.models import Attempt, Job, ModelReading, Response, Run
from evaluations.reading.rules.extraction.model_reader import (
    FALLBACK_READER_VERSION,
    ReplyStatus,
    read_fallback_reply,
)
from evaluations.reading.selectors.model_reading import asked_of
from evaluations.reading.services.scoring import score_responses
from evaluations.statistics.outcomes import ReadingOutcome
from evaluations.statistics.policies import Policy
from gradeapp.common.storable import storable


def keep_readings(replies: Iterable[tuple[Attempt, ChatReply]]) -> list[Job]:
    """Store the reading of each reply, or why it is not accepted; return the finished jobs."""
    pairs = list(replies)
    responses = [attempt.job.response_id for attempt, _reply in pairs]
    known = Response.objects.select_related("revision", "model_reading").in_bulk(responses)
    made = ModelReading.objects.bulk_create(
        _reading(attempt, reply, known[attempt.job.response_id or 0]) for attempt, reply in pairs
    )
    moved = []
    for reading in (one for one in made if one.status == ReplyStatus.TAKEN):
        response = known[reading.response_id]
        # A model that found no answer does not stand in for one that found it.
        if response.model_reading is None or reading.outcome == ReadingOutcome.READ:
            response.model_reading = reading
            moved.append(response)
    Response.objects.bulk_update(moved, ["model_reading"], batch_size=100)
    return [attempt.job for attempt, _reply in pairs]


def _reading(attempt: Attempt, reply: ChatReply, response: Response) -> ModelReading:
    text = storable(reply.text or reply.refusal)
    read = read_fallback_reply(
        text, response.text, asked_of(response.revision), finish_reason=reply.finish_reason
    )
    status = ReplyStatus.REFUSED if reply.refusal and not reply.text else read.status
    made = ModelReading(
        response=response,
        run=attempt.job.run,
        attempt=attempt,
        extraction_id=response.rule_reading_id,
        prompt_version=attempt.job.run.run_settings["prompt_version"],
        version=FALLBACK_READER_VERSION,
        reply=text,
        status=status,
    )
    if (found := read.extraction) is not None:
        made.answers = list(found.answers)
        made.spans = [span and list(span) for span in found.spans]
        made.outcome, made.confidence = found.outcome, found.confidence
    return made


def score_read(run: Run, responses: Sequence[int] | None = None) -> None:
    """Score the responses that *run* read, all or those with the ids *responses*."""
    rows = Response.objects.filter(model_readings__run=run)
    if responses is not None:
        rows = rows.filter(pk__in=responses)
    score_responses(rows, policies=[Policy.STRICT])
