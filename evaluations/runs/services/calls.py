"""Build the call of a job: the messages of its kind, and the frozen parameters; and rebuild it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evaluations.llm.budget import most_prompt_tokens
from evaluations.models import Attempt, Job, Response, Run
from evaluations.models.vocabulary import AttemptStatus
from evaluations.runs.kinds import Messages, Prompt, kind_of
from evaluations.runs.rules.fence import visible
from evaluations.runs.rules.prompting.compose import CannotCompose
from evaluations.runs.rules.prompting.images import without_pixels
from evaluations.runs.rules.sampling import most_completion_tokens, sent_params
from evaluations.runs.selectors.responses import jobs_of
from evaluations.runs.services.frozen import price_of, sampling_of
from evaluations.runs.services.job_queue import Call


def call_for(run: Run, job: Job) -> Call:
    """Return the call of *job*, with its highest possible cost."""
    sampling = sampling_of(run)
    prompt, messages = _asked(run, job)
    if prompt.max_tokens is not None:
        sampling = replace(sampling, max_tokens=prompt.max_tokens)
    assert run.endpoint is not None  # only runs with an endpoint have jobs
    params = sent_params(sampling, max_completion_tokens=run.endpoint.max_completion_tokens)
    sizes = [(image.width, image.height) for image in prompt.images]
    size = most_prompt_tokens(messages, sizes)
    most = price_of(run).most(size, most_completion_tokens(sampling))
    # Images by their digests: the hash of a request can be made again from what is stored.
    digest = request_hash(run, params, without_pixels(messages, prompt.images))
    return Call(
        *(messages, params, digest, most, prompt.rubric, prompt.marking_notes),
        images=[image.sha256 for image in prompt.images],
        images_omitted=prompt.images_omitted,
        option_order=prompt.option_order,
        examples_used=prompt.examples_used,
        prompt_bytes=size,
    )


def _asked(run: Run, job: Job) -> tuple[Prompt, Messages]:
    """Return the prompt of *job*, and its messages as they are sent."""
    prompt = kind_of(run).prompt(run, job)
    if job.step == 1:
        return prompt, prompt.messages
    # Endpoints refuse an empty turn: that of a first step without a reply is left out.
    return prompt, [one for one in prompt.messages if one["content"]]


@dataclass(frozen=True)
class SentCall:
    """The messages of a call as they were sent, images by their digests.

    ``proven`` says whether their hash is the one that was stored when the call was sent. If it is
    not, something that they are made of has changed since.
    """

    messages: Messages
    proven: bool


def sent_call(run: Run, job: Job, attempt: Attempt) -> SentCall | None:
    """Return the messages of *attempt* at *job*, made again; None if that cannot be done."""
    try:
        prompt, asked = _asked(run, job)
    except CannotCompose:
        return None
    messages = without_pixels(asked, prompt.images)
    params = attempt.params
    if not params:  # from before they were stored
        renamed = run.endpoint is not None and run.endpoint.max_completion_tokens
        params = sent_params(sampling_of(run), max_completion_tokens=renamed)
    return SentCall(messages, request_hash(run, params, messages) == attempt.request_hash)


def sent_calls(run: Run, job: Job, *, whole: bool) -> list[tuple[Attempt, SentCall | None]]:
    """Return the answered attempts at *job*, each with the messages that it sent.

    With *whole* also those whose reply could not be read and was kept: what is not a reply of a
    model may be a page of any service.
    """
    shown = [
        one
        for one in job.attempts.all()
        if one.status == AttemptStatus.ANSWERED or (whole and one.body)
    ]
    return [(attempt, sent_call(run, job, attempt)) for attempt in shown]


def calls_behind(response: Response) -> list[dict[str, Any]]:
    """Return the answered calls behind *response* as JSON, with the messages that they sent."""
    return [
        {
            "step": job.step,
            "number": attempt.number,
            "request_hash": attempt.request_hash,
            "params": attempt.params,
            "messages": call.messages if call else None,
            "proven": call.proven if call else None,
        }
        for job in jobs_of(response)
        for attempt, call in sent_calls(response.run, job, whole=False)
    ]


def request_hash(run: Run, params: Mapping[str, object], messages: Messages) -> str:
    """Return the SHA-256 of a request of *run*."""
    body = {**params, "model": run.run_settings["model"], "messages": messages}
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fence_for(run: Run, response_id: int, text: str, turn: int = 0) -> str:
    """Return a token that the writer of *text* cannot know, and that the run reproduces."""
    digest = hashlib.sha256(f"{run.random_seed}:{response_id}:{turn}".encode()).hexdigest()
    token = digest[:16]
    return token if token not in visible(text) else fence_for(run, response_id, text, turn + 1)
