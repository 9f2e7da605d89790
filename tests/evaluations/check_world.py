"""Answers that patterns read, half read or do not read, and people who check them."""

from __future__ import annotations

import uuid
from typing import Any

from django.utils import timezone

from evaluations.models import (
    AnswerCheck,
    Attempt,
    Endpoint,
    Job,
    LanguageModel,
    ModelReading,
    Response,
    Run,
)
from evaluations.models.vocabulary import AttemptStatus, CheckSource, RunPurpose, RunStatus
from evaluations.reading.rules.extraction.model_reader import ReplyStatus, read_fallback_reply
from evaluations.reading.rules.extraction.reading import Statement
from evaluations.reading.selectors.answer_checks import reading_to_check
from evaluations.reading.selectors.model_reading import asked_of
from evaluations.reading.services.answer_checks import SavedCheck, draw_sample, save_check
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from tests.factories import (
    make_dataset,
    make_endpoint,
    make_question,
    make_response,
    make_run,
    make_task,
)

TAGGED = "【答案】A"
MEANT = "I would go for the one about the moon, the second one."
SEVERAL = "【答案】A、B、C、D都是正确的。"
BRACKETED = "A careful reading shows (C)."
WORDLESS = "Difficult."
READ_B = '{"outcome": "read", "answers": [{"answer": "B", "quote": "the second one"}]}'


def answers(*texts: str, finish: str = "stop", **question: Any) -> list[Response]:
    """An imported run with a response of each of *texts*, read by the patterns."""
    task = make_task(make_dataset())
    run = make_run(task.dataset)
    made = [make_response(make_question(task, key=("B",), **question), run, one) for one in texts]
    Response.objects.filter(run=run).update(finish_reason=finish)
    score_responses(Response.objects.filter(run=run))
    return list(Response.objects.filter(pk__in=[one.pk for one in made]).order_by("pk"))


def read_by_model(response: Response, reply: str = READ_B, model: str = "reader") -> ModelReading:
    """What a model read in *response*, without a model behind it."""
    run = Run.objects.create(
        purpose=RunPurpose.READ,
        language_model=LanguageModel.objects.get_or_create(name=model)[0],
        endpoint=Endpoint.objects.first() or make_endpoint(),
        dataset=response.run.dataset,
        judged_run=response.run,
        status=RunStatus.FINISHED,
        run_settings={"prompt_version": "read-1", "currency": "CNY"},
    )
    job = Job.objects.create(
        run=run,
        question=response.question,
        revision=response.revision,
        response=response,
        status="done",
    )
    attempt = Attempt.objects.create(
        job=job, number=1, fence=1, status=AttemptStatus.ANSWERED, sent_at=timezone.now()
    )
    found = read_fallback_reply(reply, response.text, asked_of(response.revision))
    one = found.extraction
    made = ModelReading.objects.create(
        response=response,
        run=run,
        attempt=attempt,
        prompt_version="read-1",
        version="read-1",
        reply=reply,
        status=found.status,
        answers=list(one.answers) if one else [],
        spans=[span and list(span) for span in one.spans] if one else [],
        outcome=one.outcome if one else "",
        confidence=one.confidence if one else 0.0,
    )
    if found.status == ReplyStatus.TAKEN:
        Response.objects.filter(pk=response.pk).update(model_reading=made)
        response.model_reading = made
    return made


def half_checked(chosen: Response, people: list[User]) -> ModelReading:
    """In the run of *chosen*: a sample, two who differ, a reply that is no use, and one that is."""
    *_others, half, silent, meant = Response.objects.filter(
        run=chosen.run, question__part="objective"
    ).order_by("pk")
    for response in (half, silent, meant):
        Response.objects.filter(pk=response.pk).update(text="我选第二个。")
        response.extractions.update(outcome="no_answer", answers=[None], spans=[None])
        response.refresh_from_db()
    draw_sample(chosen.run, 1, acting_user=people[0])
    check(half, people[0], outcome="no_answer")
    check(half, people[1], "B")
    read_by_model(silent, "不知道", model="canary-m4")
    quoted = '{"outcome": "read", "answers": [{"answer": "B", "quote": "第二个"}]}'
    return read_by_model(meant, quoted, model="canary-m4")


def check(
    response: Response, user: User, *said: str | None, outcome: str = "read", **changes: Any
) -> AnswerCheck:
    """*user* looks at what is shown of *response* and says *said*, or why it answers nothing."""
    return saved(response, user, *said, outcome=outcome, **changes).check


def saved(
    response: Response, user: User, *said: str | None, outcome: str = "read", **changes: Any
) -> SavedCheck:
    """The same, with whether it was there already."""
    seen = reading_to_check(response)
    assert seen is not None
    given: dict[str, Any] = {
        "seen": seen,
        "said": Statement(said or (None,), outcome),
        "source": CheckSource.SAMPLE,
        "key": uuid.uuid4(),
        **changes,
    }
    return save_check(response, user, **given)
