"""Paste lists: how far each is, and one question of it as it is to be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from evaluations.conditions import LARGEST_SIDE, PromptSetting
from evaluations.models import PasteList, Response
from evaluations.runs.rules.prompting.images import image_names
from evaluations.runs.selectors.prompt_items import composed, prompts_of
from evaluations.runs.services.images import pictured
from gradeapp.common.refusals import NotFound
from questions.models import Question


@dataclass(frozen=True)
class PasteProgress:
    """How many of the questions of a list are answered."""

    paste_list: PasteList
    done: int
    total: int


@dataclass(frozen=True)
class Asked:
    """The text to copy, and the names of the images to attach in their order.

    ``images_omitted`` images are said to be missing in the text.
    """

    text: str
    images: Sequence[str]
    images_omitted: int


def paste_lists() -> QuerySet[PasteList]:
    """Return the lists with what pages show of them, the newest first."""
    return PasteList.objects.select_related(
        "run__language_model", "run__condition", "run__dataset", "prompts__prompt_set", "created_by"
    ).order_by("-id")


def progress_of(lists: Sequence[PasteList]) -> list[PasteProgress]:
    """Return how far each of *lists* is, in order; one query a list."""
    return [PasteProgress(one, len(answered(one)), len(one.questions)) for one in lists]


def get_paste_list(public_id: UUID) -> PasteList:
    """Return one list. Raises NotFound."""
    found = paste_lists().filter(public_id=public_id).first()
    if found is None:
        raise NotFound(_("There is no such list of questions."))
    return found


def answered(paste_list: PasteList) -> set[int]:
    """Return the keys of the questions of the list that have an answer."""
    found = Response.objects.filter(run=paste_list.run_id, repeat=paste_list.repeat)
    return set(found.values_list("question_id", flat=True)) & set(paste_list.questions)


def next_number(paste_list: PasteList, after: int = 0) -> int | None:
    """Return the number (from 1) of the next question without an answer after number *after*.

    After the last one it goes on with the first; None if all are answered.
    """
    done = answered(paste_list)
    numbered = list(enumerate(paste_list.questions, 1))
    for number, question in [*numbered[after:], *numbered[:after]]:
        if question not in done:
            return number
    return None


def asked(paste_list: PasteList, question: Question) -> Asked:
    """Return what the website is to be asked: all messages of the prompt as one text.

    An image that is to be attached stands in the text as its number in brackets.
    """
    revision = question.current
    assert revision is not None
    assert paste_list.run.condition is not None
    setting = PromptSetting(paste_list.run.condition.setting or PromptSetting.ZERO_SHOT)
    prompt = composed(
        prompts_of(paste_list.prompts),
        question,
        revision,
        setting=setting,
        max_prompt_tokens=paste_list.max_prompt_tokens,
    )
    messages = prompt.messages(1, [])
    shown = pictured(
        messages,
        revision,
        question.task.dataset_id,
        settings={"images": paste_list.images, "largest_side": LARGEST_SIDE},
    )
    numbers = {image.url: number for number, image in enumerate(shown.sent, 1)}
    texts = [_text_of(message["content"], numbers) for message in shown.messages]
    named = image_names(*(message["content"] for message in messages))
    omitted = set(shown.omitted)
    names = [name for name in named if name in revision.images and name not in omitted]
    return Asked("\n\n".join(texts), names if shown.sent else [], len(omitted))


def _text_of(content: object, numbers: dict[str, int]) -> str:
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "".join(
        part["text"] if part["type"] == "text" else f"[{numbers[part['image_url']['url']]}]"
        for part in content
    )
