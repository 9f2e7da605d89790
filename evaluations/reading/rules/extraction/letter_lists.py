"""The option letters in a text: single letters, and lists such as "A、C和D"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from evaluations.reading.rules.extraction.patterns import (
    CUES,
    FAULTED_CLAUSE,
    LEFT_WINDOW,
    REJECTED_CLAUSE,
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
# From the end of the letters of one line to the end of a line of letters below it.
_REST_OF_LINE = (
    r"[^\S\n]{0,3}(?:\([^()\n]{0,60}\))?[)\]]?[^\S\n]{0,3}"
    r"[、,;.。]?(?:[和与及]|以及|(?i:and\b))?[^\S\n]{0,3}"
)
_LINE_BELOW = (
    rf"{_REST_OF_LINE}\n\s{{0,8}}(?:[-–—•·●+]\s?|(?:[和与及]|以及|(?i:and))\s{{1,8}})?(?:选项\s?|(?i:options?)\s)?[(\[]?"
    r"(?P<letters>[LETTERS](?:[、, ]{0,2}[LETTERS]){0,6})[)\]]?(?:选?项)?"
    rf"(?={_REST_OF_LINE}(?:[\n{FIELD_END}]|\Z))"
)
# The rest of a line, and the line below it, which begins with the letter of an option.
_LABELLED_LINE = (
    r"[^\n\x1e]{0,300}\n\s{0,8}(?P<label>(?:[-–—•·●+]\s?)?(?:选项\s?|(?i:options?)\s)?[(\[]?"
    r"(?!A\s[a-z])(?P<letter>[LETTERS])(?![A-Za-z0-9^_])[)\]]?(?:选?项)?)(?P<said>[^\n\x1e]{0,300})"
)
_LONGEST_LIST = 2000
_VERDICT_SIGNS = frozenset("正错对不√×✓✗✔✘✅❌☑✖")
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
_CHOSEN_BEHIND = re.compile(
    r"[^,;。\nA-G]{1,12},\s?[^,;。\nA-G]{0,6}(?:选择?|(?i:choose|select|pick))\s?[(]?(?=[A-G])"
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


def letters_below(text: str, end: int, letters: str) -> tuple[str, ...]:
    """Return the letters of the lines of nothing but *letters* right below a list's first line.

    *end* is the end of the first letters: "答案：A" and then a line "C".
    """
    line = for_letters(_LINE_BELOW, letters)
    below: list[str] = []
    while (match := line.match(text, end)) and len(below) < MOST_LETTERINGS:
        below += (sign for sign in match["letters"] if sign in letters)
        end = match.end()
    return tuple(below)


def goes_on_below(text: str, end: int, letters: str) -> bool:
    """Return whether the lines below have other *letters* in the form of those that end at *end*.

    "A 甲" and then "C 丙", or "A正确" and then "C正确". Letters called wrong do not count,
    nor do earlier ones of the alphabet, which a remark on the other options begins with.
    """
    own = _form(text, end)
    named = max((sign for sign in text[max(0, end - 4) : end] if sign in letters), default="")
    label = for_letters(_LABELLED_LINE, letters)
    limit = min(len(text), end + _LONGEST_LIST)
    while own and (match := label.match(text, end, limit)):
        if _form(text, match.end("label")) != own or match["letter"] <= named:
            return False
        if not REJECTED_CLAUSE.search(match["said"]) and not FAULTED_CLAUSE.search(match["said"]):
            return True
        end = match.end()
    return False


def _form(text: str, end: int) -> str:
    """Return what stands behind the letters that end at *end*: a sign, or a verdict; "" if none."""
    sign = text[end : end + 1]
    if not text[end : end + 8].partition("\n")[0].strip(" .。,;、)\x1e"):
        return ""
    if text[end - 1] == "项":
        return "项"
    return "verdict" if sign in _VERDICT_SIGNS else sign


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
    elif weak and _begins_verdict(text, found):
        cut = len(found) - 1
    turn = _turn(text, found, weak) if cut else None
    cut = turn or cut
    open_ended = bool(cut) and turn is None and (len(weak) > 1 or bool(_REASON.match(text, end)))
    found = [replace(lettering, open_ended=open_ended) for lettering in found] if cut else found
    yield found[cut:]
    if cut:
        yield found[:cut]


def _begins_verdict(text: str, found: list[Lettering]) -> bool:
    """Return whether the last letters begin their own choice: "故选A;D正确,故选D"."""
    chosen = _CHOSEN_BEHIND.match(text, found[-1].end)
    named = "".join(lettering.letters for lettering in found[-1:])
    return bool(chosen) and text.startswith(named, chosen.end() if chosen else 0)


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
