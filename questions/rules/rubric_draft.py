"""A rubric proposed from the marks in an answer key: 【方程 2分】, (2分), ……5分, (2 marks).

Nothing is invented: a scoring point comes only from a mark that is written in
the key or its analysis or, as "1 point each", in the question. What is proposed
is a draft that a person reads, corrects and accepts; it may not add up.

Ways of writing that are known:

- marks behind what they are for: "求得加速度（2分）", "$E(X)=2$ ……3分";
- the same counted up to the full marks: (6分), (9分), (12分) are 6, 3 and 3;
- marks before it: "第一问（2分）：...", "（2）（6分）...";
- a mark for each: "①...②...③...（每答出一点给2分，给满4分为止）" is a group under a cap;
- marks for one choice each: "答C给3分，答D给2分，答B给1分", of which two count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise

from questions.rules.rubric import LONGEST_POINT, PointGroup, RubricLines, ScoringPoint, reachable

MOST_TEXT = 50_000
_N = r"(\d{1,2}(?:\.\d{1,2})?|[一两二三四五六七八九十l])"  # a scanned "l分" is 1
_UNIT = r"\s{0,3}(?:分(?![钟之别子析明布成级数米式类开离裂]|为二)|(?:marks?|points?|pts?)(?![a-z]))"
_MARK = rf"{_N}{_UNIT}"
_FLAGS = re.IGNORECASE
# A mark counts in brackets, or behind a line of dots: "3分" in a sentence may be anything.
_BRACKET = re.compile(
    rf"[（(【\[]((?:[^（(【\[）)】\]]{{0,150}}?[^\d.])??){_MARK}[\s.．。]{{0,3}}(?:[）)】\]]|(?=\n|$))",
    _FLAGS,
)
_DOTS = re.compile(
    r"(?:…|(?<!\.)\.{3,}+|(?<!·)·{3,}+|(?<!-)-{3,}+|(?<!—)—{2,}+|\\[cl]?dots)[…·.。\s$-]{0,40}+"
    rf"[（(]?\s{{0,3}}{_MARK}\s{{0,3}}[）)]?",
    _FLAGS,
)
_SUB = re.compile(
    r"(?:^|[\n。．.；;）)\s]|【解答】)[^\S\n]{0,4}[（(]\s?(\d{1,2}|[IV]{1,4}|[Ⅰ-Ⅵ])\s?[）)](?!\s?分)"
)
_ROMAN = {name: place for place, name in enumerate(("I", "II", "III", "IV", "V", "VI"), start=1)}
_ROMAN |= {name: place for place, name in enumerate("ⅠⅡⅢⅣⅤⅥ", start=1)}
_LABEL = re.compile(
    r"(?:^|[\n。．；)）])\s{0,10}(?:(第.{1,2}问)|([^\s\d（(①-⑩，。；：:]{2,8}))\s{0,4}"
    rf"[（(]\s{{0,3}}{_MARK}\s{{0,3}}[）)](?(2)(?=\s{{0,3}}[：:①]))"
)
_HEAD = re.compile(
    rf"\s{{0,4}}[（(【\[]\s{{0,3}}(?:共|本题|满分)?{_MARK}\s{{0,3}}[）)】\]]", _FLAGS
)
_EACH = re.compile(
    r"每\s?(?:答|译|写|列)?\s?(?:出|对)?\s?[一1]?\s?(?:点|处|空|个|条|项|问|小题|错)"
    rf"[^\d\n，。；,;（(]{{0,8}}{_MARK}"
)
_UP_TO = re.compile(rf"(?:给?满|最多|不超过)\s{{0,3}}(?:给|得|计)?\s{{0,3}}{_MARK}")
_ANY = re.compile(
    r"任\s?(?:意|选|答|写|举)?\s?(?:出|对)?\s?([一两二三四五六1-6])\s?(?:点|个|条|项|处)"
)
_CHOICE = re.compile(rf"([A-G])\s{{0,2}}项?[，,]?\s{{0,3}}(?:给|得)?\s{{0,3}}{_MARK}")
_CIRCLED = re.compile("[①-⑩]")
_ANSWER = re.compile(r"^\s{0,4}【(?:答案|解答)】")
_LINE_NUMBER = re.compile(r"^\s{0,4}\d{1,2}\s{0,2}[.．、:：]")
_TESTED = re.compile(r"[\s，,．.。]{0,3}考查")
_EDGES = " \t\r\n　，,。；;：:．.、…·-—"
_HAN = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5}
_HAN |= {"l": 1, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rubric to be read by a person; *adds_up* when it gives exactly the full marks."""

    rubric: RubricLines
    basis: str  # where the marks stand: key, analysis, question or parts
    adds_up: bool


@dataclass(slots=True)
class _Found:
    """Points and groups as they are met."""

    points: list[ScoringPoint] = field(default_factory=list)
    groups: list[PointGroup] = field(default_factory=list)

    def add(self, text: str, points: Decimal, sub: int, group: int | None = None) -> None:
        if points > 0 and (text := _tidy(text)):
            self.points.append(ScoringPoint(text, points, sub, group))


def propose(
    *, key: str, analysis: str, question: str, sub_marks: Sequence[Decimal]
) -> Proposal | None:
    """A draft from the marks in *key*, else *analysis*, else "N points each" in *question*.

    Of several that are possible the first that adds up to *sub_marks* (full
    marks per sub-question, in points) is taken, else the first. None where no
    mark is written.
    """
    possible = [
        Proposal(rubric, basis, reachable(rubric) == sum(sub_marks, Decimal(0)))
        for basis, rubric in (
            ("key", _from_marks(key[:MOST_TEXT], sub_marks)),
            ("analysis", _from_marks(analysis[:MOST_TEXT], sub_marks)),
            ("question", _from_lines(question[:MOST_TEXT], key[:MOST_TEXT], sub_marks)),
        )
        if rubric.points
    ]
    return next((one for one in possible if one.adds_up), possible[0] if possible else None)


def _from_marks(text: str, sub_marks: Sequence[Decimal]) -> RubricLines:
    found = _Found()
    parts = list(_parts(text))
    numbered = parts[-1][0] == len(sub_marks)
    for number, body in parts:
        _read_part(body, max(number, 1) if numbered else 1, found)
    return RubricLines(tuple(_uncounted(found, sub_marks)), tuple(found.groups))


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """The sub-questions with their numbers; 0 for what stands before the first.

    Only the next number begins one: "(1)" in the middle of a proof does not.
    """
    number, start = 0, 0
    for head in _SUB.finditer(text):
        if (_ROMAN.get(head[1]) or _arabic(head[1])) == number + 1:
            yield number, text[start : head.start()]
            number, start = number + 1, head.end()
    yield number, text[start:]


def _arabic(written: str) -> int:
    return int(written) if written.isdigit() else 0


def _read_part(body: str, sub: int, found: _Found) -> None:
    """One sub-question: its own mark at its head, then passages with a mark before each."""
    full = None
    if head := _HEAD.match(body):
        full, body = _value(head[1]), body[head.end() :]
    labels = list(_LABEL.finditer(body))
    if not labels:
        _read_passage("", body, full, sub, found)
        return
    _read_passage("", body[: labels[0].start()], None, sub, found)
    for label, after in zip(labels, [*labels[1:], None], strict=True):
        passage = body[label.end() : after.start() if after else len(body)]
        _read_passage(label[1] or label[2], passage, _value(label[3]), sub, found)


def _read_passage(label: str, text: str, full: Decimal | None, sub: int, found: _Found) -> None:
    """The points of *text*, of which *full* marks can be had where that is written."""
    choices = list(_CHOICE.finditer(text))
    if each := _EACH.search(text):
        _read_each(text, each, full, sub, found)
    elif len(choices) >= 2:
        _read_choices(choices, full, sub, found)
    elif marks := _marks(text):
        for words, value in marks:
            found.add(words, value, sub)
    elif full is not None:
        found.add(f"{label} {text}", full, sub)


def _read_each(
    text: str, each: re.Match[str], full: Decimal | None, sub: int, found: _Found
) -> None:
    """The items before "N for each"; a group where not all of them can count."""
    value = _value(each[1])
    before = text[: each.start()].rstrip("（(【[ \n")
    items = _CIRCLED.split(before)[1:] or re.split("[；;]", before)
    up_to = _UP_TO.search(text, each.end())
    limit = _value(up_to[1]) if up_to else full
    some = _ANY.search(text)
    choose = int(_value(some[1])) if some else None
    most = value * min(len(items), choose or len(items))
    group = None
    if (choose and choose < len(items)) or (limit is not None and 0 < limit < most):
        found.groups.append(PointGroup(min(limit or most, most), "", sub, choose))
        group = len(found.groups)
    for item in items:
        found.add(item, value, sub, group)


def _read_choices(
    choices: Sequence[re.Match[str]], full: Decimal | None, sub: int, found: _Found
) -> None:
    """ "Mark D 3, C 2, B 1": two choices are asked for, so the best two count."""
    values = [_value(choice[2]) for choice in choices]
    group = None
    if len(values) > 2:
        best = sum(sorted(values, reverse=True)[:2], Decimal(0))
        found.groups.append(PointGroup(min(full or best, best), "", sub, 2))
        group = len(found.groups)
    for choice, value in zip(choices, values, strict=True):
        found.add(f"答 {choice[1]}", value, sub, group)


def _marks(text: str) -> list[tuple[str, Decimal]]:
    """Each mark with the words that it is for: those in its brackets, else those before it."""
    marks = sorted([*_BRACKET.finditer(text), *_DOTS.finditer(text)], key=re.Match.start)
    result: list[tuple[str, Decimal]] = []
    end = 0
    for mark in marks:
        if mark.start() < end:
            continue  # both ways match "……（5分）"
        inside = mark[1] if mark.re is _BRACKET else ""
        before = text[end : mark.start()]
        result.append((_tidy(inside) or before, _value(mark[mark.lastindex or 1])))
        end = mark.end()
    return result


def _uncounted(found: _Found, sub_marks: Sequence[Decimal]) -> list[ScoringPoint]:
    """Marks that are counted up to the full marks as what each step gives."""
    values = [point.points for point in found.points]
    full = sum(sub_marks, Decimal(0))
    rising = all(low < high for low, high in pairwise(values))
    counted = len(values) > 1 and rising and values[-1] == full and sum(values) != full
    if found.groups or not counted:
        return found.points
    steps = [high - low for low, high in zip([Decimal(0), *values], values, strict=False)]
    return [replace(point, points=step) for point, step in zip(found.points, steps, strict=True)]


def _from_lines(question: str, key: str, sub_marks: Sequence[Decimal]) -> RubricLines:
    """One point a line of the key, where the question says "N points each" and that adds up."""
    each = _EACH.search(question)
    full = sum(sub_marks, Decimal(0))
    lines = [line for line in _ANSWER.sub("", key).splitlines() if line.strip()]
    numbered = [line for line in lines if _LINE_NUMBER.match(line)]
    lines = numbered or lines
    if each is None or len(sub_marks) != 1 or len(lines) * _value(each[1]) != full:
        return RubricLines()
    found = _Found()
    for line in lines:
        answer = _TESTED.split(_LINE_NUMBER.sub("", line))[0]  # "years. It tests the plural"
        found.add(answer, _value(each[1]), 1)
    return RubricLines(tuple(found.points))


def _value(written: str) -> Decimal:
    return Decimal(_HAN.get(written.lower(), written))


def _tidy(text: str) -> str:
    """On one line, without the signs that stood between it and its mark."""
    words = " ".join(text.split()).strip(_EDGES)
    return words if len(words) <= LONGEST_POINT else "…" + words[1 - LONGEST_POINT :]
