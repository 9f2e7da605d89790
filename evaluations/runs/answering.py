"""The run kind in which a model answers the items of a dataset."""

from __future__ import annotations

from django.utils.translation import get_language

from evaluations.conditions import OptionOrder, PromptSetting
from evaluations.models import Job, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.runs.kinds import Kept, Messages, Prompt, ReadCounts, Replies, RunKind
from evaluations.runs.rules.option_order import shown_order
from evaluations.runs.rules.prompting.shipped_sets import GRADEAPP, shipped_set
from evaluations.runs.selectors.prompt_items import composed, composed_in
from evaluations.runs.services.images import pictured
from gradeapp.common.storable import storable
from questions.models import Question, QuestionRevision


class AnswerKind(RunKind):
    """Asks each item and stores the answers; a feature may extend it to process them."""

    purpose = RunPurpose.ANSWER
    people_mark_subjective = True

    def prompt(self, run: Run, job: Job) -> Prompt:
        """Return the messages that ask the item, with its images and options as the run says."""
        assert run.condition is not None
        order = order_of(run, job)
        asked = composed_in(
            *(run.condition, job.question, job.revision), order=order, repeat=job.repeat
        )
        dataset = job.question.task.dataset_id
        shown = pictured(asked.messages(), job.revision, dataset, settings=run.run_settings)
        return Prompt(
            shown.messages,
            images=shown.sent,
            images_omitted=len(shown.omitted),
            option_order=order,
        )

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
    return Kept(responses, [attempt.job for attempt, _reply in replies])
