"""The step of the cascade that reads commitments ("故选C", "the answer is C")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from evaluations.reading.rules.extraction import patterns as p
from evaluations.reading.rules.extraction.mentions import (
    Mention,
    changed_behind,
    find_mentions,
    is_answer_beside,
    named_before,
)
from evaluations.reading.rules.extraction.option_lists import also_listed, names_all_options
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
    joined = _JOINED_ON.match(source.text, last.end)
    if (
        joined
        or unsure
        or changed_behind(source.text, last, letters)
        or _wavers(source.text, last, iter(earlier))
        or _conflicts(source.text, last, earlier)
    ):
        return replace(reading, undecided=True)
    return with_siblings(source, reading, last, letters)


def with_siblings(source: SourceText, reading: Reading, mention: Mention, letters: str) -> Reading:
    """Add the options that a list has after the last letter of *mention* to *reading*."""
    place = mention.places[-1]
    others = also_listed(source.text, place, place + 1, letters)
    if not others:
        return reading
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


def _conflicts(text: str, last: Mention, earlier: Sequence[Mention]) -> bool:
    """Return whether other letters were given before, without a word of correction between.

    "答案：A ... 我同桌选了C" is undecided; "更正", "so" or "but" introduce a correction.
    """
    before = next((one for one in earlier if one.cue in p.ANSWERING), None)
    if before is None or before.undecided or set(before.letters) == set(last.letters):
        return False
    return not _TURN.search(text, before.end, last.start)


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
