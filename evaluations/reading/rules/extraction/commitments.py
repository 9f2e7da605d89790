"""The step of the cascade that reads commitments ("故选C", "the answer is C")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from evaluations.reading.rules.extraction import patterns as p
from evaluations.reading.rules.extraction.letter_lists import goes_on_below, letters_below
from evaluations.reading.rules.extraction.mentions import (
    Mention,
    Stance,
    changed_behind,
    find_mentions,
    is_answer_beside,
    named_before,
)
from evaluations.reading.rules.extraction.option_lists import also_listed, marked, names_all_options
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText

_MOST_PLACES = 200
# "A+B": two letters joined like terms of a formula.
_JOINED_ON = re.compile(r"\s?[+&]\s?[A-G](?![A-Za-z0-9])")
# Words that introduce a change of the answer.
_TURN = re.compile(
    r"更正|不[,;]|我[认觉]|修正|纠正|订正|改|重新|再次?|检查|仔细|不对|错|不是|其实|实际|抱歉|应[该当为是选]|最终|最后|但|而是|[因所]此?以|因此|综上|故"
    r"|(?i:\b(?:wait|actually|correct|correction|corrected|updated|rather|sorry|mistake|error|wrong|instead|but|however|so"
    r"|therefore|thus|hence|final|finally|revised?|changed?|re-?check(?:ing)?|no|not|should|again)\b)"
)

# "答案：A√ B×": the first of a list of options with marks.
_MARK = re.compile(r"\s?[√✓✔✅☑×✗✘❌✖]")
# Words that withdraw an answer, wherever they stand between it and the next one.
_CORRECTION = re.compile(
    r"更正|修正|纠正|订正|勘误|修改|更改|改[为选成正]|重新|再次|(?:[。;!?\n]\s?|\A)不对?[,。]|抱歉|错了|而是|等等|等一下"
    r"|(?i:\b(?:wait|correction|corrected|updated|sorry|mistake|mistaken|error|instead|revis(?:e|ed|ing)"
    r"|chang(?:e|ed|ing)|re-?check(?:ing)?|re-?consider(?:ing)?|on reflection|second thoughts?)\b)"
)
# In the sentence of an answer: it is the answer to the whole, or another one than before.
_SUMMARY = re.compile(
    r"综上|总之|综合|总的来说|最终|[整总]体"
    r"|(?i:\b(?:final(?!ly)|overall|in conclusion|in summary|altogether)\b)"
)
_CONTRAST = re.compile(
    rf"{_SUMMARY.pattern}|最后|但|不过|然而|其实|实际|检查|仔细|再(?!看)|我[认觉]"
    r"|(?i:\b(?:finally|but|however|actually|rather|again|no),?\s)"
)
_SENTENCE_END = re.compile(r"[。;!\n\x1e]|\.(?:\s|\Z)")


def committed(source: SourceText, letters: str) -> Reading | None:
    """Read the last commitment ("故选C", "the answer is C"); undecided if others contradict it.

    A repetition of the question with its options is no commitment.
    """
    chosen = find_mentions(source.text, letters).commitments_from_the_end()
    meant = (
        m
        for m in chosen
        if m.cue == p.THE_ANSWER.name or not names_all_options(source.text, m.places[0], letters)
    )
    last = next(meant, None)
    if last is None:
        return None
    marks = marked(source, letters) if _MARK.match(source.text, last.end) else None
    if marks is not None:
        return marks
    earlier = list(islice(meant, _MOST_PLACES))
    named = named_before(source.text, last, earlier)
    against, unsure = None, False
    if named is not None:
        # "故选AC。错误选项：BD" answers AC. Elsewhere it is not certain what is asked for.
        against = from_mention(source, last, "commitment", 0.75)
        unsure = not is_answer_beside(source.text, named, last)
        last, earlier = named, earlier[earlier.index(named) + 1 :]
    reading = from_mention(source, last, "commitment", 0.75 if last.weak else 0.9)
    reading = replace(reading, against=against)
    each = _chosen_one_by_one(source.text, last, earlier, letters)
    names = tuple(letter for one in each for letter in one.letters)
    start = last.start
    by_verdict = all(_own_verdict(source.text, one, letters) for one in each)
    if by_verdict and len(each) > 1:
        reading, start = replace(reading, letters=names, places=()), each[0].start
        earlier = earlier[earlier.index(each[0]) + 1 :]
    elif len(each) > 1:
        reading = replace(reading, open_ended=True)
    if by_verdict and not _called_right(source.text, letters) <= set(names):
        reading = replace(reading, open_ended=True)
    if (
        unsure
        or _JOINED_ON.match(source.text, last.end)
        or changed_behind(source.text, last, letters)
        or _wavers(source.text, last, iter(earlier))
        or _conflicts(source.text, reading.letters, start, earlier)
    ):
        return replace(reading, undecided=True)
    if len(reading.letters) > len(last.letters):
        return reading
    return with_siblings(source, reading, last, letters)


def _chosen_one_by_one(
    text: str, last: Mention, earlier: Sequence[Mention], letters: str
) -> list[Mention]:
    """Return *last* and the commitments to other letters before it that are not withdrawn.

    "A正确，故选A。B错误。D正确，故选D": the second one need not replace the first.
    """
    chosen = [last]
    names = set(last.letters)
    for one in earlier:
        if one.cue not in p.ANSWERING:
            continue
        if names & set(one.letters) or _is_withdrawn(text, one, chosen[-1], letters):
            break
        chosen.append(one)
        names |= set(one.letters)
    return chosen[::-1]


def _is_withdrawn(text: str, one: Mention, following: Mention, letters: str) -> bool:
    """Return whether the text from *one* to *following* withdraws *one*, or sums up."""
    if one.undecided or _CORRECTION.search(text, one.end, following.start):
        return True
    sentence = max(one.end, *(text.rfind(sign, one.end, following.start) for sign in "。;.!\n"))
    turn = _SUMMARY if _own_verdict(text, following, letters) else _CONTRAST
    return bool(turn.search(text, sentence, following.start)) or any(
        mention.stance is Stance.REJECTED and set(mention.letters) & set(one.letters)
        for mention in find_mentions(text, letters)
        if one.end <= mention.start < following.start
    )


def _own_verdict(text: str, one: Mention, letters: str) -> bool:
    """Return whether the sentence of the commitment *one* calls its letters right before it."""
    before = [m for m in find_mentions(text, letters).capitals() if m.start < one.start][-1:]
    return any(
        mention.stance is Stance.AFFIRMED
        and mention.letters == one.letters
        and not _SENTENCE_END.search(text, mention.end, one.start)
        for mention in before
    )


def _called_right(text: str, letters: str) -> set[str]:
    """Return the letters that are called right and never wrong.

    "A正确。C正确，故选C": A may belong to the answer.
    """
    mentions = find_mentions(text, letters).capitals()
    right = {x for m in mentions if m.stance is Stance.AFFIRMED for x in m.letters}
    rejected = {x for m in mentions if m.stance is Stance.REJECTED for x in m.letters}
    return right - rejected


def with_siblings(source: SourceText, reading: Reading, mention: Mention, letters: str) -> Reading:
    """Add the options that a list has after the last letter of *mention* to *reading*.

    Undecided if lines below it have some of its letters once more, and others.
    """
    place = mention.places[-1]
    others = also_listed(source.text, place, place + 1, letters)
    if not others:
        names = letters.lower() if mention.is_small else letters
        others = tuple("".join(letters_below(source.text, mention.end, names)).upper())
        if not others and goes_on_below(source.text, mention.end, letters):
            return replace(reading, open_ended=True)
    if not others or set(others) == set(mention.letters):
        return reading
    if set(others) & set(mention.letters):
        return replace(reading, undecided=True)
    return replace(reading, letters=tuple(dict.fromkeys((*mention.letters, *others))), places=())


def _wavers(text: str, last: Mention, earlier: Iterator[Mention]) -> bool:
    """Return True for "答案是A，但可能是B", and if two letters are each called the answer."""
    called = last.cue == p.THE_ANSWER.name
    if not called and not p.HEDGE.search(text, last.cue_start, last.start):
        return False
    before = next(earlier, None)
    if before is None or set(before.letters) == set(last.letters):
        return False
    return before.cue == last.cue if called else True


def _conflicts(text: str, names: Sequence[str], start: int, earlier: Sequence[Mention]) -> bool:
    """Return whether others than *names* were given before, without a word of correction between.

    *start* is the place where *names* begin.

    "答案：A ... 我同桌选了C" is undecided; "更正", "so" or "but" introduce a correction.
    """
    before = next((one for one in earlier if one.cue in p.ANSWERING), None)
    if before is None or before.undecided or set(before.letters) == set(names):
        return False
    return not _TURN.search(text, before.end, start)


def from_mention(source: SourceText, mention: Mention, method: str, confidence: float) -> Reading:
    """Return the reading of one mention; its evidence begins with the wording before it."""
    return Reading(
        letters=mention.letters,
        span=source.span(mention.cue_start, mention.end),
        method=method,
        pattern=mention.cue or method,
        confidence=confidence,
        undecided=mention.undecided,
        open_ended=mention.open_ended,
        places=tuple(source.span(place, place + 1) for place in mention.places),
    )
