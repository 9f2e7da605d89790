"""Answers to several questions of one item: one letter each, in the order of the questions.

A gap costs one sub-question. An answer whose question is not certain is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from evaluations.reading.rules.extraction.commitments import from_mention
from evaluations.reading.rules.extraction.mentions import find_mentions
from evaluations.reading.rules.extraction.numbering import (
    numbered_parts,
    numbered_slots,
    options_with_numbers,
)
from evaluations.reading.rules.extraction.one_question import (
    as_one,
    first_without_number,
    read_one_question,
    read_question,
    several_letters,
)
from evaluations.reading.rules.extraction.option_lists import OWN_NUMBER, with_words
from evaluations.reading.rules.extraction.other_questions import REMARK, Slot
from evaluations.reading.rules.extraction.reading import Extraction, Reading, unread
from evaluations.reading.rules.extraction.source_text import SourceText
from evaluations.reading.rules.extraction.steps import read_tag, whole
from evaluations.reading.rules.extraction.tags import Tag, find_tags
from evaluations.statistics.outcomes import ReadingOutcome

_Row = list[Reading | None]


def read_several_questions(source: SourceText, letters: str, parts: int) -> Extraction:
    """Read *parts* answers, None for a gap; ambiguous if letters cannot be assigned."""
    if parts == 1:
        return read_one_question(source, letters, several=False)
    if options_with_numbers(source.text, parts):
        return unread(ReadingOutcome.AMBIGUOUS, parts)
    row = (
        _by_tags(source, letters, parts)
        or _best(numbered_slots(source, letters, parts), letters, parts)
        or _sequence(source, letters, parts)
        or _in_the_box(source, letters, parts)
        or _goes_on(source, letters, parts)
    )
    if row is None or not any(row):
        given = (
            next(find_mentions(source.text, letters).commitments_from_the_end(), None)
            or ((reading := read_question(source, letters)) and reading.letters)
            or any(_is_answer(read_question(part, letters)) for part in numbered_parts(source))
        )
        return unread(ReadingOutcome.AMBIGUOUS if given else ReadingOutcome.NO_ANSWER, parts)
    read = [r for r in row if r is not None and _is_answer(r)]
    if not read:
        several = any(r is not None and several_letters(r) for r in row)
        return unread(ReadingOutcome.AMBIGUOUS if several else ReadingOutcome.NO_ANSWER, parts)
    return Extraction(
        answers=tuple(r.letters[0] if r is not None and _is_answer(r) else None for r in row),
        outcome=ReadingOutcome.READ,
        method=read[0].method,
        pattern=read[0].pattern,
        spans=tuple(r.span if r is not None and _is_answer(r) else None for r in row),
        confidence=min(r.confidence for r in read),
    )


def _by_tags(source: SourceText, letters: str, parts: int) -> _Row | None:
    """Read one field per question, or all answers from the last field."""
    tags = [tag for tag in find_tags(source.text) if not tag.boxed]
    if not tags:
        return None
    row = _by_numbers_in_tags(source, tags, letters, parts)
    if row:
        return row
    if len(tags) == parts:
        row = [read_tag(source, tag, letters) for tag in tags]
        if not any(reading and several_letters(reading) for reading in row):
            return row
    last = source.part(tags[-1].content_start, tags[-1].content_end)
    listed = _best(numbered_slots(last, letters, parts), letters, parts, at_least=2)
    after = source.part(tags[-1].content_start, len(source.text)) if len(tags) == 1 else last
    return _goes_on(after, letters, parts) or listed or _sequence(last, letters, parts) or row


def _in_the_box(source: SourceText, letters: str, parts: int) -> _Row | None:
    """Read all answers from the only box: "\\boxed{BADC}"."""
    boxes = [tag for tag in find_tags(source.text) if tag.boxed]
    if len(boxes) != 1:
        return None
    box = source.part(boxes[0].content_start, boxes[0].content_end)
    return _sequence(box, letters, parts) if whole(box, letters) else None


def _by_numbers_in_tags(
    source: SourceText, tags: Sequence[Tag], letters: str, parts: int
) -> _Row | None:
    """Read fields that each begin with another number ("【答案】21. A") by their numbers.

    If every field has a number and the numbers do not fit, all answers are gaps.
    """
    numbered = [
        (int(match["number"]), tag)
        for tag in tags
        if (match := OWN_NUMBER.match(source.text, tag.content_start, tag.content_end))
    ]
    opened = dict(numbered)
    if len(opened) < max(len(numbered), 2):
        return None
    if len(opened) == len(tags) == parts:
        if max(opened) - min(opened) >= parts:
            return [None] * parts
        return [read_tag(source, opened[number], letters) for number in sorted(opened)]
    bare = source.edited([(tag.start, tag.content_start, "\n") for tag in opened.values()])
    return _best(numbered_slots(bare, letters, parts), letters, parts, at_least=2)


def _goes_on(source: SourceText, letters: str, parts: int) -> _Row | None:
    """Read a first answer without its number and the others with theirs: "C", then "65. A"."""
    found = first_without_number(source, letters)
    if found is None:
        return None
    first, rest = found
    others = _best(numbered_slots(rest, letters, parts - 1), letters, parts - 1, at_least=parts - 1)
    return [first, *others] if others else None


def _best(cuts: Iterable[list[Slot]], letters: str, parts: int, at_least: int = 1) -> _Row | None:
    """Return the row of the cut that answers most sub-questions; of equal ones the first."""
    best: _Row | None = None
    most = at_least - 1
    for slots in cuts:
        row: _Row = [None] * parts
        remarks = [slot for slot in slots if slot.fixed and slot.fixed.pattern == REMARK]
        for slot in slots:
            if slot in remarks:
                continue
            own = slot.fixed or read_question(slot.source, letters)
            row[slot.index] = as_one(own) if own else with_words(slot.source, letters)
        # "A look after" is read as an answer if at least two others are written so.
        if sum(r is not None and r.pattern == "with_words" for r in row) > 1:
            for slot in slots:
                if row[slot.index] is None:
                    row[slot.index] = with_words(slot.source, letters, article=True)
        answered = sum(_is_answer(reading) for reading in row)
        for remark in remarks:
            given = row[remark.index]
            said = remark.fixed
            if given and said and said.letters != given.letters:
                row[remark.index] = replace(given, undecided=True) if said.undecided else said
        if answered > most:
            best, most = row, answered
        if most == parts:
            break
    return best


def _is_answer(reading: Reading | None) -> bool:
    return reading is not None and bool(reading.letters) and not several_letters(reading)


def _sequence(source: SourceText, letters: str, parts: int) -> _Row | None:
    """Read exactly *parts* letters in a row: "BDCA", "答案：B、D、C、A", one letter per line."""
    reading = whole(source, letters)
    if reading is None:
        last = next(find_mentions(source.text, letters).commitments_from_the_end(parts), None)
        if last is None:
            return None
        reading = from_mention(source, last, "sequence", 0.9)
    if len(reading.letters) != parts or reading.undecided:
        return None
    return [
        Reading((letter,), place, "sequence", reading.pattern, reading.confidence)
        for letter, place in zip(reading.letters, reading.places, strict=True)
    ]
