"""What the scripted endpoint reads in a response: its last capital letter, with the words around.

It is as good a reader as that: what it says is checked by people in the demo too.
"""

from __future__ import annotations

import json
import re

_ASKED = '"quote"'
_FENCED = re.compile(r"\n<([0-9a-z]{8,64})>\n(.*)\n<\1>\Z", re.DOTALL)
_LETTERS = re.compile(r"(?:取自 |only of )([A-Z]+)")
_LETTER = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")
_AROUND = 12


def reading(prompt: str) -> str | None:
    """The reply to *prompt*; None where it does not ask to copy out an answer."""
    fenced = _FENCED.search(prompt)
    if _ASKED not in prompt or not fenced:
        return None
    letters, response = _LETTERS.search(prompt), fenced[2]
    found = [match for match in _LETTER.finditer(response) if letters and match[0] in letters[1]]
    if not found:
        return '{"outcome": "no_answer"}'
    last = found[-1]
    quote = response[max(0, last.start() - _AROUND) : last.end()]
    said = {"answer": last[0], "quote": quote.strip()}
    parts = re.search(r"共 ([0-9]+) 项|answers has ([0-9]+) entries", prompt)
    gaps = int(parts[1] or parts[2]) - 1 if parts else 0
    return json.dumps({"outcome": "read", "answers": [said] + [None] * gaps}, ensure_ascii=False)
