"""What a prompt set sends for one real question, word for word."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from evaluations.conditions import PromptSetting
from evaluations.runs.rules.prompting.compose import CannotCompose, Composed, token_count
from evaluations.runs.rules.prompting.prompt_sets import PromptSetContent
from evaluations.runs.selectors.prompt_items import composed
from questions.models import Question, QuestionRevision, Task
from questions.selectors.bank import image_addresses


@dataclass(frozen=True)
class PreviewStep:
    """The messages of one call, with their count of tokens."""

    number: int
    messages: list[dict[str, str]]
    tokens: int


@dataclass(frozen=True)
class Preview:
    """The calls of one question, or in ``reason`` why there are none."""

    question: Question | None = None
    revision: QuestionRevision | None = None
    prompt: Composed | None = None
    steps: tuple[PreviewStep, ...] = ()
    images: tuple[str, ...] = ()
    place: int = 1
    count: int = 0
    reason: str = ""


def first_task(prompts: PromptSetContent | None) -> Task | None:
    """Return the task that a preview begins with: one that *prompts* names, else any."""
    tasks = Task.objects.filter(questions__current__isnull=False).select_related("dataset")
    tasks = tasks.order_by("dataset__slug", "slug", "pk")
    for template in prompts.templates if prompts else ():
        named = tasks
        if template.match.datasets:
            named = named.filter(dataset__slug__in=template.match.datasets)
        if template.match.tasks:
            named = named.filter(slug__in=template.match.tasks)
        if template.match.datasets or template.match.tasks:
            found = named.first()
            if found is not None:
                return found
    return tasks.first()


def preview(
    prompts: PromptSetContent,
    task: Task | None,
    place: int,
    *,
    setting: PromptSetting,
    max_prompt_tokens: int,
    wording: int = 0,
    reply: str = "",
) -> Preview:
    """Return what is sent for the question at *place* of *task*, counted from 1.

    A later step follows *reply*. A place after the last question is the last one.
    """
    if task is None:
        return Preview(reason=_("There are no questions in the bank to show."))
    questions = Question.objects.filter(task=task, current__isnull=False)
    count = questions.count()
    place = max(1, min(place, count))
    question = (
        questions.select_related("task__dataset", "current")
        .order_by("position", "pk")[place - 1 : place]
        .first()
    )
    if question is None or question.current is None:
        return Preview(reason=_("There are no questions in the bank to show."))
    revision = question.current
    try:
        prompt = composed(
            prompts,
            question,
            revision,
            setting=setting,
            max_prompt_tokens=max_prompt_tokens,
            wording=wording,
        )
    except CannotCompose as error:
        return Preview(question, revision, place=place, count=count, reason=str(error))
    steps = tuple(
        PreviewStep(step, messages, sum(token_count(message["content"]) for message in messages))
        for step in range(1, prompt.steps + 1)
        for messages in [prompt.messages(step, [reply] * (step - 1))]
    )
    addresses = image_addresses(task.dataset, revision.images)
    images = tuple(addresses[name] for name in revision.images if name in addresses)
    return Preview(question, revision, prompt, steps, images, place, count)
