"""Options that stand in a list with their texts: "B. 甲；C. 乙", "A. one B. two C. three D. four".

A wording that commits to the first of them commits to the whole list; a list of
all the options is the question once more and commits to nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from evaluations.reading.rules.extraction.patterns import FAULTED_CLAUSE, REJECTED_CLAUSE

# How far the list of one commitment may reach.
_REACH = 400
_FEWEST_OF_ALL = 3
# What stands right after the letter of an option; its siblings are written alike.
_FORM = re.compile(r"\s?(?:(?P<dot>[.:、)])|(?P<word>选项|项))(?=\s?[^\s.,:;。、)])")
_REASON = re.compile(r"\s{0,2}(?:因为|由于|理由|原因|解析|because\b|since\b|as\b)", re.IGNORECASE)
_SENTENCE = re.compile(r"[^。!\n\x1e]*")
_NEXT_LINES = re.compile(r"[^\n\x1e]*(?:\n[ \t]{0,4}(?=[(\[]?[A-G])[^\n\x1e]*)*")


def also_listed(text: str, letter_start: int, letter_end: int, letters: str) -> tuple[str, ...]:
    """Return the options that a list goes on with after the one at *letter_start*.

    The siblings have the same mark after their letter ("B. …；C. …") and stand in the
    same sentence, or each on a line of its own where the first one begins a line.
    Empty where a sibling is called wrong, or the first text is a reason.
    """
    form = _FORM.match(text, letter_end)
    if form is None or _REASON.match(text, form.end()):
        return ()
    begins_line = not text[max(0, letter_start - 5) : letter_start].rpartition("\n")[2].strip()
    below = begins_line and "\n" in text[max(0, letter_start - 5) : letter_start]
    limit = min(len(text), form.end() + _REACH)
    reach = (_NEXT_LINES if below else _SENTENCE).match(text, form.end(), limit)
    end = reach.end() if reach else limit
    labels = list(_siblings(letters, form.lastgroup or "dot").finditer(text, form.end(), end))
    if below:
        labels = [label for label in labels if text[label.start()] == "\n"]
    if form.lastgroup == "word" and len(labels) < 2:
        return ()
    ends = [*(label.start() for label in labels[1:]), end]
    for label, stop in zip(labels, ends, strict=False):
        said = text[label.end() : stop]
        if REJECTED_CLAUSE.search(said) or FAULTED_CLAUSE.search(said):
            return ()
    return tuple(label["letter"] for label in labels)


@lru_cache(maxsize=64)
def _siblings(letters: str, form: str) -> re.Pattern[str]:
    few = re.escape(letters)
    if form == "word":
        return re.compile(rf"[;]\s{{0,2}}[(\[]?(?P<letter>[{few}])[)\]]?\s?(?:选项|项)")
    return re.compile(
        rf"(?:[;,、和与及或]|以及|或者|\n|\band\b|\bor\b)\s{{0,3}}[(\[]?"
        rf"(?P<letter>[{few}])\s?[.:、)](?=\s?[^\s.,:;。、)A-G])"
    )


def names_all_options(text: str, letter_start: int, letters: str) -> bool:
    """Tell whether a list of all options with their texts begins at *letter_start*."""
    if len(letters) < _FEWEST_OF_ALL or text[letter_start] != letters[0]:
        return False
    found = _labels(letters).finditer(text, letter_start, letter_start + 3 * _REACH)
    named = "".join(label["letter"] for label in found)
    return named.startswith(letters)


@lru_cache(maxsize=64)
def _labels(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?<=[\s;,。(:])|\A)(?P<letter>[{re.escape(letters)}])\)?\s?[.:、)](?=\s{{0,3}}[^\s.,:;。、A-G])"
    )
