"""How many calls of a run are in which state, and what they cost: sums that pages read."""

from __future__ import annotations

from django.db import models

from evaluations.models.runs import Run
from questions.models import Task


class RunCount(models.Model):
    """Counts of the jobs, calls and responses of a run in one task: a part of the sums.

    Triggers of the database keep them, in the transaction that changes a job, an attempt or a
    response, so that no page counts rows (``evaluations/migrations/_run_counts.py``). Transactions
    at the same time write rows of different ``shard``, so that none waits for another: only the
    sum over the shards says anything, and the counts of one shard may be below 0.

    ``pending`` to ``refused`` count jobs by their state, canaries left out; ``refused`` are failed
    jobs whose images the endpoint does not take, which are not in ``failed``. ``answered`` and
    ``unknown`` count calls, canaries too. ``spent_units`` is what calls cost, ``open_units`` what
    is reserved for those without an answer, in units of 0.00000001. ``first_sent`` and
    ``last_finished`` are of answered calls.
    """

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="counts", db_constraint=False
    )
    task = models.ForeignKey(
        Task, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    shard = models.PositiveSmallIntegerField(default=0, db_default=0)
    pending = models.BigIntegerField(default=0, db_default=0)
    waiting = models.BigIntegerField(default=0, db_default=0)
    leased = models.BigIntegerField(default=0, db_default=0)
    done = models.BigIntegerField(default=0, db_default=0)
    failed = models.BigIntegerField(default=0, db_default=0)
    refused = models.BigIntegerField(default=0, db_default=0)
    answered = models.BigIntegerField(default=0, db_default=0)
    unknown = models.BigIntegerField(default=0, db_default=0)
    spent_units = models.BigIntegerField(default=0, db_default=0)
    open_units = models.BigIntegerField(default=0, db_default=0)
    responses = models.BigIntegerField(default=0, db_default=0)
    first_sent = models.DateTimeField(null=True)
    last_finished = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "task", "shard"], name="one_count_per_run_task_and_shard"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run} {self.task}"
