"""How the questions of a run were asked: with or without images, with how many worked examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from evaluations.conditions import PromptSetting
from evaluations.models import Attempt, Response, Run
from evaluations.models.vocabulary import AttemptStatus
from evaluations.runs.selectors.prompt_items import prompts_of
from questions.models import FewShotExample


@dataclass(frozen=True)
class ImagesAsked:
    """Questions of a run: asked with all their images, and asked blind (without some of them)."""

    seen: int
    blind: int


@dataclass(frozen=True)
class ExamplesUsed:
    """The fewest and the most worked examples in the prompts of a run.

    ``fewer`` of ``prompts`` have fewer than their task has, because of the limit of tokens.
    """

    least: int
    most: int
    fewer: int
    prompts: int


def images_asked(run: Run) -> ImagesAsked:
    """Return how many questions of *run* were asked with their images, and how many blind."""
    counts = Response.objects.filter(run=run).aggregate(
        seen=Count("question", filter=Q(images_sent__gt=0, images_omitted=0), distinct=True),
        blind=Count("question", filter=Q(images_omitted__gt=0), distinct=True),
    )
    return ImagesAsked(**counts)


def examples_used(run: Run) -> ExamplesUsed | None:
    """Return how many worked examples the answered prompts of *run* had.

    None where no prompt has any: in another setting, and before the first reply. The later steps
    of an answer contain the same examples and are not counted again.
    """
    condition = run.condition
    if condition is None or not condition.setting or condition.prompts is None:
        return None
    if not PromptSetting(condition.setting).few_shot:
        return None
    answered = Attempt.objects.filter(
        job__run=run,
        job__step=1,
        status=AttemptStatus.ANSWERED,
        examples_used__isnull=False,
    )
    task = ("job__question__task_id", "job__question__task__slug")
    rows = list(answered.order_by().values_list(*task, "examples_used").annotate(n=Count("pk")))
    if not rows:
        return None
    own = prompts_of(condition.prompts).examples
    there = _examples_of({pk for pk, *_rest in rows})
    numbers = [used for *_task, used, _n in rows]
    return ExamplesUsed(
        least=min(numbers),
        most=max(numbers),
        fewer=sum(n for pk, slug, used, n in rows if used < (len(own.get(slug, ())) or there[pk])),
        prompts=sum(n for *_rest, n in rows),
    )


def _examples_of(tasks: set[int]) -> Mapping[int, int]:
    """Return how many worked examples the bank has for each of *tasks*."""
    found = FewShotExample.objects.filter(task__in=tasks).order_by()
    counts = dict(found.values_list("task").annotate(n=Count("pk")))
    return {task: counts.get(task, 0) for task in tasks}
