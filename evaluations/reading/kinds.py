"""The run kinds of answers that are scored by rule, and of models that read answers."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_lazy

from evaluations.models import Extraction, Job, ModelReading, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reading.rules.extraction.blanks import READER_VERSION as EXACT_VERSION
from evaluations.reading.rules.extraction.cascade import EXTRACTOR_VERSION
from evaluations.reading.rules.extraction.model_reader import ReplyStatus
from evaluations.reading.selectors.model_reading import unread_responses
from evaluations.reading.services.model_read import keep_readings, score_read
from evaluations.reading.services.model_reading import held_unread_responses, read_call
from evaluations.reading.services.scoring import score_responses
from evaluations.runs.answering import AnswerKind
from evaluations.runs.kinds import Kept, Panel, PanelPosition, Prompt, ReadCounts, Replies, RunKind
from evaluations.runs.selectors.runs import read_counts, runs
from evaluations.runs.services.images import with_question_images
from evaluations.statistics.outcomes import ReadingOutcome
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from questions.rules.vocabulary import Part


class ScoredAnswerKind(AnswerKind):
    """A model sits an exam, and its objective answers are scored by rule as they come."""

    def after_store(self, run: Run, kept: Kept) -> None:
        """Score the new responses."""
        score_responses(kept.responses)

    def catch_up(self, run: Run) -> None:
        """Score the responses that are not scored yet."""
        objective = Response.objects.filter(run=run, question__part=Part.OBJECTIVE)
        for policy in Policy:
            unscored = objective.filter(**{Response.score_field(policy): None})
            score_responses(unscored, policies=[policy])

    def read_counts(self, run: Run) -> ReadCounts:
        """Return how many answers were read by rule (strictly), of how many."""
        found = Extraction.objects.filter(
            response__run=run,
            policy=Policy.STRICT,
            reader_version__in=[EXTRACTOR_VERSION, EXACT_VERSION],
        )
        return read_counts(found, Q(outcome=ReadingOutcome.READ))

    def panels(self, run: Run, user: User) -> list[Panel]:
        """Return who read the answers, and the links to policies and patterns."""
        may_start = user.may(Capability.START_RUNS)
        context = {
            "reading_runs": runs().filter(judged_run=run, purpose=RunPurpose.READ),
            "unread": unread_responses(run).count() if may_start else 0,
            "may_check": user.may(Capability.CHECK_ANSWERS),
        }
        return [
            Panel("evaluations/reading/_run_actions.html", position=PanelPosition.ACTIONS),
            Panel("evaluations/reading/model_reading/_labour.html", context),
        ]


class ReadKind(RunKind):
    """A model reads the answers of another run that no pattern reads."""

    purpose = RunPurpose.READ
    read_heading = gettext_lazy("Accepted replies")

    def prompt(self, run: Run, job: Job) -> Prompt:
        """Return the question and the response, without the key."""
        assert job.response  # every job of a run that reads has one
        shown = with_question_images(run, job, read_call(run, job.response, job.revision))
        return Prompt(shown.messages, images=shown.sent, images_omitted=len(shown.omitted))

    def setting(self, run: Run) -> str:
        """Return whose answers are read."""
        return gettext("extracts answers of run %(number)s") % {"number": run.judged_run_id}

    def store_replies(self, replies: Replies) -> Kept:
        """Store what each reply says; what cannot be taken goes to a person."""
        return Kept(done=keep_readings(replies))

    def worth_retrying(self, run: Run, failed: QuerySet[Job]) -> QuerySet[Job]:
        """Return the calls about answers that are still to be read by a model."""
        assert run.judged_run  # every run that reads has one
        return failed.filter(response__in=held_unread_responses(run.judged_run))

    def after_store(self, run: Run, kept: Kept) -> None:
        """Score the responses that were read."""
        score_read(run, [job.response_id for job in kept.done if job.response_id is not None])

    def catch_up(self, run: Run) -> None:
        """Score the responses that were read and are not scored so yet."""
        score_read(run)

    def read_counts(self, run: Run) -> ReadCounts:
        """Return how many replies were taken, of how many."""
        return read_counts(ModelReading.objects.filter(run=run), Q(status=ReplyStatus.TAKEN))

    def responses(self, run: Run, among: QuerySet[Response]) -> QuerySet[Response]:
        """Return the responses that the model was asked to read."""
        return among.filter(run=run.judged_run).filter(judge_jobs__run=run)
