"""The passages of an output that may contain a mathematical answer.

The most explicit first: boxes and marked fields, "the answer is ...", a conclusion
("so ...", "因此..."), an output that is only its answer, the last formula. All
quantifiers are bounded, so every search takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from evaluations.reading.rules.extraction.source_text import FIELD_END

MOST_CHARACTERS = 2000
# Only the last passages of an output are read: they decide, and more than this are noise.
MOST_PASSAGES = 200
MOST_BOXES = 40
MOST_PHRASES = 30

_BOX = re.compile(r"\\(?:f?boxed|fbox|framebox)(?![A-Za-z])\s{0,2}(\{)?")
_FIELD = re.compile(
    r"[【\[<]\s{0,2}(?:最终|正确|参考|标准|本题|我的)?(?:答案|答)\s{0,2}[】\]>]\s{0,2}[:=]?"
    r"|[<\[【]\s{0,2}(?i:final[ _]?|my )?(?i:answer)\s{0,2}[>\]】]\s{0,2}[:=]?"
)
_FIELD_STOP = re.compile(rf"{FIELD_END}|【|</|<answer|\[answer", re.IGNORECASE)
_EXAMPLE = re.compile(r"(?:例如?|比如|形如|格式为?|e\.g\.|for example)[\s:,\"'(]{0,4}\Z", re.I)
_FILL = (
    r"(?:\s{1,3}(?:therefore|thus|hence|then|simply|just|clearly|indeed|exactly|given by"
    r"|equal to|also|now|approximately|found to be|to this (?:question|problem)))"
)
# Each alternative begins with another character, which makes the search fast.
_PHRASE = re.compile(
    r"(?P<english>[Aa]nswers?|ANSWERS?|[Rr]esults?|[Ss]olutions?)(?![A-Za-z])"
    r"(?i:(?:\s(?:to|of|for)\s[^.。\n=:]{1,60}?)?"
    rf"{_FILL}{{0,2}}\s{{0,2}}(?:(?<![A-Za-z])(?:is|are|equals)(?![A-Za-z])|=|:){_FILL}{{0,3}}"
    r"(?!\s{0,2}not(?![A-Za-z]))\s{0,2}:?)"
    r"|(?:答案|结果)(?:应该?|就|分别|依次|即|也)?(?:是|为|:|=|填)(?:分别|依次)?[为是]?\s{0,2}:?"
    r"|答(?<![问回解作]答):|故填|应填|填(?<!未填)(?:入|写)?:?(?=\s{0,2}[\$\\\d])"
)
_NOT = re.compile(r"(?:不|并非|并不|没有)\Z|\bnot\s?\Z")
_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|finally|in total|altogether|we (?:get|got|have|find"
    r"|obtain|conclude(?: that)?)|i (?:get|got|find)|it follows that|gives|yields)\b[,:]?"
    r"|因此|所以|故(?![事意])|从而|于是|综上(?:所述)?|可得|解得|即得|求得|得到|得[:,]?(?=\s{0,2}[\$\\])",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"\s(?:is|are) (?:the|our|my) (?:(?:final|correct|only) )?(?:answer|solution|result)s?\b", re.I
)
_EQUALS = re.compile(
    r"(?<![A-Za-z])(?:is|are|equals|equal to|was|be|comes to|makes)(?![A-Za-z])(?!\s{0,2}not\b)"
    r"|(?:等于|是|为|共有?|有)"
    r"|(?:(?<![A-Za-z])[Nn]ot|n['’]t)\s{1,2}[^\s.,;]{1,20}[,;]?\s{1,2}but(?: rather)?(?![A-Za-z])"
    r"|(?<![A-Za-z])(?:[Nn]o,? wait|[Ww]ait,? no)(?![A-Za-z])[,:.!]?"
)
_SENTENCE_END = re.compile(
    r"[。\n\x1e]|(?<=[\u4e00-\u9fff])!|(?<=[a-z])!(?=\s)|\.(?=\s+[A-Z\u4e00-\u9fff\"(]|\s*\Z|\s*[\n\x1e])"
    r"|(?<=[\d)}$\w])\s{0,2}[,;]?\s(?:because|since|where|which|as desired|so that)(?![A-Za-z])"
    r"|[,;]\s{0,2}(?:因为|由于|其中|理由|而不是|而非|不是|(?:but )?not(?![A-Za-z])|rather than)"
)
_FORMULA_MARK = re.compile(r"\\[()\[\]]|\\.|\$\$?|\n", re.DOTALL)
_CLOSERS = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_BARE_BOX = re.compile(r"\s{0,2}[^\s$]")
_NEXT_LINE = re.compile(r"[ \t]{0,4}:?[ \t]{0,4}\n\s{0,8}")


@dataclass(frozen=True, slots=True)
class Passage:
    """The place of an answer, from ``start`` to ``end``; ``closed`` if its end is marked."""

    start: int
    end: int
    closed: bool
    pattern: str


def boxes(text: str) -> list[Passage]:
    """Return the contents of the closed boxes without a box inside, in order."""
    found = [_box(text, match) for match in list(_BOX.finditer(text))[-MOST_BOXES:]]
    after = [*(box.start for box in found[1:]), len(text)]
    return [
        box
        for box, following in zip(found, after[: len(found)], strict=True)
        if box.closed and following > box.end and text[box.start : box.end].strip()
    ]


def _box(text: str, match: re.Match[str]) -> Passage:
    start = match.end()
    if match[1] is None:
        bare = _BARE_BOX.match(text, start)
        return Passage(start, bare.end() if bare else start, True, "boxed")
    end = _closing_brace(text, start)
    return Passage(start, end, text[end : end + 1] == "}", "boxed")


def _closing_brace(text: str, start: int) -> int:
    limit = min(start + MOST_CHARACTERS, len(text))
    depth, position = 1, start
    while position < limit:
        character = text[position]
        if character == "\\":
            position += 2
            continue
        depth += (character == "{") - (character == "}")
        if not depth:
            return position
        position += 1
    return limit


def fields(text: str) -> list[Passage]:
    """Return the contents of the marked fields, without those in an example."""
    matches = list(_FIELD.finditer(text))[-MOST_PASSAGES:]
    limits = [*(match.start() for match in matches[1:]), len(text)][: len(matches)]
    found = []
    for match, limit in zip(matches, limits, strict=True):
        stop = _FIELD_STOP.search(text, match.end(), limit)
        end = stop.start() if stop else limit
        if not _EXAMPLE.search(text, max(0, match.start() - 16), match.start()):
            found.append(Passage(match.end(), end, bool(stop) and text[end] != "【", "tag"))
    return found


def phrases(text: str) -> list[Passage]:
    """Return the text after "the answer is" and similar wordings, to the end of the sentence."""
    found = []
    for match in list(_PHRASE.finditer(text))[-MOST_PHRASES:]:
        before = text[max(0, match.start() - 6) : match.start()]
        in_word = match["english"] and before[-1:].isascii() and before[-1:].isalpha()
        if not in_word and not _NOT.search(before):
            below = _NEXT_LINE.match(text, match.end())  # the answer is below its phrase
            start = below.end() if below else match.end()
            found.append(Passage(start, sentence_end(text, start), False, "answer_is"))
    return found


def begins_anew(text: str) -> bool:
    """Return whether *text* says "the answer is" again instead of an answer."""
    return bool(_PHRASE.search(text))


def sentence_end(text: str, start: int) -> int:
    """Return the end of the sentence from *start*; signs in a formula do not end it."""
    limit = min(start + MOST_CHARACTERS, len(text))
    return next(_sentence_ends(text, start, limit), limit)


def _sentence_ends(text: str, start: int, limit: int) -> Iterator[int]:
    held = iter([*formula_spans(text, start, limit), (limit, limit)])
    opened, closed = next(held)
    for stop in _SENTENCE_END.finditer(text, start, limit):
        while closed <= stop.start() and closed < limit:
            opened, closed = next(held)
        if stop.start() < opened:
            yield stop.start()


def formula_spans(text: str, start: int, limit: int) -> list[tuple[int, int]]:
    """Return the formulas with their dollars or LaTeX brackets; a dollar must close on its line."""
    found: list[tuple[int, int]] = []
    opener, begin = "", 0
    for mark in _FORMULA_MARK.finditer(text, start, limit):
        sign = mark[0]
        if opener and sign == _CLOSERS[opener]:
            found.append((begin, mark.end()))
            opener = ""
        elif sign == "\n":
            opener = "" if opener == "$" else opener
        elif not opener and sign in _CLOSERS:
            opener, begin = sign, mark.start()
    return found


def conclusions(text: str) -> Iterator[Passage]:
    """Yield the conclusions of the last sentence: after its last "is", then its last "so"."""
    start, end = last_sentence(text)
    turned = _TURNED.search(text, start, end)
    if turned:
        yield Passage(start, turned.start(), False, "conclusion")
    for pattern, name in ((_EQUALS, "equals"), (_CONCLUSION, "conclusion")):
        cues = [
            cue
            for cue in pattern.finditer(text, start, end)
            if text.count("$", max(0, cue.start() - MOST_CHARACTERS), cue.start()) % 2 == 0
        ]
        for cue in cues[:-4:-1]:
            yield Passage(cue.end(), end, False, name)


def last_sentence(text: str) -> tuple[int, int]:
    """Return start and end of the last sentence with content."""
    whole = len(text.rstrip())
    begin = max(0, whole - MOST_CHARACTERS)
    cuts = [begin, *(stop + 1 for stop in _sentence_ends(text, begin, whole)), whole]
    for start, end in reversed(list(pairwise(cuts))):
        if text[start:end].strip(" .。$\\[]\n\x1e"):
            return start, end
    return begin, whole


def formulas(text: str, start: int, limit: int) -> list[Passage]:
    """Return the contents of the formulas from *start* to *limit*, in order."""
    found = formula_spans(text, start, limit)[-MOST_PASSAGES:]
    inner = [(a + _edge(text, a), b - _edge(text, a)) for a, b in found]
    return [Passage(a, b, True, "last_formula") for a, b in inner if text[a:b].strip()]


def _edge(text: str, start: int) -> int:
    """Return the length of the opening (and closing) mark of the formula at *start*."""
    return 1 if text[start] == "$" and text[start + 1] != "$" else 2
