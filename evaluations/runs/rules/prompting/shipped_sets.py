"""The prompt sets that come with gradeapp, read from the files in ``sets/``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from evaluations.runs.rules.prompting.prompt_sets import PromptSetContent, read_prompt_set
from gradeapp.common.strict_json import read_document

GRADEAPP = "gradeapp"
SHIPPED = (GRADEAPP, "agibench:none", "agibench:answer", "agibench:reason")

_FOLDER = Path(__file__).resolve().parent / "sets"


@cache
def shipped_set(name: str) -> PromptSetContent:
    """Return the set of ``SHIPPED`` that is called *name*. Raises KeyError for another name."""
    if name not in SHIPPED:
        raise KeyError(name)
    with (_FOLDER / f"{name.replace(':', '-')}.json").open("rb") as stream:
        return read_prompt_set(read_document(stream))
