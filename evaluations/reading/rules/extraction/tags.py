"""Marked fields for an answer: 【答案】…<eoa>, <answer>…</answer>, \\boxed{…}."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from evaluations.reading.rules.extraction.patterns import for_letters
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
# Searching for one of a few characters is much faster than trying the tags everywhere.
_TAG_START = re.compile(r"[【\[<\\]")
# A tag in an example or in a repeated instruction is not the answer.
_EXAMPLE = re.compile(
    r"(?:例如?|比如|形如|格式为?|e\.g\.|for example)\s{0,2}[:,\"'(]{0,3}\s?\Z", re.I
)
_PLACEHOLDER = re.compile(r"[\s.…_—-]*[.…_][\s.…_—-]*")
_CONTENT_END = re.compile(rf"{FIELD_END}|【|</")
_INSIDE_END = re.compile(r"[】\]>]")
_BOXED_LIMIT = 200
# An answer right before its tag: with its number, or alone on its line.
_LETTER = r"[ ]{0,3}[(\[\"]?[LETTERS][)\]\"]?[ ]?[.。、,:;]?"
_NUMBERED = (
    r"(?:\A|(?<=[\s;,。)】]))(?:[(\[]\s?\d{1,3}\s?[)\]]|第\s?\d{1,3}\s?小?题|\d{1,3}\s?[.、:)]"
    r"|(?:(?<=\n)|(?<!.))\d{2,3}[ ])[.、:]?"
    rf"{_LETTER}(?P<words>(?:[ ][a-z'’-]{{1,20}}){{1,5}})?[ ]{{0,3}}\Z"
)
_ALONE = rf"(?:\A|\n){_LETTER}[ \n]{{0,3}}\Z"
# The longest answer before its tag: "第41小题 (D) look forward to".
_LONGEST_ANSWER = 60
# Only the last fields of an output are read: they decide, and more than this are noise.
MOST_TAGS = 150


@dataclass(frozen=True, slots=True)
class Tag:
    """A field for the answer: the start of its tag, and its content.

    ``closed``: the content has its own end mark, so all of it belongs to the answer.
    """

    start: int
    content_start: int
    content_end: int
    closed: bool
    boxed: bool


def find_tags(text: str) -> list[Tag]:
    """Return the last ``MOST_TAGS`` answer fields of *text* in order, without examples."""
    matches: deque[re.Match[str]] = deque(maxlen=MOST_TAGS)
    position = 0
    while found := _TAG_START.search(text, position):
        match = _TAG.match(text, found.start())
        position = match.end() if match else found.end()
        if match:
            matches.append(match)
    limits = [*[match.start() for match in matches][1:], len(text)]
    tags = (_tag(text, match, limit) for match, limit in zip(matches, limits, strict=False))
    return [
        tag
        for tag in tags
        if not _EXAMPLE.search(text[max(0, tag.start - 16) : tag.start])
        and not _PLACEHOLDER.fullmatch(text[tag.content_start : tag.content_end])
    ]


def without_labels(source: SourceText, letters: str) -> SourceText:
    """Remove the tags that follow their answer from *source*: "41. D 【答案】" is "41. D".

    Such a tag is on the line of a number with a letter, or every tag of the text
    follows a letter that is alone on its line, and has no content.
    """
    tags = [tag for tag in find_tags(source.text) if not tag.boxed]
    numbered, alone = for_letters(_NUMBERED, letters), for_letters(_ALONE, letters)
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


def _tag(text: str, match: re.Match[str], limit: int) -> Tag:
    start = match.end()
    if match["boxed"]:
        depth, end = 1, start
        limit = min(start + _BOXED_LIMIT, len(text))
        while end < limit and (depth := depth + {"{": 1, "}": -1}.get(text[end], 0)):
            end += 1
        return Tag(match.start(), start, end, True, True)
    if match["inside"]:
        ending = _INSIDE_END.search(text, start, limit)
        return Tag(match.start(), start, ending.start() if ending else limit, True, False)
    ending = _CONTENT_END.search(text, start, limit)
    end = ending.start() if ending else limit
    return Tag(match.start(), start, end, bool(ending) and text[end] != "【", False)
