"""The steps of the cascade for one question, the most explicit wording first.

Each step takes the plain text and the letters of the item and returns a reading, or
None so that the next step tries. A step never guesses: an undecided case is returned
as several letters or as undecided, and the question type makes it ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from evaluations.reading.rules.extraction import doubts
from evaluations.reading.rules.extraction import patterns as p
from evaluations.reading.rules.extraction.commitments import (
    committed,
    from_mention,
    with_siblings,
)
from evaluations.reading.rules.extraction.letter_lists import JSON_KEY_RIGHT, goes_on_below
from evaluations.reading.rules.extraction.mentions import Stance, changed_behind, find_mentions
from evaluations.reading.rules.extraction.option_lists import (
    OWN_NUMBER,
    before_analysis,
    marked,
    names_all_options,
    shared_out,
)
from evaluations.reading.rules.extraction.patterns import for_letters
from evaluations.reading.rules.extraction.reading import Reading, Span
from evaluations.reading.rules.extraction.source_text import SourceText
from evaluations.reading.rules.extraction.tags import Tag, find_tags

Step = Callable[[SourceText, str], Reading | None]

# Boxes without a letter are skipped; only the last boxes of an output are read.
_MOST_TAGS = 50
_MOST_PLACES = 200
# A longer list of letters, one a line, is noise.
_MOST_LINES = 20
_MARGIN = r"[\s.,:;!、。()\[\]{}\"'\x1e<>【】&=-]"
# Words that may surround a bare letter: "选项B", "Both A and C", "应该是B吧".
_BESIDE = re.compile(
    r"(?<=[A-G])\+(?=[A-G])|以及|[和与及吧]|选项|选择?|项|应该?是?|\b(?:and|both|options?|choices?|clearly|definitely)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"或者?|/|\bor\b", re.IGNORECASE)
# "ABD (C)": C may be one of them or not.
_LAST_IN_BRACKETS = re.compile(r"[A-G]\s{0,3}\(")
# Matches every text that ``whole`` reads, and fails at the first other character: the
# characters of ``_MARGIN``, ``_BESIDE`` and ``_OR``, and the letters of the item.
_MAY_BE_WHOLE = (
    rf"(?:{_MARGIN}|[+/以及和与吧选项择应该是或者andbothoptionschoicesclearlydefinitelyor"
    r"LETTERSSMALL])*+"
)
_BARE_LETTERS = rf"(?:{_MARGIN}|[LETTERS]|(?<![a-z])[SMALL](?![a-z]))*+"
_ONLY_LETTERS = rf"{_MARGIN}*+(?:[LETTERS]{_MARGIN}*+)++"
_SMALL_REPEATED = re.compile(r"(?<![A-Za-z])([a-g])\1++(?![A-Za-z])")
# "B. 因为…", "(C) The author…", "B, because": the output begins with its answer.
_LEADING = re.compile(
    r"\s{0,4}(?P<sign>[✅✔☑]\s{0,2})?[(\[\"]?(?P<letter>[A-Za-z])"
    r"(?:[)\]\".:、,。;!]|\s?(?:because|since|选项|项|因为|由于|(?:理由|解析|解释|说明)\s?:|rather|\(|[-–—]\s))"
)
_GOES_ON = re.compile(r"(?!因为|由于)[^\s.,:;。、!)]")
# The text between two boxes of one answer.
_BETWEEN_BOXES = re.compile(r"\}?[\s$,、;和与及]{0,6}(?:(?:and|or)\s{0,2})?[\s$]{0,3}")
_OPTION_LINE = re.compile(r"(?:^\s{0,4}[(\[]?|选项)([A-G])[)\].:、]|([A-G])选?项:", re.MULTILINE)
# Options with their text: "A. ①② B. ①③".
_OPTION_LABEL = re.compile(r"(?<![^\s(])([A-G])[.:)](?=\s?[^\s.,:;。、A-G])")
_LINE = re.compile(r"[^\n\x1e]++")
_BRACKETED = re.compile(r"\((?<![A-Za-z0-9]\()\s?([A-Za-z])\s?\)")
_ANSWER_WORDS = re.compile(
    r"\s{0,4}(?:(?:应该?|我|是|为|选择?|选项|项|:|=|the|option|is)\s{0,2}){0,4}", re.IGNORECASE
)


def read_part(source: SourceText, letters: str) -> Reading | None:
    """Read the answer to one question from *source*, None if there is none."""
    return _first((tagged, *_UNTAGGED), source, letters)


def _first(steps: Sequence[Step], source: SourceText, letters: str) -> Reading | None:
    return next((reading for step in steps if (reading := step(source, letters))), None)


def tagged(source: SourceText, letters: str) -> Reading | None:
    """Read the last answer field; an empty field, or one without a letter, is no answer."""
    tags = find_tags(source.text)[-_MOST_TAGS:]
    for index, tag in reversed(list(enumerate(tags))):
        reading = read_tag(source, tag, letters)
        if not tag.boxed:
            return reading
        if not reading.letters:
            continue
        # Boxes right before it belong to the answer: "\\boxed{A}\\boxed{B}".
        names = reading.letters
        for before, after in reversed(list(pairwise(tags[: index + 1]))):
            between = source.text[before.content_end : after.start]
            if not before.boxed or not _BETWEEN_BOXES.fullmatch(between):
                break
            names = (*read_tag(source, before, letters).letters, *names)
        if set(names) == set(reading.letters):
            return reading
        return replace(reading, letters=tuple(dict.fromkeys(names)), places=())
    return None


def read_tag(source: SourceText, tag: Tag, letters: str) -> Reading:
    """Read one answer field; the reading has no letters if the field has none.

    Of a field without an end mark only the first line with content is read, and the
    lines of bare letters after it.
    """
    end = tag.content_end
    if not tag.closed:
        bare = for_letters(_BARE_LETTERS, letters)
        position = end = tag.content_start
        seen = False
        for line in source.text[position : tag.content_end].splitlines(keepends=True):
            position += len(line)
            if seen and not bare.fullmatch(line):
                break
            end, seen = position, seen or bool(line.strip())
    content = source.part(tag.content_start, end)
    inner = _first(_IN_TAG, content, letters)
    number = OWN_NUMBER.match(content.text) if inner is None else None
    if number:
        inner = _first(_IN_TAG, content.part(number.end(), len(content.text)), letters)
    method = "boxed" if tag.boxed else "tag"
    if inner is None:
        span = source.span(tag.start, max(tag.content_start, tag.start + 1))
        return Reading((), span, method, "blank", 0.0)
    first = None if tag.closed else find_mentions(content.text, letters).first()
    if first and goes_on_below(source.text, tag.content_start + first.end, letters):
        inner = replace(inner, open_ended=True)
    span = (source.span(tag.start, tag.start + 1)[0], inner.span[1])
    pattern = f"{method}.{inner.pattern}"
    return replace(inner, span=span, method=method, pattern=pattern, confidence=1.0)


def whole(source: SourceText, letters: str) -> Reading | None:
    """Read a text of letters only: "b", "(C)", "A、C", "AC"; small letters if all are small."""
    if not for_letters(_MAY_BE_WHOLE, letters, re.IGNORECASE).fullmatch(source.text):
        return None
    text = _BESIDE.sub(lambda match: " " * len(match[0]), source.text)
    undecided = bool(_OR.search(text) or _LAST_IN_BRACKETS.search(text))
    text = _OR.sub(lambda match: " " * len(match[0]), text)
    for alphabet in (letters, letters.lower()):
        if not for_letters(_ONLY_LETTERS, alphabet).fullmatch(text):
            continue
        found = list(for_letters("[LETTERS]", alphabet).finditer(text))
        is_key = alphabet.islower() and JSON_KEY_RIGHT.match(text, found[0].end())
        if is_key or len(found) > _MOST_PLACES:
            return None
        names = tuple(match[0].upper() for match in found)
        span = source.span(found[0].start(), found[-1].end())
        places = tuple(source.span(*match.span()) for match in found)
        return Reading(names, span, "whole_output", "whole", 0.95, undecided, places)
    return None


def alone(source: SourceText, letters: str) -> Reading | None:
    """Read like ``whole`` for one question, where small letters like "aaa!" are no answer."""
    reading = whole(source, letters)
    return None if reading and _SMALL_REPEATED.search(source.text) else reading


def opening(source: SourceText, letters: str) -> Reading | None:
    """Read the letters at the start of a field: "C选项。因为A错", "A、B、C、D都是正确的"."""
    listed = tuple(dict.fromkeys(_OPTION_LABEL.findall(source.text)))
    if len(listed) > 1 and set(listed) <= set(letters):
        return Reading(listed, source.span(0, len(source.text)), "opening", "option_list", 0.9)
    rejected = _all_rejected(source, letters)
    if rejected:
        return rejected
    start = _ANSWER_WORDS.match(source.text)
    begin = start.end() if start else 0
    mention = find_mentions(source.text, letters).first()
    if mention is None or mention.start > begin or mention.stance is Stance.REJECTED:
        return None
    following = source.text[mention.end : mention.end + 2]
    if mention.letters == ("A",) and re.match(r"\s[A-Za-z]", following):
        return None  # the article in "A careful reading"
    reading = from_mention(source, mention, "opening", 0.9)
    if changed_behind(source.text, mention, letters):
        return replace(reading, undecided=True)
    verdicts = affirmed(source, letters) if mention.stance is Stance.AFFIRMED else None
    if verdicts and set(mention.letters) < set(verdicts.letters):
        return replace(reading, letters=verdicts.letters, places=())
    return with_siblings(source, reading, mention, letters)


def _all_rejected(source: SourceText, letters: str) -> Reading | None:
    """Return an undecided reading if every option is called wrong at once."""
    for mention in find_mentions(source.text, letters):
        every = mention.stance is Stance.REJECTED and set(letters) <= set(mention.letters)
        if every and p.REJECTED_RIGHT.match(source.text, mention.end):
            return replace(from_mention(source, mention, "rejection", 0.5), undecided=True)
    return None


def _all_listed(source: SourceText, letters: str) -> Reading | None:
    """Return an undecided reading if a commitment is followed by all options."""
    for mention in find_mentions(source.text, letters).commitments_from_the_end():
        if names_all_options(source.text, mention.places[0], letters):
            return replace(from_mention(source, mention, "option_list", 0.5), undecided=True)
    return None


def affirmed(source: SourceText, letters: str) -> Reading | None:
    """Read the letters called right and never called wrong ("A错误，C正确").

    None if only some of the others are called wrong: then the question may have asked
    for the wrong one.
    """
    mentions = find_mentions(source.text, letters).capitals()
    right = [m for m in mentions if m.stance is Stance.AFFIRMED]
    names = tuple(dict.fromkeys(x for m in right for x in m.letters))
    rejected = {x for m in mentions if m.stance is Stance.REJECTED for x in m.letters}
    spoken_against = rejected | {
        x for m in mentions if m.stance is Stance.FAULTED for x in m.letters
    }
    others = {x for m in mentions for x in m.letters} - set(names)
    if not names or spoken_against & set(names) or (rejected and spoken_against < others):
        return None
    span = source.span(right[0].start, right[-1].end)
    # "C不确定" may belong to the set; "本题选错误的" asks for the others.
    open_ones = (m for m in mentions if not set(m.letters) <= rejected | set(names))
    open_ended = any(m.open_ended for m in right)
    undecided = (
        any(m.undecided for m in right)
        or any(doubts.may_be_right(source.text, m.end) for m in open_ones)
        or bool(
            (rejected or open_ended)
            and all(m.cue != p.ASKED.name for m in right)
            and doubts.WRONG_IS_ASKED.search(source.text)
        )
    )
    return Reading(names, span, "affirmation", "affirmed", 0.7, undecided, open_ended=open_ended)


def lone_line(source: SourceText, letters: str) -> Reading | None:
    """Read a letter or a list that is alone on the first or the last line.

    If both lines are such, they must agree. The number of the question may precede the
    first one ("41. D"). Lines of the same kind beside them belong to the list.
    """
    lines = [match.span() for match in _LINE.finditer(source.text) if match[0].strip()]
    ends = dict.fromkeys([_block(source, lines, letters), _block(source, lines[::-1], letters)])
    found = [reading for block in ends if (reading := alone(source.part(*block), letters))]
    number = OWN_NUMBER.match(source.text, *lines[0]) if len(lines) > 1 else None
    if number and len(found) == 1:
        opened = alone(source.part(number.end(), lines[0][1]), letters)
        found = [opened, *found] if opened else found
    if not found:
        return None
    last = found[-1]
    names = tuple(dict.fromkeys(letter for reading in found for letter in reading.letters))
    undecided = last.undecided or set(names) != set(last.letters)
    return Reading(names, last.span, "lone_line", "lone_line", 0.8, undecided)


def _block(source: SourceText, lines: Sequence[Span], letters: str) -> Span:
    """Return the span of the first of *lines* and those right beside it that are alone as well."""
    block = list(takewhile(lambda line: alone(source.part(*line), letters), lines[:_MOST_LINES]))
    edges = [edge for line in block or lines[:1] for edge in line]
    return min(edges, default=0), max(edges, default=0)


def leading(source: SourceText, letters: str) -> Reading | None:
    """Read the answer that the output begins with ("B. 因为…"), unless it lists the options."""
    match = _LEADING.match(source.text)
    if match is None or match["letter"].upper() not in letters:
        return None
    if match["letter"].islower() and JSON_KEY_RIGHT.match(source.text, match.end("letter")):
        return None
    several_signs = match["sign"] and source.text.count(match["sign"][0]) > 1
    if several_signs or len({"".join(x) for x in _OPTION_LINE.findall(source.text)}) > 1:
        return None
    if names_all_options(source.text, match.start("letter"), letters):
        return None
    mentions = find_mentions(source.text, letters)
    mention = mentions.first()
    if mention is None or mention.start > match.start("letter"):
        return None
    if mention.stance is Stance.REJECTED:
        return None
    # "A选项提到… B选项…" goes through the options.
    goes_on = source.text[match.end() - 1] == "项" and _GOES_ON.match(source.text, match.end())
    if goes_on and any(set(m.letters) - set(mention.letters) for m in mentions):
        return None
    return from_mention(source, mention, "leading", 0.6)


def bracketed(source: SourceText, letters: str) -> Reading | None:
    """Read the only letter in brackets that is not ruled out ("... shows (C)")."""
    given = [match for match in _BRACKETED.finditer(source.text) if match[1].upper() in letters]
    if not given:
        return None
    out = [m for m in find_mentions(source.text, letters) if m.stance is Stance.REJECTED]
    kept = [
        match
        for match in given
        if not any(mention.start <= match.start() < mention.end for mention in out)
    ]
    if len({match[1].upper() for match in kept}) != 1:
        return None
    letter = kept[-1][1].upper()
    return Reading((letter,), source.span(*kept[-1].span()), "bracketed", "bracketed", 0.5)


_IN_TAG: tuple[Step, ...] = (alone, opening, committed, marked, affirmed, bracketed)
_UNTAGGED: tuple[Step, ...] = (
    *(alone, before_analysis, committed, marked, affirmed, lone_line, shared_out, leading),
    bracketed,
    *(_all_rejected, _all_listed),
)
