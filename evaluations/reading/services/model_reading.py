"""Runs in which a model reads answers that no pattern reads: selection, prompt, cost, start.

Such readings are paid calls like answers, so they are jobs of a run: budget, stop,
resume and recovery are those of every run (decision 1).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import RequestSettings, Sampling
from evaluations.llm.budget import most_prompt_tokens
from evaluations.models import Endpoint, Job, Response, Run
from evaluations.models.vocabulary import RunPurpose, RunStatus
from evaluations.reading.rules.extraction.model_reader import (
    FALLBACK_PROMPT_VERSION,
    fallback_messages,
)
from evaluations.reading.selectors.model_reading import asked_of, unread_responses
from evaluations.runs.kinds import Messages
from evaluations.runs.rules.option_order import asked_as_shown
from evaluations.runs.services.calls import fence_for
from evaluations.runs.services.earlier_calls import cost_of, earlier_calls
from evaluations.runs.services.frozen import freeze
from evaluations.runs.services.images import images_for
from evaluations.runs.services.run_estimates import Estimate
from evaluations.runs.services.run_starts import (
    as_text,
    check_call_count,
    check_ready,
    hashed,
    planned_once,
    record_start,
)
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput
from questions.models import QuestionRevision
from questions.rules.vocabulary import Language

MOST_ANSWERS = 100_000


@dataclass(frozen=True, slots=True)
class WantedReading:
    """At most *limit* unread answers of *run* to be read by a model.

    *shown* is the number of calls that the page showed; None if it showed none.
    """

    run: Run
    endpoint: Endpoint
    limit: int = MOST_ANSWERS
    shown: int | None = None


def answers_to_read(wanted: WantedReading) -> list[Response]:
    """Return the responses in order; raise BadInput if there are none."""
    if wanted.run.purpose != RunPurpose.ANSWER:
        raise BadInput(
            _("A model can only extract answers from a run in which a model answered an exam.")
        )
    if not 1 <= wanted.limit <= MOST_ANSWERS:
        raise BadInput(
            _("The number of answers must be between 1 and %(most)d.") % {"most": MOST_ANSWERS}
        )
    rows = unread_responses(wanted.run).select_related("revision")
    if not (found := list(rows[: wanted.limit])):
        raise BadInput(_("This run has no answers left for a model to extract."))
    return found


def held_unread_responses(run: Run) -> QuerySet[Response]:
    """Return ``unread_responses``, in a transaction that others who would ask about them wait for.

    Two who start at once must not pay for the same answers.
    """
    Run.objects.select_for_update().get(pk=run.pk)
    return unread_responses(run)


def read_call(run: Run, response: Response, revision: QuestionRevision) -> Messages:
    """Return the messages that ask what the examinee answered, without the key."""
    asked = asked_of(revision)
    return fallback_messages(
        question=asked_as_shown(revision, response.option_order),
        response_text=response.text,
        question_type=asked.question_type,
        letters=asked.letters,
        parts=asked.parts,
        language=Language(revision.language),
        fence=fence_for(run, response.pk, response.text),
    )


def estimate_reading(wanted: WantedReading) -> Estimate:
    """Estimate ``start_reading``; raise BadInput if there is nothing to read."""
    responses = answers_to_read(wanted)
    # The fence is of one length, whichever run it is made from.
    size = sum(most_prompt_tokens(read_call(wanted.run, one, one.revision)) for one in responses)
    earlier = earlier_calls(wanted.endpoint, RunPurpose.READ)
    cost = cost_of(wanted.endpoint, earlier, len(responses), size)
    return Estimate(len(responses), cost, wanted.endpoint.note)


def start_reading(
    wanted: WantedReading,
    *,
    acting_user: User,
    budget: Decimal | None = None,
    idempotency_key: str | None = None,
) -> Run:
    """Plan a run in which a model reads, zero-shot at temperature 0; a worker does the rest.

    ``budget`` is in the endpoint's currency. The same idempotency key gives the
    same run. Raises OtherRequest if another request came with the key.
    """
    settings = RequestSettings(
        FALLBACK_PROMPT_VERSION,
        Sampling(max_tokens=wanted.endpoint.max_tokens),
        images_for(wanted.endpoint),
    )
    frozen = freeze(settings, wanted.endpoint)
    run = Run(
        purpose=RunPurpose.READ,
        language_model=wanted.endpoint.language_model,
        endpoint=wanted.endpoint,
        dataset=wanted.run.dataset,
        judged_run=wanted.run,
        run_settings={**frozen.settings, "limit": wanted.limit},
        fingerprint=frozen.fingerprint,
        repeats=wanted.run.repeats,
        status=RunStatus.QUEUED,
        budget=budget,
        random_seed=secrets.randbits(63),
        idempotency_key=hashed(idempotency_key),
        created_by=acting_user,
    )

    def plan() -> None:
        check_ready(wanted.endpoint, budget)
        held_unread_responses(wanted.run)
        responses = answers_to_read(wanted)
        check_call_count(wanted.shown, len(responses))
        run.run_settings["limit"] = len(responses)
        run.save()
        Job.objects.bulk_create(
            (
                Job(
                    run=run,
                    question_id=response.question_id,
                    revision_id=response.revision_id,
                    repeat=response.repeat,
                    response=response,
                )
                for response in responses
            ),
            batch_size=1000,
        )
        record_start(run, len(responses), reads=wanted.run.pk)

    request = {"endpoint": run.endpoint_id, "run": wanted.run.pk, "limit": wanted.limit}
    return planned_once(run, plan, {**request, "budget": as_text(budget)})
