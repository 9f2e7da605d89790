"""AGIEval's own reading of answers, with its quirks.

Source: the benchmark's released program (AGIEval, src/post_process.py and
src/dataset_loader.py). Quirks:

- zero-shot choices take the first capital A to F anywhere, so "Because" reads B;
- few-shot choices take the first A to G after "answer is " or "答案是" on its line,
  else the same first capital; with chains of thought this wording is searched only in
  the last line, but the first capital in the whole text;
- the tasks with several right letters take every capital A to F anywhere;
- an exact answer is the last box, else the text between the first and the last dollar of
  the last line that has two, else the text after the last "=", else the last number; in
  a box everything before its last "=" is dropped;
- an output without an answer is wrong.
"""

from __future__ import annotations

import re

from evaluations.reading.rules.extraction.reading import Extraction, Span, unread
from evaluations.statistics.outcomes import ReadingOutcome

SEVERAL_LETTERS = frozenset({"jec-qa-kd", "jec-qa-ca", "gaokao-physics"})
EXACT = frozenset({"gaokao-mathcloze", "math"})
_CHINESE = frozenset({"logiqa-zh", "gaokao-mathcloze", "gaokao-mathqa"}) | {
    f"gaokao-{subject}"
    for subject in ("chinese", "geography", "history", "biology", "chemistry", "physics")
}

_CAPITAL = re.compile(r"[A-F]")
_SAID = {"en": "answer is ", "zh": "答案是"}
_SAID_LETTER = re.compile(r"[^\nA-G]*+([A-G])")
_DOLLARS = re.compile(r"\$(.*)\$")
# Possessive, not inside a run of digits: the same matches as published, in linear time.
_NUMBER = re.compile(r"\$?(?<!\d)\d++(?:\.\d++)?(?!\w)")
_PREFIXES = ("The answer is therefore", "答案是")
_FEW_SHOT, _FEW_SHOT_COT = "few-shot", "few-shot-CoT"

_Found = tuple[str, Span] | None


def read_agieval(output: str, task: str, *, setting: str = "zero-shot") -> Extraction:
    """Read *output* for an item of *task* by the rules released for *setting*.

    One answer: a letter, the letters in alphabetical order where several may be
    right, or the text of an exact answer. Linear in the length of *output*.
    """
    text, offset = output, 0
    if setting == _FEW_SHOT_COT:  # only the last line that is not blank
        end = len(output.rstrip())
        offset = output.rfind("\n", 0, end) + 1
        text = output[offset:].partition("\n")[0]
    found: _Found = None
    if task in EXACT:
        found = _exact(text, setting)
    elif task in SEVERAL_LETTERS:
        capitals = list(_CAPITAL.finditer(text))
        if capitals:
            letters = "".join(sorted({match[0] for match in capitals}))
            found = letters, (capitals[0].start(), capitals[-1].end())
    elif setting.startswith("few-shot"):
        found = _said(text, "zh" if task in _CHINESE else "en")
        if found is None:
            found, offset = _first_letter(output), 0
    else:
        found = _first_letter(text)
    if found is None:
        return unread(ReadingOutcome.NO_ANSWER, 1, method="published")
    answer, (start, end) = found
    return Extraction(
        answers=(answer,),
        outcome=ReadingOutcome.READ,
        method="published",
        pattern="agieval.exact" if task in EXACT else "agieval.choice",
        spans=((start + offset, end + offset),),
        confidence=1.0,
    )


def _first_letter(text: str) -> _Found:
    match = _CAPITAL.search(text)
    return (match[0], match.span()) if match else None


def _said(text: str, language: str) -> _Found:
    """Return the first letter after the wording on its line; a line is tried only once."""
    start = text.find(_SAID[language])
    while start >= 0:
        match = _SAID_LETTER.match(text, start + len(_SAID[language]))
        if match:
            return match[1], (start, match.end())
        line_end = text.find("\n", start)
        start = text.find(_SAID[language], line_end) if line_end >= 0 else -1
    return None


def _exact(text: str, setting: str) -> _Found:
    start = 0
    for prefix in _PREFIXES:
        begins = text.startswith(prefix, start)
        index = start if begins else text.rfind(prefix, start)
        if index >= 0:
            start = index + len(prefix)
    rest = text[start:]
    answer: str | None = None
    if setting in (_FEW_SHOT, _FEW_SHOT_COT):
        answer = rest.strip()
    elif "\\boxed" in rest:
        answer = _boxed(rest)
    else:
        if dollars := _DOLLARS.findall(rest):
            answer = _after_equals(dollars[-1])
        if not answer and "=" in rest:
            answer = _after_equals(rest).rstrip(".").split("\\n")[0]
        elif not answer and (numbers := _NUMBER.findall(rest)):
            answer = str(numbers[-1])
    if not answer:
        return None
    at = max(text.rfind(answer), start)
    return answer, (at, min(at + len(answer), len(text)))


def _boxed(text: str) -> str | None:
    """Return the content of the last box; None if it has no braces or they do not close."""
    box = text.rfind("\\boxed")
    depth, position = 0, box
    for position in range(box, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if text[position] == "}" and depth == 0:
            break
    else:
        return None
    whole = text[box : position + 1]
    if not whole.startswith("\\boxed{"):
        return None
    return _after_equals(whole.removeprefix("\\boxed{")[:-1])


def _after_equals(text: str) -> str:
    return text.split("=")[-1].lstrip(" ") if "=" in text else text
