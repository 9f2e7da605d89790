"""The one renderer: what it keeps, and what never comes through."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeapp.rendering import LONGEST, render_pieces, render_text

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](java&#10;script:alert(1))",
    "[x](&#x6A;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    '<button hx-post="/api/v1/marks/" hx-trigger="load">x</button>',
    '<a id=csrf name=body style="position:fixed">x</a>',
    "<form id=markform><input name=x></form>",
    "![x](http://127.0.0.1:9/p.png)",
    "![x](//127.0.0.1:9/p.png)",
    "![x](data:image/svg+xml;base64,AAAA)",
    "$<img src=x onerror=alert(1)>$",
    "$$</div><script>alert(1)</script>$$",
    "【解析】<b onclick=alert(1)>x</b><eoe>",
    '`<math><mi xlink:href="javascript:x">`',
    "<math><annotation-xml encoding='text/html'><style><img src=x onerror=alert(1)>",
]
LIVE = re.compile(r"<(?!/?(?:p|br|em|strong|code|pre|span|div|a|ol|ul|li|h\d|blockquote|hr)\b)")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str) -> None:
    html = render_text(text)
    assert not LIVE.search(html), html
    assert not re.search(r"<[^>]+\s(on\w+|style|id|hx-\w+|srcdoc)\s*=", html)
    assert not re.search(r'<[^>]*(href|src)="(?!https?:|mailto:)', html)


def test_mathematics_stays_source_and_is_escaped() -> None:
    assert render_text("设 $a<b$ 且 $x_{1}$") == (
        '<p>设 <span class="math inline">a&lt;b</span> 且 '
        '<span class="math inline">x_{1}</span></p>\n'
    )
    assert '<div class="math block">' in render_text("$$\nx^2\n$$")


def test_display_mathematics_in_a_paragraph_stays_in_it() -> None:
    assert render_text("所以 $$x<2$$ 得") == (
        '<p>所以 <span class="math block">x&lt;2</span> 得</p>\n'
    )


def test_tex_brackets_are_mathematics_too() -> None:
    assert '<span class="math inline">x+1</span>' in render_text(r"so \(x+1\) holds")


def test_tables_and_sub_numbers() -> None:
    html = render_text("| a | b |\n|---|---|\n| 1 | 2 |\n\n（1）求 $x$\n(2)，由(1)得")
    assert "<table>" in html
    assert "<td>1</td>" in html
    assert '<span class="sub-number">（1）</span>求' in html
    assert '<span class="sub-number">(2)</span>，由(1)得' in html


def test_the_tagged_format_gets_labels() -> None:
    html = render_text("【解析】因为 <eoe>\n【答案】A <eoa>")
    assert '<span class="part-label">解析</span>' in html
    assert '<span class="part-label">答案</span>' in html
    assert "eoe" not in html


def test_images_come_only_from_the_bank() -> None:
    images = {"circuit.png": "/questions/images/1/"}
    assert '<img src="/questions/images/1/" alt="a circuit">' in render_text(
        "![a circuit](image:circuit.png)", images
    )
    assert render_text("![a circuit](image:gone.png)", images) == "<p>[a circuit]</p>\n"


def test_an_indented_line_of_a_paper_is_no_code() -> None:
    assert "<pre>" not in render_text("    材料一  乾元元年")


def test_past_the_longest_length_text_stays_plain() -> None:
    assert render_text("*" * (LONGEST + 1)).startswith("<pre>")


@pytest.mark.parametrize("mark", ["[", "*", ">", "`", "$", "(", "_", "![", "\\("])
def test_deep_nesting_comes_back(mark: str) -> None:
    assert render_text(mark * 5_000)


@settings(max_examples=200)
@given(st.text(max_size=400))
def test_any_text_gives_inert_html(text: str) -> None:
    html = render_text(text)
    assert not re.search(r"<(script|style|iframe|svg|math|object|form|input)\b", html, re.I)


def test_pieces_that_differ_are_marked_and_nothing_else_is_let_in() -> None:
    html = render_pieces([("a ", False), ("b", True), (" $x$ \ue010<script>\ue011", False)])
    assert "a <mark>b</mark>" in html
    assert html.count("<mark>") == 1
    assert "<script>" not in html
    crossing = render_pieces([("**a", False), ("b**", True), (" [c](https://e.org/", False)])
    assert crossing.count("<mark>") == crossing.count("</mark>"), "tags are balanced again"
    assert "<mark>" not in render_text("\ue010x\ue011 <mark>y</mark>")
