"""What a prompt is made from: one question, and worked examples of its task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from questions.rules.vocabulary import Language, QuestionType


@dataclass(frozen=True)
class PromptExample:
    """A worked example, shown before the question in the few-shot settings.

    ``options`` holds the texts in the order of ``letters``, ``answer`` the answer as it is
    written. ``original`` is as in ``PromptItem``.
    """

    stem: str
    passage: str = ""
    options: tuple[str, ...] = ()
    letters: str = ""
    answer: str = ""
    explanation: str = ""
    original: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PromptItem:
    """One question as prompts see it; all texts are those of the source, byte for byte.

    ``index`` is the place of the question in its file, from 0. ``parts`` is the number of
    sub-answers. ``original`` holds texts of the source that cannot be made from the other fields:
    under ``options`` the options as one text, with their letters and the blanks of the source.
    ``images`` are the names of the images that the texts refer to.
    """

    dataset: str
    task: str
    external_id: str
    index: int
    question_type: QuestionType
    language: Language
    stem: str
    subject_name: str = ""
    passage: str = ""
    options: tuple[str, ...] = ()
    letters: str = ""
    parts: int = 1
    original: Mapping[str, str] = field(default_factory=dict)
    images: tuple[str, ...] = ()
