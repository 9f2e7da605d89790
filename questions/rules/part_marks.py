"""The sub-questions of an item and the full marks of each, read from the text of the item.

A sub-question begins with the next number of one run: "（1）… （2）…", "(I) … (II) …", or
"7．… 8．…" in Chinese papers. Its full marks are those that stand in it ("（8分）",
"(8 points)", "8 marks", "每空2分"); where the question is silent, those that stand in the part
of the key with the same number. Parts whose marks do not add up to the full marks of the item
give no rubric. Marks that no text states are divided evenly only where a person asks for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from questions.rules.rubric import RubricLines, ScoringPoint

MOST_TEXT = 50_000
MOST_PARTS = 20
LONGEST_LABEL = 90

_ROMAN = {name: place for place, name in enumerate(("I", "II", "III", "IV", "V", "VI"), start=1)}
_ROMAN |= {name: place for place, name in enumerate("ⅠⅡⅢⅣⅤⅥ", start=1)}
_HEADS = (
    # A bracketed number; "（2分）" has no closing bracket behind the number.
    re.compile(
        r"(?<![^\s。．.；;：:，,、？?！!）)】\]}])[（(]\s{0,2}(\d{1,2})\s{0,2}[）)](?!\s?分[\s，。；）)])"
    ),
    re.compile(
        r"(?<![^\s。．.；;：:，,、？?！!）)】\]}])[（(]\s{0,2}([IV]{1,3}|[Ⅰ-Ⅵ])\s{0,2}[）)]"
    ),
    # "7．" of Chinese papers, at the start of a line or behind the end of a sentence.
    re.compile(r"(?:^|(?<=[\n。？?！!）)]))[ \t　]{0,6}(\d{1,2})\s{0,2}[．.、](?!\d)"),
)
_VALUE = r"(\d{1,2}(?:\.5)?)"
_UNIT = r"\s{0,2}(?:分|marks?\b|points?\b|pts?\b)"
_MARKS = re.compile(
    rf"[（(\[【〔]\s{{0,3}}(?:共|本小题|本题|满分|小题满分|本小题满分|total:?)?\s{{0,3}}{_VALUE}{_UNIT}"
    rf"\s{{0,3}}[）)\]】〕]",
    re.IGNORECASE,
)
_BARE_MARKS = re.compile(rf"(?:^|[\s,;(]){_VALUE}\s(?:marks|points)\b", re.IGNORECASE)
_EACH_BLANK = re.compile(rf"每(?:个)?空\s{{0,2}}{_VALUE}\s{{0,2}}分")
_BLANK = re.compile(
    r"[_＿]{2,}(?:\s{0,2}\d{1,2}\s{0,2}[_＿]{1,})?|[　 \xa0]{3,}(?=[。．，,；;、\n]|$)"
)


# Papers print the heading of the next section behind the last sub-question.
_NEXT_SECTION = re.compile(r"[（(][一二三四][)）]\s{0,3}[选必]考题|[\[［【]\s{0,3}选修")


class PartsOutcome(StrEnum):
    """What was found out about the sub-questions of an item."""

    NO_PARTS = "no_parts"
    NO_MARKS = "no_marks"  # parts, and no marks at any
    SOME_MARKS = "some_marks"  # marks at some of the parts, and the rest is not one part alone
    WRONG_SUM = "wrong_sum"  # marks at every part, and they do not come to the full marks
    ADDS_UP = "adds_up"
    REST = "rest"  # one part has no marks; it gets what is left of the full marks
    BLANKS = "blanks"  # no marks, and as many blanks as points: one point for each
    DIVIDED = "divided"  # a person asked for what no text says to be divided evenly


ADDING_UP = frozenset(
    {PartsOutcome.ADDS_UP, PartsOutcome.REST, PartsOutcome.BLANKS, PartsOutcome.DIVIDED}
)


@dataclass(frozen=True, slots=True)
class Part:
    """One sub-question: its number as it is written, what it asks, its full marks in points."""

    label: str
    text: str
    marks: Decimal | None

    @property
    def wording(self) -> str:
        """The scoring point of this part: its number and the beginning of what it asks."""
        return _shortened(f"{self.label} {self.text}".strip())


@dataclass(frozen=True, slots=True)
class ItemParts:
    """The sub-questions of an item; *parts* carry the marks that were found or proposed."""

    outcome: PartsOutcome
    parts: tuple[Part, ...] = ()

    @classmethod
    def none(cls) -> ItemParts:
        """An item without sub-questions."""
        return cls(PartsOutcome.NO_PARTS)

    @property
    def total(self) -> Decimal:
        """The sum of the marks that are known, in points."""
        return sum((part.marks for part in self.parts if part.marks is not None), Decimal(0))

    @property
    def adds_up(self) -> bool:
        """Whether every part has its marks and they come to the full marks."""
        return self.outcome in ADDING_UP

    @property
    def rubric(self) -> RubricLines:
        """One scoring point for each part; empty where the parts do not add up."""
        if not self.adds_up:
            return RubricLines()
        points = (ScoringPoint(part.wording, part.marks or Decimal(0)) for part in self.parts)
        return RubricLines(tuple(points))


def item_parts(*, question: str, key: str, analysis: str, full_marks: Decimal) -> ItemParts:
    """The sub-questions of an item worth *full_marks* points, with the marks of each.

    Of several runs of numbers in the question (bracketed, Roman, bare) the first whose
    marks add up is taken, else the first run that there is.
    """
    found = [
        _weighed(run, key[:MOST_TEXT], analysis[:MOST_TEXT], full_marks)
        for run in _runs(question[:MOST_TEXT])
    ]
    fitting = next((one for one in found if one.adds_up), None)
    return fitting or (found[0] if found else ItemParts.none())


def divided_evenly(parts: ItemParts, full_marks: Decimal) -> ItemParts:
    """*parts* with what no text says divided among the parts without marks, in whole points.

    Later parts get the points that are left over. Comes back unchanged where every part has
    its marks, or where what is left gives no part a whole point.
    """
    missing = [place for place, part in enumerate(parts.parts) if part.marks is None]
    left = full_marks - parts.total
    if not missing or left < len(missing):
        return parts
    share, over = divmod(left, len(missing))
    given = list(parts.parts)
    for number, place in enumerate(reversed(missing)):
        more = min(max(over - number, Decimal(0)), Decimal(1))
        given[place] = replace(given[place], marks=share + more)
    return ItemParts(PartsOutcome.DIVIDED, tuple(given))


def _runs(question: str) -> list[list[tuple[str, str]]]:
    """Every kind of numbering in *question*: (number as written, text behind it) part by part.

    Of one kind the longest run counts, of equally long ones the last: material often has
    numbers too, and the sub-questions stand behind it.
    """
    runs = []
    for bare, pattern in enumerate(_HEADS, start=-2):
        heads = list(pattern.finditer(question))
        places: dict[int, list[int]] = {}
        for place, head in enumerate(heads):
            places.setdefault(_number(head[1]), []).append(place)
        best: list[re.Match[str]] = []
        for place, head in enumerate(heads):
            number = _number(head[1])
            if bare and number != 1:
                continue
            run = [heads[one] for one in _following(places, place, number)]
            if len(run) >= max(2, len(best)):
                best = run
        if best:
            ends = [*(head.start() for head in best[1:]), len(question)]
            parts = [
                (head[0].strip(), _NEXT_SECTION.split(question[head.end() : end])[0])
                for head, end in zip(best, ends, strict=True)
            ]
            runs.append((best[0].start(), parts))
    return [parts for _start, parts in sorted(runs, key=lambda run: run[0])]


def _following(places: Mapping[int, Sequence[int]], place: int, number: int) -> Iterator[int]:
    """Yield *place*, that of *number*, and those of the next numbers, each the first behind."""
    for after in range(number + 1, number + MOST_PARTS + 1):
        yield place
        same = places.get(after, ())
        at = bisect_right(same, place)
        if at == len(same) or after == number + MOST_PARTS:
            return
        place = same[at]


def _number(written: str) -> int:
    return _ROMAN.get(written) or int(written)


def _weighed(
    run: Sequence[tuple[str, str]], key: str, analysis: str, full_marks: Decimal
) -> ItemParts:
    """The parts of *run* with their marks, and what they come to."""
    marks = [_marks_in(text) for _label, text in run]
    if None in marks:
        elsewhere = [_marks_by_number(text, len(run)) for text in (key, analysis)]
        marks = next((one for one in elsewhere if one and None not in one), marks)
    missing = [place for place, one in enumerate(marks) if one is None]
    known = sum((one for one in marks if one is not None), Decimal(0))
    if len(missing) == len(run):
        outcome = PartsOutcome.NO_MARKS
        blanks = [len(_BLANK.findall(text)) for _label, text in run]
        if all(blanks) and sum(blanks) == full_marks:
            marks, outcome = [Decimal(number) for number in blanks], PartsOutcome.BLANKS
    elif known > full_marks or (known == full_marks) == bool(missing):
        outcome = PartsOutcome.WRONG_SUM
    elif len(missing) == 1:
        marks[missing[0]], outcome = full_marks - known, PartsOutcome.REST
    else:
        outcome = PartsOutcome.SOME_MARKS if missing else PartsOutcome.ADDS_UP
    parts = (Part(label, _plain(text), own) for (label, text), own in zip(run, marks, strict=True))
    return ItemParts(outcome, tuple(parts))


def _marks_by_number(text: str, parts: int) -> list[Decimal | None]:
    """The marks in each part of a key that has the same number of parts; else nothing."""
    same = next((run for run in _runs(text) if len(run) == parts), None)
    return [_marks_in(body) for _label, body in same] if same else []


def _marks_in(text: str) -> Decimal | None:
    """The full marks of one part: the mark at its head, else the sum of its marks."""
    found = [(mark.start(), Decimal(mark[1])) for mark in _MARKS.finditer(text)]
    if not found:
        found = [(mark.start(), Decimal(mark[1])) for mark in _BARE_MARKS.finditer(text)]
    if found:
        at, first = found[0]
        rest = sum((value for _at, value in found[1:]), Decimal(0))
        at_head = not text[:at].strip()
        return first if at_head and rest in (0, first) else first + rest
    if (each := _EACH_BLANK.search(text)) and (blanks := len(_BLANK.findall(text))):
        return Decimal(each[1]) * blanks
    return None


def _plain(text: str) -> str:
    """What a part asks, on one line, without its marks."""
    return " ".join(_MARKS.sub(" ", text).split())


def _shortened(text: str) -> str:
    """*text* in LONGEST_LABEL characters or less, never cut inside a formula."""
    if len(text) <= LONGEST_LABEL:
        return text
    cut = text[:LONGEST_LABEL]
    if cut.count("$") % 2:
        cut = cut[: cut.rindex("$")]
    return cut.rstrip() + "…"
