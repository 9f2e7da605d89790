"""Runs in which a model reads answers: the responses to read, and the results."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, QuerySet

from evaluations.models import Job, ModelReading, Response, Run
from evaluations.models.vocabulary import JobStatus, RunPurpose
from evaluations.reading.rules.extraction.model_reader import Asked, ReplyStatus
from evaluations.statistics.outcomes import ReadingOutcome
from questions.models import QuestionRevision
from questions.rules.vocabulary import OBJECTIVE_TYPES, QuestionType

# What was cut off says no more to a model: the rest might have been another answer.
ASKED_ABOUT = (ReadingOutcome.NO_ANSWER, ReadingOutcome.AMBIGUOUS, ReadingOutcome.REFUSED)
SHOWN = 50
BY_PLACE = ("response__question__task__slug", "response__question__position")


@dataclass(frozen=True, slots=True)
class ReadByModel:
    """What became of the replies of a run that reads: taken, of those with an answer, not taken.

    ``not_taken`` are the first of those that were refused, each with its response.
    """

    taken: int
    answers: int
    refused: int
    not_taken: tuple[ModelReading, ...]

    @property
    def found_none(self) -> int:
        """Return the number of accepted replies without one answer."""
        return self.taken - self.answers


def unread_responses(run: Run) -> QuerySet[Response]:
    """Return the responses of *run* that no pattern reads and no model was asked about.

    Empty responses are not among them, nor those that people have checked. A call
    that failed for good may be asked again: nothing is paid for twice.
    """
    asked = Job.objects.filter(response=OuterRef("pk"), run__purpose=RunPurpose.READ).exclude(
        status=JobStatus.FAILED
    )
    return (
        Response.objects.filter(
            ~Exists(asked),
            run=run,
            rule_reading__outcome__in=ASKED_ABOUT,
            revision__question_type__in=OBJECTIVE_TYPES,
            answer_checks=None,
        )
        .exclude(text="")
        .order_by("pk")
    )


def asked_of(revision: QuestionRevision) -> Asked:
    """Return which answers *revision* can have; no letters for an exact answer."""
    kind = revision.question_type
    if kind == QuestionType.EXACT_ANSWER:
        return Asked(kind, "", revision.sub_answers)
    usual = "ABCDEFG" if kind == QuestionType.FIVE_OUT_OF_SEVEN else "ABCD"
    return Asked(kind, revision.letters or usual, revision.sub_answers)


def read_by_model(run: Run) -> ReadByModel | None:
    """Return the results of *run*; None for a run that does not read."""
    if run.purpose != RunPurpose.READ:
        return None
    found = ModelReading.objects.filter(run=run)
    counts = dict(found.order_by().values_list("status").annotate(n=Count("pk")))
    refused = found.exclude(status=ReplyStatus.TAKEN).select_related("response__question__task")
    taken = counts.pop(ReplyStatus.TAKEN, 0)
    return ReadByModel(
        taken=taken,
        answers=found.filter(status=ReplyStatus.TAKEN, outcome=ReadingOutcome.READ).count(),
        refused=sum(counts.values()),
        not_taken=tuple(refused.order_by(*BY_PLACE)[:SHOWN]),
    )
