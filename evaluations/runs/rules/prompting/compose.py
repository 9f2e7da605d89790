"""Compose the messages of one question from a prompt set: template, examples, steps.

Examples are dropped as AGIEval's published program drops them. It adds the examples in order,
counts the tokens of the answers only (the assistant turns; neither the example questions nor the
tested question count), and leaves out the first example with which the count is over the budget
and all after it. It counts with the tokenizer of one model, whose vocabulary is a download. Here
``token_count`` counts, which needs no vocabulary, and it counts the text itself. (The program
counts its JSON form, in which a Chinese character is six ASCII characters; by that count five
published examples of gaokao-history with explanations pass 2,048, and its published messages have
all five.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluations.conditions import MOST_PROMPT_TOKENS, PromptSetting
from evaluations.runs.rules.prompting.filling import fill
from evaluations.runs.rules.prompting.items import PromptExample, PromptItem
from evaluations.runs.rules.prompting.prompt_sets import (
    AnswerFormat,
    ExampleTurns,
    PromptSetContent,
    SettingTemplate,
    Template,
)
from questions.rules.vocabulary import Language, QuestionType

ChatMessage = dict[str, str]

# A token is at most a word piece of six letters, three digits, or one other character.
_TOKEN = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\sA-Za-z0-9]")
# The instructions of an error correction of the Gaokao end with this sentence; the text follows.
_END_OF_NOTES = "不计分。"
_TAGGED = re.compile(r"【答案】(.*?)(?:<eoa>|$)", re.DOTALL)


class CannotCompose(ValueError):
    """A question that a prompt set has no words for; the message says why."""


def token_count(text: str) -> int:
    """Return a count of tokens of *text* that needs no vocabulary.

    Each of these counts as one: up to six Latin letters of a word, up to three digits, any other
    character that is not white space (a Chinese character, a mark of punctuation). On texts with
    formulas it is higher than what tokenizers count, on Chinese about the same.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


@dataclass(frozen=True)
class Composed:
    """The prompt of one question: which template, how many steps and examples, and the messages.

    ``examples_used`` is the number of examples in front of the question, ``examples_dropped`` the
    number that the token budget left out.
    """

    template: str
    answer_format: AnswerFormat
    examples_used: int
    examples_dropped: int
    _setting: SettingTemplate
    _turns: tuple[ChatMessage, ...]
    _values: Mapping[str, str]

    @property
    def steps(self) -> int:
        """The number of calls that one answer needs, from 1."""
        return len(self._setting.steps)

    def messages(self, step: int = 1, replies: Sequence[str] = ()) -> list[ChatMessage]:
        """Return the messages of *step*, counted from 1.

        ``replies`` are the texts of the replies to the steps before it, in order. Raises ValueError
        if there is no such step or a reply is missing.
        """
        if not 1 <= step <= self.steps:
            raise ValueError(f"the steps are 1 to {self.steps}, not {step}")
        if len(replies) < step - 1:
            raise ValueError(f"step {step} needs {step - 1} replies, not {len(replies)}")
        values = dict(self._values)
        if step > 1:
            first = self._setting.steps[0][-1].content
            values |= _reply_values(replies[step - 2]) | {"step_one": fill(first, values)}
        sent = [
            {"role": message.role, "content": fill(message.content, values)}
            for message in self._setting.steps[step - 1]
        ]
        return sent[:-1] + list(self._turns) + sent[-1:] if step == 1 else sent


def compose(
    prompt_set: PromptSetContent,
    setting: str,
    item: PromptItem,
    examples: Sequence[PromptExample] = (),
    *,
    max_prompt_tokens: int = MOST_PROMPT_TOKENS,
    wording: int = 0,
) -> Composed:
    """Return the prompt of *item* in *setting* (``zero-shot``, ``zero-shot-cot``, ...).

    Examples of the set for the item's task come before *examples*, which are those of the bank.
    ``max_prompt_tokens`` bounds the examples, as the module says. ``wording`` is 0 for the words
    of the template itself, else the place from 1 among its ``wordings`` of this setting. The first
    template that matches is used. Raises CannotCompose if none does, or it has no such setting or
    wording.
    """
    template = template_for(prompt_set, item)
    chosen = _setting(template, setting, wording)
    shown = own_examples(prompt_set, item.task) or tuple(examples)
    turns: list[ChatMessage] = []
    available = used = 0
    if chosen.examples is not None:
        available = len(shown)
        turns = _example_turns(chosen.examples, shown, item, max_prompt_tokens)
        used = len(turns) // 2
    return Composed(
        template=template.name,
        answer_format=template.answer_format or prompt_set.answer_format,
        examples_used=used,
        examples_dropped=available - used,
        _setting=chosen,
        _turns=tuple(turns),
        _values=_item_values(item) | {"n": str(used + 1)},
    )


def step_count(
    prompt_set: PromptSetContent, setting: str, item: PromptItem, wording: int = 0
) -> int:
    """Return how many calls an answer to *item* needs. Raises CannotCompose as ``compose`` does."""
    return len(_setting(template_for(prompt_set, item), setting, wording).steps)


def template_for(prompt_set: PromptSetContent, item: PromptItem) -> Template:
    """Return the first template for *item*. Raises CannotCompose if there is none."""
    for template in prompt_set.templates:
        match = template.match
        if (
            (match.datasets is None or item.dataset in match.datasets)
            and (match.tasks is None or item.task in match.tasks)
            and (match.question_types is None or item.question_type in match.question_types)
            and (match.languages is None or item.language in match.languages)
            and (match.several_parts is None or match.several_parts is (item.parts > 1))
        ):
            return template
    raise CannotCompose(
        f"The prompt set {prompt_set.name} has no template for {item.task} "
        f"({item.question_type.english}, {item.language.english})."
    )


def own_examples(prompt_set: PromptSetContent, task: str) -> tuple[PromptExample, ...]:
    """Return the examples that the set itself has for *task*."""
    return tuple(
        PromptExample(
            stem=example.stem,
            passage=example.passage,
            answer=example.answer,
            explanation=example.explanation,
            original={"options": example.options},
        )
        for example in prompt_set.examples.get(task, ())
    )


def _setting(template: Template, setting: str, wording: int) -> SettingTemplate:
    name = setting.replace("_", "-")
    words = template.in_words(PromptSetting(name)) if name in set(PromptSetting) else []
    if not words:
        raise CannotCompose(f"The template {template.name} has no setting {name}.")
    if not 0 <= wording < len(words):
        raise CannotCompose(f"The template {template.name} has no wording {wording} of {name}.")
    return words[wording]


def _example_turns(
    turns: ExampleTurns,
    examples: Sequence[PromptExample],
    item: PromptItem,
    max_tokens: int,
    count: Callable[[str], int] = token_count,
) -> list[ChatMessage]:
    """The examples as chat turns, up to the first with which their answers pass *max_tokens*."""
    messages: list[ChatMessage] = []
    total = 0
    for number, example in enumerate(examples, start=1):
        values = _example_values(example, item) | {"n": str(number)}
        answer = fill(turns.answer, values)
        total += count(answer)
        if total > max_tokens:
            break
        messages.append({"role": "user", "content": fill(turns.question, values)})
        messages.append({"role": "assistant", "content": answer})
    return messages


def _item_values(item: PromptItem) -> dict[str, str]:
    values = _shared_values(item, item)
    _, found, article = values["question"].partition(_END_OF_NOTES)
    return values | {
        "parts": str(item.parts),
        "answer_form": _answer_form(item),
        "article": article.partition(_END_OF_NOTES)[0] if found else values["question"],
    }


def _example_values(example: PromptExample, item: PromptItem) -> dict[str, str]:
    shared = _shared_values(example, item)
    return shared | {"answer": example.answer, "explanation": example.explanation}


def _shared_values(text: PromptItem | PromptExample, item: PromptItem) -> dict[str, str]:
    """The fields that a question and an example have; subject and language are the item's."""
    pairs = list(zip(text.letters, text.options, strict=False))
    options = text.original.get("options") or " ".join(f"({letter}){x}" for letter, x in pairs)
    lines = "\n".join(f"{letter}. {x}" for letter, x in pairs) or text.original.get("options", "")
    asked = "\n\n".join(part for part in (text.passage, text.stem, lines) if part)
    chinese = item.language is Language.CHINESE
    comma = "、" if chinese else ", "
    return {
        "passage": text.passage,
        "stem": text.stem,
        "question": asked.strip(),
        "options": options,
        "option_lines": lines,
        "letters": comma.join(text.letters),
        "last": text.letters[-1:],
        "subject": item.subject_name or ("" if chinese else "examination"),
    }


def _answer_form(item: PromptItem) -> str:
    """The placeholder for the answer, which shows its shape."""
    if item.question_type is QuestionType.MULTIPLE_CHOICE:
        return item.letters[:2]
    if item.question_type is QuestionType.FIVE_OUT_OF_SEVEN:
        return " ".join(item.letters[: item.parts])
    return item.letters[:1] or "……"


def _reply_values(reply: str) -> dict[str, str]:
    """The reply as it came, and what stands in it between the tags of an answer."""
    tagged = _TAGGED.search(reply)
    return {"reply": reply, "reply_answer": tagged[1].strip() if tagged else ""}
