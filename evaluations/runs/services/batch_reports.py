"""What was read of a file of replies, and what people learn from the files of batches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from evaluations.facts.looks import in_batches, record_calls
from evaluations.models import Job, Run
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.storable import storable

MOST_PROBLEMS = 100


@dataclass
class BatchReport:
    """What was read of a file of replies.

    ``same`` counts replies that were stored before, ``ended`` those to requests that had ended
    without one, ``unknown`` those to requests that the run did not make. ``problems`` are
    sentences with the line they are about. ``calls`` are the keys of the attempts that the file has
    replies to; ``completed`` counts what the endpoint answered, readable or not, stored now or
    before.
    """

    answered: int = 0
    failed: int = 0
    same: int = 0
    ended: int = 0
    unknown: int = 0
    completed: int = 0
    problems: list[str] = field(default_factory=list)
    calls: set[int] = field(default_factory=set)

    def problem(self, text: str) -> None:
        """Add a sentence, up to ``MOST_PROBLEMS``; it may repeat what the file says."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(storable(text))

    def name_unknown(self, ids: Iterable[str]) -> None:
        """Count and name replies to what the run did not ask."""
        for one in ids:
            self.unknown += 1
            self.problem(_("“%(id)s” is no request of this run.") % {"id": one})

    def name_ended(self, ids: Iterable[str]) -> None:
        """Count and name replies to requests that had ended without one."""
        for one in ids:
            self.ended += 1
            words = _("“%(id)s” has ended without a reply: this one is not stored.")
            self.problem(words % {"id": one})

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON, without the calls and what is counted for the batch alone."""
        left_out = ("calls", "completed")
        return {name: value for name, value in vars(self).items() if name not in left_out}


def record_read(run: Run, report: BatchReport, acting_user: User | None) -> None:
    """Record in the audit trail that replies were read.

    Whoever brought them knows what they say of the responses that were asked for or judged.
    """
    counts = {name: n for name, n in report.as_dict().items() if name != "problems"}
    record(Tag.BATCH_READ, run, actor=acting_user, **counts)
    if acting_user is not None:
        for some in in_batches(sorted(report.calls)):
            jobs = Job.objects.filter(attempts__in=some)
            record_calls(jobs, acting_user=acting_user, page="batch")
