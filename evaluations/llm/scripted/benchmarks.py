"""Scripted answers to the prompts of AGIEval and AGIBench, which say at their end what they want.

The replies have the forms that the programs of the benchmarks read. Prompts of GAOKAO-Bench begin
with instructions and are answered like those of the project.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

# The options of the last question: "(A)fourth or seventh (B)..." or lines of "A. ...".
_OPTION = re.compile(r"\(([A-G])\)|^([A-G])[.．、]", re.MULTILINE)
_LAST_QUESTION = re.compile(r"(?:^|\n)(?:Problem|问题) [0-9]+\.   ")
_STEPS = re.compile(r"(?:Let's think step by step\.|让我们逐步思考：)\Z")


def _letter(prompt: str, draw: Random) -> str:
    """Return one of the options of the last question, from A to the last; of at least two."""
    last = _LAST_QUESTION.split(prompt)[-1]
    named = [first or second for first, second in _OPTION.findall(last)]
    return draw.choice("ABCDEFG"[: max(2, "ABCDEFG".index(max(named)) + 1)] if named else "ABCD")


def _value(_prompt: str, draw: Random) -> str:
    return f"${draw.randint(1, 9)}$"


def _in_steps(prompt: str, draw: Random) -> str:
    if prompt.endswith("："):
        return draw.choice(("先看题干给出的条件，再逐项比较。", "按题意列出条件，逐步推出结论。"))
    return draw.choice(("The conditions are taken one by one.", "What is given is compared first."))


# What a prompt ends with, and the answer to it.
_Made = Callable[[str, Random], str]
_ENDS: tuple[tuple[re.Pattern[str], str, _Made], ...] = (
    (_STEPS, "{}", _in_steps),
    (re.compile(r"(?i:among) A through [A-G], the answer is\Z"), "({}).", _letter),
    (re.compile(r"从A到[A-G], 我们应选择\Z"), "（{}）。", _letter),
    (re.compile(r"The answer is:\Z"), "{}", _letter),
    (re.compile(r"The answer and the reason are:\Z"), "{}. 理由：逐项比较可得。", _letter),
    (re.compile(r"(?i:the answer is)\Z"), "{}.", _value),
    (re.compile(r"(?:答案：|因此，答案是)\Z"), "{}", _value),
)
# The four options at the end of a prompt without any instructions.
_BARE = re.compile(r"\nA[.．、][^\n]*\s*\n\s*B[.．、][^\n]*(?:\s*\n\s*[C-G][.．、][^\n]*)+\Z")
# A question after examples: an answer in their form.
_OPTIONS_AFTER_EXAMPLES = re.compile(r"(?:Choose from the following options|从以下选项中选择):")


def benchmark_answer(prompt: str, draw: Random) -> str | None:
    """Return the answer to a prompt of AGIEval or AGIBench; None for any other prompt."""
    if "【答案】" in prompt:
        return None
    text = prompt.rstrip()
    for end, form, made in _ENDS:
        if end.search(text):
            return form.format(made(text, draw))
    _before, *questions = _LAST_QUESTION.split(text)
    if questions:
        chosen = _OPTIONS_AFTER_EXAMPLES.search(questions[-1])
        given = (_letter if chosen else _value)(text, draw).strip("$")
        return f"答案是 {given}" if "问题 1." in text else f"The answer is therefore {given}"
    return None


def bare_choice(prompt: str, draw: Random) -> str | None:
    """Return the answer to options without instructions (AGIBench); None for any other prompt."""
    text = prompt.rstrip()
    return f"答案：{_letter(text, draw)}" if _BARE.search(text) else None
