"""check_invariants names each invariant that raw SQL has broken, and none of a sound database."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

from evaluations.facts.invariants import INVARIANTS
from evaluations.models import (
    Attempt,
    Extraction,
    Job,
    MarkingRound,
    ObjectiveScore,
    Response,
    Run,
    StepReply,
)
from evaluations.models.vocabulary import AttemptStatus, JobStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.evaluations.marking_world import answers_of, give, later, marked_again, small_round
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db

# Each statement breaks one invariant of the world below, and perhaps others with it.
BREAKING = {
    "counts_of_runs": "UPDATE evaluations_runcount SET answered = answered + 1",
    "finished_runs": "UPDATE evaluations_job SET status = 'pending'",
    "leases_of_jobs": (
        "UPDATE evaluations_run SET status = 'running' WHERE endpoint_id IS NOT NULL",
        "UPDATE evaluations_job SET status = 'leased', lease_until = '2026-01-01 00:00:00+00:00'",
    ),
    "calls_ended": (
        "UPDATE evaluations_attempt SET status = 'sent', sent_at = '2026-01-01 00:00:00+00:00'"
    ),
    "calls_numbered": "UPDATE evaluations_attempt SET number = 3",
    "jobs_answered": "UPDATE evaluations_job SET repeat = 7",
    "steps_in_order": "UPDATE evaluations_job SET step = 3 WHERE step = 2",
    "replies_of_steps": (
        "UPDATE evaluations_stepreply SET attempt_id = (SELECT MAX(id) FROM evaluations_attempt)"
    ),
    "responses_of_calls": "UPDATE evaluations_attempt SET status = 'error'",
    "budgets": "UPDATE evaluations_run SET budget = -1000",
    "revisions_of_responses": (
        "UPDATE evaluations_response SET revision_id = (SELECT MAX(id) FROM"
        " questions_questionrevision) WHERE id = (SELECT MIN(id) FROM evaluations_response)"
    ),
    "scores_that_count": (
        "UPDATE evaluations_response SET published_score_id = strict_score_id"
        " WHERE strict_score_id IS NOT NULL"
    ),
    "versions_of_marks": "UPDATE evaluations_mark SET version = version + 1 WHERE version = 2",
    "slots_marked": "UPDATE evaluations_slot SET marked = FALSE WHERE marked AND kind = 'second'",
    "marks_of_holders": (
        "UPDATE evaluations_mark SET teacher_id = (SELECT id FROM accounts_user"
        " WHERE username = 'stranger') WHERE id = (SELECT MIN(mark_id) FROM"
        " evaluations_finalmarksource)"
    ),
    "one_role_each": "UPDATE evaluations_mark SET teacher_id = (SELECT MIN(id) FROM accounts_user)",
    "points_of_marks": "UPDATE evaluations_pointmark SET points = 0",
    "responses_finalized": (
        "UPDATE evaluations_blindanswer SET final_id = NULL",
        "UPDATE evaluations_mark SET created_at = '2026-01-01 00:00:00+00:00'",
    ),
    "final_marks_point_back": (
        "UPDATE evaluations_blindanswer SET final_id = (SELECT MIN(id) FROM evaluations_finalmark)"
    ),
    "final_marks_have_sources": "DELETE FROM evaluations_finalmarksource WHERE place = 2",
    "final_marks_are_computed": "UPDATE evaluations_finalmark SET value = value + 0.25",
    "final_marks_within_tolerance": "UPDATE evaluations_blindanswer SET tolerance = 0.1",
    "saves_are_stored": (
        "DELETE FROM evaluations_finalmarksource",
        "DELETE FROM evaluations_pointmark",
        "DELETE FROM evaluations_mark",
    ),
}


def checked() -> tuple[int, dict[str, int], str]:
    """The exit status, the violations of each broken invariant, and the lines for people."""
    status, out, errors = 0, StringIO(), StringIO()
    for form in ("json", "text"):
        try:
            call_command("check_invariants", format=form, stdout=out, stderr=errors)
        except SystemExit as end:
            status = int(end.code or 0)
    first, lines = out.getvalue().split("\n", 1)
    result = json.loads(first)
    assert result["checked"] == len(INVARIANTS) == len(lines.splitlines())
    assert bool(errors.getvalue()) == bool(result["broken"]) == bool(status)
    return status, {one["invariant"]: one["violations"] for one in result["broken"]}, lines


@pytest.fixture
def world(teacher: User, other_teacher: User, third_teacher: User) -> MarkingRound:
    """A round with final marks, a returned, a revised and a stale mark, and a run with a call."""
    User.objects.create(username="stranger")
    people = [teacher, other_teacher]
    made = small_round(people, 4, scheme=Scheme.TWO_AND_LEAD)
    one, two, three, four = answers_of(made)
    for person in people:
        give(one, person, ("1", "2", "3"))
    give(two, teacher, ("1", "2", "3"))
    give(two, other_teacher, ("1", "2", "3.5"))
    marked_again(three, give(three, teacher, ("1", "1", "1")).teacher, ("0", "1", "1"))
    give(four, other_teacher, ("3", "3", "6"))
    small_round([third_teacher], 1, scheme=Scheme.SINGLE, window_minutes=30)
    _run_with_a_call(Response.objects.order_by("pk")[0])
    return made


def _run_with_a_call(response: Response) -> None:
    run = response.run
    endpoint = make_endpoint()
    Run.objects.filter(pk=run.pk).update(endpoint=endpoint, status="finished", budget=Decimal(1))
    job = attempt = None
    for step in (1, 2):
        job = Job.objects.create(
            run=run, question=response.question, revision=response.revision, fence=1,
            status=JobStatus.DONE, step=step, waits_for=job,
        )  # fmt: skip
        attempt = Attempt.objects.create(
            job=job, number=1, fence=1, status=AttemptStatus.ANSWERED, request_hash="0" * 64,
            sent_at=timezone.now(), cost=Decimal("0.01"), reserved=Decimal("0.02"),
        )  # fmt: skip
        if step == 1:
            StepReply.objects.create(job=job, attempt=attempt, text="first")
    read = {"response": response, "policy": "strict", "outcome": "read", "reader_version": "1"}
    score = ObjectiveScore.objects.create(
        extraction=Extraction.objects.create(**read, method="none", confidence=1),
        **(read | {"outcome": "wrong"}), points=0, full=1, scorer_version="1",
    )  # fmt: skip
    Response.objects.filter(pk=response.pk).update(attempt=attempt, strict_score=score)


def test_each_invariant_that_is_broken_is_named(world: MarkingRound) -> None:
    assert checked()[:2] == (0, {})
    assert set(BREAKING) == {one.name for one in INVARIANTS}
    for name, statements in BREAKING.items():
        before = transaction.savepoint()
        with connection.cursor() as cursor:
            for statement in [statements] if isinstance(statements, str) else statements:
                cursor.execute(statement)
                assert cursor.rowcount > 0, statement
        status, broken, lines = checked()
        assert status == 1
        assert broken.get(name, 0) > 0, (name, broken)
        assert f"{name}: {broken[name]} (not: " in lines
        transaction.savepoint_rollback(before)
    assert checked()[0] == 0


def test_a_revision_is_no_gap_and_reading_changes_nothing(
    world: MarkingRound, teacher: User
) -> None:
    answer = answers_of(world)[3]
    give(answer, teacher, ("3", "3", "5"), now=later(9))
    with connection.execute_wrapper(_only_reads):
        assert checked()[0] == 0


def _only_reads(execute, sql, params, many, context):  # type: ignore[no-untyped-def]
    assert sql.startswith(("SELECT", "SET statement_timeout")), sql
    return execute(sql, params, many, context)
