"""How a run asks: the settings that are frozen when it starts, with their fingerprint.

Below every feature, like ``evaluations.schemes``: tables, features and pure rules share it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gradeapp.common.named import Named

# The limit of AGIEval's published program for a prompt with examples.
MOST_PROMPT_TOKENS = 2048
# The longer side of an image that is sent, in pixels.
LARGEST_SIDE = 2048
LEAST_SIDE, MOST_SIDE = 64, 8192


class PromptSetting(Named):
    """The four settings of AGIEval (section 4.1)."""

    ZERO_SHOT = "zero-shot", "Zero-shot", "零样本"
    ZERO_SHOT_COT = "zero-shot-cot", "Zero-shot, chain of thought", "零样本思维链"
    FEW_SHOT = "few-shot", "Few-shot", "少样本"
    FEW_SHOT_COT = "few-shot-cot", "Few-shot, chain of thought", "少样本思维链"

    @property
    def few_shot(self) -> bool:
        """Whether worked examples come before the question."""
        return self in (PromptSetting.FEW_SHOT, PromptSetting.FEW_SHOT_COT)


class ConditionOrigin(Named):
    """Whether our own runs asked under a condition, or its answers were imported."""

    ASKED = "asked", "Asked here", "本系统作答"
    IMPORTED = "imported", "Imported", "导入"


class PromptSource(Named):
    """Where a version of a prompt set comes from; only people edit."""

    SHIPPED = "shipped", "With the project", "随系统提供"
    IMPORTED = "imported", "Imported", "导入"
    EDITED = "edited", "Edited here", "在此编辑"


class ImagePolicy(Named):
    """What a run does with questions that have images."""

    SEND = "send", "Send images", "发送图片"
    OMIT = "omit", "Omit images and say so", "不发送图片并说明"
    WITHOUT = "without", "Only questions without images", "只选无图题"


class OptionOrder(Named):
    """In which order the options of a question are shown to a model, by its repeat."""

    PRINTED = "printed", "As printed", "原顺序"
    ROTATED = "rotated", "Rotated", "轮换"
    SHUFFLED = "shuffled", "Shuffled", "打乱"


@dataclass(frozen=True)
class Sampling:
    """The parameters of every request beside the messages.

    ``temperature`` (0 to 2) and ``top_p`` (above 0, to 1) are always sent, so the provider's
    defaults never apply; ``max_tokens`` limits the reply. ``stop``, ``seed``, ``reasoning_effort``
    and ``extra`` are sent if they are given. Raises ValueError for values out of range.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 2048
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 2 or not 0 < self.top_p <= 1:
            raise ValueError("temperature goes from 0 to 2, top_p from above 0 to 1")
        if self.max_tokens < 1:
            raise ValueError("max_tokens is a whole number above 0")
        object.__setattr__(self, "stop", tuple(self.stop))

    def request_params(self) -> dict[str, Any]:
        """Return the parameters of every request."""
        given = {
            "stop": list(self.stop),
            "seed": self.seed,
            "reasoning_effort": self.reasoning_effort,
        }
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            **{name: value for name, value in given.items() if value not in ("", None, [])},
            **self.extra,
        }


@dataclass(frozen=True)
class Asking:
    """What a person chooses of a condition; the endpoint and the prompt set give the rest.

    Without *sampling* the temperature is 0 and the reply as long as the endpoint allows.
    """

    setting: PromptSetting = PromptSetting.ZERO_SHOT
    prompt_set: str = "gradeapp"
    sampling: Sampling | None = None
    max_prompt_tokens: int = MOST_PROMPT_TOKENS
    images: ImagePolicy = ImagePolicy.OMIT
    largest_side: int = LARGEST_SIDE
    option_order: OptionOrder = OptionOrder.PRINTED
    random_seed: int = 0

    def settings(
        self, *, model: str, max_tokens: int, prompt_hash: str, answer_format: str
    ) -> ConditionSettings:
        """Return the settings with which *model* is asked; ``max_tokens`` is the endpoint's."""
        return ConditionSettings(
            model=model,
            prompt_set=self.prompt_set,
            prompt_hash=prompt_hash,
            answer_format=answer_format,
            setting=self.setting,
            sampling=self.sampling or Sampling(max_tokens=max_tokens),
            max_prompt_tokens=self.max_prompt_tokens,
            images=self.images,
            largest_side=self.largest_side,
            option_order=self.option_order,
            random_seed=self.random_seed,
        )


@dataclass(frozen=True)
class RequestSettings:
    """The settings of a run that judges, reads or suggests: its prompt, sampling and images."""

    prompt_version: str
    sampling: Sampling = field(default_factory=Sampling)
    images: ImagePolicy = ImagePolicy.OMIT
    largest_side: int = LARGEST_SIDE

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return as_json(self)


@dataclass(frozen=True)
class ConditionSettings:
    """All that can change the answers of a model, apart from the questions.

    ``model`` is the name that the endpoint is asked for. ``prompt_set`` and ``prompt_hash`` name
    the prompts and their content, ``answer_format`` the form of the answer that they ask for.
    ``max_prompt_tokens`` bounds a prompt with examples. ``option_order`` and ``random_seed`` say
    in which order the options are shown in each repeat, and ``largest_side`` to how many pixels
    an image is scaled down.
    """

    model: str
    prompt_set: str
    prompt_hash: str
    answer_format: str
    setting: PromptSetting = PromptSetting.ZERO_SHOT
    sampling: Sampling = field(default_factory=Sampling)
    max_prompt_tokens: int = MOST_PROMPT_TOKENS
    images: ImagePolicy = ImagePolicy.OMIT
    largest_side: int = LARGEST_SIDE
    option_order: OptionOrder = OptionOrder.PRINTED
    random_seed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return as_json(self)

    def fingerprint(self, model_in_reports: str) -> str:
        """Return the SHA-256 of the settings and the model's name in reports."""
        return fingerprint({**self.as_dict(), "model_in_reports": model_in_reports})


def as_json(settings: RequestSettings | ConditionSettings) -> dict[str, Any]:
    """Return *settings* as a dict of JSON's own types."""
    given: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return given


def read_sampling(given: Mapping[str, Any]) -> Sampling:
    """Return the ``Sampling`` that was stored as *given*."""
    return Sampling(**given)


def read_condition(given: Mapping[str, Any]) -> ConditionSettings:
    """Return the ``ConditionSettings`` that were stored as *given*."""
    return ConditionSettings(
        **{
            **given,
            "setting": PromptSetting(given["setting"]),
            "images": ImagePolicy(given["images"]),
            "option_order": OptionOrder(given["option_order"]),
            "sampling": read_sampling(given["sampling"]),
        }
    )


def fingerprint(settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of *settings*; equal settings have equal fingerprints."""
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
