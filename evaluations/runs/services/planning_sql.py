"""Plan the jobs of a repeat by copying those of another one: two statements instead of 3,000 rows.

``tests/evaluations/runs/test_runs_planning.py`` holds the rows equal to those that the ORM makes.
"""

from __future__ import annotations

from django.db import connection

from evaluations.models import Run

_COPY = """INSERT INTO evaluations_job (run_id, question_id, revision_id, repeat, step,
    waits_for_id, response_id, status, attempts_made, lease_owner, lease_until, fence,
    next_at, error)
SELECT planned.run_id, planned.question_id, planned.revision_id, %s, planned.step, {before},
    NULL, {status}, 0, '', NULL, 0, NULL, ''
FROM evaluations_job AS planned {join}
WHERE planned.run_id = %s AND planned.repeat = %s AND planned.step = %s AND planned.id > %s
ORDER BY planned.id"""
FIRST_STEP = _COPY.format(before="NULL", status="'pending'", join="")
LATER_STEP = _COPY.format(
    before="earlier.id",
    status="'waiting'",
    join="""JOIN evaluations_job AS earlier ON earlier.run_id = planned.run_id
    AND earlier.question_id = planned.question_id AND earlier.repeat = %s
    AND earlier.step = planned.step - 1""",
)


def copy_repeat(run: Run, planned: int, repeat: int, after: int) -> int:
    """Plan *repeat* of *run* like the repeat *planned*, of its jobs with a key above *after*.

    A later step waits for the copy of the step before. Return the number of new jobs.
    """
    made = step = 0
    with connection.cursor() as cursor:
        while True:
            step += 1
            # In the order of the statements: a later step names the repeat also in its join.
            join = [] if step == 1 else [repeat]
            params = [repeat, *join, run.pk, planned, step, after]
            cursor.execute(FIRST_STEP if step == 1 else LATER_STEP, params)
            if not cursor.rowcount:
                return made
            made += cursor.rowcount
