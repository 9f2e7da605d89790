"""The run kind in which a model answers the items of a dataset."""

from __future__ import annotations

from django.utils.translation import get_language

from evaluations.conditions import PromptSetting
from evaluations.models import Job, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.runs.kinds import Kept, Messages, Prompt, ReadCounts, Replies, RunKind
from evaluations.runs.rules.prompting.zero_shot import zero_shot_messages
from evaluations.runs.services.calls import subject_name
from gradeapp.common.storable import storable
from questions.models import Question, QuestionRevision
from questions.rules.vocabulary import Language, QuestionType


class AnswerKind(RunKind):
    """Asks each item and stores the answers; a feature may extend it to process them."""

    purpose = RunPurpose.ANSWER
    people_mark_subjective = True

    def prompt(self, run: Run, job: Job) -> Prompt:
        """Return the messages that ask the item."""
        return Prompt(answer_call(job.question, job.revision))

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


def answer_call(question: Question, revision: QuestionRevision) -> Messages:
    """Return the messages that ask one item."""
    language = Language(revision.language)
    return zero_shot_messages(
        QuestionType(revision.question_type),
        subject_name(question, language),
        revision.asked,
        language,
        parts=revision.sub_answers,
        letters=revision.letters,
    )


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
        )
        for attempt, reply in replies
    ]
    Response.objects.bulk_create(responses)
    return Kept(responses, [attempt.job for attempt, _reply in replies])
