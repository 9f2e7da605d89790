"""R52: many threads make the same thing at the same time; one row of each is stored."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from evaluations.facts.params import ReportParams
from evaluations.llm.budget import Budget
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.round_planning import plan_round_once
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import Attempt, Batch, Export, FinalMark, Job, Mark, MarkingRound, Run
from evaluations.reports.services.export_jobs import start_export
from evaluations.reports.services.exports import Asked
from evaluations.runs.services.batch_making import make_batches
from evaluations.runs.services.batches import read_replies, request_lines
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.job_queue import claim_jobs
from evaluations.runs.services.runs import start_run
from evaluations.schemes import Scheme
from gradeapp.accounts import links
from gradeapp.accounts.models import LinkKind, User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import Refusal
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    later,
    responses_to,
    small_round,
    subjective_question,
)
from tests.evaluations.run_world import scripted_endpoint
from tests.evaluations.runs.test_batches import answered
from tests.factories import PASSWORD, make_dataset, make_question, make_task, make_user
from tests.faults.site import Site, default_database
from tests.faults.table import FaultRow
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.faults
THREADS = 32


def at_once(site: Site, call: Callable[[int], Any]) -> Counter[str]:
    """Call *call* in all threads at the same time; count what it returns by its type."""
    barrier = Barrier(THREADS, timeout=120)

    def one(number: int) -> str:
        with default_database(site.environment["DATABASE_URL"]):
            connection.ensure_connection()
            barrier.wait()
            try:
                return type(call(number)).__name__
            except Refusal as refusal:
                return type(refusal).__name__

    with ThreadPoolExecutor(THREADS) as pool:
        return Counter(pool.map(one, range(THREADS)))


def test_runs_their_claims_and_batches(site: Site, fault_row: FaultRow) -> None:
    """R52: a run, the claim of its jobs, and a file of replies, which its batch counts once."""
    task = make_task(make_dataset("asked"))
    for number in range(4):
        make_question(task, stem=f"Which one is right in item {number}?\nA. a\nB. b\nC. c")
    now = timezone.now()
    with ScriptedServer() as server:
        endpoint = scripted_endpoint(server)
        run = start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None)
        by_batch = {"dataset": task.dataset, "repeats": 3, "by_batch": True}
        carried = start_run(endpoint=endpoint, acting_user=None, **by_batch)
        (batch,) = make_batches(carried, acting_user=None)
        replies = [answered(json.loads(line)) for line in request_lines(batch)]
        runs = Run.objects.count()
        connection.close()

        def start(_number: int) -> Run:
            given = {"dataset": task.dataset, "repeats": 2, "unless_running": True}
            return start_run(endpoint=endpoint, acting_user=None, **given)

        def claim(number: int) -> list[Any]:
            owner, prepare = f"worker{number}", partial(call_for, run)
            return claim_jobs(run, owner, 4, now, prepare=prepare, budget=Budget(None))

        def read(_number: int) -> int:
            return read_replies(carried, replies, acting_user=None).answered

        told = [at_once(site, call) for call in (start, claim, read)]
    rows = {
        "run": Run.objects.count() - runs,
        "claim": Attempt.objects.filter(job__run=run).count() / Job.objects.filter(run=run).count(),
        "reply": Batch.objects.get(pk=batch.pk).answered / len(replies),
    }
    done = "start a run, claim its jobs, and read a file of replies"
    fault_row("R52", f"{THREADS} threads at once {done}", database=said(rows))
    assert set(rows.values()) == {1}, (rows, told)


def test_marks_and_final_marks(site: Site, fault_row: FaultRow) -> None:
    """R52: a mark with the key of its page, and the final mark of its response."""
    teachers = [make_user(Role.TEACHER) for _ in range(2)]
    made = small_round(teachers, 1)
    (answer,) = answers_of(made)
    slot, key = held_slot(answer, teachers[0]), uuid.uuid4()
    points = (Decimal(1), Decimal(1), Decimal(1))
    connection.close()

    def save(_number: int) -> Mark:
        given = {"based_on_version": 0, "points": points, "now": later(1)}
        return save_mark(slot, teachers[0], key=key, **given).mark

    told = [at_once(site, save)]
    give(answer, teachers[1], ["1", "1", "1"])
    told.append(at_once(site, lambda _number: finalize_due(made, now=later(2))))
    rows = {
        "mark": Mark.objects.filter(slot=slot).count(),
        "final mark": FinalMark.objects.filter(answer=answer).count(),
    }
    done = "save a mark, and finalize its response"
    fault_row("R52", f"{THREADS} threads at once {done}", database=said(rows))
    assert set(rows.values()) == {1}, (rows, told)


def test_forms_and_exports(site: Site, fault_row: FaultRow) -> None:
    """R52: the form of a round and of an invitation, the account of a link, and an export."""
    admin = make_user(Role.ADMIN, "ada")
    token = links.invite("Li Hua", [Role.TEACHER], acting_user=admin)
    teachers = [make_user(Role.TEACHER) for _ in range(2)]
    marked = tuple(one.run_id for one in responses_to(subjective_question(), 1))
    settings = RoundSettings(name="again", random_seed=1, scheme=Scheme.TWO_AND_LEAD)
    asked, form_key = Asked("scores", ReportParams("asked")), uuid.uuid4()
    make_dataset("asked")
    connection.close()

    def join(number: int) -> User:
        return links.accept_invitation(token, f"name{number}", PASSWORD)

    def export(_number: int) -> Export:
        return start_export(asked, acting_user=admin)

    def plan(_number: int) -> MarkingRound:
        given = {"responses": ResponseChoice(runs=marked), "teachers": teachers}
        return plan_round_once(form_key, settings, acting_user=admin, **given)

    def invite(_number: int) -> str:
        given = {"acting_user": admin, "form_key": form_key}
        return links.invite("Wang Fang", [Role.TEACHER], **given)

    told = [at_once(site, call) for call in (join, export, plan, invite)]
    rows = {
        "account": User.objects.filter(username__startswith="name").count(),
        "export": Export.objects.count(),
        "round": MarkingRound.objects.filter(name="again").count(),
        "invitation": links.open_links(LinkKind.INVITATION).count(),
    }
    done = "use an invitation, ask for an export, send the form of a round and of an invitation"
    fault_row("R52", f"{THREADS} threads at once {done}", database=said(rows))
    assert set(rows.values()) == {1}, (rows, told)


def said(rows: dict[str, float]) -> str:
    """Say how many rows each thing has."""
    return ", ".join(f"{number:g} {name}" for name, number in rows.items())
