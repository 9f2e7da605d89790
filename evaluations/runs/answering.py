"""The run kind in which a model answers the items of a dataset."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import get_language

from evaluations.conditions import Asking, OptionOrder, PromptSetting
from evaluations.facts.answer_facts import record_responses
from evaluations.llm.budget import most_prompt_tokens
from evaluations.models import Job, PromptSetVersion, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.runs.kinds import Kept, Messages, Prompt, ReadCounts, Replies, RunKind
from evaluations.runs.rules.option_order import shown_order
from evaluations.runs.rules.prompting.compose import compose
from evaluations.runs.rules.prompting.items import PromptExample
from evaluations.runs.rules.prompting.shipped_sets import GRADEAPP, shipped_set
from evaluations.runs.selectors.prompt_items import (
    composed,
    composed_in,
    prompt_examples,
    prompt_item,
    prompts_of,
    steps_in,
    wording_in,
)
from evaluations.runs.services.images import pictured
from evaluations.runs.services.steps import earlier_replies
from gradeapp.common.storable import storable
from questions.models import Question, QuestionRevision


class AnswerKind(RunKind):
    """Asks each item and stores the answers; a feature may extend it to process them."""

    purpose = RunPurpose.ANSWER
    people_mark_subjective = True

    def prompt(self, run: Run, job: Job) -> Prompt:
        """Return the messages that ask the item, or the next step of it.

        Its images and options are as the run says.
        """
        assert run.condition is not None
        order = order_of(run, job)
        asked = composed_in(
            *(run.condition, job.question, job.revision), order=order, repeat=job.repeat
        )
        dataset = job.question.task.dataset_id
        messages = asked.messages(job.step, earlier_replies(job))
        used = asked.examples_used if PromptSetting(run.condition.setting).few_shot else None
        shown = pictured(messages, job.revision, dataset, settings=run.run_settings)
        return Prompt(
            shown.messages,
            images=shown.sent,
            images_omitted=len(shown.omitted),
            option_order=order,
            examples_used=used,
        )

    def steps(self, run: Run, question: Question, repeat: int) -> int:
        """Return the steps of the prompt set for *question*; a wording may differ."""
        assert run.condition is not None
        return steps_in(run.condition, question, repeat)

    def wording(self, run: Run, repeat: int) -> int:
        """Return the wording of the prompt set in this repeat."""
        assert run.condition is not None
        return wording_in(run.condition, repeat)

    def setting(self, run: Run) -> str:
        """Return the prompt setting and the repeats; imported answers may have neither."""
        if run.condition is None or not run.condition.setting:
            return f"× {run.repeats}" if run.repeats > 1 else "–"
        label = PromptSetting(run.condition.setting).label(get_language() or "en")
        return f"{label} × {run.repeats}"

    def store_replies(self, replies: Replies) -> Kept:
        """Store each answer as a response."""
        return store_responses(replies)

    def read_counts(self, run: Run) -> ReadCounts:
        """Return nothing: a plain answer is not read."""
        return {}


def order_of(run: Run, job: Job) -> str:
    """Return the order in which *job* shows the options of its item (``Response.option_order``)."""
    settings, revision = run.run_settings, job.revision
    return shown_order(
        revision.letters,
        revision.options,
        order=OptionOrder(settings.get("option_order", OptionOrder.PRINTED)),
        question=f"{job.question.task.slug}/{job.question.external_id}",
        repeat=job.repeat,
        random_seed=settings.get("random_seed", 0),
    )


def prompt_sizes(
    prompts: PromptSetVersion, asking: Asking, questions: Sequence[Question]
) -> list[int]:
    """Return the most tokens of each prompt that asks *questions*: one for each step.

    A later step also contains the reply to the one before, which is not counted.
    """
    content = prompts_of(prompts)
    examples: dict[int, Sequence[PromptExample]] = {}
    sizes = []
    for question in questions:
        if question.current is None:
            continue
        if asking.setting.few_shot and question.task_id not in examples:
            examples[question.task_id] = prompt_examples(question.task_id)
        asked = compose(
            content,
            asking.setting,
            prompt_item(question, question.current),
            examples.get(question.task_id, ()),
            max_prompt_tokens=asking.max_prompt_tokens,
        )
        for step in range(1, asked.steps + 1):
            messages = asked.messages(step, [""] * (step - 1))
            sizes.append(most_prompt_tokens(messages))
    return sizes


def answer_call(question: Question, revision: QuestionRevision) -> Messages:
    """Return the messages that ask one item with our own words, zero-shot."""
    return composed(shipped_set(GRADEAPP), question, revision).messages()


def store_responses(replies: Replies) -> Kept:
    """Store a response for each reply; every job is then done."""
    responses = [
        Response(
            run=attempt.job.run,
            question_id=attempt.job.question_id,
            revision_id=attempt.job.revision_id,
            repeat=attempt.job.repeat,
            attempt=attempt,
            text=storable(reply.text or reply.refusal),
            reasoning=storable(reply.reasoning),
            finish_reason=storable(reply.finish_reason, 40),
            option_order=attempt.option_order,
            images_sent=len(attempt.images),
            images_omitted=attempt.images_omitted,
        )
        for attempt, reply in replies
    ]
    Response.objects.bulk_create(responses)
    record_responses(response.pk for response in responses)
    return Kept(responses, [attempt.job for attempt, _reply in replies])
