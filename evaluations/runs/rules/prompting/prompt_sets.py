"""The format of a prompt set, ``gradeapp-prompts/1``: reading, checking, writing and its hash.

A prompt set is a list of templates. A template says which questions it is for, and for each of the
four settings of AGIEval (section 4.2) what is sent: one or more steps, each a list of messages. The
format is documented in docs/prompt-sets.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from evaluations.conditions import PromptSetting
from evaluations.runs.rules.prompting.filling import fields_of, lone_brace
from gradeapp.common.named import Named
from questions.rules.json_schema import json_text
from questions.rules.vocabulary import Language, QuestionType

FORMAT = "gradeapp-prompts/1"
MAX_STEPS = 3
# How often fields may stand in all messages of a call together, and in those of an example.
MOST_FIELDS = 40
# The page of a set stands below /runs/prompts/, beside the page of a new one.
RESERVED = frozenset({"new"})
MAX_PROBLEMS = 50

QUESTION_FIELDS = frozenset(
    {
        *("passage", "stem", "question", "article", "options", "option_lines", "letters", "last"),
        *("parts", "subject", "answer_form", "n"),
    }
)
REPLY_FIELDS = frozenset({"step_one", "reply", "reply_answer"})
EXAMPLE_FIELDS = frozenset(
    {"passage", "stem", "question", "options", "option_lines", "letters", "last", "subject", "n"}
)
ANSWER_FIELDS = EXAMPLE_FIELDS | {"answer", "explanation"}


class AnswerFormat(Named):
    """The form in which a prompt asks for the answer; it decides which reader is used."""

    TAGS = "tags", "Between 【答案】 and <eoa>", "写在【答案】和<eoa>之间"
    GAOKAO_BENCH = "gaokao-bench", "As GAOKAO-Bench asks", "GAOKAO-Bench 的格式"
    AGIEVAL = "agieval", "As AGIEval asks", "AGIEval 的格式"
    AGIBENCH = "agibench", "As AGIBench asks", "AGIBench 的格式"
    LETTER = "letter", "A bare letter", "只写字母"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Text = Annotated[str, StringConstraints(max_length=20_000)]
LongText = Annotated[str, StringConstraints(max_length=100_000)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=120)]
SetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-:][a-z0-9]+)*$", max_length=60)]
TemplateName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")]
Names = Annotated[list[Title], Field(min_length=1, max_length=200)]


class Titles(_Part):
    """The name of a set on pages, in both languages."""

    en: Title
    zh: Title


class Message(_Part):
    """One message of a step; ``content`` is a template."""

    role: Literal["system", "user", "assistant"]
    content: Text


class ExampleTurns(_Part):
    """One example as two messages: the question from the user, the answer from the model."""

    question: Text
    answer: Text


class SettingTemplate(_Part):
    """What is sent in one setting; ``examples`` is needed in the two few-shot settings."""

    steps: Annotated[
        list[Annotated[list[Message], Field(min_length=1, max_length=20)]],
        Field(min_length=1, max_length=MAX_STEPS),
    ]
    examples: ExampleTurns | None = None


Settings = Annotated[dict[PromptSetting, SettingTemplate], Field(min_length=1)]


class Match(_Part):
    """Which questions a template is for: all named conditions must hold; none named, every one.

    ``several_parts`` asks for more than one sub-answer (true) or for just one (false).
    """

    datasets: Names | None = None
    tasks: Names | None = None
    question_types: Annotated[list[QuestionType], Field(min_length=1)] | None = None
    languages: Annotated[list[Language], Field(min_length=1)] | None = None
    several_parts: bool | None = None


class Wording(_Part):
    """Some settings of a template in other words, to see how far the words matter."""

    name: TemplateName
    settings: Settings


class Template(_Part):
    """What is sent for one kind of question; ``answer_format`` overrides that of the set."""

    name: TemplateName
    match: Match = Match()
    answer_format: AnswerFormat | None = None
    settings: Settings
    wordings: Annotated[list[Wording], Field(max_length=20)] = []

    def in_words(self, setting: PromptSetting) -> list[SettingTemplate]:
        """Return the wordings of *setting*, the template's own first; none without the setting."""
        if setting not in self.settings:
            return []
        others = (wording.settings.get(setting) for wording in self.wordings)
        return [self.settings[setting], *(other for other in others if other is not None)]


class Example(_Part):
    """A worked example that belongs to the set; ``options`` is one text, with the letters."""

    stem: LongText
    passage: LongText = ""
    options: LongText = ""
    answer: Text = ""
    explanation: LongText = ""


class PromptSetContent(_Part):
    """A whole prompt set: the content of one version.

    ``examples`` holds worked examples by task. A task that has none here is asked with the
    examples that its dataset publishes.
    """

    format: Literal["gradeapp-prompts/1"]
    name: SetName
    titles: Titles
    answer_format: AnswerFormat
    source: Annotated[str, StringConstraints(max_length=2000)] = ""
    templates: Annotated[list[Template], Field(min_length=1, max_length=200)]
    examples: dict[Title, Annotated[list[Example], Field(max_length=50)]] = {}

    def offers(self, setting: PromptSetting) -> bool:
        """Return whether a template has *setting*."""
        return any(setting in template.settings for template in self.templates)

    def wording_count(self, setting: PromptSetting) -> int:
        """Return how many wordings all templates with *setting* have; 0 if none has it."""
        if not any(template.wordings for template in self.templates):
            return int(self.offers(setting))
        counts = [len(template.in_words(setting)) for template in self.templates]
        return min((count for count in counts if count), default=0)


@dataclass(frozen=True)
class PromptSetProblem:
    """What is wrong in a prompt set: a stable code, the place, and one English sentence.

    Lists are counted from 1 in ``place``: ``templates.2.settings.few-shot.steps.1.1.content``.
    """

    code: str
    place: str
    text: str

    def as_dict(self) -> dict[str, str]:
        """Return the problem for JSON."""
        return {"code": self.code, "place": self.place, "text": self.text}


class BrokenPromptSet(ValueError):
    """A prompt set that cannot be used, with everything that is wrong in it."""

    def __init__(self, problems: list[PromptSetProblem]) -> None:
        super().__init__(" ".join(f"{problem.place}: {problem.text}" for problem in problems[:3]))
        self.problems = problems


def read_prompt_set(value: object) -> PromptSetContent:
    """Return the prompt set in *value*, parsed JSON. Raises BrokenPromptSet."""
    try:
        content = PromptSetContent.model_validate_json(json_text(value))
    except ValidationError as error:
        raise BrokenPromptSet([_problem(one) for one in error.errors()][:MAX_PROBLEMS]) from None
    problems = list(_problems(content))
    if problems:
        raise BrokenPromptSet(problems[:MAX_PROBLEMS])
    return content


def stored_prompt_set(value: object) -> PromptSetContent:
    """Return a stored version, which was checked by the rules of its time."""
    return PromptSetContent.model_validate_json(json_text(value))


def as_json(content: PromptSetContent) -> dict[str, Any]:
    """Return *content* as JSON, without what was left out; ``read_prompt_set`` gives it back."""
    dumped: dict[str, Any] = content.model_dump(mode="json", exclude_defaults=True)
    return dumped


def content_hash(content: PromptSetContent) -> str:
    """Return the SHA-256 of everything in the set, as 64 hexadecimal digits."""
    text = json.dumps(as_json(content), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_SENTENCES = {
    "missing": ("missing_key", "The key is missing."),
    "extra_forbidden": ("unknown_key", "The key is not part of the format."),
    "string_pattern_mismatch": (
        "bad_value",
        "A name has small letters, digits and single hyphens (the name of a set also colons).",
    ),
    "string_too_long": ("too_long", "The text has more than {max_length} characters."),
    "string_too_short": ("bad_value", "The text is empty."),
    "too_short": ("bad_value", "The list or object is empty."),
    "too_long": ("too_long", "There are more than {max_length} entries."),
    "enum": ("bad_value", "The value must be one of: {expected}."),
    "literal_error": ("bad_value", "The value must be one of: {expected}."),
    "string_type": ("wrong_type", "The value must be a text."),
    "bool_type": ("wrong_type", "The value must be true or false."),
    "list_type": ("wrong_type", "The value must be a list."),
    "dict_type": ("wrong_type", "The value must be an object."),
    "model_type": ("wrong_type", "The value must be an object."),
}


def _problem(error: Mapping[str, Any]) -> PromptSetProblem:
    code, sentence = _SENTENCES.get(error["type"], ("bad_value", "The value cannot be used."))
    context = {key: str(value).replace("'", "") for key, value in error.get("ctx", {}).items()}
    return PromptSetProblem(code, _place(error["loc"]), sentence.format(**context))


def _place(parts: tuple[str | int, ...]) -> str:
    names = [str(part + 1) if isinstance(part, int) else part[:60] for part in parts]
    return ".".join(name for name in names if name != "[key]") or "the whole file"


def _problems(content: PromptSetContent) -> Iterator[PromptSetProblem]:
    """What the types cannot say: names twice, unknown fields, replies that do not exist yet."""
    if content.name in RESERVED:
        text = f"The name {content.name} is that of a page; choose another one."
        yield PromptSetProblem("bad_value", "name", text)
    seen: set[str] = set()
    for number, template in enumerate(content.templates, start=1):
        place = f"templates.{number}"
        if template.name in seen:
            text = f"Another template is called {template.name}."
            yield PromptSetProblem("duplicate_name", f"{place}.name", text)
        seen.add(template.name)
        yield from _problems_of_settings(f"{place}.settings", template.settings)
        for count, wording in enumerate(template.wordings, start=1):
            where = f"{place}.wordings.{count}.settings"
            yield from _problems_of_settings(where, wording.settings)
            if not set(wording.settings) <= set(template.settings):
                text = "A wording has only settings that its template has."
                yield PromptSetProblem("other_settings", where, text)


def _problems_of_settings(
    place: str, settings: Mapping[PromptSetting, SettingTemplate]
) -> Iterator[PromptSetProblem]:
    for name, setting in settings.items():
        where = f"{place}.{name}"
        for step, messages in enumerate(setting.steps, start=1):
            yield from _problems_of_step(f"{where}.steps.{step}", step, messages)
        if setting.examples is None:
            if name.few_shot:
                text = "A few-shot setting must say how an example is written."
                yield PromptSetProblem("missing_key", f"{where}.examples", text)
            continue
        if not name.few_shot:
            text = "Only the few-shot settings show examples."
            yield PromptSetProblem("unknown_key", f"{where}.examples", text)
        turns = setting.examples
        texts = (turns.question, turns.answer)
        yield from _too_many_fields(f"{where}.examples", texts)
        yield from _problems_of_text(f"{where}.examples.question", turns.question, EXAMPLE_FIELDS)
        yield from _problems_of_text(f"{where}.examples.answer", turns.answer, ANSWER_FIELDS)


def _problems_of_step(place: str, step: int, messages: list[Message]) -> Iterator[PromptSetProblem]:
    known = QUESTION_FIELDS if step == 1 else QUESTION_FIELDS | REPLY_FIELDS
    for number, message in enumerate(messages, start=1):
        where = f"{place}.{number}.content"
        if not message.content.strip():
            yield PromptSetProblem("bad_value", where, "The text is empty.")
        yield from _problems_of_text(where, message.content, known)
    yield from _too_many_fields(place, (message.content for message in messages))
    if messages[-1].role != "user":
        text = "The last message of a step must be from the user: the model replies to it."
        yield PromptSetProblem("last_message", f"{place}.{len(messages)}.role", text)
    used = {name for message in messages for name in fields_of(message.content)}
    if step > 1 and not used & {"reply", "reply_answer"}:
        text = "A later step must use {reply} or {reply_answer}; else it needs no earlier step."
        yield PromptSetProblem("no_reply", place, text)


def _too_many_fields(place: str, texts: Iterable[str]) -> Iterator[PromptSetProblem]:
    """Each field is filled with a whole text: some thousands of them would be gigabytes."""
    if sum(1 for text in texts for _ in fields_of(text)) > MOST_FIELDS:
        sentence = f"The messages of one call hold more than {MOST_FIELDS} fields."
        yield PromptSetProblem("too_many_fields", place, sentence)


def _problems_of_text(place: str, text: str, known: frozenset[str]) -> Iterator[PromptSetProblem]:
    brace = lone_brace(text)
    if brace is not None:
        sentence = f"The brace at character {brace + 1} stands alone; write it twice."
        yield PromptSetProblem("lone_brace", place, sentence)
    for name in dict.fromkeys(fields_of(text)):
        if name in REPLY_FIELDS and name not in known:
            sentence = f"There is no {{{name}}} here: only a later step follows a reply."
            yield PromptSetProblem("reply_in_step_one", place, sentence)
        elif name not in known:
            sentence = f"There is no field {{{name}}}. The fields are: {', '.join(sorted(known))}."
            yield PromptSetProblem("unknown_field", place, sentence)
