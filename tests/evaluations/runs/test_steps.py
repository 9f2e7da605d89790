"""Answers in two calls: the second waits for the first, contains its reply, and fails with it."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from html import unescape
from random import Random
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluations.conditions import Asking, PromptSetting, Sampling
from evaluations.facts.invariants import check_invariants
from evaluations.facts.params import ReportParams
from evaluations.llm import spool
from evaluations.llm.client import CallResult, ChatFailure, ChatReply, FailureKind
from evaluations.models import Attempt, Endpoint, Job, Response, Run, StepReply
from evaluations.models.vocabulary import FIRST_STEP_FAILED
from evaluations.reports.selectors.scored_answers import scored_answers
from evaluations.runs.rules.call_keys import attempt_of
from evaluations.runs.selectors.run_notices import run_notice
from evaluations.runs.selectors.runs import money, progress
from evaluations.runs.services import job_queue
from evaluations.runs.services.call_results import store_results
from evaluations.runs.services.calls import sent_call
from evaluations.runs.services.generation import look_for_work
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.run_workers import join_run, leave_run
from evaluations.runs.services.runs import resume_run, retry_failed, stop_run
from evaluations.runs.services.spools import spool_path
from evaluations.runs.services.work_session import WorkSession
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from tests.conftest import logged_in
from tests.evaluations.run_world import planned, worked
from tests.scripted_server import ScriptedServer, named_fault

pytestmark = pytest.mark.django_db
COT = Asking(setting=PromptSetting.ZERO_SHOT_COT, sampling=Sampling(max_tokens=100))


def is_second(prompt: str) -> bool:
    return "【答案】" in prompt


def states(run: Run) -> dict[tuple[int, str], int]:
    return Counter(Job.objects.filter(run=run).values_list("step", "status"))


def sound() -> bool:
    return not [held for held in check_invariants(timezone.now()) if held.violations]


def claimed(run: Run, n: int = 1) -> list[Attempt]:
    """Claim *n* jobs of *run* as a worker does, without sending them."""
    run = Run.objects.select_related("endpoint").get(pk=run.pk)
    now = timezone.now()
    assert join_run(run, "w", now)
    session = WorkSession(run, "w", now + timedelta(minutes=1), bool, timezone.now, lambda: None)
    keys = [attempt_of(request.key) for request in session.claim(n)]
    session.permits.release()
    leave_run(run, "w")
    return list(Attempt.objects.filter(pk__in=keys))


def reply(text: str) -> ChatReply:
    return ChatReply(text, "", "", 0, "stop", 10, 10, "m", "id", "{}")


def store(attempt: Attempt, result: ChatReply | ChatFailure) -> None:
    store_results([CallResult(attempt.pk, result, 0.1)], now=timezone.now(), random=Random(1))


def test_a_repeat_is_planned_by_sql_as_the_orm_plans_it(endpoint: Endpoint) -> None:
    """All columns but the keys, steps that wait for those of their own repeat, and the counts."""
    run = planned(endpoint, 3, asking=COT, repeats=3)
    jobs: dict[int, list[dict[str, Any]]] = {1: [], 2: [], 3: []}
    for row in Job.objects.filter(run=run).order_by("repeat", "step", "pk").values():
        before = Job.objects.filter(pk=row["waits_for_id"]).values_list("repeat", "question_id")
        row["waits_for_id"] = [(repeat == row["repeat"], question) for repeat, question in before]
        jobs[row["repeat"]].append({**row, "id": None, "repeat": None})
    assert jobs[1] == jobs[2] == jobs[3]
    assert [len(row["waits_for_id"]) for row in jobs[1]] == [0, 0, 0, 1, 1, 1]
    assert all(own for row in jobs[3] for own, _question in row["waits_for_id"])
    assert sound()


def test_both_steps_are_asked_and_one_answer_is_stored(
    endpoint: Endpoint, server: ScriptedServer, admin: User
) -> None:
    run = planned(endpoint, 3, asking=COT, repeats=2)
    assert states(run) == {(1, "pending"): 6, (2, "waiting"): 6}
    assert AuditEntry.objects.get(tag="run.started").detail["planned"] == 12
    cost = estimate(endpoint=endpoint, dataset=run.dataset, repeats=2, asking=COT).answering
    assert cost.calls == 12
    run = worked(run)
    assert (run.status, states(run)) == ("finished", {(1, "done"): 6, (2, "done"): 6})
    assert [is_second(prompt) for prompt in server.ledger.prompts].count(True) == 6
    for response in Response.objects.select_related("attempt__job__waits_for__step_reply"):
        assert response.attempt
        job = response.attempt.job
        assert (job.step, job.repeat) == (2, response.repeat)
        assert job.waits_for
        first = job.waits_for.step_reply
        assert any(is_second(one) and first.text in one for one in server.ledger.prompts)
        assert first.text != response.text
    assert StepReply.objects.count() == Response.objects.count() == 6
    shown = Response.objects.get(repeat=2, question=run.jobs.first().question)
    address = reverse("runs:response", args=[shown.public_id])
    page = unescape(logged_in(admin).get(address).text)
    assert page.count("their hash is that of the call") == 2, "one for each step"
    (asked,) = Attempt.objects.filter(job__question=shown.question, job__repeat=2, job__step=2)
    for message in sent_call(run, asked.job, asked).messages:
        assert message["content"] in page
    assert json.loads(asked.body)["id"] in page, "the reply as it came"
    StepReply.objects.filter(job__next_step=asked.job).update(text="Another reply.")
    page = unescape(logged_in(admin).get(address).text)
    assert page.count("Their hash differs") == 1
    now = progress(run, timezone.now())
    assert (now.planned, now.done, now.percent) == (12, 12, 100)
    assert money(run).spent == sum(one.cost for one in Attempt.objects.all())
    assert money(run).spent <= cost.at_most
    assert sound()


@pytest.mark.usefixtures("quick_retries")
def test_a_failed_first_step_fails_the_second_and_both_can_be_retried(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    refuses = named_fault("bad_request")
    run = planned(endpoint, 2, asking=COT)
    first = Job.objects.filter(run=run).order_by("pk")[0]
    faults = iter([refuses, None, refuses])
    server.endpoint.faults = lambda prompt: next(faults, None)
    Endpoint.objects.update(max_in_flight=1)
    run = worked(run)
    assert run.status == "finished"
    assert states(run) == {(1, "failed"): 1, (1, "done"): 1, (2, "failed"): 2}
    second = Job.objects.get(waits_for=first)
    assert (second.error, second.attempts.count()) == (FIRST_STEP_FAILED, 0)
    notice = run_notice(run, progress(run, timezone.now()), timezone.now())
    assert notice
    assert "3 of 4 calls failed: the endpoint rejected the call (400)." in notice.sentence
    rows = scored_answers(ReportParams(run.dataset.slug))
    assert [row.outcome for row in rows].count("api_error") == 2, "one per item, not one per step"
    assert len(rows) == 2
    assert sound()
    assert retry_failed(run, acting_user=None) == 3
    assert states(run) == {(1, "pending"): 1, (2, "waiting"): 1, (1, "done"): 1, (2, "pending"): 1}
    run = worked(run)
    assert (run.status, states(run)) == ("finished", {(1, "done"): 2, (2, "done"): 2})
    assert server.ledger.billed == 4, "what was answered is not asked again"
    assert sound()


def test_an_empty_or_cut_off_first_reply_is_used_as_it_came(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    faults = iter([named_fault("empty"), None, named_fault("length")])
    server.endpoint.faults = lambda prompt: None if is_second(prompt) else next(faults)
    Endpoint.objects.update(max_in_flight=1)
    run = worked(planned(endpoint, 3, asking=COT))
    assert (run.status, Response.objects.count()) == ("finished", 3)
    stored = list(StepReply.objects.order_by("job"))
    assert [one.text == "" for one in stored] == [True, False, False]
    assert [one.finish_reason for one in stored] == ["stop", "stop", "length"]
    sent = [json.loads(request.body)["messages"] for request in server.requests]
    seconds = [one for one in sent if is_second(str(one[-1]["content"]))]
    assert [len(one) for one in seconds] == [3, 4, 4], "an empty turn would be refused"
    assert all(message["content"] for one in seconds for message in one)


def test_a_first_reply_from_the_spool_lets_the_second_step_be_asked(
    endpoint: Endpoint, server: ScriptedServer
) -> None:
    run = planned(endpoint, 2, asking=COT)
    (attempt,) = claimed(run)
    # The worker was lost too often: the job and the step behind it are given up.
    Job.objects.filter(pk=attempt.job_id).update(attempts_made=job_queue.MOST_ATTEMPTS)
    job_queue.release_lost_jobs(timezone.now() + timedelta(days=1))
    assert states(run) == {(1, "failed"): 1, (2, "failed"): 1, (1, "pending"): 1, (2, "waiting"): 1}
    spooled = CallResult(attempt.pk, reply("Spooled thoughts."), 0.1)
    path = spool_path(run, "w")
    path.parent.mkdir(parents=True, exist_ok=True)
    spool.append(path, [spooled, spooled])
    assert look_for_work() == [run.pk]
    run = worked(run)
    assert (run.status, states(run)) == ("finished", {(1, "done"): 2, (2, "done"): 2})
    assert any("Spooled thoughts." in prompt for prompt in server.ledger.prompts)
    assert server.ledger.billed == 3, "the spooled step was not asked again"
    store(attempt, reply("Late."))
    assert StepReply.objects.get(attempt=attempt).text == "Spooled thoughts."
    assert sound()


def test_a_late_first_reply_does_not_reopen_a_run_that_is_over(endpoint: Endpoint) -> None:
    run = planned(endpoint, 1, asking=COT)
    (attempt,) = claimed(run)
    Job.objects.filter(pk=attempt.job_id).update(attempts_made=job_queue.MOST_ATTEMPTS)
    job_queue.release_lost_jobs(timezone.now() + timedelta(days=1))
    look_for_work()
    run.refresh_from_db()
    assert run.status == "finished"
    store(attempt, reply("Late."))
    assert states(run) == {(1, "done"): 1, (2, "failed"): 1}
    notice = run_notice(run, progress(run, timezone.now()), timezone.now())
    assert notice
    assert "1 of 2 calls failed: the first step failed." in notice.sentence
    assert sound()
    assert retry_failed(run, acting_user=None) == 1
    assert states(run) == {(1, "done"): 1, (2, "pending"): 1}


def test_the_page_of_a_response_shows_both_steps(endpoint: Endpoint, admin: User) -> None:
    run = worked(planned(endpoint, 1, asking=COT))
    response = run.responses.get()
    first = StepReply.objects.get()
    page = unescape(logged_in(admin).get(reverse("runs:response", args=[response.public_id])).text)
    assert page.index("Step 1") < page.index(first.text) < page.index("Step 2")
    assert "max_tokens: 100" in page


def test_a_stop_and_a_budget_between_the_steps(endpoint: Endpoint, server: ScriptedServer) -> None:
    run = planned(endpoint, 1, asking=COT, budget=Decimal(10))
    (attempt,) = claimed(run)
    assert stop_run(run, acting_user=None).status == "stopping"
    store(attempt, reply("Thoughts of the first step."))
    look_for_work()
    run.refresh_from_db()
    assert (run.status, states(run)) == ("stopped", {(1, "done"): 1, (2, "pending"): 1})
    spent = money(run).exposed
    Run.objects.update(budget=spent + Decimal("0.0001"))
    run = worked(resume_run(Run.objects.get(pk=run.pk), acting_user=None))
    assert (run.status, run.pause_reason) == ("paused", "budget")
    assert server.ledger.billed == 0
    run = worked(resume_run(run, acting_user=None, budget=Decimal(1)))
    assert (run.status, Response.objects.count()) == ("finished", 1)
    assert server.ledger.billed == 1, "only the second step was left to ask"
    assert "Thoughts of the first step." in server.ledger.prompts[0]
    assert sound()


def test_a_last_attempt_that_fails_in_flight_fails_the_second_step(endpoint: Endpoint) -> None:
    run = planned(endpoint, 1, asking=COT)
    (attempt,) = claimed(run)
    store(attempt, ChatFailure(FailureKind.CONTEXT_LENGTH, "too long"))
    assert states(run) == {(1, "failed"): 1, (2, "failed"): 1}
    assert sound()
