"""No reader of formats that can run code is anywhere in the project (T079, T080)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).parents[2]
FORBIDDEN = re.compile(
    r"^\s*(?:import|from) (?:pickle|marshal|shelve|yaml|dill|joblib|torch)\b"
    r"|read_pickle|read_parquet|trust_remote_code|\beval\(|\bexec\(|xml\.sax|minidom"
    r"|django\.views\.static",
    re.MULTILINE,
)


def test_nothing_reads_pickles_yaml_or_code() -> None:
    files = [
        file
        for folder in ("gradeapp", "questions", "evaluations")
        for file in (ROOT / folder).rglob("*.py")
    ]
    assert len(files) > 400
    assert [file.name for file in files if FORBIDDEN.search(file.read_text("utf-8"))] == []
