"""What the scripted endpoint suggests: labels and scoring points drawn from what the prompt names.

Drawn blindly, so it is right as often as chance; the form is the one asked for.
"""

from __future__ import annotations

import json
import re
from random import Random

_LABELS = '"ability_branch"'
_POINTS = '"points"'
_PLACE = re.compile(r"^- ([a-z-]+)[^\[\n]*\[([a-z_]+)\]", re.MULTILINE)
_FULL_MARKS = re.compile(r"(?:满分|Full marks)】\n([0-9.]+)")
_SUB_MARKS = re.compile(r"^sub ([0-9]+)[:：] ?([0-9.]+)", re.MULTILINE)


def suggestion(prompt: str, draw: Random) -> str | None:
    """The suggestion that *prompt* asks for; None where it asks for something else."""
    if _LABELS in prompt and (places := _PLACE.findall(prompt)):
        return _labels(places, draw)
    marks = _SUB_MARKS.findall(prompt) or [("1", full) for full in _FULL_MARKS.findall(prompt)]
    return _points(marks, draw) if _POINTS in prompt and marks else None


def _labels(places: list[tuple[str, str]], draw: Random) -> str:
    knowledge, branch = draw.choice(places)
    named = {"ability_branch": branch, "knowledge": knowledge, "difficulty": draw.randint(1, 5)}
    return json.dumps(named, ensure_ascii=False)


def _points(marks: list[tuple[str, str]], draw: Random) -> str:
    """Two points of each sub-question, or one where its marks are few."""
    rows = []
    for sub, written in marks:
        full = float(written)
        first = draw.randint(1, max(1, int(full) - 1)) if full > 1 else full
        for number, points in enumerate((first, full - first), start=1):
            if points:
                text = f"（{sub}）第 {number} 点"
                rows.append({"sub": int(sub), "text": text, "points": points})
    return json.dumps(rows, ensure_ascii=False)
