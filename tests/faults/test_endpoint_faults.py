"""Endpoints that fail in one way each, all at once: one worker, a run and a ledger for each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count, cycle
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum

from evaluations.models import Attempt, Job, Response, Run
from evaluations.runs.services.runs import resume_run, start_run
from gradeapp.common.refusals import Conflict
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_dataset, make_question, make_task
from tests.faults.site import Site
from tests.faults.table import FaultRow, database_says, ledger_says
from tests.faults.test_run_faults import check, status_of
from tests.scripted_server import Fault, ScriptedServer, named_fault
from tests.worker_processes import wait_until

pytestmark = pytest.mark.faults
IN_FLIGHT = 8
BROKEN = ("reset", "malformed", "short_body", "gzip_bomb", "hang_up", "event_stream")
BROKEN_SENT: Counter[str] = Counter()
ODD = ("\x00", "\ud800", "𠮷😀", "\u202e", "﷽", "x" * 200_000, "\x1b[31m", "\ufeff", "\\u0000")


def share(prompt: str, of: int) -> bool:
    """Whether *prompt* is one of those that fail: one in *of*, always the same ones."""
    return hashlib.sha256(prompt.encode()).digest()[0] % of == 0


class AtFirst:
    """Answers each prompt with *fault* for the first *times* requests of it."""

    def __init__(self, fault: Callable[[], Fault], times: int = 1, of: int = 1) -> None:
        self.fault, self.times, self.of = fault, times, of
        self.asked: Counter[str] = Counter()

    def __call__(self, prompt: str) -> Fault | None:
        self.asked[prompt] += 1
        due = self.asked[prompt] <= self.times and share(prompt, self.of)
        return self.fault() if due else None


def in_turn(*made: Callable[[], Fault | None]) -> Callable[[str], Fault | None]:
    """Answer with one after the other, for ever."""
    number = count()
    return lambda _prompt: made[next(number) % len(made)]()


@dataclass
class Case:
    """One endpoint: how it fails, and what is true of its run and its ledger in the end."""

    row: str
    done: str
    items: int
    faults: Callable[[str], Fault | None] | None
    holds: Callable[[Case], None] = lambda case: check(case.run, case.server, case.items)
    end: str = "finished"
    server_options: dict[str, Any] = field(default_factory=dict)
    endpoint: dict[str, Any] = field(default_factory=dict)
    run_options: dict[str, Any] = field(default_factory=dict)
    while_running: Callable[[Case], None] = lambda case: None
    server: ScriptedServer = None  # type: ignore[assignment]
    run: Run = None  # type: ignore[assignment]

    def begin(self) -> None:
        """Plan the run."""
        fields = {"name": self.row, "model": self.row, "max_in_flight": IN_FLIGHT}
        endpoint = scripted_endpoint(self.server, **{**fields, **self.endpoint})
        task = make_task(make_dataset(self.row.lower()))
        for number in range(self.items):
            make_question(task, stem=f"Which one is right in item {number}?\nA. a\nB. b\nC. c")
        options = {"endpoint": endpoint, "dataset": task.dataset, "acting_user": None}
        self.run = start_run(**{**options, **self.run_options})

    def over(self) -> bool:
        """Whether the run has reached its end."""
        self.while_running(self)
        return status_of(self.run) == self.end

    @property
    def attempts(self) -> Any:
        """The attempts of the run."""
        return Attempt.objects.filter(job__run=self.run)


def mixed_5xx_hold(case: Case) -> None:
    """R18: each of the failing prompts was asked twice, nothing else."""
    check(case.run, case.server, case.items)
    assert case.attempts.filter(error="server").count() == len(case.server.requests) - case.items
    assert case.server.ledger.billed == case.items


def lost_answers_hold(case: Case) -> None:
    """R19: an answer that never came is asked for once more, and known as possibly billed."""
    check(case.run, case.server, case.items)
    counts = Counter(case.server.ledger.prompts)
    lost = sum(share(prompt, 5) for prompt in counts)
    assert max(counts.values()) == 2
    assert case.attempts.filter(status="unknown").count() == lost > 0
    assert case.server.ledger.billed == case.items + lost


def broken_replies_hold(case: Case) -> None:
    """R20: each is asked for once more, but a gzip bomb; nothing else failed.

    A bomb that comes among others of these in a row counts to an outage, and is asked for too.
    """
    jobs = Job.objects.filter(run=case.run)
    bombs = BROKEN_SENT["gzip_bomb"]
    assert Counter(jobs.values_list("status", "error").distinct()).keys() <= {
        ("done", ""),
        ("failed", "oversize"),
    }
    failed = jobs.filter(status="failed").count()
    assert failed <= bombs
    assert Response.objects.filter(run=case.run).count() == case.items - failed
    broken = sum(BROKEN_SENT.values())
    assert len(set(BROKEN_SENT)) == len(BROKEN) > 0
    assert len(case.server.requests) == case.items + broken - failed
    unknown = case.attempts.filter(status="unknown").count()
    assert case.server.ledger.billed <= case.items - failed + unknown + broken


def broken() -> Fault:
    """The next of the broken replies."""
    name = BROKEN[sum(BROKEN_SENT.values()) % len(BROKEN)]
    BROKEN_SENT[name] += 1
    return named_fault(name)


def written(text: str) -> Fault:
    """A good reply of *text* in ASCII, in which JSON can hold every half of a surrogate pair."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return Fault(body=json.dumps({"choices": [choice], "usage": usage}).encode())


def change_the_key(case: Case) -> None:
    """R21: revoke the key in the middle; once the run pauses, give the server its key again."""
    server = case.server
    done = Job.objects.filter(run=case.run, status="done").count()
    status = status_of(case.run)
    if done >= 10 and server.endpoint._api_key is None:
        server.endpoint._api_key = "another key"
    if status == "paused":
        case.run.refresh_from_db()
        case.endpoint["reason"] = case.run.pause_reason
        server.endpoint._api_key = ""
        with suppress(Conflict):
            resume_run(case.run, acting_user=None)


def revoked_key_holds(case: Case) -> None:
    """R21: few calls met the wall, and all items are done with the new key."""
    check(case.run, case.server, case.items)
    assert case.endpoint["reason"] == "auth"
    assert 1 <= case.attempts.filter(error="auth").count() <= IN_FLIGHT + 1
    assert case.server.ledger.billed == case.items


def quota_holds(case: Case) -> None:
    """R22: the run pauses after the calls in flight; nothing failed, nothing is billed."""
    case.run.refresh_from_db()
    assert case.run.pause_reason == "quota"
    assert len(case.server.requests) <= IN_FLIGHT + 1
    assert case.server.ledger.billed == 0
    jobs = Counter(Job.objects.filter(run=case.run).values_list("status", flat=True))
    assert jobs == {"pending": case.items}


def odd_replies_hold(case: Case) -> None:
    """R23: each reply is stored with what is odd in it."""
    check(case.run, case.server, case.items)
    found = Response.objects.filter(run=case.run)
    names = set(case.attempts.values_list("response_model", flat=True))
    assert len(names) == 2, names
    assert found.filter(text="").exists()


def budget_holds(case: Case) -> None:
    """R24: what was spent is not above the budget, and what is left was not sent."""
    case.run.refresh_from_db()
    assert case.run.pause_reason == "budget"
    spent = case.attempts.aggregate(n=Sum("cost"))["n"]
    assert 0 < spent <= case.run.budget
    assert 0 < case.server.ledger.billed == len(case.server.requests) < case.items


def texts_hold(case: Case) -> None:
    """R46: every reply is stored; what no database can store is replaced."""
    check(case.run, case.server, case.items)
    texts = set(Response.objects.filter(run=case.run).values_list("text", flat=True))
    assert {"𠮷😀", "x" * 200_000, "\\u0000"} <= texts
    assert not any("\x00" in text or "\ud800" in text for text in texts)


def third_time_holds(case: Case) -> None:
    """R51: three attempts of each item that was refused twice, and none was ever failed."""
    check(case.run, case.server, case.items)
    # Not ``attempts_made``: an attempt during an outage does not count against its job.
    made = Counter(Counter(case.attempts.values_list("job", flat=True)).values())
    refused = sum(share(prompt, 3) for prompt in set(case.server.ledger.prompts))
    assert made == {1: case.items - refused, 3: refused}
    assert len(case.server.requests) == case.items + 2 * refused


def none_failed(case: Case) -> None:
    """Look while the run goes on: no job has failed."""
    assert not Job.objects.filter(run=case.run, status="failed").exists()


PRICED = {"price_input": Decimal(1000), "price_output": Decimal(1000), "max_tokens": 100}
ERRORS = cycle((500, 502, 503, 504))
DOUBTFUL = (lambda: named_fault("wrong_model"), lambda: named_fault("empty"), lambda: None)
TEXTS = tuple(lambda text=text: written(text) for text in ODD)
CASES = (
    Case(
        "R18",
        "500, 502, 503 and 504 in turn for the first request of one prompt in three",
        100,
        AtFirst(lambda: named_fault("server_error", status=next(ERRORS)), of=3),
        mixed_5xx_hold,
        while_running=none_failed,
    ),
    Case(
        "R19",
        "for one prompt in five the first answer is billed and never comes",
        50,
        AtFirst(lambda: Fault(delay=3600), of=5),
        lost_answers_hold,
        endpoint={"timeout_seconds": 5},
        while_running=none_failed,
    ),
    Case(
        "R20",
        "reset in the body, half JSON, a wrong length, a gzip bomb, a hang-up and a stream in turn "
        "for the first request of one prompt in six",
        60,
        AtFirst(broken, of=6),
        broken_replies_hold,
    ),
    Case(
        "R21",
        "every call gets 401 in the middle of 60; once the run has paused, the key is valid again "
        "and a person resumes it",
        60,
        None,
        revoked_key_holds,
        while_running=change_the_key,
    ),
    Case(
        "R22",
        "every call gets 429 insufficient_quota",
        60,
        lambda _prompt: named_fault("quota"),
        quota_holds,
        end="paused",
    ),
    Case(
        "R23",
        "another model, no text and a good reply in turn",
        30,
        in_turn(*DOUBTFUL),
        odd_replies_hold,
    ),
    Case(
        "R24",
        "a budget for about half of the calls",
        60,
        None,
        budget_holds,
        end="paused",
        endpoint=PRICED,
        run_options={"budget": Decimal(5)},
    ),
    Case(
        "R46",
        "NUL, half surrogates, 4-byte characters, control characters and 200,000 x in turn",
        45,
        in_turn(*TEXTS),
        texts_hold,
    ),
    Case(
        "R51",
        "503 for the first two requests of one prompt in three",
        40,
        AtFirst(lambda: named_fault("server_error", status=503), times=2, of=3),
        third_time_holds,
        while_running=none_failed,
    ),
)


def test_each_fault_of_an_endpoint_costs_what_it_must(site: Site, fault_row: FaultRow) -> None:
    """R18 to R24, R46, R51: nothing is lost, nothing failed, nothing billed but what is named."""
    with ExitStack() as servers:
        for case in CASES:
            made = ScriptedServer(latency=0.1, faults=case.faults)
            case.server = servers.enter_context(made)
            case.begin()
        connection.close()
        site.worker()
        left = list(CASES)

        def all_over() -> bool:
            left[:] = [case for case in left if not case.over()]
            return not left

        wait_until(all_over, 600)
        failures: list[str] = []
        for case in CASES:
            says = {"ledger": ledger_says(case.server), "database": database_says(case.run)}
            try:
                case.holds(case)
            except AssertionError as error:
                failures.append(f"{case.row}: {error} ({says})")
            else:
                fault_row(case.row, case.done, **says)
    assert not failures, "\n".join(failures)
