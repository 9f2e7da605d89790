"""Plan the jobs of a run."""

from __future__ import annotations

from collections.abc import Sequence

from evaluations.models import Job, Run
from questions.models import Question

BATCH = 1000


def plan_jobs(run: Run, questions: Sequence[Question]) -> int:
    """Create a job for each item and repeat, in the order of repeats; return their number."""
    jobs = (
        Job(run=run, question=question, revision_id=question.current_id, repeat=repeat)
        for repeat in range(1, run.repeats + 1)
        for question in questions
        if question.current_id is not None
    )
    return len(Job.objects.bulk_create(jobs, batch_size=BATCH))
