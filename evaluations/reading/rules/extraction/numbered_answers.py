"""Answers with question numbers where one would not look for them.

An item with one question that is answered like several, and the first answer of
several that stands without its number ("C", then "65. A").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from evaluations.reading.rules.extraction.mentions import find_mentions
from evaluations.reading.rules.extraction.numbering import find_markers, lists_of_numbers
from evaluations.reading.rules.extraction.outcome import Span
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText
from evaluations.reading.rules.extraction.steps import (
    alone,
    committed,
    lone_line,
    opening,
    read_tag,
)
from evaluations.reading.rules.extraction.tags import find_tags

# More numbers than this count no sub-questions.
_MOST_ANSWERS = 40
_CONCLUDES = re.compile(
    r"(?:综上|总之|综合|本题|最终|整体|\b(?:overall|in conclusion|in summary|final)\b)"
    r"[^\n。]{0,24}\Z",
    re.IGNORECASE,
)


def answers_several(source: SourceText, letters: str) -> Span | None:
    """Return where *source* answers questions (1), (2), ... differently; None if it does not.

    The numbers follow each other, and the text of every one gives an answer of its
    own: a field, a commitment, or nothing but letters.
    """
    tags = [tag for tag in find_tags(source.text) if not tag.boxed]
    if len(tags) == 1:
        # The only field decides; the numbers of the text before it are those of the reasoning.
        source = source.part(tags[0].content_start, tags[0].content_end)
    for slots in lists_of_numbers(find_markers(source, letters), len(source.text), _MOST_ANSWERS):
        parts = [source.part(*slot) for slot in slots]
        readings = list(_own_answers(parts, letters, in_field=len(tags) == 1))
        if len(readings) == len(slots) and len({r.letters for r in readings}) > 1:
            return readings[0].span[0], readings[-1].span[1]
    return None


def _own_answers(slots: list[SourceText], letters: str, *, in_field: bool) -> Iterator[Reading]:
    """The answer of each slot, up to the first one without."""
    tagged = any(find_tags(slot.text) for slot in slots)
    for index, slot in enumerate(slots):
        tags = [tag for tag in find_tags(slot.text) if not tag.boxed]
        if tagged:
            reading = read_tag(slot, tags[0], letters) if tags else None
        else:
            reading = opening(slot, letters) if in_field else None
            reading = reading or _explicit(slot, letters, last=index == len(slots) - 1)
        if reading is None or not reading.letters or reading.undecided:
            return
        yield reading


def _explicit(slot: SourceText, letters: str, *, last: bool) -> Reading | None:
    reading = alone(slot, letters)
    if reading is not None:
        return reading
    reading = committed(slot, letters)
    if reading is None:
        return lone_line(slot, letters)
    # The text after the last number may end with the answer to the whole.
    if last and _concludes_the_whole(slot, letters):
        return None
    return reading


def _concludes_the_whole(slot: SourceText, letters: str) -> bool:
    chosen = find_mentions(slot.text, letters).commitments_from_the_end()
    final, before = next(chosen), next(chosen, None)
    return before is not None and bool(
        _CONCLUDES.search(slot.text, max(0, final.cue_start - 40), final.start)
    )


def first_without_number(source: SourceText, letters: str) -> tuple[Reading, SourceText] | None:
    """Return the answer that *source* opens with and the numbered answers after it.

    The numbers go on from 2 or from a number of the paper: "C", then "65. A".
    """
    match = _opening_letter(letters).match(source.text)
    if match is None or int(match["next"]) < 2:
        return None
    place = match.start("letter")
    letter = match["letter"]
    reading = Reading((letter,), source.span(place, place + 1), "sequence", "before_numbers", 0.8)
    return reading, source.part(match.start("next"), len(source.text))


@lru_cache(maxsize=64)
def _opening_letter(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"\s{{0,4}}[(\[]?(?P<letter>[{re.escape(letters)}])[)\]]?[.。、,;]?[ \x1e]{{0,3}}"
        r"\n\s{0,4}[(第]?(?P<next>\d{1,3})(?!\d)"
    )
