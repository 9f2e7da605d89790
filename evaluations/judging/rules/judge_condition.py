"""How a judge is asked: what is frozen when it first marks, with its fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluations.conditions import (
    ImagePolicy,
    RequestSettings,
    Sampling,
    fingerprint,
    read_sampling,
)
from gradeapp.common.named import Named

# A judge has a limit of its own: one that suits answers cuts off the reasons of a judge.
MAX_TOKENS = 1024
MOST_TOKENS = 32_768
GRADEAPP = "gradeapp"


class ReplyForm(Named):
    """The form in which a judge is asked to reply."""

    TAGGED = "tagged", "Tagged text", "带标签的文本"
    JSON = "json", "JSON", "JSON 格式"
    SCHEMA = "schema", "JSON, enforced by the endpoint", "JSON（由接口强制）"

    @property
    def is_json(self) -> bool:
        """Whether the reply is read as JSON with points for each scoring point."""
        return self is not ReplyForm.TAGGED


@dataclass(frozen=True)
class JudgeChoice:
    """What a person chooses of the condition of a judge; the endpoint gives the rest.

    ``criterion``, ``analysis`` and ``notes`` say whether the judge is shown the rubric, the
    analysis of the question and the marking notes of the round. None of ``images``: as the endpoint
    can. ``name`` is that of the judge in reports; empty for one made from what differs from the
    default.
    """

    prompts: str = GRADEAPP
    criterion: bool = True
    analysis: bool = True
    notes: bool = True
    images: ImagePolicy | None = None
    form: ReplyForm = ReplyForm.TAGGED
    temperature: float = 0.0
    max_tokens: int = MAX_TOKENS
    name: str = ""


@dataclass(frozen=True)
class JudgeCondition(RequestSettings):
    """All that can change the marks of a judge, apart from the responses.

    ``prompt_version`` is the name and number of its prompts, ``prompt_hash`` their SHA-256.
    """

    model: str = ""
    prompt_hash: str = ""
    criterion: bool = True
    analysis: bool = True
    notes: bool = True
    form: ReplyForm = ReplyForm.TAGGED

    def fingerprint(self) -> str:
        """Return the SHA-256 of the condition."""
        return fingerprint(self.as_dict())


def condition_of(
    choice: JudgeChoice, *, model: str, prompt_version: str, prompt_hash: str, images: ImagePolicy
) -> JudgeCondition:
    """Return the condition under which *model* judges as *choice* says."""
    extra = {"response_format": RESPONSE_FORMAT} if choice.form is ReplyForm.SCHEMA else {}
    return JudgeCondition(
        prompt_version=prompt_version,
        sampling=Sampling(choice.temperature, 1.0, choice.max_tokens, extra=extra),
        images=choice.images or images,
        model=model,
        prompt_hash=prompt_hash,
        criterion=choice.criterion,
        analysis=choice.analysis,
        notes=choice.notes,
        form=choice.form,
    )


def read_judge_condition(given: Mapping[str, Any]) -> JudgeCondition:
    """Return the ``JudgeCondition`` that was stored as *given*; other keys are ignored.

    Runs from before forms and images were stored have the default of each.
    """
    names = JudgeCondition.__dataclass_fields__
    known = {name: value for name, value in given.items() if name in names}
    return JudgeCondition(
        **{
            **known,
            "images": ImagePolicy(given.get("images", ImagePolicy.OMIT)),
            "form": ReplyForm(given.get("form", ReplyForm.TAGGED)),
            "sampling": read_sampling(given["sampling"]),
        }
    )


RESPONSE_FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "grading",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "points": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "integer"},
                            "quote": {"type": "string"},
                            "reason": {"type": "string"},
                            "awarded": {"type": "number"},
                        },
                        "required": ["id", "quote", "reason", "awarded"],
                        "additionalProperties": False,
                    },
                },
                "total": {"type": "number"},
            },
            "required": ["points", "total"],
            "additionalProperties": False,
        },
    },
}
