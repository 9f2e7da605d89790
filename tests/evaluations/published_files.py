"""Walks the released answers of GAOKAO-Bench for the tests that compare with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Item = dict[str, Any]


def objective_items(shared_data: Path) -> Iterator[tuple[str, str, Item]]:
    """Keyword, question type and item of every released objective answer of gpt-4-0314."""
    bench = shared_data / "gaokao-bench"
    prompts = json.loads((bench / "Bench" / "Obj_Prompt.json").read_text("utf-8"))
    types = {entry["keyword"]: entry["type"] for entry in prompts["examples"]}
    for path in sorted((bench / "Results" / "gpt_4_0314_obj").glob("*.json")):
        released = json.loads(path.read_text("utf-8"))
        for item in released["example"]:
            yield released["keyword"], types[released["keyword"]], item


def judged_items(shared_data: Path) -> Iterator[tuple[str, Item]]:
    """Keyword and item of every answer that the gpt-4-1106 judge marked."""
    results = shared_data / "gaokao-bench" / "Results" / "gpt_4_0314_sub"
    for path in sorted(results.glob("gpt-4-1106*/*.json")):
        released = json.loads(path.read_text("utf-8"))
        for item in released["example"]:
            yield released["keyword"], item
