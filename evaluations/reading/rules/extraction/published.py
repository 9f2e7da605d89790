"""GAOKAO-Bench's own reading of objective answers, with all its quirks.

Source: the benchmark's released evaluation program (OpenLMLab/GAOKAO-Bench,
Bench/bench_function.py) and the answers released with it, which these rules
reproduce without a difference. Use them to compare with published tables; the
strict cascade reads like a careful examiner. Quirks:

- single choice takes the last capital A to D anywhere, so "the answer is B
  because A is wrong" reads A;
- a multiple-choice tag at the very start of the output is ignored;
- several sub-questions fall back to the first capital letters of the text;
- letters may repeat, and there may be fewer answers than sub-questions (the
  published scoring then gives the whole item 0).
"""

from __future__ import annotations

import re
from itertools import islice

from evaluations.reading.rules.extraction.reading import Extraction, Span
from evaluations.statistics.outcomes import ReadingOutcome

# Possessive quantifiers: the classes are disjoint, so this matches what the
# published pattern matches, but a run of blanks cannot make it quadratic.
_TAGGED_LETTER = re.compile(r"【答案】\s*+[:：]*+\s*+([A-Z])")
_CAPITAL = re.compile(r"[A-Z]")
_CHOICE = re.compile(r"[A-D]")
_GAP_CHOICE = re.compile(r"[A-G]")
_TAG = "【答案】"
_TAIL = 10


def read_answer_published(output: str, question_type: str, parts: int) -> Extraction:
    """Read *output* by the published rules; *parts* is the number of sub-questions.

    ``answers`` may be shorter than *parts*. Raises ValueError for a type that
    the benchmark does not score by rule.
    """
    found: list[tuple[str, Span]] = []
    match question_type:
        case "single_choice":
            position = max(output.rfind(letter) for letter in "ABCD")
            if position >= 0:
                found = [(output[position], (position, position + 1))]
        case "multi_question_choice":
            found = [(match[1], match.span()) for match in _TAGGED_LETTER.finditer(output)]
            if len(found) != parts:
                first = islice(_CAPITAL.finditer(output), parts)
                found = [(match[0], match.span()) for match in first]
        case "multi_choice":
            found = _after_tag_or_tail(output)
        case "five_out_of_seven":
            found = [(match[0], match.span()) for match in islice(_GAP_CHOICE.finditer(output), 5)]
        case _:
            raise ValueError(f"{question_type!r} is not an objective question type")
    return Extraction(
        answers=tuple(answer for answer, _ in found),
        outcome=ReadingOutcome.READ if found else ReadingOutcome.NO_ANSWER,
        method="published",
        pattern=f"gaokao-bench.{question_type}",
        spans=tuple(span for _, span in found),
        confidence=1.0 if found else 0.0,
    )


def _after_tag_or_tail(output: str) -> list[tuple[str, Span]]:
    """Return all letters after the first tag, else in the last ten characters, as one string.

    As published, positions count in the text without white space, and a tag at
    position 0 is ignored.
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
