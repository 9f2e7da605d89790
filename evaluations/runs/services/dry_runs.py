"""Dry runs: the calls that a run would make, word for word, without planning anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from evaluations.conditions import Asking, Sampling
from evaluations.models import Endpoint
from evaluations.runs.rules.option_order import shown_order
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.rules.sampling import sent_params
from evaluations.runs.selectors.chosen_questions import chosen_questions
from evaluations.runs.selectors.prompt_items import composed, prompts_of
from evaluations.runs.services.images import pictured
from evaluations.runs.services.planning import to_be_asked
from evaluations.runs.services.prompt_sets import check_prompts, current_prompts
from questions.models import Dataset, Question

# The page shows so many questions of each task.
FEW = 3
ASSUMED = "…"


@dataclass(frozen=True)
class DryCall:
    """One call of the first repeat. ``index`` is the item's place in its file, from 0."""

    task: str
    external_id: str
    index: int
    step: int
    messages: Sequence[Mapping[str, Any]]
    examples: int
    params: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of the command."""
        return asdict(self)


def dry_calls(
    dataset: Dataset,
    asking: Asking,
    choice: QuestionChoice,
    endpoint: Endpoint | None = None,
    assume_reply: str = ASSUMED,
) -> Iterator[DryCall]:
    """Yield the calls of the first repeat, the steps of a question in order.

    A later step gets *assume_reply* as the reply to each step before it. Raises BadInput for what
    ``start_run`` refuses, apart from the endpoint.
    """
    questions, _counts = to_be_asked(chosen_questions(dataset, choice), asking)
    yield from _calls(questions, dataset, asking, endpoint, assume_reply)


def few_of_each_task(
    dataset: Dataset, asking: Asking, choice: QuestionChoice, endpoint: Endpoint | None = None
) -> list[tuple[str, list[DryCall]]]:
    """Return the calls for the first three chosen questions of each task, by task."""
    questions, _counts = to_be_asked(chosen_questions(dataset, choice), asking)
    grouped = groupby(questions, lambda one: one.task.slug)
    few = [question for _slug, rows in grouped for question in list(rows)[:FEW]]
    calls = _calls(few, dataset, asking, endpoint, ASSUMED)
    return [(task, list(rows)) for task, rows in groupby(calls, lambda call: call.task)]


def _calls(
    questions: Sequence[Question],
    dataset: Dataset,
    asking: Asking,
    endpoint: Endpoint | None,
    assume_reply: str,
) -> Iterator[DryCall]:
    version = current_prompts(asking.prompt_set)
    check_prompts(version, asking.setting, questions)
    prompts = prompts_of(version)
    usual = Sampling(max_tokens=endpoint.max_tokens) if endpoint else Sampling()
    params = sent_params(
        asking.sampling or usual,
        max_completion_tokens=endpoint is not None and endpoint.max_completion_tokens,
    )
    shown = {"images": asking.images, "largest_side": asking.largest_side}
    for question in questions:
        revision = question.current
        assert revision is not None  # a question without a text is not chosen
        order = shown_order(
            revision.letters,
            revision.options,
            order=asking.option_order,
            question=f"{question.task.slug}/{question.external_id}",
            repeat=1,
            random_seed=asking.random_seed,
        )
        prompt = composed(
            prompts,
            question,
            revision,
            setting=asking.setting,
            max_prompt_tokens=asking.max_prompt_tokens,
            order=order,
        )
        for step in range(1, prompt.steps + 1):
            messages = prompt.messages(step, [assume_reply] * (step - 1))
            yield DryCall(
                task=question.task.slug,
                external_id=question.external_id,
                index=question.position,
                step=step,
                messages=pictured(messages, revision, dataset, settings=shown).messages,
                examples=prompt.examples_used if step == 1 else 0,
                params=params,
            )
