"""GAOKAO-Bench's own reading of objective answers, kept with all its quirks.

Source: the benchmark's released evaluation program (OpenLMLab/GAOKAO-Bench,
Bench/bench_function.py) and the answers released with it, which these rules
reproduce without a difference. Use them to compare with published tables;
the strict cascade is what a careful examiner would read.

Quirks worth knowing:

- single choice takes the last capital A to D anywhere, so "the answer is B
  because A is wrong" reads A;
- a multiple-choice tag at the very start of the output is not seen;
- several sub-questions fall back to the first capital letters of the text;
- letters are not de-duplicated, and there may be fewer answers than
  sub-questions (the published scoring then gives the whole item 0).
"""

from __future__ import annotations

import re

from evaluations.reading.rules.extraction.reading import Extraction, Outcome, Span

# Possessive quantifiers: the classes are disjoint, so this matches what the
# published pattern matches, but a run of blanks cannot make it quadratic.
_TAGGED_LETTER = re.compile(r"【答案】\s*+[:：]*+\s*+([A-Z])")
_CAPITAL = re.compile(r"[A-Z]")
_CHOICE = re.compile(r"[A-D]")
_GAP_CHOICE = re.compile(r"[A-G]")
_TAG = "【答案】"
_TAIL = 10

_Found = list[tuple[str, Span]]


def read_answer_published(output: str, question_type: str, parts: int) -> Extraction:
    """Read *output* by the published rules; *parts* is the number of sub-questions.

    ``answers`` may be shorter than *parts*. Raises ValueError for a type that
    the benchmark does not score by rule.
    """
    readers = {
        "single_choice": lambda: _last_letter(output),
        "multi_question_choice": lambda: _tagged_or_first(output, parts),
        "multi_choice": lambda: _after_tag_or_tail(output),
        "five_out_of_seven": lambda: _first(_GAP_CHOICE, output, 5),
    }
    if question_type not in readers:
        raise ValueError(f"{question_type!r} is not an objective question type")
    found = readers[question_type]()
    return Extraction(
        answers=tuple(answer for answer, _ in found),
        outcome=Outcome.READ if found else Outcome.NO_ANSWER,
        method="published",
        pattern=f"gaokao-bench.{question_type}",
        spans=tuple(span for _, span in found),
        confidence=1.0 if found else 0.0,
    )


def _last_letter(output: str) -> _Found:
    position = max(output.rfind(letter) for letter in "ABCD")
    return [(output[position], (position, position + 1))] if position >= 0 else []


def _tagged_or_first(output: str, parts: int) -> _Found:
    tagged = list(_TAGGED_LETTER.finditer(output))
    if len(tagged) == parts:
        return [(match[1], match.span()) for match in tagged]
    return _first(_CAPITAL, output, parts)


def _first(letter: re.Pattern[str], output: str, count: int) -> _Found:
    found: _Found = []
    for match in letter.finditer(output):
        if len(found) == count:
            break
        found.append((match[0], match.span()))
    return found


def _after_tag_or_tail(output: str) -> _Found:
    """All letters after the first tag, else in the last ten characters; one joined string.

    Positions are counted in the text without white space, as published; a tag
    at position 0 is treated as absent.
    """
    offsets = [index for index, character in enumerate(output) if not character.isspace()]
    content = "".join(output[index] for index in offsets)
    tag = content.find(_TAG)
    start = tag if tag > 0 else max(len(content) - _TAIL, 0)
    hits = [match.start() for match in _CHOICE.finditer(content, start)]
    if not hits:
        return []
    joined = "".join(content[hit] for hit in hits)
    return [(joined, (offsets[hits[0]], offsets[hits[-1]] + 1))]
