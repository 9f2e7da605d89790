"""What the text of one question says of another: corrections, and remarks.

"更正：第2题应选D" behind the answer to question 3 is no answer to question 3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from evaluations.reading.rules.extraction import doubts
from evaluations.reading.rules.extraction.mentions import find_mentions, is_also_right
from evaluations.reading.rules.extraction.patterns import for_letters
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText

HAN = "一二三四五六七八九十"
# "更正：第2题应选D", "Wait, 42 should be D": the answer to another question than the one
# in whose text it is. The number of the question has a word of correction before it, or
# "should be" after it; the letter ends its phrase.
_CORRECTING = (
    r"(?:更正|修正|订正|改正|纠正|勘误|修改|等等|等一下|不对|抱歉|错了"
    r"|\b(?:corrections?|corrected|wait|sorry|actually|oops|on second thoughts?))(?![a-z])"
    r"[\s,:.!、。-]{0,4}(?:(?:将|把|其中|应为|the answer to|for|i meant)\s?)?"
)
_OTHER_NUMBER = (
    r"[(\[]?(?:第|\b(?:questions?|gaps?|blanks?|items?|no\.|q|number)\s?[#.]?)?\s?"
    r"(?P<n>(?<!\d)(?<!\d\.)\d{1,3})\s?[)\]]?(?:小?题|空)?"
)
# Without a word of correction "(1)" may number something else, such as the parts of an answer.
_OTHER_QUESTION = (
    r"(?:第\s?|\b(?:questions?|gaps?|blanks?|items?|no\.|q|number)\s?[#.]?\s?|(?<![\d.(\[第]))"
    r"(?P<m>(?<!\d)(?<!\d\.)\d{1,3})\s?(?:小?题)?"
)
TO_BE = (
    r"(?:应该|应当|应|答案)(?:是|为|选|填|改为|改成|改选)?|改(?:为|成|选)"
    r"|(?:should|must|ought to)(?: have been| be)|(?:is|was) (?:actually|really|in fact)"
)
# "第2题我改选D", "For question 2, I change my answer to D".
_I_CHANGE = r"(?:(?:的?答案)?,?\s?我(?:现在|还是|决定|最终|想|要){0,2}(?:[把将]?(?:它|答案))?)?"
_I_CHANGE_TO = (
    r",?\s?I (?:now |would |would like to |want to )?(?:change|changed|revise|revised)"
    r"(?: my answer| it)? to"
)
_TO_BE_OR_IS = rf"{TO_BE}|[选是为填]|is|=|→|->|:|[.、](?!\d)"
_WITHDRAWN = r"(?:[选是]?[A-G]\s?(?:不对|错了?|有误|错误)\s?[,;]\s?(?:应该?)?[选是为]?\s?)?"
_OTHER_LETTER = (
    r"\s?[(\[\"]?(?-i:(?P<{}>[LETTERS]))(?=[)\]\"]?(?:选?项)?\s{{0,2}}(?:[.。,;!)\n]|not\b|\Z))"
)
# A number of another question: n and l with the word before it, m and k without.
_CORRECTIONS = (
    rf"{_CORRECTING}{_OTHER_NUMBER}\s?(?:(?:{_TO_BE_OR_IS})\s?){{0,2}}"
    rf"{_WITHDRAWN}{_OTHER_LETTER.format('l')}"
    rf"|{_OTHER_QUESTION}\s?(?:{_I_CHANGE}(?:(?:{TO_BE})\s?){{1,2}}|{_I_CHANGE_TO}){_OTHER_LETTER.format('k')}"
)
# The number of a question in running text.
_REFERENCE = re.compile(
    r"第\s?\(?\s?(?P<n>\d{1,3}|[一二三四五六七八九十]{1,3})\s?\)?\s?(?:小?题|问|空)"
    r"|(?<![\d.–~至到-])(?P<k>\d{1,3})\s?小?题"
    r"|(?i:\b(?:questions?|gaps?|blanks?|items?|q)\s?#?\s?(?P<m>\d{1,3})(?![\d-]))"
)
# A question that is named as a reason: "由第2题可知", "as Question 2 shows".
_CITED_LEFT = re.compile(
    r"(?:由|从|据|结合|参[考照见]|对比|[同与和跟像如见按受]|承接|联系|类似于?"
    r"|(?i:\b(?:as(?: \w{1,10})? in|as|from|like|see|unlike|with|than|(?:similar|according) to)))"
    r"\s?\Z"
)
_CITED_RIGHT = re.compile(
    r"\s?(?:的答案|的结论|中)?(?:可知|可见|可得|可以看出|看出|得出|所述|相同|一样|类似|重复|矛盾|相[似反])"
    r"|(?i:\s(?:shows?|says?|suggests?|implies|above)\b)"
)
# The answer of a slot at its beginning: "C", "C (…)".
_OWN_FIRST = (
    r"[ \t(\[\"]{0,4}[LETTERS](?![A-Za-z0-9])[)\]\"]{0,3}(?:选?项)?[ \t]{0,3}"
    r"(?=[.。,;!(\n\x1e第]|\d|\Z)"
)
_BEGINS_SENTENCE = re.compile(r"[。;!?\n\x1e(]|\.\s")
_UNCERTAIN = re.compile(
    r"(?<!没有)不(?:太|是?很|能|敢|完全)?确定|拿不准|存疑|不好说|有争议"
    r"|(?i:\b(?:not (?:\w{1,10} )?(?:sure|certain)|unsure|uncertain)\b)"
)
# "Question 2 might also be D", "D也有道理".
_PERHAPS = re.compile(
    r"(?i:\b(?:may|might|could) (?:\w{1,8} )?be (?:option )?)[(]?[A-G](?![A-Za-z])"
    r"|(?<![A-Za-z])[A-G]\)?(?:选?项)?(?:同样|也|亦)(?!错|不|是错|有误)"
)
# A remark of nothing but a number and its answer, like a repeated "(2)D".
_RESTATED = r"[\s(]*第?\s?\(?\d{1,3}\)?\s?小?题\s?[选填是为:]\s?[(]?(?P<l>[LETTERS])[\s.。,;!)]*"
# The pattern of what a remark says of a question that was answered before.
REMARK = "remark"
_MOST_REFERENCES = 200


@dataclass(frozen=True, slots=True)
class Slot:
    """The text (or the fixed answer) of sub-question ``index``, counted from 0."""

    index: int
    source: SourceText
    fixed: Reading | None


def corrected_slots(slot: Slot, base: int, parts: int, letters: str) -> list[Slot]:
    """Return *slot* without what it says of other questions, and a slot for each of these.

    A reading of the pattern REMARK counts only where its question has an answer; an undecided
    one leaves that answer open.
    """
    source = slot.source
    remarks = _remarks(slot, base, parts, letters)
    left_out = [span for _, span in remarks]
    others = [
        Slot(index, source, said)
        for index, span in remarks
        if 0 <= index < parts and (said := said_of_another(source.part(*span), letters))
    ]
    for match in for_letters(_CORRECTIONS, letters, re.IGNORECASE).finditer(source.text):
        index = int(match["n"] or match["m"]) - base
        # A correction of the slot's own question is read with the rest of its text.
        own = index == slot.index and not match["n"]
        if own or not 0 <= index < parts:
            continue
        others.append(given_slot(source, index, match, "l" if match["n"] else "k"))
        if not any(
            start <= match.start("l" if match["n"] else "k") < end for start, end in left_out
        ):
            left_out = [span for span in left_out if span[0] < match.start()]
            left_out.append((match.start(), len(source.text)))
    if slot.fixed:
        return [slot, *others]
    rest, done = [], 0
    for start, end in left_out:
        rest.append((max(start, done), max(end, done), "\n"))
        done = max(end, done)
    return [Slot(slot.index, source.edited(rest), None), *others]


def _remarks(slot: Slot, base: int, parts: int, letters: str) -> list[tuple[int, tuple[int, int]]]:
    """Return the passages of *slot* about other questions, each with the index of its question.

    They are behind the answer of the slot, and reach to the next number of a question, or to
    the end of their brackets.
    """
    text = slot.source.text
    first = for_letters(_OWN_FIRST, letters).match(text)
    begins: list[tuple[int, int]] = []
    answered = 0
    for match in islice(_REFERENCE.finditer(text), _MOST_REFERENCES):
        index = number_of(match["n"] or match["k"] or match["m"]) - base
        # A number that is none of the questions may be a heading, unless the answer is given.
        unknown = not (first or 0 <= index < parts)
        if unknown or is_cited(text, match.start(), match.end()):
            continue
        sentences = _BEGINS_SENTENCE.finditer(text, max(0, match.start() - 80), match.start())
        start = max([first.end() if first else 0, *(found.end() for found in sentences)])
        if not begins and not first:
            answered = answered or _first_answer(text, letters)
        if begins or first or answered <= start:
            # The bracket before a remark belongs to it.
            start -= text[start - 1 : start] == "("
            begins.append((index, min(start, match.start())))
    ends = [*(start for _, start in begins[1:]), len(text)]
    return [
        (index, (start, _end_of_remark(text, start, end)))
        for (index, start), end in zip(begins, ends, strict=False)
        if index != slot.index
    ]


def is_cited(text: str, start: int, end: int) -> bool:
    """Return whether the question named from *start* to *end* is a reason: "由第2题可知"."""
    cited = _CITED_LEFT.search(text, max(0, start - 24), start)
    return bool(cited or _CITED_RIGHT.match(text, end))


def _first_answer(text: str, letters: str) -> int:
    """Return the end of the first letters that *text* commits to, or else the end of *text*."""
    chosen = find_mentions(text, letters).commitments_from_the_end()
    return min((mention.end for mention in chosen if not mention.weak), default=len(text))


def _end_of_remark(text: str, start: int, end: int) -> int:
    """Return the end of the brackets that begin at *start*, *end* without brackets."""
    closing = text.find(")", start, end) if text[start : start + 1] == "(" else -1
    return end if closing < 0 else closing + 1


def said_of_another(source: SourceText, letters: str) -> Reading | None:
    """Return the letters that a remark gives to its question, None for none.

    Undecided, unless the remark is nothing but an answer. Without letters: it says that the
    answer is not certain.
    """
    names = _named(source.text, letters)
    if names is None:
        return None
    span = source.span(0, len(source.text))
    if for_letters(_RESTATED, letters).fullmatch(source.text):
        return Reading(names, span, "correction", REMARK, 0.9)
    return Reading(names, span, "correction", REMARK, 0.0, undecided=True)


@lru_cache(maxsize=64)
def _named(text: str, letters: str) -> tuple[str, ...] | None:
    """Return the letters that a remark names as the answer, none if it is not certain of them.

    None if it names no answer.
    """
    mentions = find_mentions(text, letters)
    last = next(mentions.commitments_from_the_end(), None)
    uncertain = bool(_PERHAPS.search(text) or _UNCERTAIN.search(text)) or any(
        doubts.may_be_right(text, mention.end) or is_also_right(text, mention)
        for mention in mentions.capitals()
    )
    if uncertain:
        return ()
    return None if last is None else (last.letters if not last.undecided else ())


def number_of(numeral: str) -> int:
    """Return the value of *numeral*: "12", "⑫" or "十二"."""
    if numeral.isascii():
        return int(numeral)
    if numeral in "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳":
        return ord(numeral) - ord("①") + 1
    tens, ten, ones = numeral.rpartition("十")
    value = (HAN.find(tens) + 1 or 1) * 10 if ten else 0
    return value + (HAN.find(ones) + 1 if ones else 0)


def given_slot(source: SourceText, index: int, match: re.Match[str], group: str) -> Slot:
    """Return the slot of sub-question *index* with the letter of *match* as its answer."""
    letter = match[group].upper()
    span = source.span(match.start(), match.end(group))
    return Slot(index, source, Reading((letter,), span, "correction", "correction", 0.9))
