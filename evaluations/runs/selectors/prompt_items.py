"""Questions and worked examples of the bank as prompts see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluations.conditions import MOST_PROMPT_TOKENS, PromptSetting
from evaluations.models import Condition, PromptSetVersion
from evaluations.runs.rules.option_order import reordered
from evaluations.runs.rules.prompting.compose import Composed, compose, step_count
from evaluations.runs.rules.prompting.items import PromptExample, PromptItem
from evaluations.runs.rules.prompting.prompt_sets import PromptSetContent, stored_prompt_set
from evaluations.runs.rules.prompting.shipped_sets import GRADEAPP, shipped_set
from questions.importers.agieval import DATASET as AGIEVAL
from questions.importers.agieval_items import published_options
from questions.models import FewShotExample, Question, QuestionRevision
from questions.rules.vocabulary import Language, QuestionType, Subject

MOST_PARSED = 32
_parsed: dict[str, PromptSetContent] = {}


def prompt_item(question: Question, revision: QuestionRevision) -> PromptItem:
    """Return *revision* of *question* as prompts see it.

    Texts are those of the source, byte for byte, except for characters that no database stores.
    """
    task, language = question.task, Language(revision.language)
    original = {}
    if task.dataset.slug == AGIEVAL and revision.options:
        options = published_options(revision.extra, revision.letters, revision.options)
        original = {} if options is None else {"options": options}
    return PromptItem(
        dataset=task.dataset.slug,
        task=task.slug,
        external_id=question.external_id,
        index=question.position,
        question_type=QuestionType(revision.question_type),
        language=language,
        stem=revision.stem,
        subject_name=subject_name(question, language),
        passage=revision.passage,
        options=tuple(revision.options),
        letters=revision.letters,
        parts=revision.sub_answers,
        original=original,
        images=tuple(revision.images),
    )


def subject_name(question: Question, language: Language) -> str:
    """Return the subject in the item's language; "" for a task without a subject."""
    return Subject(question.subject).label(language) if question.subject else ""


def prompt_examples(task_id: int) -> tuple[PromptExample, ...]:
    """Return the worked examples that a benchmark publishes for a task, in order."""
    return tuple(
        PromptExample(
            stem=example.stem,
            passage=example.passage,
            options=tuple(example.options),
            letters=example.letters,
            answer=" ".join(example.answer_key),
            explanation=example.explanation,
        )
        for example in FewShotExample.objects.filter(task_id=task_id).order_by("number")
    )


def prompts_of(version: PromptSetVersion) -> PromptSetContent:
    """Return the parsed content of a stored version.

    Versions from before prompt sets were stored name our own words only, which have not changed.
    """
    if "templates" not in version.content:
        return shipped_set(GRADEAPP)
    if version.content_hash not in _parsed:
        if len(_parsed) >= MOST_PARSED:
            _parsed.clear()
        _parsed[version.content_hash] = stored_prompt_set(version.content)
    return _parsed[version.content_hash]


def composed(
    prompts: PromptSetContent,
    question: Question,
    revision: QuestionRevision,
    *,
    setting: PromptSetting = PromptSetting.ZERO_SHOT,
    max_prompt_tokens: int = MOST_PROMPT_TOKENS,
    wording: int = 0,
    order: str = "",
) -> Composed:
    """Return the prompt of one question, its options in *order* (empty: as printed).

    Raises CannotCompose if *prompts* has no words for it.
    """
    examples: Sequence[PromptExample] = ()
    if setting.few_shot and not prompts.examples.get(question.task.slug):
        examples = prompt_examples(question.task_id)
    item = prompt_item(question, revision)
    if order:
        # The published text of the options has them in their printed order.
        moved = reordered(item.options, item.letters, order)
        item = replace(item, options=tuple(moved), original={})
    return compose(
        prompts,
        setting,
        item,
        examples,
        max_prompt_tokens=max_prompt_tokens,
        wording=wording,
    )


def steps_in(condition: Condition, question: Question, repeat: int) -> int:
    """Return how many calls an answer to *question* needs in its *repeat*.

    It is 1 in a condition without prompts, in which nobody asks.
    """
    assert question.current is not None
    if condition.prompts is None:
        return 1
    prompts, setting = prompts_of(condition.prompts), PromptSetting(condition.settings["setting"])
    item = prompt_item(question, question.current)
    return step_count(prompts, setting, item, wording_in(condition, repeat))


def wording_in(condition: Condition, repeat: int) -> int:
    """Return the number of the wording in *repeat*, from 0: each in turn, then the first again."""
    if condition.prompts is None:
        return 0
    setting = PromptSetting(condition.settings["setting"])
    return (repeat - 1) % max(1, prompts_of(condition.prompts).wording_count(setting))


def composed_in(
    condition: Condition,
    question: Question,
    revision: QuestionRevision,
    *,
    order: str = "",
    repeat: int = 1,
) -> Composed:
    """Return the prompt of one question in *condition*, which must be one that asks.

    Its options stand in *order* (empty: as printed). A prompt set with several wordings is used
    with the next one in each *repeat*, and with the first one again after the last.
    """
    assert condition.prompts is not None
    prompts = prompts_of(condition.prompts)
    setting = PromptSetting(condition.settings["setting"])
    return composed(
        prompts,
        question,
        revision,
        setting=setting,
        max_prompt_tokens=condition.settings["max_prompt_tokens"],
        wording=wording_in(condition, repeat),
        order=order,
    )
