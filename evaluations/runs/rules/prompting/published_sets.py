"""Make prompt sets of the files in which GAOKAO-Bench and AGIEval publish their prompts.

The results are values of the format in ``prompt_sets``; what is broken in a file becomes a
``BrokenPromptSet`` with the place in that file. The messages are those of the published programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluations.runs.rules.prompting.filling import escaped
from evaluations.runs.rules.prompting.prompt_sets import (
    FORMAT,
    AnswerFormat,
    BrokenPromptSet,
    PromptSetContent,
    PromptSetProblem,
    read_prompt_set,
)

GAOKAO_BENCH = "gaokao-bench"
AGIEVAL = "agieval"
# The second user message of GAOKAO-Bench's error correction, as its program writes it.
ARTICLES = "Article 1:{article}\n\nArticle 2:{reply_answer}"
# AGIEval asks sat-en-without-passage with the examples of sat-en, without their passages.
WITHOUT_PASSAGE = {"sat-en-without-passage": "sat-en"}

_AGIEVAL_FIELDS = {
    **{name: name for name in ("passage", "options", "last", "n", "reply", "step_one")},
    "question": "stem",
    "label": "answer",
    "answer": "answer",
    "explanation": "explanation",
}


def gaokao_bench_set(*files: Mapping[str, Any]) -> PromptSetContent:
    """Return the set of ``Obj_Prompt.json`` and ``Sub_Prompt.json``, parsed.

    The system message is the prompt of the file, the user message the question, stripped, and a
    newline. A prompt that is a list of two is asked in two steps, the second of which compares the
    text of the question with the text that the first reply rewrote. Raises BrokenPromptSet.
    """
    templates = []
    for number, file in enumerate(files, start=1):
        entries = file.get("examples")
        if not isinstance(entries, list) or not entries:
            raise _broken("missing_key", f"file {number}", "The list 'examples' is missing.")
        for place, entry in enumerate(entries, start=1):
            templates.append(_gaokao_template(f"file {number}, examples.{place}", entry))
    return read_prompt_set(
        {
            "format": FORMAT,
            "name": GAOKAO_BENCH,
            "titles": {"en": "GAOKAO-Bench, as published", "zh": "GAOKAO-Bench 原提示词"},
            "answer_format": AnswerFormat.GAOKAO_BENCH,
            "source": "GAOKAO-Bench (github.com/OpenLMLab/GAOKAO-Bench), Apache License 2.0",
            "templates": templates,
        }
    )


def _gaokao_template(place: str, entry: object) -> dict[str, Any]:
    keyword = entry.get("keyword") if isinstance(entry, dict) else None
    prompt = entry.get("prefix_prompt") if isinstance(entry, dict) else None
    prompts = prompt if isinstance(prompt, list) else [prompt]
    if not isinstance(keyword, str) or not all(isinstance(text, str) for text in prompts):
        text = "An entry has the texts 'keyword' and 'prefix_prompt' (or a list of two prompts)."
        raise _broken("wrong_type", place, text)
    if len(prompts) > 2:
        raise _broken("bad_value", place, "More than two prompts are not known.")
    users = ["{question}\n", ARTICLES]
    return {
        "name": _slug(keyword),
        "match": {"datasets": [GAOKAO_BENCH], "tasks": [keyword]},
        "settings": {
            "zero-shot": {
                "steps": [
                    [
                        {"role": "system", "content": escaped(system)},
                        {"role": "user", "content": user},
                    ]
                    for system, user in zip(prompts, users, strict=False)
                ]
            }
        },
    }


def agieval_set(
    prompts: Mapping[str, Any], examples: Mapping[str, Sequence[tuple[Mapping[str, Any], str]]]
) -> PromptSetContent:
    """Return the set of ``prompts.json``, parsed, and of the rows of ``few_shot_prompts.csv``.

    ``examples`` holds, by task, pairs of a published sample and its explanation. Chain of thought
    without examples has two steps. Raises BrokenPromptSet.
    """
    kinds = prompts.get("kinds")
    if not isinstance(kinds, dict) or not kinds:
        raise _broken("missing_key", "prompts.json", "The object 'kinds' is missing.")
    shown = {task: [_agieval_example(*pair) for pair in pairs] for task, pairs in examples.items()}
    for task, lender in WITHOUT_PASSAGE.items():
        if lender in shown:
            shown[task] = [{**example, "passage": ""} for example in shown[lender]]
    return read_prompt_set(
        {
            "format": FORMAT,
            "name": AGIEVAL,
            "titles": {"en": "AGIEval, as published", "zh": "AGIEval 原提示词"},
            "answer_format": AnswerFormat.AGIEVAL,
            "source": "AGIEval (github.com/ruixiangcui/AGIEval), MIT License, "
            "Copyright (c) Microsoft Corporation",
            "templates": [_agieval_template(name, kind) for name, kind in kinds.items()],
            "examples": shown,
        }
    )


def _agieval_template(name: str, kind: object) -> dict[str, Any]:
    place = f"prompts.json, kinds.{name}"
    texts = ("example_question", "explanation_line", "example_answer")
    if not isinstance(kind, dict) or not all(isinstance(kind.get(key), str) for key in texts):
        raise _broken("missing_key", place, f"A kind has the texts {', '.join(texts)}.")
    steps = {key: kind.get(key) for key in ("zero-shot", "zero-shot-cot")}
    for key, found in steps.items():
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            raise _broken("missing_key", f"{place}.{key}", "A setting is a list of texts.")
    line = _renamed(kind["explanation_line"])
    question = _renamed(kind["example_question"])
    before, _, after = kind["example_answer"].partition("{explanation_line}")
    plain = _renamed(before + after)
    settings: dict[str, Any] = {
        key: {"steps": [[{"role": "user", "content": _renamed(text)}] for text in found or ()]}
        for key, found in steps.items()
    }
    for key, answer in (
        ("few-shot", plain),
        ("few-shot-cot", _renamed(before) + line + _renamed(after)),
    ):
        settings[key] = {
            "steps": [[{"role": "user", "content": question}]],
            "examples": {"question": question, "answer": answer},
        }
    return {
        "name": _slug(name),
        "match": {"datasets": [AGIEVAL], "tasks": kind.get("tasks")},
        "settings": settings,
    }


def _renamed(text: str) -> str:
    """A template of ours from one of ``prompts.json``, whose fields have other names."""
    for theirs, ours in _AGIEVAL_FIELDS.items():
        text = text.replace(f"{{{theirs}}}", f"\0{ours}\1")
    return escaped(text).replace("\0", "{").replace("\1", "}")


def _agieval_example(sample: Mapping[str, Any], explanation: str) -> dict[str, str]:
    """One example as the published program reads it: two newlines in an explanation are one."""
    options = sample.get("options") or ()
    answer = sample.get("answer") if not options else sample.get("label")
    return {
        "passage": str(sample.get("passage") or ""),
        "stem": str(sample.get("question") or ""),
        "options": " ".join(map(str, options)),
        "answer": "" if answer is None else str(answer),
        "explanation": explanation.replace("\n\n", "\n"),
    }


def _slug(name: str) -> str:
    kept = "".join(letter.lower() if letter.isalnum() else " " for letter in name)
    return "-".join(kept.split())


def _broken(code: str, place: str, text: str) -> BrokenPromptSet:
    return BrokenPromptSet([PromptSetProblem(code, place, text)])
