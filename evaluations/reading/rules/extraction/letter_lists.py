"""The option letters in a text: single letters, and lists such as "A、C和D"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from evaluations.reading.rules.extraction.patterns import (
    CUES,
    LEFT_WINDOW,
    REJECTED_RIGHT,
    for_letters,
    negated_left,
)
from evaluations.reading.rules.extraction.source_text import FIELD_END

_OPENING = re.compile(
    r"(?:(?:选项|(?<!选)项|\b(?:options?|choices?|letters?|statements?))[^\S\n]{0,2}"
    r"[(\[\"'{<【]{0,2}[^\S\n]{0,2}|[(\[\"'{<【]{0,2}\s{0,2})\Z",
    re.IGNORECASE,
)
# Up to 40 capital letters, or one small letter. The lookbehind stands after the letter because
# that search is faster.
_RUNS = (
    r"[LETTERSSMALL](?<![A-Za-z0-9\\^_].)(?:(?<=[LETTERS])[LETTERS]{0,39})?(?![A-Za-z0-9^_]|'[a-z])"
)
# The last characters of a label or a bracket before a letter; English labels end with a blank.
_ENDS_OPENING = frozenset("项([\"'{<【 \n\r\t\f\v\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029") | frozenset(
    map(chr, (0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000))
)
_CLOSING = re.compile(r"(?:\s{0,2}[)\]\"'}>】]{1,2})?(?:\s{0,2}(?:选项|项))?")
_JOINER = re.compile(
    r"\s{0,3}(?P<word>[,;]?\s{0,2}(?:和|与|及|以及|还有|还选?|也选?|并且|\band\b|\bbut also\b)"
    r"|[、&+]|[,;]?\s{0,2}(?P<or>或[者许]?(?:可能|也许)?是?|还是|\bor\b(?:\s(?:maybe|perhaps|possibly|even))?|/)|[,;]|)"
    r"\s{0,3}(?:(?:选项|项|both|options?|choices?)\s{0,2})?[(\[\"'{<【]{0,2}\s{0,2}",
    re.IGNORECASE,
)
_LONGEST_JOINER = 24
# Only the last letters of an output are read: they decide, and more than this are noise.
MOST_LETTERINGS = 1000
_LIST_END = re.compile(
    rf"\s{{0,2}}(?:\Z|[.。,;:!)\]}}【\n{FIELD_END}]|这?[两三四2-4]个?[项者个]"
    r"|都|均|全|皆|正确|符合|[当入可]选|是?(?:合适|合理|恰当|成立|准确)|are\b|both\b|as\b|respectively\s{0,2}(?:[.。;\n]|\Z)"
    # A remark in brackets, unless it calls the last letter wrong.
    r"|\((?=[^()\n]{0,40}?(?<![A-Za-z])(?-i:[A-G])(?![A-Za-z])"
    r"|\s?(?:其[余他它]|(?:the )?(?:others?|rest)\b)"
    r"|(?![^()\n]{0,40}(?:错|误|不|无|×|wrong|incorrect|false|not\b)))"
    r"|(?:解析|理由|原因|说明|分析|(?:while|whereas)\b|其[余他它]|(?:the )?(?:others?|rest)\b))",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s{0,2}(?:因为|由于|because\b|since\b)", re.IGNORECASE)
# "So A, C is correct."
_IS_RIGHT = re.compile(r"\s{0,2}is\s(?:correct|right|true)\b", re.IGNORECASE)
_COLLECTIVE = re.compile(
    r"\s{0,2}(?:这?[三四五3-5]个?(?:选项|[项者个])?|选项)?\s{0,2}(?:均|都|全部?|皆|are\b|were\b)",
    re.IGNORECASE,
)
_NONE_OF = re.compile(
    r"\b(?:none|neither) of\s{0,2}(?:the\s{0,2})?(?:options?\s{0,2})?\Z", re.IGNORECASE
)
_FORMULA_RIGHT = re.compile(
    r"\s?[=^≤≥≠≈∈∉⊂⊆∩∪÷·∥⊥∽≌→′]|×[A-Za-z0-9]|-[A-Za-z0-9]|\.[A-Z]\.|\s?[+<>]\s?[a-z0-9]"
    r"|\s[A-Z]{1,3}\s?[=<>\\^_]|/[a-z0-9]"
)
# "答案=C" and "-> C" are no formulas, so "=" is not here.
_FORMULA_LEFT = re.compile(r"(?:[\^≤≥≠≈∈∉⊂⊆∩∪×÷·∥⊥∽≌∠△⊙_]|[A-Za-z0-9)][-+<]|[a-z0-9)]/)\s?[{(]?\Z")
# After a letter in quotes: the name of a field of JSON, not its value.
JSON_KEY_RIGHT = re.compile(r"\"\s{0,2}:")


@dataclass(frozen=True, slots=True)
class Lettering:
    """Adjacent letters with their brackets and label ("选项(A)").

    ``core`` is the start of the letters. ``strong_join``: a word or a 、 joins
    them to the letters before, not just a comma or a blank. ``open_ended``: a list
    was cut in two, and it is not certain where.
    """

    letters: str
    start: int
    core: int
    end: int
    strong_join: bool = False
    either_or: bool = False
    open_ended: bool = False


def letter_lists(text: str, letters: str) -> Iterator[list[Lettering]]:
    """Yield the lists of *letters* in *text* from the end; a single letter is a list too.

    Most readers need only the last ones.
    """
    current: list[Lettering] = []
    for lettering in islice(_letterings(text, letters), MOST_LETTERINGS):
        joined = _joined(text, lettering, current[-1]) if current else None
        if joined is not None:
            current[-1] = joined
        elif current:
            yield from _closed(text, current[::-1])
            current = []
        current.append(lettering)
    if current:
        yield from _closed(text, current[::-1])


def _letterings(text: str, letters: str) -> Iterator[Lettering]:
    """Yield runs of *letters* outside words, numbers and formulas, the last one first."""
    for match in reversed(list(for_letters(_RUNS, letters, re.DOTALL).finditer(text))):
        left = text[max(0, match.start() - 14) : match.start()]
        if _FORMULA_RIGHT.match(text, match.end()) or _FORMULA_LEFT.search(left):
            continue
        if match[0].islower() and left[-1:] == '"' and JSON_KEY_RIGHT.match(text, match.end()):
            continue
        closing = _CLOSING.match(text, match.end())
        start = match.start()
        if left and left[-1] in _ENDS_OPENING and (opening := _OPENING.search(left)):
            start -= len(opening[0])
        yield Lettering(match[0], start, match.start(), closing.end() if closing else match.end())


def _joined(text: str, before: Lettering, after: Lettering) -> Lettering | None:
    """Return *after* as the next entry of the list of *before*, None if it begins another list."""
    gap = text[before.end : after.core]
    joiner = _JOINER.fullmatch(gap) if len(gap) <= _LONGEST_JOINER else None
    if joiner is None or "\n" in gap:
        return None
    if "(" in gap and ")" not in text[after.core : after.end]:
        return None
    strong = bool(joiner["word"].strip(" ,;"))
    # "ABD(C)": C may be one of them or not.
    added = gap.strip() == "(" and text[before.end - 1] != ")"
    return replace(after, strong_join=strong, either_or=added or bool(joiner["or"]))


def _closed(text: str, found: list[Lettering]) -> Iterator[list[Lettering]]:
    """Yield one list, or two if a comma began the next remark ("选B，C、D错误"), last first."""
    weak = [index for index, lettering in enumerate(found) if index and not lettering.strong_join]
    end = found[-1].end
    cut = 0
    if weak and REJECTED_RIGHT.match(text, end):
        cut = 0 if _all_rejected(text, found) or _alike(text, found) else weak[0]
    elif weak and not _LIST_END.match(text, end):
        left = text[max(0, found[0].start - LEFT_WINDOW) : found[0].start]
        cut = 0 if _NONE_OF.search(left) else weak[-1]
        if _IS_RIGHT.match(text, end) and not negated_left(left) and not _turn(text, found, weak):
            cut = 0
    turn = _turn(text, found, weak) if cut else None
    cut = turn or cut
    open_ended = bool(cut) and turn is None and (len(weak) > 1 or bool(_REASON.match(text, end)))
    found = [replace(lettering, open_ended=open_ended) for lettering in found] if cut else found
    yield found[cut:]
    if cut:
        yield found[:cut]


def _turn(text: str, found: list[Lettering], weak: list[int]) -> int | None:
    """Return where the next remark clearly begins: "A,B;C,D错误", or out of order "A,C,D,B错误"."""
    after_semicolon = [i for i in weak if ";" in text[found[i - 1].end : found[i].core]]
    falling = [i for i in weak if found[i].letters[0] < found[i - 1].letters[-1]]
    for turns in (after_semicolon, falling):
        if len(turns) == 1:
            return turns[0]
    return None


def _alike(text: str, found: list[Lettering]) -> bool:
    """Return whether the list is like "A,B,C,D均不正确": in order, all joined in the same way."""
    gaps = {text[one.end : other.core].strip() for one, other in pairwise(found)}
    named = "".join(lettering.letters for lettering in found).upper()
    alphabetical = all(ord(after) - ord(before) == 1 for before, after in pairwise(named))
    collective = _COLLECTIVE.match(text, found[-1].end)
    return len(named) > 2 and alphabetical and len(gaps) == 1 and bool(collective)


def _all_rejected(text: str, found: list[Lettering]) -> bool:
    """Return True for "A, B and D are wrong", False for "the answer is B, C and D are wrong"."""
    left = text[max(0, found[0].start - LEFT_WINDOW) : found[0].start]
    gap = text[found[-2].end : found[-1].core]
    return "and" in gap and not any(cue.pattern.search(left) for cue in CUES)
