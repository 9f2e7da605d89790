"""Question numbers in an output: the start of the text of each question, and its slot.

Numbers may count from 1 or as in the paper (36-40).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluations.reading.rules.extraction.other_questions import (
    HAN,
    TO_BE,
    Slot,
    corrected_slots,
    given_slot,
    is_cited,
    number_of,
    said_of_another,
)
from evaluations.reading.rules.extraction.patterns import for_letters
from evaluations.reading.rules.extraction.reading import Reading
from evaluations.reading.rules.extraction.source_text import SourceText

_STYLES = (
    (
        "bracket",
        r"[(\[【]\s?(?:小题|第)?\s?(?P<n>\d{1,3}|[一二三四五六七八九十]{1,3})\s?(?:小?题|空)?\s?[)\]】]",
    ),
    ("ordinal", r"第\s?(?P<n>\d{1,3}|[一二三四五六七八九十]{1,3})\s?(?:小?题|问|个?空|个)"),
    (
        "word",
        r"\b(?:questions?|gaps?|blanks?|items?|nos?\.?|q)\s?[#.]?\s?(?P<n>\d{1,3})(?!\d|[.,]\d)",
    ),
    ("topic", r"(?:小题|题目|空格|题)\s?(?P<n>\d{1,3})(?!\d|[.,]\d)"),
    ("circled", r"(?P<n>[①-⑳])"),
    ("plain", r"(?<![A-Za-z0-9.,-])\"?(?P<n>\d{1,3})\"?\s?(?:小?题)?\s?[.:、)]{1,2}(?!\d)"),
    ("han", rf"(?:^|(?<=[\s;。]))(?P<n>[{HAN}]{{1,3}})\s?[、.:](?=\s?[A-Za-z(])"),
    (
        "bare",
        r"(?<![A-Za-z0-9.,-])(?P<n>\d{1,3})(?=\s{0,4}[-=]?\s{0,3}[(\[\"]?[A-Ga-g](?![A-Za-z]))",
    ),
    (
        "said",
        r"(?<![A-Za-z0-9.-])(?<!\d,)(?P<n>\d{1,3})\s?(?:小?题|空)?\s?(?:应该?|答案)?(?=[选填是为]\s?[:(]?\s?[A-G](?![A-Za-z]))",
    ),
    ("glued", r"(?<=[A-G])(?P<n>\d{1,3})(?=\s?[.:、)]?\s?[A-G](?![A-Za-z]))"),
)
_MARKERS = re.compile(
    "|".join(
        rf"(?P<{name}>{pattern.replace('?P<n>', f'?P<n_{name}>')})" for name, pattern in _STYLES
    ),
    re.IGNORECASE | re.MULTILINE,
)
_AFTER = re.compile(r"\s{0,3}[.:、)-]{0,2}")
_RANGE = re.compile(
    r"(?<![A-Za-z0-9.])\(?(?P<low>\d{1,3})\)?\s?(?:题)?\s?(?:-|–|—|~|至|到|to)\s?\(?(?P<high>\d{1,3})\)?"
    r"\s?(?:小?题)?\s{0,2}[.:、)]?\s{0,3}"
)
# The whole text after the repeated number of a question: "(2)D", "2. 应选D".
_REPEATED = (
    rf"\s{{0,3}}(?:{TO_BE}|选|是|为|填|is|:){{0,2}}\s?"
    r"[(\[\"]?(?-i:(?P<letter>[LETTERS]))[)\]\"]?(?:选?项)?[\s.。,;!]*"
)
# "A. 5 B. 2": options with numbers, not numbers with options.
_NUMBERED_OPTION = re.compile(
    r"[(\[]?(?<![A-Za-z])[A-G][)\]]?\s?[.:、)=→-]{0,2}\s?[(\[]?(?:\d{1,3}|[-–—/]|[Nn]one|无)[)\]]?(?![a-z0-9])[\s,;.。、]*+"
)
# The answer right behind a number: "36. A", "第38题选C".
_GIVEN = (
    r"\s{0,3}(?:应?选|答案)?[是为:]?\s{0,2}[(\[\"]?[LETTERS](?:选?项)?[)\]\"]?"
    r"\s{0,2}(?:[.。,;\n\x1e]|\s\S|\Z)"
)
# Only the last lists of numbers of an output are read; more than this are noise.
_MOST_RUNS = 30


@dataclass(frozen=True, slots=True)
class Marker:
    """A question number: its start, and the start of the text after it.

    ``fixed`` is the answer that a range ("1-5 ABCDA") gives to this number.
    """

    number: int
    start: int
    end: int
    style: str
    begins_line: bool = False
    fixed: Reading | None = None


def numbered_slots(source: SourceText, letters: str, parts: int) -> Iterator[list[Slot]]:
    """Yield every division of the text at ascending numbers into at most *parts* slots.

    One style of number at a time, then all together; later lists first, because the last
    list of answers decides. A correction of one question in the text of another is a
    slot of its own, after that one.
    """
    markers = find_markers(source, letters)
    for own in _groups(markers):
        end = len(source.text)
        # Nothing else is numbered: a number that comes again may be a correction.
        if (
            len(markers) == parts
            and _in_another_order(own, parts)
            and all(for_letters(_GIVEN, letters).match(source.text, marker.end) for marker in own)
        ):
            stops = [*(marker.start for marker in own[1:]), end]
            base = min(marker.number for marker in own)
            yield [
                Slot(m.number - base, source.part(m.end, max(m.end, stop)), m.fixed)
                for m, stop in zip(own, stops, strict=True)
            ]
        for run in reversed(_ascending_runs(own)[-_MOST_RUNS:]):
            numbers = {marker.number for marker in run}
            # The number of the first sub-question is 1, or as in the paper. A paper number is only
            # certain if the last one is present too.
            paper = [n for n in sorted(numbers) if n > 1 and n + parts - 1 in numbers][-_MOST_RUNS:]
            stops = [following.start for following in run[1:]] + [end]
            for base in [1, *paper] if any(n <= parts for n in numbers) else paper:
                slots = [
                    Slot(m.number - base, source.part(m.end, max(m.end, stop)), m.fixed)
                    for m, stop in zip(run, stops, strict=True)
                    if base <= m.number < base + parts
                ]
                corrected = [
                    part for slot in slots for part in corrected_slots(slot, base, parts, letters)
                ]
                # With a gap, the later list may count other questions.
                if len(slots) == parts:
                    corrected += _repeated(source, own, end, base, parts, letters)
                yield corrected
            end = run[0].start


def options_with_numbers(text: str, parts: int) -> bool:
    """Return True for "A. 5 B. 2 C. 1": *parts* options or more, each followed by a number.

    It is not certain whether these are the gaps that the options fill.
    """
    first = _NUMBERED_OPTION.search(text)
    if first is None or any(character.isdigit() for character in text[: first.start()]):
        return False
    position, found = first.end(), 1
    while pair := _NUMBERED_OPTION.match(text, position):
        position, found = pair.end(), found + 1
    return found >= max(parts, 2) and not text[position:].strip()


def _groups(markers: Sequence[Marker]) -> Iterator[list[Marker]]:
    """Yield groups of markers: of one style at line starts, of one style, all; without repeats."""
    before: list[Marker] = []
    for style, _ in _STYLES:
        own = [marker for marker in markers if marker.style == style]
        at_line_starts = [marker for marker in own if marker.begins_line]
        yield at_line_starts
        if len(own) > len(at_line_starts):
            yield own
        before = own or before
    if len(markers) > len(before):
        yield list(markers)


def lists_of_numbers(
    markers: Sequence[Marker], end: int, most: int
) -> Iterator[list[tuple[int, int]]]:
    """Yield the lists of two to *most* consecutive numbers of one style, as text spans.

    A list ends before a number that does not continue it, or at *end* of the text.
    """
    for style, _ in _STYLES:
        own = [marker for marker in markers if marker.style == style and marker.fixed is None]
        at_line_starts = [marker for marker in own if marker.begins_line]
        for group in (at_line_starts, own) if len(own) > len(at_line_starts) else (own,):
            runs: list[list[Marker]] = []
            for marker in group:
                if runs and marker.number == runs[-1][-1].number + 1:
                    runs[-1].append(marker)
                else:
                    runs.append([marker])
            stops = [*(run[0].start for run in runs[1:]), end][: len(runs)]
            for run, stop in zip(runs[-_MOST_RUNS:], stops[-_MOST_RUNS:], strict=True):
                if 2 <= len(run) <= most:
                    edges = [*(marker.start for marker in run[1:]), stop]
                    yield [(m.end, max(m.end, edge)) for m, edge in zip(run, edges, strict=True)]


def numbered_parts(source: SourceText) -> Iterator[SourceText]:
    """Yield the text after each of the last numbers."""
    markers = list(_single_markers(source.text))[-_MOST_RUNS:]
    ends = [marker.start for marker in markers[1:]] + [len(source.text)]
    for marker, end in zip(markers, ends, strict=False):
        yield source.part(marker.end, max(marker.end, end))


def find_markers(source: SourceText, letters: str) -> list[Marker]:
    """Return the question numbers of the text in order, one for each number of a range."""
    ranged = list(_ranges(source, letters))
    covered = [(markers[0].start, end) for markers, end in ranged]
    single = [
        marker
        for marker in _single_markers(source.text)
        if not any(start <= marker.start < end for start, end in covered)
    ]
    spelled_out = [marker for markers, _ in ranged for marker in markers]
    return sorted([*single, *spelled_out], key=lambda marker: marker.start)


def _single_markers(text: str) -> Iterator[Marker]:
    for match in _MARKERS.finditer(text):
        style = match.lastgroup or ""
        after = _AFTER.match(text, match.end())
        end = after.end() if after else match.end()
        begins_line = (
            not text[max(0, match.start() - 4) : match.start()].rpartition("\n")[2].strip()
        )
        yield Marker(number_of(match[f"n_{style}"]), match.start(), end, style, begins_line)


def _ranges(source: SourceText, letters: str) -> Iterator[tuple[list[Marker], int]]:
    """Yield the markers of each range ("1-5 ABCDA") with as many letters as numbers."""
    for match in _RANGE.finditer(source.text):
        low, high = int(match["low"]), int(match["high"])
        count = high - low + 1
        if not 2 <= count <= 100:
            continue
        found = _letters_at(source.text, match.end(), letters, count)
        if found:
            yield (
                [
                    Marker(
                        number=low + offset,
                        start=match.start() + offset,
                        end=position,
                        style="range",
                        fixed=Reading(
                            (letter,), source.span(position, position + 1), "range", "range", 0.9
                        ),
                    )
                    for offset, (letter, position) in enumerate(found)
                ],
                found[-1][1] + 1,
            )


def _letters_at(text: str, start: int, letters: str, count: int) -> list[tuple[str, int]] | None:
    """Return exactly *count* letters from *start* on, adjacent or separated, None for others."""
    found: list[tuple[str, int]] = []
    for position in range(start, min(start + 5 * count + 5, len(text))):
        character = text[position]
        if character.upper() in letters:
            found.append((character.upper(), position))
        elif character not in " ,、;.\"'()[]" or len(found) == count:
            break
    following = text[found[-1][1] + 1 : found[-1][1] + 2] if found else ""
    exact = len(found) == count and not (following.isascii() and following.isalpha())
    return found if exact else None


def _in_another_order(markers: Sequence[Marker], parts: int) -> bool:
    """Return whether *markers* number each of *parts* questions once, not in their order."""
    numbers = [marker.number for marker in markers]
    ordered = sorted(numbers)
    each_once = len(numbers) == parts and ordered == list(range(ordered[0], ordered[0] + parts))
    return each_once and numbers != ordered


def _ascending_runs(markers: Sequence[Marker]) -> list[list[Marker]]:
    runs: list[list[Marker]] = []
    for marker in markers:
        if runs and marker.number > runs[-1][-1].number:
            runs[-1].append(marker)
        else:
            runs.append([marker])
    return runs


def _is_named(text: str, marker: Marker) -> bool:
    """Return whether *marker* names a question in running text, not as a reason."""
    named = marker.style in ("ordinal", "word", "topic") or text[marker.start - 1] == "第"
    return named and not is_cited(text, marker.start, marker.end)


def _repeated(
    source: SourceText, own: Sequence[Marker], end: int, base: int, parts: int, letters: str
) -> list[Slot]:
    """Return the slots of questions that are answered again after *end*: "(2)D".

    A remark about a question leaves its answer open: "第2题也可选D".
    """
    later = [marker for marker in own if marker.start >= end][:_MOST_RUNS]
    ends = [marker.start for marker in later[1:]] + [len(source.text)]
    repeated = for_letters(_REPEATED, letters, re.IGNORECASE)
    slots = []
    for marker, limit in zip(later, ends, strict=False):
        index = marker.number - base
        match = repeated.fullmatch(source.text, marker.end, max(marker.end, limit))
        if not 0 <= index < parts:
            continue
        if match:
            slots.append(given_slot(source, index, match, "letter"))
        elif _is_named(source.text, marker):
            said = said_of_another(source.part(marker.end, max(marker.end, limit)), letters)
            slots += [Slot(index, source, said)] if said else []
    return slots
