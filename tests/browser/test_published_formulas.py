"""The formulas of the published benchmarks in KaTeX: what it cannot read is shown as source.

A tenth of the texts and those named below are read; with GRADEAPP_FULL=yes all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from zlib import crc32

import pytest
from playwright.sync_api import Page, expect

from gradeapp.rendering import render_text
from tests.browser.test_formulas import STATIC, show
from tests.rendering_fidelity import shown
from tests.test_rendering_fidelity import texts

__all__ = ["show"]
pytestmark = pytest.mark.shareddata
KATEX = STATIC / "vendor" / "katex-0.19.1" / "katex.min.js"
CHUNK = 2000
READ = """(formulas) => formulas.filter((formula) => {
    const rules = { throwOnError: true, strict: "ignore", maxExpand: 200, output: "html" };
    const macros = { "\\\\mbox": "\\\\text{#1}", "\\\\cancelto": "{\\\\cancel{#2}}^{\\\\,#1}" };
    try { katex.renderToString(formula, { ...rules, displayMode: true, macros }); }
    catch { return true; }
    return false;
})"""
# How many formulas of a text KaTeX cannot read: 24 of 34,863.
MALFORMED = {
    "2010-2022_Biology_Open-ended_Questions:14:question": 1,  # a broken array
    "gpt-4-0314_2010-2022_Math_I_Fill-in-the-Blank:54:model_output": 1,  # two primes
    "gpt-3.5-turbo_2010-2022_Chemistry_Open-ended_Questions:1:model_output": 11,  # \ce of mhchem
    "gpt-3.5-turbo_2010-2022_Physics_Open-ended_Questions:0:model_output": 1,  # an open brace
    "gaokao-mathcloze:34:question": 1,  # \textgreater
    "gaokao-physics:158:question": 1,  # an open bracket
    "math:4:solution": 1,  # \cline
    "math:498:question": 1,  # \cline
    "math:786:question": 1,  # \renewcommand of no macro
    "math:786:solution": 2,  # \renewcommand of no macro
    "math:821:solution": 1,  # \cline
    "few_shot_prompts:5:row": 1,  # doubled backslashes of a literal
    "few_shot_prompts:10:row": 1,  # doubled backslashes of a literal
}


def wanted(name: str) -> bool:
    everything = os.environ.get("GRADEAPP_FULL") == "yes"
    return everything or name in MALFORMED or crc32(name.encode()) % 10 == 0


def test_formulas_that_katex_cannot_read_are_known_and_shown_as_source(
    page: Page, show: Callable[..., list[str]], shared_data: Path
) -> None:
    first: dict[str, str] = {}  # the text that each formula is first met in
    for name, kind, text in texts(shared_data):
        if ("$" in text or "\\" in text) and wanted(name):
            for formula in shown(render_text(text, kind=kind)).formulas:
                first.setdefault(formula, name)
    page.add_script_tag(path=KATEX)
    formulas = list(first)
    bad: list[str] = []
    for begin in range(0, len(formulas), CHUNK):
        bad += page.evaluate(READ, formulas[begin : begin + CHUNK])
    found: dict[str, int] = {}
    for formula in bad:
        found[first[formula]] = found.get(first[formula], 0) + 1
    assert found == MALFORMED
    assert show(*[f'<p><span class="math inline">{escape(one)}</span></p>' for one in bad]) == []
    expect(page.locator(".math-source")).to_have_count(len(bad))
    assert page.locator(".math-source").all_text_contents() == bad
    assert page.locator(".katex, .katex-error").count() == 0
