"""Answers of the scripted endpoint: deterministic, and without any answer key.

A choice is drawn from a hash of the prompt, so it is right as often as chance. An open-ended answer
is a short form letter; a grading text ends with a total within the full marks that the prompt
names; suggested labels and scoring points are drawn from those in the prompt; reading a response
returns its last capital letter. The texts do not say that they are scripted, because they are
marked blind like any other; the name of the model says it.
"""

from __future__ import annotations

import hashlib
import json
import re
from random import Random

from evaluations.llm.scripted.benchmarks import bare_choice, benchmark_answer

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

# What the prompt of a task of its own contains: grading, labels, scoring points, reading.
_LABELS, _POINTS, _QUOTE = '"ability_branch"', '"points"', '"quote"'
_PLACE = re.compile(r"^- ([a-z-]+)[^\[\n]*\[([a-z_]+)\]", re.MULTILINE)
_FULL_MARKS_OF_ITEM = re.compile(r"(?:满分|Full marks)】\n([0-9.]+)")
_SUB_MARKS = re.compile(r"^sub ([0-9]+)[:：] ?([0-9.]+)", re.MULTILINE)
_FENCED = re.compile(r"\n<([0-9a-z]{8,64})>\n(.*)\n<\1>\Z", re.DOTALL)
_LETTERS = re.compile(r"(?:取自 |only of )([A-Z]+)")
_LETTER = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")
_QUOTED_BEFORE = 12


def answer(prompt: str) -> str:
    """Return the scripted answer to *prompt*, which is always the same one."""
    draw = Random(hashlib.sha256(prompt.encode("utf-8", "replace")).digest())
    if _TOTAL in prompt:
        return _grading(prompt, draw)
    if (suggested := _suggestion(prompt, draw)) is not None:
        return suggested
    if (read := _reading(prompt)) is not None:
        return read
    if (asked := benchmark_answer(prompt, draw)) is not None:
        return asked
    # The instructions contain example answers of their own.
    instructions = question = prompt
    for end in _ENDS_OF_INSTRUCTIONS:
        before, separator, after = prompt.partition(end)
        if separator:
            instructions, question = before, after
            break
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in prompt) * 10 > len(prompt)
    if _CHOICE.search(instructions) and not _OPEN.search(instructions):
        tagged = chinese or "【答案】" in prompt
        return _choice(instructions, question, draw, tagged=tagged)
    if not _OPEN.search(instructions) and (bare := bare_choice(prompt, draw)) is not None:
        return bare
    numbers = sorted(set(_SUB_QUESTION.findall(question))) or [""]
    return "\n".join(_open_part(number, draw, chinese=chinese) for number in numbers)


def _grading(prompt: str, draw: Random) -> str:
    """Return a grading text; its total is a multiple of a half from 0 to the full marks."""
    match = _FULL_MARKS.search(prompt)
    full = float(match[1]) if match else 1.0
    total = f"{draw.randint(0, int(full * 2)) / 2:g}"
    reason = draw.choice(
        (
            "学生答出了部分要点，论述不够完整。",
            "学生的思路与标准答案基本一致，个别步骤有误。",
            "学生的答案与标准答案有出入，按要点给分。",
        )
    )
    return f"【判分理由】{reason}\n【得分】{total}分\n{_TOTAL}{total}分"


def _choice(instructions: str, question: str, draw: Random, *, tagged: bool) -> str:
    options = _OPTION.findall(question)
    # The letters from A to the last option that is named, at least to D.
    letters = "ABCDEFG"[: max(4, "ABCDEFG".index(max(options)) + 1 if options else 4)]
    if _FIVE_OUT_OF_SEVEN.search(instructions):
        return f"【答案】 {' '.join(draw.sample('ABCDEFG', 5))} <eoa>"
    if _SEVERAL_LETTERS.search(instructions):
        picked = sorted(draw.sample(letters, draw.randint(1, min(3, len(letters)))))
        return f"【解析】逐项判断各选项。<eoe>\n【答案】 {''.join(picked)} <eoa>"
    parts = max(1, "".join(options).count("ABC"))
    if parts > 1:
        lines = (f"（{n}）【答案】 {draw.choice(letters)} <eoa>" for n in range(1, parts + 1))
        return "\n".join(lines)
    letter = draw.choice(letters)
    if tagged:
        return f"【解析】比较各选项后作出判断。<eoe>\n【答案】 {letter} <eoa>"
    return f"Comparing the options one by one, the answer is ({letter})."


def _open_part(number: str, draw: Random, *, chinese: bool) -> str:
    label = f"（{number}）" if number else ""
    if not chinese:
        point = draw.choice(("the main cause", "the key condition", "the writer's purpose"))
        return f"{label}First, state {point}. Second, support it from the text. Then conclude."
    first = draw.choice(
        ("审清题意，列出已知条件", "结合材料，提取关键信息", "回顾相关知识，确定思路")
    )
    value = draw.randint(1, 9)
    last = draw.choice((f"结果为 $x={value}$", "由此得出结论，论述成立", "综上，主要原因有两点"))
    return f"{label}【解析】{first}；再逐步推导。<eoe>\n【答案】{last}。<eoa>"


def _suggestion(prompt: str, draw: Random) -> str | None:
    """Return labels or scoring points as JSON; None if *prompt* asks for neither."""
    if _LABELS in prompt and (places := _PLACE.findall(prompt)):
        knowledge, branch = draw.choice(places)
        labels = {"ability_branch": branch, "knowledge": knowledge}
        return json.dumps(labels | {"difficulty": draw.randint(1, 5)}, ensure_ascii=False)
    item = _FULL_MARKS_OF_ITEM.findall(prompt)
    marks = _SUB_MARKS.findall(prompt) or [("1", full) for full in item]
    if _POINTS not in prompt or not marks:
        return None
    rows = []
    for sub, written in marks:
        # Two points for each sub-question, or one if it has at most one mark.
        full = float(written)
        first = draw.randint(1, max(1, int(full) - 1)) if full > 1 else full
        for number, points in enumerate((first, full - first), start=1):
            if points:
                text = f"（{sub}）第 {number} 点"
                rows.append({"sub": int(sub), "text": text, "points": points})
    return json.dumps(rows, ensure_ascii=False)


def _reading(prompt: str) -> str | None:
    """Return what is read in the fenced response; None if *prompt* does not ask to read one."""
    fenced = _FENCED.search(prompt)
    if _QUOTE not in prompt or not fenced:
        return None
    letters, response = _LETTERS.search(prompt), fenced[2]
    named = [match for match in _LETTER.finditer(response) if letters and match[0] in letters[1]]
    if not named:
        return '{"outcome": "no_answer"}'
    last = named[-1]
    quote = response[max(0, last.start() - _QUOTED_BEFORE) : last.end()]
    read = {"answer": last[0], "quote": quote.strip()}
    parts = re.search(r"共 ([0-9]+) 项|answers has ([0-9]+) entries", prompt)
    gaps = int(parts[1] or parts[2]) - 1 if parts else 0
    return json.dumps({"outcome": "read", "answers": [read] + [None] * gaps}, ensure_ascii=False)
