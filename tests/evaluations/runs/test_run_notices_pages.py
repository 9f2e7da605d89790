"""What a run's page and the list say of a bad endpoint: a sentence, a colour, a way out."""

from __future__ import annotations

import re
import socket
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from evaluations.llm.breaker import BreakerLimits
from evaluations.llm.retry import RetryPolicy
from evaluations.models import Endpoint, Job, ProviderAccount, Run, RunWorker, Worker
from evaluations.runs.selectors.workers import SILENT
from evaluations.runs.services import (
    call_results,
    job_queue,
    permits,
    run_states,
    run_workers,
    work_session,
    worker_reports,
)
from evaluations.runs.services.accounts import end_wait
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import Fault, ScriptedServer, named_fault, script_from

pytestmark = pytest.mark.django_db
KEY = "sk-sentinel-5c11"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_states, "AT_LEAST", timedelta(seconds=0.2))
    monkeypatch.setattr(call_results, "COUNTED", RetryPolicy(attempts=4, first_wait=0.01))
    patient = RetryPolicy(attempts=10**6, rate_limit_attempts=10**6, first_wait=0.05)
    monkeypatch.setattr(call_results, "UNLIMITED_RETRIES", patient)
    monkeypatch.setattr(work_session, "BREAKER", BreakerLimits(first_wait=0.05))


@pytest.fixture
def run(server: ScriptedServer, db: None) -> Run:
    task = make_task(make_dataset("exam"))
    for _ in range(4):
        make_question(task)
    endpoint = save_endpoint(
        name="scripted", base_url=server.base_url, model="scripted-demo", acting_user=None
    )
    return start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None)


def page(user: User, run: Run, language: str = "en") -> str:
    client = logged_in(user)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    found = client.get(reverse("runs:run", args=[run.pk]))
    assert found.status_code == 200
    return found.text


def notice(text: str) -> str:
    """The words of the sentence above the progress, "" where there is none."""
    region = text.split('id="run-notice"')[1].split('<div class="stack" id="progress"')[0]
    return " ".join(re.sub("<[^>]*>", " ", region.partition(">")[2]).split())


def pill(text: str) -> str:
    return re.search(r'<span class="(pill[^"]*)">([^<]+)</span>', text).expand(r"\1|\2")


def poll(user: User, text: str) -> str:
    """The fragment that the page asks for; "" where it asks for the whole page anew."""
    address = re.search(r'hx-get="([^"]+progress[^"]+)"', text)[1].replace("&amp;", "&")
    found = logged_in(user).get(address)
    return "" if found.get("HX-Refresh") else found.text


def listed(user: User) -> str:
    return logged_in(user).get(reverse("runs:list")).text


def test_a_slow_down_has_its_sentence_and_the_next_try(
    admin: User, server: ScriptedServer, run: Run
) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    work_on_run(run.pk)
    run.refresh_from_db()
    text = page(admin, run)
    time = f"{timezone.localtime(run.resume_at):%H:%M:%S}"
    assert notice(text).startswith(
        "The endpoint is limiting the rate of calls (429). Waiting calls: 4. "
        f"Next attempt at {time}. No data is lost."
    )
    assert pill(text) == "pill pill-amber|Waiting"
    assert "接口限制了调用频率（429）" in page(admin, run, "zh-hans")
    for name in ("runs:stop", "runs:resume"):
        assert f'action="{reverse(name, args=[run.pk])}"' in text
    assert "Try now" in text
    assert pill(listed(admin)) == "pill pill-amber|Waiting"


def test_the_page_stands_still_while_it_waits(
    admin: User, server: ScriptedServer, run: Run
) -> None:
    """Waiting, queued for the next try, tried, waiting again: one state, without a new page."""
    worker_reports.Reporter(2).report()
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    work_on_run(run.pk)
    text = page(admin, run)
    fragment = poll(admin, text)
    assert 'id="progress"' in fragment
    assert "hx-swap-oob" not in fragment, "the page has this sentence"
    run.refresh_from_db()
    later = run.resume_at + timedelta(seconds=1)
    look_for_work(lambda: later)
    fragment = poll(admin, text)
    assert 'hx-swap-oob="innerHTML:#run-notice"' in fragment
    assert "Retrying one of them now" in fragment
    work_on_run(run.pk, clock=lambda: later)
    assert "Next attempt at" in poll(admin, fragment)
    server.endpoint.faults = None
    run.refresh_from_db()
    later = run.resume_at + timedelta(seconds=1)
    look_for_work(lambda: later)
    work_on_run(run.pk, clock=lambda: later)
    assert poll(admin, fragment) == "", "it is over: the page comes anew"
    assert notice(page(admin, run)) == ""


def test_a_dead_endpoint_keeps_its_sentence(admin: User, run: Run) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        Endpoint.objects.update(base_url=address)
        Run.objects.update(run_settings={**run.run_settings, "base_url": address})
        work_on_run(run.pk)
        text = page(admin, run)
        assert "The endpoint does not respond. Waiting calls: 4. Next attempt at" in text
        for minutes in (2, 4):
            later = timezone.now() + timedelta(minutes=minutes)
            look_for_work(lambda later=later: later)
            assert "The endpoint does not respond" in notice(page(admin, run)), "while it is tried"
            assert poll(admin, text) != "", "the page is not loaded anew"
            work_on_run(run.pk, clock=lambda later=later: later)
            assert "The endpoint does not respond" in notice(page(admin, run))


def test_calls_that_failed_for_good_are_no_success(
    admin: User, server: ScriptedServer, run: Run
) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("bad_request")
    work_on_run(run.pk)
    text = page(admin, run)
    assert notice(text).startswith(
        "Finished, but 4 of 4 calls failed: the endpoint rejected the call (400). "
        "Retry the failed calls."
    )
    assert pill(text) == "pill pill-red|All failed"
    assert text.count(f'action="{reverse("runs:retry", args=[run.pk])}"') == 1
    assert pill(listed(admin)) == "pill pill-red|All failed"
    server.endpoint.faults = None
    logged_in(admin).post(reverse("runs:retry", args=[run.pk]))
    work_on_run(run.pk)
    text = page(admin, run)
    assert (notice(text), pill(text)) == ("", "pill|Finished")


@pytest.mark.parametrize(
    ("fault", "why", "example", "chinese"),
    [
        (
            named_fault("server_error", status=503),
            "returns errors only (503).",
            "had an error",
            "持续报错（503）。等待",
        ),
        (named_fault("html"), "sends replies that cannot be read.", "not JSON", "无法解析。等待"),
        (named_fault("hang_up"), "end without a complete reply.", "onnect", "完整回复。等待"),
    ],
)
def test_an_outage_has_a_reason_an_example_and_a_next_try(
    admin: User,
    server: ScriptedServer,
    run: Run,
    fault: Fault,
    why: str,
    example: str,
    chinese: str,
) -> None:
    server.endpoint.faults = lambda _prompt: fault
    work_on_run(run.pk)
    run.refresh_from_db()
    text = page(admin, run)
    said, last = notice(text).split("Last error:")
    time = f"{timezone.localtime(run.resume_at):%H:%M:%S}"
    assert f"{why} Waiting calls: 4. Next attempt at {time}. No data is lost." in said
    assert example in last
    assert pill(text) == "pill pill-amber|Waiting"
    assert chinese in page(admin, run, "zh-hans")


def test_some_failed_calls_with_several_reasons(
    admin: User, lead: User, server: ScriptedServer, run: Run
) -> None:
    server.endpoint.faults = script_from(
        [{"fault": "context_length"}, {"fault": "bad_request", "times": 2}]
    )
    work_on_run(run.pk)
    text = page(admin, run)
    assert "3 of 4 calls failed: the endpoint rejected the call (400), among other" in notice(text)
    assert pill(text) == "pill pill-red|Finished, some failed"
    assert "Finished, but" in page(lead, run)
    assert reverse("runs:retry", args=[run.pk]) not in page(lead, run), "an admin's button"


def test_a_refused_key_names_its_variable_and_never_the_key(
    admin: User, server: ScriptedServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG_API_KEY", KEY)
    Endpoint.objects.update(key_variable="WRONG_API_KEY")
    server.endpoint.faults = lambda _prompt: named_fault("auth", text=f"Incorrect key: {KEY}")
    work_on_run(run.pk)
    text = page(admin, run)
    assert "rejects the API key in the variable WRONG_API_KEY" in notice(text)
    assert KEY not in text
    assert KEY[:8] not in text
    Endpoint.objects.update(key_variable="")
    assert "asks for an API key, and none is set" in notice(page(admin, run))


def test_a_spent_quota_is_no_slow_down(admin: User, server: ScriptedServer, run: Run) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("quota")
    work_on_run(run.pk)
    text = page(admin, run)
    assert "The account of this API key has no quota left" in notice(text)
    assert pill(text) == "pill pill-amber|Paused"
    assert "Resume" in text


def test_a_killed_worker_says_when_its_calls_come_back(admin: User, run: Run) -> None:
    """As a ``kill -9`` leaves it: the hold and two leases, and nobody who renews them."""
    now = timezone.now()
    assert run_workers.join_run(run, "gone", now)
    until = job_queue.lease_end(now)
    Run.objects.update(status="running")
    two = Job.objects.values_list("pk", flat=True)[:2]
    Job.objects.filter(pk__in=list(two)).update(
        status="leased", lease_owner="gone", lease_until=until
    )
    assert notice(page(admin, run)) == "", "a worker may be silent for a quarter of its lease"
    silent = timedelta(seconds=settings.RUN_LEASE_SECONDS / 2)
    run.workers.update(worker_until=until - silent)
    said = notice(page(admin, run))
    back = timezone.localtime(until - silent)
    assert f"Its calls in progress (2) will be retried from {back:%H:%M:%S}" in said
    Run.objects.update(status="stopping")
    assert f"Its calls in progress (2) will be released at {back:%H:%M:%S}" in notice(
        page(admin, run)
    )


def test_a_missing_variable_is_said_on_the_form(admin: User, run: Run) -> None:
    Endpoint.objects.update(key_variable="NOT_SET_API_KEY")
    endpoint = Endpoint.objects.get()
    address = reverse("runs:endpoint-check", args=[endpoint.pk])
    found = logged_in(admin).post(address, follow=True)
    assert found.status_code == 200
    assert found.redirect_chain[-1][0] == reverse("runs:endpoint", args=[endpoint.pk])
    assert "The environment variable NOT_SET_API_KEY" in found.text
    assert f'value="{escape(endpoint.base_url)}"' in found.text, "the form is there"


def test_a_long_wait_is_told_with_its_status(admin: User, server: ScriptedServer, run: Run) -> None:
    """An overloaded server may say 503 and name the wait: it is no 429."""
    busy = replace(named_fault("server_error", status=503), headers=(("Retry-After", "3600"),))
    server.endpoint.faults = lambda _prompt: busy
    work_on_run(run.pk)
    assert "is limiting the rate of calls (503). Waiting calls: 4." in notice(page(admin, run))


def test_a_run_that_waited_says_when_nobody_makes_the_next_attempt(
    admin: User, server: ScriptedServer, run: Run
) -> None:
    """When the wait is over, before and after the run is queued again; not while it lasts."""
    server.endpoint.faults = lambda _prompt: named_fault("rate_limit")
    work_on_run(run.pk)
    waited = Run.objects.filter(pk=run.pk)
    assert "Next attempt at" in notice(page(admin, run))
    waited.update(resume_at=timezone.now() - timedelta(seconds=1))
    why = "The endpoint is limiting the rate of calls (429). Waiting calls: 4."
    nobody = "No worker is running, so this run does not go on. Start one with: celery"
    assert f"{why} {nobody}" in notice(page(admin, run))
    look_for_work()
    assert f"{why} {nobody}" in notice(page(admin, run))
    worker_reports.Reporter(2).report()
    assert "Retrying one of them now" in notice(page(admin, run))
    other = start_run(endpoint=run.endpoint, dataset=run.dataset, acting_user=None)
    for number in range(16):
        begun = timezone.now() - timedelta(seconds=30)
        assert run_workers.join_run(other, f"busy {number}", begun)
    busy = "The workers are busy with 1 other run. The next attempt is in about 4 min."
    assert f"{why} {busy}" in notice(page(admin, run))
    assert "约4分钟后重试" in notice(page(admin, run, "zh-hans"))
    assert run_workers.join_run(run, "free", timezone.now())
    assert "Retrying one of them now" in notice(page(admin, run))


def test_a_run_says_that_no_worker_is_running_or_that_all_are_busy(admin: User, run: Run) -> None:
    now = timezone.now()
    assert "No worker is running, so this run does not go on. Start one with: celery" in notice(
        page(admin, run)
    )
    assert "No worker is running, so no run goes on" in listed(admin)
    reporter = worker_reports.Reporter(2)
    reporter.report()
    assert notice(page(admin, run)) == "", "it is begun at once"
    assert f">{Worker.objects.get().host}</th>" in listed(admin)
    other = start_run(endpoint=run.endpoint, dataset=run.dataset, acting_user=None)
    assert run_workers.join_run(other, "busy", now)
    busy = "The workers are busy with 1 other run. This run begins in about"
    assert f"{busy} 10 s." in notice(page(admin, run)), "there are 15 more places"
    assert "后台进程正忙于另外1次运行，约10秒后开始" in notice(page(admin, run, "zh-hans"))
    for number in range(15):
        assert run_workers.join_run(other, f"busy {number}", now - timedelta(seconds=30))
    assert f"{busy} 4 min." in notice(page(admin, run)), "a session of 240 s began 30 s ago"
    RunWorker.objects.exclude(worker="busy").delete()
    run_workers.show_waiting(other, "busy", 3)
    assert "3 replies are stored and wait to be read and scored." in page(admin, other)
    Worker.objects.update(seen_at=now - SILENT)
    assert "No worker is running" in notice(page(admin, run))
    assert notice(page(admin, other)) == "", "a command works on it"
    reporter.report()
    assert Worker.objects.get().seen_at >= now, "one row for each worker"


def test_an_account_that_has_to_wait_says_so_and_an_admin_ends_it(
    admin: User, server: ScriptedServer, run: Run
) -> None:
    """One reply closed the account for a century; runs of its other endpoints said nothing."""
    asked = named_fault("rate_limit", retry_after="3000000000")
    server.endpoint.faults = lambda _prompt: asked
    work_on_run(run.pk)
    account = Endpoint.objects.get().account
    assert account is not None
    assert account.closed_until is not None
    assert account.closed_until < timezone.now() + timedelta(days=7, minutes=1)
    server.endpoint.faults = None
    other = save_endpoint(
        name="other", base_url=server.base_url, model="scripted-demo", acting_user=None
    )
    Endpoint.objects.filter(pk=other.pk).update(account=account)
    second = start_run(endpoint=other, dataset=run.dataset, acting_user=None)
    before = len(server.requests)
    worker_reports.Reporter(2).report()
    work_on_run(second.pk, seconds=2)
    assert len(server.requests) == before
    time = f"{timezone.localtime(account.closed_until):%Y-%m-%d %H:%M}"
    said = f"has asked the account {account.name} to wait until {time}."
    assert said in notice(page(admin, second))
    assert f"等待到{time}" in notice(page(admin, second, "zh-hans"))
    client = logged_in(admin)
    run.refresh_from_db()
    assert "Next attempt at" in notice(page(admin, run))
    client.post(reverse("runs:resume", args=[run.pk]))
    assert said in notice(page(admin, run)), "nothing is tried, whatever one presses here"
    where = reverse("runs:account", args=[account.pk])
    assert "Send calls again now" in client.get(where).text
    for _time in range(2):
        ended = client.post(reverse("runs:account-end-wait", args=[account.pk]))
        assert ended["Location"] == where
    assert "Send calls again now" not in client.get(where).text
    assert AuditEntry.objects.filter(tag="account.wait_ended").count() == 1
    assert said not in notice(page(admin, second))
    for one in (second, run):
        work_on_run(one.pk)
        one.refresh_from_db()
        assert one.status == "finished", "also the run that was paused until then"


@pytest.mark.parametrize("what", ["requests", "tokens"])
def test_an_account_with_no_calls_left_says_so_and_an_admin_ends_the_wait(
    admin: User, server: ScriptedServer, run: Run, what: str
) -> None:
    """One reply said that nothing is left for an hour: the run was "Running", without a word."""
    left = ((f"x-ratelimit-remaining-{what}", "0"), (f"x-ratelimit-reset-{what}", "3h"))
    faults = iter([Fault(headers=left)])
    server.endpoint.faults = lambda _prompt: next(faults, None)
    Endpoint.objects.update(max_in_flight=1)
    work_on_run(run.pk, seconds=2)
    sent = len(server.requests)
    # Two such runs held both processes of the worker, and nothing else was done.
    assert (work_on_run(run.pk, seconds=20), look_for_work()) == ([], [])
    assert len(server.requests) == sent
    account = ProviderAccount.objects.get(endpoints=run.endpoint_id)
    assert f"has asked the account {account.name} to wait until" in notice(page(admin, run))
    client, where = logged_in(admin), reverse("runs:account", args=[account.pk])
    assert "Send calls again now" in client.get(where).text
    client.post(reverse("runs:account-end-wait", args=[account.pk]))
    assert "Send calls again now" not in client.get(where).text
    assert AuditEntry.objects.filter(tag="account.wait_ended").count() == 1
    assert look_for_work() == [run.pk]
    work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == "finished"


def test_the_end_of_a_wait_resumes_the_runs_that_were_asked_to_wait(
    admin: User, server: ScriptedServer, run: Run
) -> None:
    """Each had to be resumed by hand. Runs that are paused or stopped for a reason of their own
    stay so."""
    asked = named_fault("rate_limit", retry_after="900")
    server.endpoint.faults = lambda _prompt: asked
    work_on_run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.pause_reason) == ("paused", "asked_to_wait")
    endpoint = Endpoint.objects.get()
    others = {}
    for name, state in {
        "by_person": {"status": "paused", "pause_reason": "by_person"},
        "quota": {"status": "paused", "pause_reason": "quota"},
        "stopped": {"status": "stopped"},
        # The budget is spent, so that this one cannot be resumed.
        "no_budget": {"status": "paused", "pause_reason": "asked_to_wait", "budget": 0},
    }.items():
        dataset = make_dataset(name)
        make_question(make_task(dataset))
        others[name] = start_run(endpoint=endpoint, dataset=dataset, acting_user=None)
        Run.objects.filter(pk=others[name].pk).update(**state)
    elsewhere = save_endpoint(
        name="elsewhere", base_url=server.base_url, model="scripted-demo", acting_user=None
    )
    dataset = make_dataset("elsewhere")
    make_question(make_task(dataset))
    other = start_run(endpoint=elsewhere, dataset=dataset, acting_user=None)
    Run.objects.filter(pk=other.pk).update(status="paused", pause_reason="asked_to_wait")
    client = logged_in(admin)
    address = reverse("runs:account-end-wait", args=[endpoint.account_id])
    text = client.post(address, follow=True).text
    assert "1 run was resumed." in text
    refused = others["no_budget"]
    assert f"Run {refused.pk} was not resumed: The budget must be higher" in text
    run.refresh_from_db()
    assert (run.status, run.pause_reason, run.resume_at) == ("queued", "asked_to_wait", None)
    assert not run.jobs.filter(next_at__isnull=False).exists()
    resumed = AuditEntry.objects.filter(tag="run.resumed")
    assert [(one.target, one.actor) for one in resumed] == [(f"run:{run.pk}", admin)]
    for one in (*others.values(), other):
        before = (one.pk, one.status)
        one.refresh_from_db()
        assert one.status in ("paused", "stopped"), before
    # As after each wait, a single call goes ahead.
    sent = len(server.requests)
    work_on_run(run.pk)
    assert len(server.requests) == sent + 1
    server.endpoint.faults = None
    client.post(address)
    work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == "finished"


def test_a_call_in_flight_does_not_pause_a_run_whose_wait_was_ended(
    server: ScriptedServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was sent before, and comes back with the wait that an admin has ended meanwhile."""
    asked = named_fault("rate_limit", retry_after="900")
    server.endpoint.faults = lambda _prompt: asked
    account = permits.account_of(Endpoint.objects.get())
    store = work_session.WorkSession.store

    def stored_after_the_end(self: Any, *given: Any) -> Any:
        if server.endpoint.faults is not None:
            server.endpoint.faults = None
            later = timezone.now() + timedelta(days=7)
            ProviderAccount.objects.filter(pk=account.pk).update(closed_until=later)
            end_wait(account, acting_user=None)
        return store(self, *given)

    monkeypatch.setattr(work_session.WorkSession, "store", stored_after_the_end)
    work_on_run(run.pk)
    account.refresh_from_db()
    assert account.closed_until is not None
    assert account.closed_until <= timezone.now()
    run.refresh_from_db()
    assert run.status != "paused"
    work_on_run(run.pk)
    run.refresh_from_db()
    assert run.status == "finished"
