"""The run kind of models that suggest labels or rubrics."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from evaluations.models import Job, Response, Run, SuggestionReading
from evaluations.models.vocabulary import Asks, RunPurpose
from evaluations.runs.answering import store_responses
from evaluations.runs.kinds import Kept, Prompt, ReadCounts, Replies, RunKind
from evaluations.runs.selectors.runs import read_counts
from evaluations.suggesting.selectors import askable, asks_of
from evaluations.suggesting.services.suggested import keep_suggested
from evaluations.suggesting.services.suggesting import hold, suggest_call
from questions.models import Question


class SuggestKind(RunKind):
    """A model suggests to the curators; ``run_settings["asks"]`` says labels or rubrics."""

    purpose = RunPurpose.SUGGEST
    list_template = "evaluations/suggesting/_list.html"

    def prompt(self, run: Run, job: Job) -> Prompt:
        """Return the item with the instructions that were frozen at the start."""
        return Prompt(suggest_call(run.run_settings, job.question, job.revision))

    def setting(self, run: Run) -> str:
        """Return what is suggested."""
        if run.run_settings["asks"] == Asks.LABELS:
            return gettext("suggests labels")
        return gettext("suggests rubrics")

    def store_replies(self, replies: Replies) -> Kept:
        """Store each reply as a response."""
        return store_responses(replies)

    def worth_retrying(self, run: Run, failed: QuerySet[Job]) -> QuerySet[Job]:
        """Return the calls about questions that the model was not asked about meanwhile."""
        hold(run.language_model)
        again = run.run_settings["again"]
        left = askable(Question.objects.all(), run.language_model, asks_of(run), again=again)
        return failed.filter(question__in=left)

    def after_store(self, run: Run, kept: Kept) -> None:
        """Keep what the new replies suggest."""
        keep_suggested(run, kept.responses)

    def catch_up(self, run: Run) -> None:
        """Keep what the replies suggest that were not read yet."""
        keep_suggested(run)

    def read_counts(self, run: Run) -> ReadCounts:
        """Return how many replies could be read, of how many."""
        return read_counts(SuggestionReading.objects.filter(response__run=run), Q(fault=""))

    def responses(self, run: Run, among: QuerySet[Response]) -> QuerySet[Response]:
        """Return the replies."""
        return among.filter(run=run)
