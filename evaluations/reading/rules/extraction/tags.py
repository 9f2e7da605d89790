"""The marked fields for an answer: 【答案】…<eoa>, <answer>…</answer>, \\boxed{…}."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from evaluations.reading.rules.extraction.source_text import FIELD_END, SourceText

_NAME = (
    r"(?:最终|正确|参考|标准|本题|我的|你的)?(?:答案|答|正确选项)"
    r"|(?:final[ _]?|correct |my |your )?(?:answer|答案)"
)
_TAG = re.compile(
    rf"[【\[<]\s{{0,2}}(?:{_NAME})\s{{0,2}}"
    r"(?:[】\]>]\s{0,2}[:=]?|(?P<inside>(?:是|为|选|:|=){1,2})(?=[^】\]>\n]{1,40}[】\]>]))"
    r"|(?P<boxed>\\f?boxed\s?\{)",
    re.IGNORECASE,
)
# Looking for one of a few characters is much faster than trying the tags everywhere.
_TAG_START = re.compile(r"[【\[<\\]")
# A tag in an example or in a repeated instruction is not the answer.
_EXAMPLE = re.compile(
    r"(?:例如?|比如|形如|格式为?|e\.g\.|for example)\s{0,2}[:,\"'(]{0,3}\s?\Z", re.I
)
_PLACEHOLDER = re.compile(r"[\s.…_—-]*[.…_][\s.…_—-]*")
_CONTENT_END = re.compile(rf"{FIELD_END}|【|</")
_INSIDE_END = re.compile(r"[】\]>]")
_BOXED_LIMIT = 200
# "第41小题 (D) look forward to": how far an answer before its tag reaches.
_LONGEST_ANSWER = 60
# The end of an output decides; one with more fields than this is noise.
MOST_TAGS = 150


@dataclass(frozen=True, slots=True)
class Tag:
    """A field for the answer: where its tag begins, and its content.

    ``closed``: the content has an end mark of its own, so all of it is meant.
    """

    start: int
    content_start: int
    content_end: int
    closed: bool
    boxed: bool


def find_tags(text: str) -> list[Tag]:
    """The last ``MOST_TAGS`` answer fields of *text* in order, no examples and placeholders."""
    matches = list(deque(_tags(text), maxlen=MOST_TAGS))
    limits = [match.start() for match in matches[1:]] + [len(text)]
    tags = (_tag(text, match, limit) for match, limit in zip(matches, limits, strict=False))
    return [tag for tag in tags if _is_meant(text, tag)]


def without_labels(source: SourceText, letters: str) -> SourceText:
    """*source* without the tags that follow their answer: "41. D 【答案】" is "41. D".

    Such a tag stands on the line of a number with a letter, or every tag of the text
    has a letter before it that is alone on its line, and nothing behind it.
    """
    tags = [tag for tag in find_tags(source.text) if not tag.boxed]
    numbered, alone = _answers_before(letters)
    edits, others = [], []
    for tag in tags:
        left = source.text[max(0, tag.start - _LONGEST_ANSWER) : tag.start]
        line = source.text[tag.start : tag.content_end].partition("\n")[0]
        empty = not line[tag.content_start - tag.start :].strip(f" {FIELD_END}")
        answer = numbered.search(left)
        if answer and (empty or not answer["words"]):
            edits.append((tag.start, tag.content_start, "\n"))
        elif empty and alone.search(left):
            others.append((tag.start, tag.content_start, "\n"))
    return source.edited(edits or (others if len(others) == len(tags) else []))


@lru_cache(maxsize=64)
def _answers_before(letters: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What an answer looks like right before its tag: with its number, or alone on its line."""
    letter = rf"[ ]{{0,3}}[(\[\"]?[{re.escape(letters)}][)\]\"]?[ ]?[.。、,:;]?"
    number = (
        r"(?:\A|(?<=[\s;,。)】]))(?:[(\[]\s?\d{1,3}\s?[)\]]|第\s?\d{1,3}\s?小?题|\d{1,3}\s?[.、:)]"
        r"|(?:(?<=\n)|(?<!.))\d{2,3}[ ])[.、:]?"
    )
    return (
        re.compile(rf"{number}{letter}(?P<words>(?:[ ][a-z'’-]{{1,20}}){{1,5}})?[ ]{{0,3}}\Z"),
        re.compile(rf"(?:\A|\n){letter}[ \n]{{0,3}}\Z"),
    )


def _tags(text: str) -> Iterator[re.Match[str]]:
    position = 0
    while found := _TAG_START.search(text, position):
        match = _TAG.match(text, found.start())
        position = match.end() if match else found.end()
        if match:
            yield match


def _tag(text: str, match: re.Match[str], limit: int) -> Tag:
    start = match.end()
    if match["boxed"]:
        return Tag(match.start(), start, _closing_brace(text, start), True, True)
    if match["inside"]:
        ending = _INSIDE_END.search(text, start, limit)
        return Tag(match.start(), start, ending.start() if ending else limit, True, False)
    ending = _CONTENT_END.search(text, start, limit)
    end = ending.start() if ending else limit
    return Tag(match.start(), start, end, bool(ending) and text[end] != "【", False)


def _closing_brace(text: str, start: int) -> int:
    depth = 1
    for position in range(start, min(start + _BOXED_LIMIT, len(text))):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return position
    return min(start + _BOXED_LIMIT, len(text))


def _is_meant(text: str, tag: Tag) -> bool:
    before = text[max(0, tag.start - 16) : tag.start]
    content = text[tag.content_start : tag.content_end]
    return not _EXAMPLE.search(before) and not _PLACEHOLDER.fullmatch(content)
