"""What must hold in the stored data at any time, each as a query for the rows that break it.

The queries read only, and each sees one state of the database, so that they can run while
people mark and workers send calls. They are set queries: none asks once per row.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection

from evaluations.migrations._run_counts import COUNTED

# So many of the rows that break an invariant are named.
MOST_NAMED = 5
# A call or a lease that ended longer ago than this was forgotten, not just not looked at yet.
FORGOTTEN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Invariant:
    """*says* holds; *query* selects the ``id`` of each row of *rows* for which it does not."""

    name: str
    says: str
    rows: str
    query: str


@dataclass(frozen=True, slots=True)
class Held:
    """How many rows break an invariant, and the keys of the first of them."""

    invariant: Invariant
    violations: int
    first: tuple[int, ...]


def check_invariants(now: datetime) -> list[Held]:
    """Ask for every invariant, in the order of the list."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET statement_timeout = 0")  # a query may read every mark
        forgotten = now - FORGOTTEN
        given = {
            "forgotten": forgotten
            if connection.vendor == "postgresql"
            else str(forgotten.astimezone(UTC).replace(tzinfo=None)),
            "in_flight": settings.RUN_MAX_IN_FLIGHT,
        }
        held = []
        for one in INVARIANTS:
            cursor.execute(
                f"SELECT id, COUNT(*) OVER () FROM ({one.query}) AS broken ORDER BY id"
                f" LIMIT {MOST_NAMED}",
                given,
            )
            rows = cursor.fetchall()
            first = tuple(key for key, _count in rows)
            held.append(Held(one, rows[0][1] if rows else 0, first))
    return held


# The newest version of each slot's mark, stale ones left out.
_NEWEST = """(SELECT slot_id, MAX(version) AS version, COUNT(*) AS versions
    FROM evaluations_mark WHERE NOT stale GROUP BY slot_id)"""
# Final marks that count, with their sources: how many, their mean, and how many of them count
# and stand in a slot of the response that the rule takes.
_SOURCES = f"""(SELECT final.id, final.answer_id, final.value, final.rule,
        COUNT(source.id) AS sources, AVG(mark.total) AS mean,
        MAX(mark.total) - MIN(mark.total) AS apart,
        SUM(CASE WHEN slot.answer_id = final.answer_id AND NOT mark.stale
            AND mark.version = newest.version AND mark.version > slot.void_version
            AND (slot.kind = 'arbitration') = (final.rule = 'arbitration')
            THEN 1 ELSE 0 END) AS fitting
    FROM evaluations_blindanswer AS answer
    JOIN evaluations_finalmark AS final ON final.id = answer.final_id
    LEFT JOIN evaluations_finalmarksource AS source ON source.final_id = final.id
    LEFT JOIN evaluations_mark AS mark ON mark.id = source.mark_id
    LEFT JOIN evaluations_slot AS slot ON slot.id = mark.slot_id
    LEFT JOIN {_NEWEST} AS newest ON newest.slot_id = slot.id
    GROUP BY final.id, final.answer_id, final.value, final.rule)"""

_SUMS = (
    *("pending", "waiting", "leased", "done", "failed", "refused", "answered", "unknown"),
    *("spent_units", "open_units", "responses"),
)
# What is counted, less what the counts say; 0 where they agree.
_COUNTS = f"""(SELECT run_id, task_id, {", ".join(_SUMS)} FROM ({COUNTED}) AS counted
    UNION ALL SELECT counts.run_id, counts.task_id,
        {", ".join(f"-counts.{name}" for name in _SUMS)}
    FROM evaluations_runcount AS counts JOIN evaluations_run AS run ON run.id = counts.run_id)"""

INVARIANTS = (
    Invariant(
        "counts_of_runs",
        "the counts of a run are those of its jobs, calls and responses",
        "run",
        f"""SELECT DISTINCT run_id AS id FROM (SELECT run_id FROM {_COUNTS} AS compared
        GROUP BY run_id, task_id
        HAVING {" OR ".join(f"SUM({name}) <> 0" for name in _SUMS)}) AS different""",
    ),
    Invariant(
        "finished_runs",
        "a finished run has no job left to do",
        "job",
        """SELECT job.id FROM evaluations_job AS job
        JOIN evaluations_run AS run ON run.id = job.run_id
        WHERE run.status = 'finished' AND job.status IN ('pending', 'waiting', 'leased')""",
    ),
    Invariant(
        "leases_of_jobs",
        "a job in flight of a running run has a lease that has not ended an hour ago",
        "job",
        """SELECT job.id FROM evaluations_job AS job
        JOIN evaluations_run AS run ON run.id = job.run_id
        WHERE job.status = 'leased' AND run.status = 'running'
        AND (job.lease_until IS NULL OR job.lease_until < %(forgotten)s)""",
    ),
    Invariant(
        "calls_ended",
        "a call that was sent more than an hour ago is awaited by its job, or has an outcome",
        "attempt",
        """SELECT attempt.id FROM evaluations_attempt AS attempt
        JOIN evaluations_job AS job ON job.id = attempt.job_id
        WHERE attempt.status = 'sent' AND attempt.sent_at < %(forgotten)s
        AND (job.status <> 'leased' OR attempt.fence < job.fence)""",
    ),
    Invariant(
        "calls_numbered",
        "the calls of a job are numbered from 1 without a gap",
        "job",
        """SELECT job_id AS id FROM evaluations_attempt
        GROUP BY job_id HAVING COUNT(*) <> MAX(number)""",
    ),
    Invariant(
        "jobs_answered",
        "a job that is done in a run that answers has its response, or the reply to its step",
        "job",
        """SELECT job.id FROM evaluations_job AS job
        JOIN evaluations_run AS run ON run.id = job.run_id
        LEFT JOIN evaluations_job AS later ON later.waits_for_id = job.id
        WHERE run.purpose = 'answer' AND job.status = 'done' AND later.id IS NULL AND NOT EXISTS (
            SELECT 1 FROM evaluations_response AS response WHERE response.run_id = job.run_id
            AND response.question_id = job.question_id AND response.repeat = job.repeat)
        OR later.id IS NOT NULL AND (job.status = 'done') <> EXISTS (
            SELECT 1 FROM evaluations_stepreply AS reply WHERE reply.job_id = job.id)""",
    ),
    Invariant(
        "steps_in_order",
        "a step waits for an open step, and is asked only after the reply to the step before",
        "job",
        """SELECT job.id FROM evaluations_job AS job
        JOIN evaluations_job AS before ON before.id = job.waits_for_id
        WHERE before.run_id <> job.run_id OR before.question_id <> job.question_id
        OR before.repeat <> job.repeat OR before.step <> job.step - 1
        OR (job.status = 'waiting') <> (before.status IN ('pending', 'waiting', 'leased'))
        OR (job.status IN ('pending', 'leased', 'done') AND before.status <> 'done')""",
    ),
    Invariant(
        "replies_of_steps",
        "the reply to a step came from a call for it",
        "step reply",
        """SELECT reply.id FROM evaluations_stepreply AS reply
        JOIN evaluations_attempt AS attempt ON attempt.id = reply.attempt_id
        WHERE attempt.job_id <> reply.job_id OR attempt.status <> 'answered'""",
    ),
    Invariant(
        "responses_of_calls",
        "a response came from the last call for its own run, question and repeat",
        "response",
        """SELECT response.id FROM evaluations_response AS response
        JOIN evaluations_attempt AS attempt ON attempt.id = response.attempt_id
        JOIN evaluations_job AS job ON job.id = attempt.job_id
        WHERE job.run_id <> response.run_id OR job.question_id <> response.question_id
        OR job.repeat <> response.repeat OR attempt.status <> 'answered'
        OR EXISTS (SELECT 1 FROM evaluations_job AS later WHERE later.waits_for_id = job.id)""",
    ),
    Invariant(
        "budgets",
        "what a run spent and reserved is within its budget, but for calls in flight",
        "run",
        """SELECT run.id FROM evaluations_run AS run
        JOIN evaluations_job AS job ON job.run_id = run.id
        JOIN evaluations_attempt AS attempt ON attempt.job_id = job.id
        WHERE run.budget IS NOT NULL GROUP BY run.id, run.budget
        HAVING SUM(CASE WHEN attempt.status IN ('sent', 'unknown') THEN attempt.reserved
            ELSE attempt.cost END)
        > run.budget + %(in_flight)s * MAX(CASE WHEN attempt.reserved > attempt.cost
            THEN attempt.reserved ELSE attempt.cost END)""",
    ),
    Invariant(
        "revisions_of_responses",
        "a response answers a revision of its own question",
        "response",
        """SELECT response.id FROM evaluations_response AS response
        JOIN questions_questionrevision AS revision ON revision.id = response.revision_id
        WHERE revision.question_id <> response.question_id""",
    ),
    Invariant(
        "scores_that_count",
        "the score that counts under a policy is one of the response under that policy",
        "response",
        """SELECT response.id FROM evaluations_response AS response
        LEFT JOIN evaluations_objectivescore AS strict ON strict.id = response.strict_score_id
        LEFT JOIN evaluations_objectivescore AS open ON open.id = response.published_score_id
        WHERE strict.response_id <> response.id OR strict.policy <> 'strict'
        OR open.response_id <> response.id OR open.policy <> 'published'""",
    ),
    Invariant(
        "versions_of_marks",
        "the versions of a mark are numbered from 1 without a gap",
        "slot",
        f"SELECT slot_id AS id FROM {_NEWEST} AS newest WHERE version <> versions",
    ),
    Invariant(
        "slots_marked",
        "a slot counts as marked exactly where a mark in it counts, a decision where it has one",
        "slot",
        f"""SELECT slot.id FROM evaluations_slot AS slot
        LEFT JOIN {_NEWEST} AS newest ON newest.slot_id = slot.id
        WHERE slot.kind <> 'arbitration'
        AND slot.marked <> (COALESCE(newest.version, 0) > slot.void_version)
        OR slot.kind = 'arbitration' AND slot.marked AND newest.version IS NULL""",
    ),
    Invariant(
        "marks_of_holders",
        "the mark that counts is that of the teacher who holds the slot",
        "slot",
        f"""SELECT slot.id FROM evaluations_slot AS slot
        JOIN {_NEWEST} AS newest ON newest.slot_id = slot.id
        JOIN evaluations_mark AS mark
            ON mark.slot_id = slot.id AND mark.version = newest.version AND NOT mark.stale
        WHERE slot.marked AND mark.version > slot.void_version
        AND mark.teacher_id <> slot.holder_id""",
    ),
    Invariant(
        "one_role_each",
        "nobody gave two of the marks of a response",
        "blind answer",
        """SELECT DISTINCT answer_id AS id FROM (SELECT slot.answer_id
            FROM evaluations_mark AS mark JOIN evaluations_slot AS slot ON slot.id = mark.slot_id
            WHERE NOT mark.stale AND mark.version > slot.void_version
            GROUP BY slot.answer_id, mark.teacher_id
            HAVING COUNT(DISTINCT slot.id) > 1) AS twice""",
    ),
    Invariant(
        "points_of_marks",
        "where no group has a cap, the points of a mark add up to its total",
        "mark",
        """SELECT mark.id FROM evaluations_pointmark AS point
        JOIN evaluations_mark AS mark ON mark.id = point.mark_id
        WHERE NOT EXISTS (
            SELECT 1 FROM questions_rubricgroup AS capped WHERE capped.rubric_id = mark.rubric_id)
        GROUP BY mark.id, mark.total HAVING ABS(SUM(point.points) - mark.total) > 0.004""",
    ),
    Invariant(
        "responses_finalized",
        "a response of a live round whose marks are all given for an hour has a final mark",
        "blind answer",
        """SELECT answer.id FROM evaluations_blindanswer AS answer
        JOIN evaluations_markinground AS round ON round.id = answer.round_id
        WHERE round.status IN ('open', 'paused') AND answer.role = 'answer'
        AND answer.final_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM evaluations_slot AS slot
            LEFT JOIN evaluations_mark AS mark ON mark.slot_id = slot.id
            WHERE slot.answer_id = answer.id AND (NOT slot.marked
            OR slot.revisable_until >= %(forgotten)s OR mark.created_at >= %(forgotten)s))""",
    ),
    Invariant(
        "final_marks_point_back",
        "the final mark that counts for a response is its own, and the newest",
        "blind answer",
        """SELECT answer.id FROM evaluations_blindanswer AS answer
        JOIN evaluations_finalmark AS final ON final.id = answer.final_id
        WHERE final.answer_id <> answer.id OR answer.role = 'repeat' OR EXISTS (
            SELECT 1 FROM evaluations_finalmark AS later
            WHERE later.answer_id = answer.id AND later.number > final.number)""",
    ),
    Invariant(
        "final_marks_have_sources",
        "a final mark is made from as many marks as its rule takes, and these count",
        "final mark",
        f"""SELECT id FROM {_SOURCES} AS made WHERE sources <> CASE rule
            WHEN 'reference mark' THEN 0 WHEN 'third mark midway' THEN 3
            WHEN 'single mark' THEN 1 WHEN 'arbitration' THEN 1 ELSE 2 END
        OR (sources > 0 AND fitting <> sources)""",
    ),
    Invariant(
        "final_marks_are_computed",
        "a final mark is what its rule makes of its marks, or the reference mark",
        "final mark",
        f"""SELECT made.id FROM {_SOURCES} AS made
        LEFT JOIN evaluations_seedanswer AS seed ON seed.answer_id = made.answer_id
        WHERE ABS(made.value - made.mean) > 0.00006
        OR (made.rule = 'reference mark' AND ABS(made.value - seed.total) > 0.00006)""",
    ),
    Invariant(
        "final_marks_within_tolerance",
        "two marks whose mean counts differ by no more than the tolerance",
        "final mark",
        f"""SELECT made.id FROM {_SOURCES} AS made
        JOIN evaluations_blindanswer AS answer ON answer.id = made.answer_id
        JOIN evaluations_markinground AS round ON round.id = answer.round_id
        WHERE made.sources = 2 AND round.scheme <> 'mean' AND NOT round.published
        AND made.apart > answer.tolerance""",
    ),
    Invariant(
        "saves_are_stored",
        "a save that the audit trail has is stored as a mark",
        "audit entry",
        """SELECT entry.id FROM audit_auditentry AS entry
        WHERE entry.tag IN ('mark.saved', 'mark.revised', 'mark.stale')
        AND entry.target LIKE 'mark:%%' AND NOT EXISTS (
            SELECT 1 FROM evaluations_mark AS mark
            WHERE mark.id = CAST(SUBSTR(entry.target, 6) AS BIGINT))""",
    ),
)
