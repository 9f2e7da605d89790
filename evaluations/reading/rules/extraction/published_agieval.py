"""AGIEval's own reading of answers, kept with its quirks.

Source: the benchmark's released program (AGIEval, src/post_process.py and
src/dataset_loader.py). Quirks worth knowing:

- zero-shot choices take the first capital A to F anywhere, so "Because" reads B;
- few-shot choices take the first A to G after "answer is " or "答案是" on its line,
  else the same first capital; with chains of thought this wording is looked for in
  the last line alone, but the first capital is that of the whole text;
- the tasks with several right letters take every capital A to F anywhere;
- an exact answer is the last box, else what stands between the first and the last
  dollar of the last line that has two, else what follows the last "=", else the
  last number; a box loses everything before its last "=";
- an output without an answer reads as nothing, and is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from evaluations.reading.rules.extraction.reading import Extraction, Outcome, Span, unread

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
# Possessive, and not begun inside a run of digits: it matches the same, and no text makes it slow.
_NUMBER = re.compile(r"\$?(?<!\d)\d++(?:\.\d++)?(?!\w)")
_PREFIXES = ("The answer is therefore", "答案是")
_FEW_SHOT, _FEW_SHOT_COT = "few-shot", "few-shot-CoT"


def read_agieval(output: str, task: str, *, setting: str = "zero-shot") -> Extraction:
    """Read *output* for an item of *task* by the rules released for *setting*.

    One answer: a letter, the letters in alphabetical order where several may be
    right, or the text of an exact answer. Linear in the length of *output*.
    """
    text, shift = output, 0
    if setting == _FEW_SHOT_COT:
        text, shift = _last_line(output)
    if task in EXACT:
        found = _exact(text, setting)
    elif task in SEVERAL_LETTERS:
        found = _every_letter(text)
    elif setting.startswith("few-shot"):
        found = _said(text, "zh" if task in _CHINESE else "en")
        if found is None:
            found, shift = _first_letter(output), 0
    else:
        found = _first_letter(text)
    if found is None:
        return unread(Outcome.NO_ANSWER, 1, method="published")
    answer, (start, end) = found
    return Extraction(
        answers=(answer,),
        outcome=Outcome.READ,
        method="published",
        pattern="agieval.exact" if task in EXACT else "agieval.choice",
        spans=((start + shift, end + shift),),
        confidence=1.0,
    )


_Found = tuple[str, Span] | None


def _last_line(output: str) -> tuple[str, int]:
    """The last line that is not blank, and where it begins."""
    end = len(output.rstrip())
    start = output.rfind("\n", 0, end) + 1
    stop = output.find("\n", end)
    return output[start : len(output) if stop < 0 else stop], start


def _first_letter(text: str) -> _Found:
    match = _CAPITAL.search(text)
    return (match[0], match.span()) if match else None


def _every_letter(text: str) -> _Found:
    found = list(_CAPITAL.finditer(text))
    if not found:
        return None
    return "".join(sorted({match[0] for match in found})), (found[0].start(), found[-1].end())


def _said(text: str, language: str) -> _Found:
    """The first letter after the wording on its line; where it fails, so does the line's rest."""
    start = text.find(_SAID[language])
    while start >= 0:
        match = _SAID_LETTER.match(text, start + len(_SAID[language]))
        if match:
            return match[1], (start, match.end())
        line_end = text.find("\n", start)
        start = text.find(_SAID[language], line_end) if line_end >= 0 else -1
    return None


def _exact(text: str, setting: str) -> _Found:
    start = _after_prefixes(text)
    rest = text[start:]
    if setting in (_FEW_SHOT, _FEW_SHOT_COT):
        return _placed(text, rest.strip(), start)
    ways: tuple[Callable[[str], str | None], ...] = (_between_dollars, _unmarked)
    if "\\boxed" in rest:
        ways = (_boxed,)
    answer = next((found for way in ways if (found := way(rest))), None)
    return _placed(text, answer, start)


def _after_prefixes(text: str) -> int:
    """Where the text begins after the last of each prefix, one after the other."""
    start = 0
    for prefix in _PREFIXES:
        begins = text.startswith(prefix, start)
        index = start if begins else text.rfind(prefix, start)
        if index >= 0:
            start = index + len(prefix)
    return start


def _placed(text: str, answer: str | None, start: int) -> _Found:
    if not answer:
        return None
    at = max(text.rfind(answer), start)
    return answer, (at, min(at + len(answer), len(text)))


def _boxed(text: str) -> str | None:
    """The content of the last box; nothing where its braces do not close or it has none."""
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


def _between_dollars(text: str) -> str | None:
    found = _DOLLARS.findall(text)
    return _after_equals(found[-1]) if found else None


def _unmarked(text: str) -> str | None:
    if "=" in text:
        return _after_equals(text).rstrip(".").split("\\n")[0]
    found = _NUMBER.findall(text)
    return str(found[-1]) if found else None


def _after_equals(text: str) -> str:
    return text.split("=")[-1].lstrip(" ") if "=" in text else text
