"""What the scripted endpoint answers: a deterministic script, blind to every answer key.

A choice is drawn from a hash of the prompt, so it is right as often as chance;
an open-ended answer is a short form letter; a grading text ends in a total
within the full marks that the prompt names. The texts do not say that they are
scripted: they are marked blind like any other. The model's name says it.
"""

from __future__ import annotations

import hashlib
import re
from random import Random

from evaluations.llm.scripted.readings import reading
from evaluations.llm.scripted.suggestions import suggestion

_CHOICE = re.compile(
    r"选择题|阅读理解|完形填空|七选五|五个选项|选出|各选一项|单项选择|多项选择"
    r"|(?i:\bmultiple[- ]choice\b|\bchoose\b|\bexactly one of\b|\bfill the \d+ gaps\b"
    r"|\bAmong A through\b|\bwhich option\b)"
)
_OPEN = re.compile(
    r"解答题|(?<!完形)填空题|填词题|短文改错|文言文阅读|可能含有|(?i:open-ended|fill in the blank)"
)
_OPTION = re.compile(r"(?<![A-Za-z\\])([A-G])\s*[.．、:：)）]")
_FIVE_OUT_OF_SEVEN = re.compile(r"五个选项|七选五|不得重复|none is used twice")
_SEVERAL_LETTERS = re.compile(r"所有符合|所有正确选项|多项选择|(?i:\bchoose all of\b)")
_FULL_MARKS = re.compile(r"(?:【分值】|满分|(?i:full marks))\D{0,12}?([0-9]+(?:\.[0-9]+)?)")
_SUB_QUESTION = re.compile(r"[（(]([1-9])[)）]")
_TOTAL = "【总分】"
_ENDS_OF_INSTRUCTIONS = (
    *("题目如下", "严格按照上述格式作答", "严格按照这个格式作答"),
    "Keep strictly to this form",
)


def answer(prompt: str) -> str:
    """The scripted answer to *prompt*: the same prompt always gets the same one."""
    draw = Random(hashlib.sha256(prompt.encode("utf-8", "replace")).digest())
    if _TOTAL in prompt:
        return _grading(prompt, draw)
    if (suggested := suggestion(prompt, draw)) is not None:
        return suggested
    if (read := reading(prompt)) is not None:
        return read
    told, _ = _parts(prompt)
    if _CHOICE.search(told) and not _OPEN.search(told):
        return _choice(prompt, draw)
    return _open_ended(prompt, draw)


def _grading(prompt: str, draw: Random) -> str:
    """A grading text; the total is a half point between 0 and the full marks, both included."""
    found = _FULL_MARKS.search(prompt)
    full = float(found[1]) if found else 1.0
    total = f"{draw.randint(0, int(full * 2)) / 2:g}"
    reason = draw.choice(
        (
            "学生答出了部分要点，论述不够完整。",
            "学生的思路与标准答案基本一致，个别步骤有误。",
            "学生的答案与标准答案有出入，按要点给分。",
        )
    )
    return f"【判分理由】{reason}\n【得分】{total}分\n{_TOTAL}{total}分"


def _choice(prompt: str, draw: Random) -> str:
    letters = _letters(prompt)
    told, _ = _parts(prompt)
    if _FIVE_OUT_OF_SEVEN.search(told):
        return f"【答案】 {' '.join(draw.sample('ABCDEFG', 5))} <eoa>"
    if _SEVERAL_LETTERS.search(told):
        picked = sorted(draw.sample(letters, draw.randint(1, min(3, len(letters)))))
        return f"【解析】逐项判断各选项。<eoe>\n【答案】 {''.join(picked)} <eoa>"
    parts = max(1, "".join(_OPTION.findall(_question(prompt))).count("ABC"))
    if parts == 1:
        return _one_choice(prompt, draw.choice(letters))
    lines = (f"（{n}）【答案】 {draw.choice(letters)} <eoa>" for n in range(1, parts + 1))
    return "\n".join(lines)


def _one_choice(prompt: str, letter: str) -> str:
    if "【答案】" in prompt or _is_chinese(prompt):
        return f"【解析】比较各选项后作出判断。<eoe>\n【答案】 {letter} <eoa>"
    return f"Comparing the options one by one, the answer is ({letter})."


def _letters(prompt: str) -> str:
    """The letters on offer: from A to the last option seen, at least to D."""
    seen = _OPTION.findall(_question(prompt))
    return "ABCDEFG"[: max(4, "ABCDEFG".index(max(seen)) + 1 if seen else 4)]


def _question(prompt: str) -> str:
    return _parts(prompt)[1]


def _parts(prompt: str) -> tuple[str, str]:
    """The instructions, which show example answers of their own, and the question after them."""
    for end in _ENDS_OF_INSTRUCTIONS:
        told, found, question = prompt.partition(end)
        if found:
            return told, question
    return prompt, prompt


def _open_ended(prompt: str, draw: Random) -> str:
    parts = sorted(set(_SUB_QUESTION.findall(_question(prompt)))) or [""]
    return "\n".join(_open_part(prompt, number, draw) for number in parts)


def _open_part(prompt: str, number: str, draw: Random) -> str:
    label = f"（{number}）" if number else ""
    if not _is_chinese(prompt):
        point = draw.choice(("the main cause", "the key condition", "the writer's purpose"))
        return f"{label}First, state {point}. Second, support it from the text. Then conclude."
    first = draw.choice(
        ("审清题意，列出已知条件", "结合材料，提取关键信息", "回顾相关知识，确定思路")
    )
    value = draw.randint(1, 9)
    last = draw.choice((f"结果为 $x={value}$", "由此得出结论，论述成立", "综上，主要原因有两点"))
    return f"{label}【解析】{first}；再逐步推导。<eoe>\n【答案】{last}。<eoa>"


def _is_chinese(text: str) -> bool:
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in text)
    return chinese * 10 > len(text)
