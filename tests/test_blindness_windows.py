"""Saving and revising tell nothing: attacks as sequences, in worlds that differ in hidden facts.

A teacher who saves 0, 1, 2 ... must not learn the partner's mark from the answers, and asking to
revise must not tell an intra-rater check or a seed answer from a response whose marks count.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluations.marking.desk.services.slots import take
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import BlindAnswer, MarkingRound, Slot
from evaluations.models.vocabulary import AnswerRole, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit import reads
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    later,
    small_round,
    subjective_question,
)
from tests.factories import make_user
from tests.test_blindness import CHANGING, HTMX, masked
from tests.test_blindness_checks import disguise

pytestmark = pytest.mark.django_db
Attack = Callable[[Client, BlindAnswer, str], list[Any]]
SWEEP = range(3)
# What the partner did before: no mark yet, an equal one, one within the tolerance, one far from it.
PARTNER = [None, "0", "1", "12"]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """One clock for the pages and the marks: it stands still, so that answers show the same."""
    clock = Clock(timezone.now())
    monkeypatch.setattr(timezone, "now", clock)
    return clock


class Clock:
    """A clock that is moved by hand."""

    def __init__(self, now: datetime) -> None:
        self.time = now

    def __call__(self) -> datetime:
        return self.time

    def pass_minutes(self, minutes: int) -> None:
        self.time += timedelta(minutes=minutes)


@pytest.fixture(params=[Scheme.TWO_AND_LEAD, Scheme.THREE_AND_LEAD])
def made(
    request: pytest.FixtureRequest, teacher: User, other_teacher: User, third_teacher: User
) -> MarkingRound:
    """Two responses to one question without a rubric."""
    pair, question = [teacher, other_teacher], subjective_question(())
    settings = {"scheme": request.param, "window_minutes": 15, "question": question}
    made = small_round([*pair, third_teacher], 2, **settings)
    for answer in answers_of(made):
        for person, slot in zip(pair, answer.slots.order_by("kind"), strict=True):
            Slot.objects.filter(pk=slot.pk).update(planned=person)
    return made


def told(client: Client, *, count: bool = False, **request: Any) -> list[object]:
    """What an answer tells: status, headers, body, and how many questions the database got."""
    with CaptureQueriesContext(connection) as queries:
        response = client.generic(**request)
    kept = sorted((k, v) for k, v in response.headers.items() if k not in CHANGING)
    body = masked(response.content)
    return [response.status_code, repr(kept), body, *([len(queries)] if count else [])]


def by_api(client: Client, answer: BlindAnswer, phase: str) -> list[Any]:
    """Save 0, 1, 2 ... through the API, and read all own marks after each."""
    said: list[Any] = []
    for number in SWEEP:
        key = uuid.uuid5(answer.public_id, f"{phase} {number}")
        sent = {"response": str(answer.public_id), "key": str(key), "based_on_version": number}
        response = client.post(
            "/api/v1/marks/", sent | {"total": str(number)}, content_type="application/json"
        )
        said += [response.status_code, masked(response.content)]
        said += told(client, method="GET", path="/api/v1/marks/", count=True)
    return said


def by_desk(client: Client, answer: BlindAnswer, phase: str) -> list[Any]:
    """Save 0 at the desk, then revise it to 1, 2 ..., and look at every own page in between."""
    where, said = f"/marking/responses/{answer.public_id}/", []
    for number in SWEEP:
        key = uuid.uuid5(answer.public_id, f"{phase} {number}")
        sent = {"answer": str(answer.public_id), "key": str(key), "version": str(number)}
        sent |= {"total": str(number), "comment": "", "seconds": "30"}
        saved = client.post(f"{where}save/", sent)
        said += [saved.status_code, saved.get("Location"), masked(saved.content)]
        said.append(masked(client.post(f"{where}revise/", headers=HTMX).content))
        for path in (where, "/marking/", "/marking/marks/", f"/marking/rounds/{round_of(answer)}/"):
            said += told(client, method="GET", path=path, count=True)
        said += told(client, method="POST", path=f"{where}revise/", count=True)
    return said


def round_of(answer: BlindAnswer) -> uuid.UUID:
    return answer.round.public_id


@pytest.mark.parametrize("attack", [by_api, by_desk])
def test_a_sweep_of_marks_learns_nothing_of_the_partners(
    attack: Attack, made: MarkingRound, teacher: User, other_teacher: User, clock: Clock
) -> None:
    """T-sweep: the same bytes in the window and after it, whatever the partner gave."""
    answer, other = answers_of(made)
    began, worlds = clock.time, []
    Slot.objects.filter(answer=other).update(planned=None, holder=None)
    held_slot(answer, teacher)
    for theirs in PARTNER:
        before = transaction.savepoint()
        reads.counter.forget()  # a process of its own in each world
        client, clock.time = logged_in(teacher), began
        if theirs is not None:
            give(answer, other_teacher, theirs, now=began - timedelta(minutes=60))
        said = attack(client, answer, "in")
        finalize_due(made, now=clock.time)
        assert not answer.finals.exists()
        assert answer.slots.count() == 2, "nothing waits for a third mark or for the lead"
        clock.pass_minutes(15)
        finalize_due(made, now=clock.time)
        said += attack(client, answer, "after")
        assert (answer.finals.exists() or answer.slots.count() == 3) == (theirs is not None)
        worlds.append(said)
        transaction.savepoint_rollback(before)
    for other_world in worlds[1:]:
        for place, (one, two) in enumerate(zip(worlds[0], other_world, strict=True)):
            assert one == two, place


@pytest.mark.parametrize("over", [False, True], ids=["in the window", "after it"])
def test_to_revise_tells_no_check_from_a_response_that_counts(
    over: bool, teacher: User, lead: User, clock: Clock
) -> None:
    """T-check: an original that is finalized, an intra-rater check and a seed answer are one."""
    made = small_round([teacher], 3, scheme=Scheme.SINGLE, window_minutes=15)
    first, answer, _coming = answers_of(made)
    for one in (first, answer):
        give(one, teacher, ["1", "2", "3"], now=clock.time)
    if over:
        clock.pass_minutes(15)
        finalize_due(made, now=clock.time)
    client, worlds = logged_in(teacher), []
    where = f"/marking/responses/{answer.public_id}/"
    sent = {"response": str(answer.public_id), "key": str(uuid.uuid4()), "based_on_version": 1}
    for role in AnswerRole:
        before = transaction.savepoint()
        disguise(answer, first, role, lead)
        if role is not AnswerRole.ANSWER:
            BlindAnswer.objects.filter(pk=answer.pk).update(final=None)
        is_final = BlindAnswer.objects.filter(pk=answer.pk, final__isnull=False).exists()
        assert is_final == (over and role is AnswerRole.ANSWER)
        said: list[object] = []
        for path in (f"{where}revise/", f"/marking/rounds/{made.public_id}/undo/"):
            said += told(client, method="POST", path=path, count=True)
        body = sent | {"points": ["3", "3", "6"]}
        saved = client.post("/api/v1/marks/", body, content_type="application/json")
        said += [saved.status_code, masked(saved.content)]
        worlds.append(said)
        transaction.savepoint_rollback(before)
    assert worlds[0] == worlds[1] == worlds[2]


def test_going_back_in_one_round_takes_no_response_of_another(
    teacher: User, other_teacher: User
) -> None:
    """A form that is open since then names a response of the other round."""
    answers = []
    for _round in range(2):
        one = small_round([teacher, other_teacher], 1, question=subjective_question())
        answers.append(answers_of(one)[0])
        give(answers[-1], teacher, ["3", "3", "6"])
    path = f"/marking/rounds/{answers[0].round.public_id}/undo/"
    sent = {"answer": str(answers[1].public_id)}
    for headers in ({}, {"hx-request": "true"}):
        assert logged_in(teacher).post(path, sent, headers=headers).status_code < 500


@pytest.mark.parametrize("window", [0, 15], ids=["no window", "sheet"])
def test_a_save_without_a_window_asks_the_same_whatever_the_partner_did(
    window: int, made: MarkingRound, teacher: User, other_teacher: User, clock: Clock
) -> None:
    """T011: the answer and the number of statements; finalizing is left to the clock."""
    MarkingRound.objects.filter(pk=made.pk).update(window_minutes=window)
    answer, worlds = answers_of(made)[0], []
    held_slot(answer, teacher)
    for theirs in PARTNER:
        before = transaction.savepoint()
        if theirs is not None:
            give(answer, other_teacher, theirs, now=clock.time - timedelta(minutes=60))
        client = logged_in(teacher)
        if window:
            with CaptureQueriesContext(connection) as queries:
                given = {"from_sheet": True, "key": answer.public_id, "now": clock.time}
                give(answer, teacher, "0", **given)
            said: list[object] = [len(queries)]
        else:
            sent = {"response": str(answer.public_id), "key": str(answer.public_id), "total": "0"}
            body = json.dumps(sent | {"based_on_version": 0})
            post = {"path": "/api/v1/marks/", "data": body, "content_type": "application/json"}
            said = told(client, count=True, method="POST", **post)
            assert said[0] == 201
        assert not answer.finals.exists()
        worlds.append(said)
        finalize_due(made, now=clock.time)
        assert (answer.finals.exists() or answer.slots.count() == 3) == (theirs is not None)
        transaction.savepoint_rollback(before)
    assert worlds == worlds[:1] * len(worlds)


def test_a_mark_without_a_window_waits_for_that_of_the_partner(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    """An uploaded sheet closes its own window only: its save must finalize nothing before."""
    answer = answers_of(made)[0]
    give(answer, teacher, "3")
    give(answer, other_teacher, "3", from_sheet=True)
    answer.refresh_from_db()
    assert answer.final_id is None
    finalize_due(made, now=later(60))
    answer.refresh_from_db()
    assert answer.final_id is not None


def test_to_skip_asks_the_same_whatever_the_partner_did(
    teacher: User, other_teacher: User, clock: Clock
) -> None:
    """T011: under a tolerance for each scoring point too, which needs the partner's points."""
    made = small_round([teacher, other_teacher], 2, point_tolerance=Decimal(1))
    answer, worlds = answers_of(made)[0], []
    for person, slot in zip((other_teacher, teacher), answer.slots.order_by("kind"), strict=True):
        Slot.objects.filter(pk=slot.pk).update(planned=person)
    until = {"holder": teacher, "lease_until": clock.time + timedelta(minutes=30)}
    answer.slots.filter(planned=teacher).update(**until)
    for theirs in (None, ["3", "3", "6"], ["0", "0", "0"]):
        before = transaction.savepoint()
        if theirs is not None:
            give(answer, other_teacher, theirs, now=clock.time - timedelta(minutes=60))
        path = f"/marking/responses/{answer.public_id}/skip/"
        said = told(logged_in(teacher), method="POST", path=path, count=True)
        assert said[0] in (200, 302)
        worlds.append(said)
        transaction.savepoint_rollback(before)
    assert worlds == worlds[:1] * len(worlds)


def test_a_helper_puts_a_third_mark_aside_as_any_other(clock: Clock) -> None:
    """T011: by as many statements as a first or second mark that others left."""
    people = [make_user(Role.TEACHER, f"t{n}") for n in range(4)]
    helper = people[0]
    made = small_round(people, 10, scheme=Scheme.THREE_AND_LEAD)
    for slot in Slot.objects.filter(planned=helper):
        give(slot.answer, helper, ["3", "3", "6"], now=clock.time - timedelta(minutes=60))
    answer = next(one for one in answers_of(made) if not one.slots.filter(planned=helper).exists())
    now, until, worlds = clock.time, clock.time + timedelta(minutes=30), []
    # The first time what is fixed is read, such as the questions of the round.
    for kind in (SlotKind.FIRST, SlotKind.FIRST, SlotKind.SECOND, SlotKind.THIRD):
        before = transaction.savepoint()
        for slot, points in zip(answer.slots.order_by("kind"), ("0", "3"), strict=True):
            if slot.kind != kind:
                marked = now - timedelta(minutes=60)
                give(answer, slot.planned, [points, points, points], now=marked)
            else:
                Slot.objects.filter(pk=slot.pk).update(skipped_at=now - timedelta(minutes=50))
        assert take(answer.slots.get(kind=kind).pk, helper, until=until, now=now)
        skip = f"/marking/responses/{answer.public_id}/skip/"
        client, asked = logged_in(helper), (skip, f"/marking/rounds/{made.public_id}/next/")
        worlds.append([told(client, method="POST", path=path, count=True) for path in asked])
        transaction.savepoint_rollback(before)
    assert worlds[1][0][0] == 302
    assert worlds[1:] == worlds[1:2] * 3
