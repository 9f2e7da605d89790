"""Answers of items with blanks: one text per blank, in the order of the blanks.

Answers may be numbered (from 1, or as in the paper), separated by semicolons, lines,
commas or "and", or in boxes or fields of their own. A gap costs one blank; answers
that cannot be assigned to blanks are ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from evaluations.reading.rules.extraction import answer_texts as found_in
from evaluations.reading.rules.extraction.mathematics import (
    Answer,
    answer_of,
    is_mathematical,
    read_mathematics,
)
from evaluations.reading.rules.extraction.patterns import refuses
from evaluations.reading.rules.extraction.reading import Extraction, Span, unread
from evaluations.reading.rules.extraction.source_text import formula_source
from evaluations.statistics.outcomes import ReadingOutcome

READER_VERSION = "exact-3"

_HAN = "一二三四五六七八九十"
_MARKER = re.compile(
    r"(?:\A|(?<=[\s;,。:.、】>{\]\x1e]))"
    r"(?:\((?P<bracket>\d{1,2})\)|(?P<circled>[①-⑩])(?!\s?[①-⑩])"
    rf"|第\s?(?P<ordinal>[{_HAN}]|\d{{1,2}})\s?个?(?:空|问|小?题)|空\s?\(?(?P<kong>\d{{1,2}})\)?"
    r"|(?:blank|gap|part|answer|question)\s?[#(]?(?P<word>\d{1,2})\)?"
    r"|(?P<plain>\d{1,2})[.、)](?![\d.]))"
    r"\s{0,2}(?:答案)?(?:(?:应?为|是|填|:|=|\.|、|is(?![a-z])|->|→)\s{0,2}){0,2}",
    re.IGNORECASE,
)
_GLUED = re.compile(r"(?:\((?P<bracket>\d{1,2})\)|(?P<circled>[①-⑩]))\s{0,2}[:=]?")
_AND = re.compile(r"(?<=[\s$\d)}])(?:and|和|与|及)(?=[\s$\d(\\-])")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_PROSE = re.compile(r"[。\n].|(?<![\\A-Za-z])[A-Za-z]{3,}")
_MOST_MARKERS = 60


Row = list[Answer | None]


def read_exact_answer(output: str, parts: int, *, truncated: bool = False) -> Extraction:
    """Read *parts* answers in words or formulas from the last 20,000 characters of *output*.

    *truncated*: the model stopped at its token limit; then an answer at the very end
    counts only if its end is marked.
    """
    source = formula_source(output)
    text = source.text
    row: Row | None = [read_mathematics(text)] if parts == 1 else read_blanks(text, parts)
    if row is None or not any(row):
        if truncated:
            return unread(ReadingOutcome.TRUNCATED, parts)
        refused = refuses(text)
        missing = ReadingOutcome.NO_ANSWER if row is not None else ReadingOutcome.AMBIGUOUS
        return unread(ReadingOutcome.REFUSED if refused else missing, parts)
    last = max((answer for answer in row if answer), key=lambda answer: answer.end)
    if truncated and not last.closed and not text[last.end :].strip(" \n"):
        return unread(ReadingOutcome.TRUNCATED, parts)
    if all(answer is None or answer.confidence < 0.8 for answer in row) and refuses(text):
        return unread(ReadingOutcome.REFUSED, parts)
    read = [answer for answer in row if answer]
    return Extraction(
        answers=tuple(answer.text if answer else None for answer in row),
        outcome=ReadingOutcome.READ,
        method=read[0].pattern,
        pattern=f"exact.{read[0].pattern}",
        spans=tuple(source.span(answer.start, answer.end) if answer else None for answer in row),
        confidence=min(answer.confidence for answer in read),
    )


def read_blanks(text: str, parts: int) -> Row | None:
    """Read one answer or gap per blank; None if there are answers that cannot be assigned."""
    for read in (_boxes, _fields, _phrases, _numbered_text, _last_lines, _whole):
        row = read(text, parts)
        if row and any(row):
            return row
    return [None] * parts if read_mathematics(text) is None else None


def _boxes(text: str, parts: int) -> Row | None:
    boxed = found_in.boxes(text)
    if not boxed:
        return None
    last = boxed[-1]
    row = _cut(text, last.start, last.end, parts, "boxed", closed=True)
    divided = row is not None and ";" in text[last.start : last.end]
    if not divided and len(boxed) >= parts:
        row = [
            answer_of(text[box.start : box.end], box.start, box.end, "boxed", closed=True)
            for box in boxed[-parts:]
        ]
    return row


def _fields(text: str, parts: int) -> Row | None:
    fields = found_in.fields(text)
    if not fields:
        return None
    last = fields[-1]
    row = _cut(text, last.start, last.end, parts, "tag", closed=last.closed)
    if row is None and len(fields) == parts:
        row = [read_mathematics(text, place.start, place.end) for place in fields]
    return row


def _phrases(text: str, parts: int) -> Row | None:
    """Read the last "the answers are ...": its sentence, or the lines from there on."""
    found = found_in.phrases(text)
    if len(found) >= parts and not _cut(text, found[-1].start, found[-1].end, parts, "answer_is"):
        numbered = _numbered_text(text, parts)
        if numbered and all(numbered):
            return numbered
    for passage in reversed(found[-6:]):
        row = _cut(text, passage.start, passage.end, parts, "answer_is")
        if row:
            return row
        stop = min(len(text), passage.start + found_in.MOST_CHARACTERS)
        row = _cut(text, passage.start, stop, parts, "answer_is")
        if row and all(row):
            return row
    return None


def _whole(text: str, parts: int) -> Row | None:
    if len(text.strip()) > found_in.MOST_CHARACTERS:
        return None
    row = _cut(text, 0, len(text), parts, "whole")
    if row and all(answer and is_mathematical(answer.text) for answer in row):
        return row
    line = text.strip()
    short = len(line) <= 200 and not re.search(
        r"[。\n].|(?<![\\a-z])[a-z]{3,}", line, re.IGNORECASE
    )
    return row if short else None


def _last_lines(text: str, parts: int) -> Row | None:
    """Read the last sentence ("so they are 5 and 10"), else the last line."""
    line = text.rstrip().rpartition("\n")[2]
    start = len(text.rstrip()) - len(line)
    passages = [(p.start, p.end, p.pattern) for p in found_in.conclusions(text)]
    for passage in (*passages, (start, start + len(line), "lone_line")):
        row = _cut(text, passage[0], passage[1], parts, passage[2])
        if row and all(answer and is_mathematical(answer.text) for answer in row):
            return row
    return None


def _numbered_text(text: str, parts: int) -> Row | None:
    """Read the text of each numbered blank like an output."""
    slots = _slots(text, 0, len(text), parts)
    if slots is None:
        return None
    return [read_mathematics(text, *slot) if slot else None for slot in slots]


def _cut(
    text: str, start: int, end: int, parts: int, pattern: str, *, closed: bool = False
) -> Row | None:
    """Read a passage as *parts* answers, by its numbers or its separators."""
    row: Row = []
    for slot in _slots(text, start, end, parts) or _first_slot(text, start, end, parts) or []:
        answer = None
        if slot:
            content = text[slice(*slot)].strip()
            # Of a text with several sentences or lines: the answer that its reasoning ends with.
            if "\n" in content or len(content) > 60 or re.search(r"。.", content):
                answer = read_mathematics(text, *slot)
            if answer:
                answer = Answer(answer.text, answer.start, answer.end, pattern, closed)
            else:
                answer = answer_of(text[slice(*slot)], *slot, pattern, closed=closed)
        row.append(answer)
    if any(row):
        return row
    places = _divided(text, start, end, parts)
    if places is None:
        return None
    row = [answer_of(text[a:b], a, b, pattern, closed=closed) for a, b in places]
    return row if all(row) else None


def _slots(text: str, start: int, end: int, parts: int) -> list[Span | None] | None:
    """Return the place of the text of each numbered blank; None if the numbers do not fit."""
    markers = list(_MARKER.finditer(text, start, end))[-_MOST_MARKERS:]
    run = _last_run([(_number(match), match) for match in markers], parts)
    if not run:  # "(1)5(2)7": numbers without a space before them that begin the passage and fit
        glued = list(_GLUED.finditer(text, start, end))[: parts + 1]
        counted = [_number(match) for match in glued]
        begins = bool(glued) and not text[start : glued[0].start()].strip()
        if not begins or counted != list(range(counted[0], counted[0] + parts)):
            return None
        run = list(zip(counted, glued, strict=True))
    numbers = [number for number, _ in run]
    first = 1 if numbers[0] <= parts and numbers[-1] <= parts else numbers[0]
    if first > 1 and numbers != list(range(first, first + parts)):
        return None
    places: list[Span | None] = [None] * parts
    ends = [match.start() for _, match in run[1:]] + [end]
    for (number, match), stop in zip(run, ends, strict=True):
        if first <= number < first + parts:
            places[number - first] = (match.end(), max(match.end(), stop))
    return places


def _first_slot(text: str, start: int, end: int, parts: int) -> list[Span | None] | None:
    """Return the place of the only numbered blank, if the passage begins with its number."""
    markers = list(_MARKER.finditer(text, start, end))
    if len(markers) != 1 or markers[0].lastgroup == "plain":
        return None
    if text[start : markers[0].start()].strip():
        return None
    number = _number(markers[0])
    places: list[Span | None] = [None] * parts
    if number <= parts:
        places[number - 1] = (markers[0].end(), end)
    return places


def _last_run(
    markers: Sequence[tuple[int, re.Match[str]]], parts: int
) -> list[tuple[int, re.Match[str]]]:
    """Return the last ascending numbers of one style, at least two; the best fit of all styles."""
    best: list[tuple[int, re.Match[str]]] = []
    # Of equal fits the style that appears first counts: other numbers may be inside its texts.
    for style in reversed(dict.fromkeys(match.lastgroup for _, match in markers)):
        run: list[tuple[int, re.Match[str]]] = []
        for number, match in markers:
            if match.lastgroup != style:
                continue
            run = [*run, (number, match)] if run and number > run[-1][0] else [(number, match)]
            if min(len(run), parts) >= max(2, min(len(best), parts)):
                best = run
    return best


def _number(match: re.Match[str]) -> int:
    written = str(match[match.lastgroup or 0])
    if written.isascii():
        return int(written)
    return _HAN.find(written) + 1 or ord(written) - ord("①") + 1


def _divided(text: str, start: int, end: int, parts: int) -> list[Span] | None:
    """Cut a passage at semicolons, lines, commas or "and", if that gives *parts* pieces."""
    levels: tuple[Callable[[str], list[Span]], ...] = (
        lambda content: _at(content, ";"),
        lambda content: _at(content, "\n"),
        _at_commas,
        lambda content: [match.span() for match in _AND.finditer(content)],
    )
    content = text[start:end].strip("\x1e")
    begin = start + (len(text[start:end]) - len(text[start:end].lstrip("\x1e")))
    for cut in levels:
        cuts = cut(content)
        edges = zip([0, *(b for _, b in cuts)], [*(a for a, _ in cuts), len(content)], strict=True)
        pieces = [(a, b) for a, b in edges if content[a:b].strip(" \n.。,;$:")]
        if len(pieces) == parts:
            return [(begin + a, begin + b) for a, b in pieces]
    return None


def _at(content: str, sign: str) -> list[Span]:
    """Return the places of *sign* outside brackets."""
    depth, places = 0, []
    for position, character in enumerate(content[: found_in.MOST_CHARACTERS]):
        depth = max(depth + (character in "([{") - (character in ")]}"), 0)
        if character in sign and not depth:
            places.append((position, position + 1))
    return places


def _at_commas(content: str) -> list[Span]:
    inside = {place for match in _THOUSANDS.finditer(content) for place in range(*match.span())}
    return [place for place in _at(content, ",、") if place[0] not in inside]
