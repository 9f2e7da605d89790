"""Build the call of a job: the messages of its kind, and the frozen parameters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from evaluations.llm.budget import most_prompt_tokens
from evaluations.models import Job, Run
from evaluations.runs.kinds import Messages, kind_of
from evaluations.runs.rules.fence import visible
from evaluations.runs.rules.prompting.images import without_pixels
from evaluations.runs.rules.sampling import most_completion_tokens, sent_params
from evaluations.runs.services.frozen import price_of, sampling_of
from evaluations.runs.services.job_queue import Call


def call_for(run: Run, job: Job) -> Call:
    """Return the call of *job*, with its highest possible cost."""
    sampling = sampling_of(run)
    prompt = kind_of(run).prompt(run, job)
    messages = prompt.messages
    if job.step > 1:
        # Endpoints refuse an empty turn: that of a first step without a reply is left out.
        messages = [one for one in messages if one["content"]]
    assert run.endpoint is not None  # only runs with an endpoint have jobs
    params = sent_params(sampling, max_completion_tokens=run.endpoint.max_completion_tokens)
    sizes = [(image.width, image.height) for image in prompt.images]
    most = price_of(run).cost(most_prompt_tokens(messages, sizes), most_completion_tokens(sampling))
    # Images by their digests: the hash of a request can be made again from what is stored.
    digest = request_hash(run, params, without_pixels(messages, prompt.images))
    return Call(
        *(messages, params, digest, most, prompt.rubric, prompt.marking_notes),
        images=[image.sha256 for image in prompt.images],
        images_omitted=prompt.images_omitted,
        option_order=prompt.option_order,
        examples_used=prompt.examples_used,
    )


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
