"""Count the jobs, calls and responses of all runs anew, after a change that no trigger saw.

The triggers of ``evaluations/migrations/_run_counts.py`` keep the counts; they are gone while a
copy of a database is loaded without them, or where a migration made a table anew.
"""

from __future__ import annotations

from django.db import connection, transaction

from evaluations.migrations._run_counts import FILL
from evaluations.models import RunCount

# No job or call may change while they are counted; reading goes on.
LOCK = "LOCK TABLE evaluations_job, evaluations_attempt, evaluations_response IN SHARE MODE"


@transaction.atomic
def rebuild_counts() -> int:
    """Replace the counts of all runs by what is stored; return the number of rows.

    Workers wait until it is done: some seconds for a million calls.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(LOCK)
        cursor.execute("DELETE FROM evaluations_runcount")
        cursor.execute(FILL)
    return RunCount.objects.count()
