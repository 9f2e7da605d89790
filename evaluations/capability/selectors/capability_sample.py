"""What a review would hold: wrong answers of runs, drawn task by task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from evaluations.facts.params import ReportParams
from evaluations.marking.rules.drawing import sample_per_group
from evaluations.models import BlindAnswer, Response, Run
from evaluations.models.vocabulary import RoundStatus, RunPurpose
from evaluations.reports.selectors.scored_answers import scored_answers
from evaluations.statistics.outcomes import UNREAD, LedgerOutcome
from evaluations.statistics.rows import ScoredAnswer


@dataclass(frozen=True, slots=True)
class TaskSample:
    """One task: how many answers are wrong, in how many of them none was found, what is drawn.

    ``drawn`` are keys of responses in the order of the questions.
    """

    task: str
    wrong: int
    unread: int
    drawn: tuple[int, ...]
    drawn_unread: int


@dataclass(frozen=True, slots=True)
class Sample:
    """The wrong answers of a review by task, and how many answers had to be left out and why."""

    tasks: tuple[TaskSample, ...] = ()
    under_review: int = 0
    unscored: int = 0
    being_marked: int = 0
    responses: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        drawn = tuple(key for task in self.tasks for key in task.drawn)
        object.__setattr__(self, "responses", drawn)


def reviewable_runs() -> QuerySet[Run]:
    """Runs that answered something, newest first."""
    runs = Run.objects.filter(purpose=RunPurpose.ANSWER, responses__isnull=False)
    return runs.select_related("language_model", "dataset").distinct().order_by("-id")


def sample(runs: Sequence[Run], policy: str, per_task: int, random_seed: int) -> Sample:
    """At most *per_task* wrong answers of each task, over all of *runs* together.

    The runs are of one dataset. Wrong is an answer with fewer than full points by
    its newest score under *policy*, or by the final mark of the teachers; where
    none was found in a response it is wrong too. Answers to items that reports
    leave out, answers without points, and responses that teachers mark at present
    (to them it must not be told that they are wrong) are left out and counted.
    """
    if not runs:
        return Sample()
    own = set(Response.objects.filter(run__in=runs).values_list("pk", flat=True))
    params = ReportParams(
        dataset=runs[0].dataset.slug,
        models=tuple({run.language_model.name for run in runs}),
        policy=policy,
    )
    rows = [row for row in scored_answers(params) if row.response in own]
    marked_now = _being_marked(own)
    fewer = [row for row in rows if row.points is not None and row.points < row.full]
    wrong = [row for row in fewer if row.response not in marked_now]
    under_review = sum(row.outcome == LedgerOutcome.EXCLUDED for row in rows)
    return Sample(
        tasks=tuple(_tasks(wrong, per_task, random_seed)),
        under_review=under_review,
        unscored=sum(row.points is None for row in rows) - under_review,
        being_marked=len(fewer) - len(wrong),
    )


def _being_marked(responses: set[int]) -> set[int]:
    """Those of *responses* that stand in a marking round which is not closed."""
    standing = BlindAnswer.objects.exclude(round__status=RoundStatus.CLOSED)
    return responses & set(standing.values_list("response", flat=True))


def _tasks(wrong: Sequence[ScoredAnswer], per_task: int, random_seed: int) -> Iterable[TaskSample]:
    unread = {row.response for row in wrong if row.outcome in UNREAD}
    items = sorted((row.response, row.task) for row in wrong)
    drawn = sample_per_group(items, per_task, random_seed)
    by_question = sorted(wrong, key=lambda row: (row.question, row.response))
    counts = Counter(row.task for row in wrong)
    for task in sorted(counts):
        of_task = [row.response for row in by_question if row.task == task]
        taken = tuple(key for key in of_task if key in drawn)
        yield TaskSample(
            task=task,
            wrong=counts[task],
            unread=sum(key in unread for key in of_task),
            drawn=taken,
            drawn_unread=sum(key in unread for key in taken),
        )
