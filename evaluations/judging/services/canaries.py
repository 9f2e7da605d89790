"""Plan the canaries of a judge run."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from django.db.models import Max, Q

from evaluations.judging.rules.canaries import CanaryItem, make_canaries, spread
from evaluations.models import Canary, Job, Response, Run
from evaluations.statistics.outcomes import CanaryKind
from questions.models import Question
from questions.rules.vocabulary import Language, Part

# A job is unique by question and repeat; those of canaries begin above all repeats of answers.
FIRST_REPEAT = 1001
# So many questions are enough to draw from.
MOST_QUESTIONS = 400


def plan_canaries(run: Run, each: int) -> list[tuple[Canary, Job]]:
    """Return *each* canaries of every class but the duplicates for *run*, with their jobs.

    Nothing is stored. They are on the questions of the judged run, and on others of the dataset
    where these are few.
    """
    if each < 1:
        return []
    random = Random(run.random_seed ^ Canary.objects.filter(run=run).count())
    questions = _questions(run)
    items = [
        CanaryItem(
            question=one.pk,
            text=one.current.asked,
            key=one.current.reference_answer,
            full=one.current.full_marks,
            language=Language(one.current.language),
        )
        for one in questions.values()
        if one.current is not None
    ]
    made = make_canaries(items, each, random)
    repeat = _next_repeat(run)
    planned = []
    for place, one in enumerate(spread(made)):
        question = questions[one.question]
        assert question.current is not None  # it was asked for
        job = Job(run=run, question=question, revision=question.current, repeat=repeat + place)
        planned.append((Canary(run=run, kind=one.kind, text=one.text), job))
    return planned


def add_duplicates(
    run: Run, responses: Sequence[Response], *, after: int
) -> list[tuple[Canary, Job]]:
    """Return copies of some of *responses* as canaries, as many as *run* has of a class.

    Nothing is stored; *after* canaries are stored with them.
    """
    each = run.run_settings.get("canaries", 0)
    missing = each - Canary.objects.filter(run=run, kind=CanaryKind.DUPLICATE).count()
    if missing < 1 or not responses:
        return []
    repeat = _next_repeat(run) + after
    drawn = Random(run.random_seed).sample(list(responses), min(missing, len(responses)))
    return [
        (
            Canary(run=run, kind=CanaryKind.DUPLICATE, text=one.text, copy_of=one),
            Job(
                run=run,
                question_id=one.question_id,
                revision_id=one.revision_id,
                repeat=repeat + place,
            ),
        )
        for place, one in enumerate(drawn)
    ]


def _questions(run: Run) -> dict[int, Question]:
    """Return the subjective questions from which the canaries of *run* are made, by key."""
    subjective = Question.objects.filter(
        part=Part.SUBJECTIVE, current__isnull=False, task__dataset=run.dataset
    ).exclude(current__reference_answer="")
    judged = run.judged_run
    asked = Q(jobs__run=judged) | Q(responses__run=judged)
    own = subjective.filter(asked).distinct().order_by("pk").select_related("current")
    found = {one.pk: one for one in own[:MOST_QUESTIONS]}
    if len(found) < 10:
        others = subjective.select_related("current").order_by("pk")
        found |= {one.pk: one for one in others[:MOST_QUESTIONS]}
    return found


def _next_repeat(run: Run) -> int:
    """Return the first number of a repeat that no job of *run* has."""
    highest = Job.objects.filter(run=run).aggregate(highest=Max("repeat"))["highest"] or 0
    return max(FIRST_REPEAT, highest + 1)
