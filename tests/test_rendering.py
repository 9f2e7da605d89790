"""The one renderer: what it keeps, and what never comes through."""

from __future__ import annotations

import re
import sys
from html import escape
from types import FrameType

import pytest
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from gradeapp.rendering import LONGEST, Change, Kind, changes_of, render_pieces, render_text
from gradeapp.rendering.render import rendered

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
LIVE = re.compile(r"<(?!/?(?:p|br|strong|code|pre|span|div|h[3-6])\b)")
KINDS = pytest.mark.parametrize("kind", Kind)
GAP = '<span class="gap" role="img" aria-label="blank to fill in"></span>'
SPACE = '<span class="gap apart" role="img" aria-label="space"></span>'


@KINDS
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str, kind: Kind) -> None:
    html = render_text(text, kind=kind)
    assert not LIVE.search(html), html
    assert not re.search(r"<[^>]+\s(on\w+|style|id|hx-\w+|srcdoc|href|src)\s*=", html)


def test_mathematics_stays_source_and_is_escaped() -> None:
    assert render_text("设 $a<b$ 且 $x_{1}$") == (
        '<p>设 <span class="math inline">a&lt;b</span> 且 '
        '<span class="math inline">x_{1}</span></p>\n'
    )
    assert render_text("$$\nx^2\n$$") == '<div class="math block">\nx^2\n</div>\n'
    assert render_text("所以 $$x<2$$ 得") == (
        '<p>所以 <span class="math block">x&lt;2</span> 得</p>\n'
    )
    assert '<span class="math inline">x+1</span>' in render_text(r"so \(x+1\) holds")
    assert 'block">\\begin{align*}a&amp;=b\\end{align*}<' in render_text(
        r"Then \begin{align*}a&=b\end{align*} holds"
    )


@KINDS
@pytest.mark.parametrize(
    "text",
    [
        "S=1/2*7*5*sin120=_3_5, a * b * c, 2**3**4, f(2)**(3)*x",
        "65. decorated\n66. an\n70. the\n0) none\n- minus\n+ plus\n> more\n---\n===",
        "____1____，____2____ and __init__ and _x_ and snake_case_name",
        r"a lone \ and \n and \alpha and \$5 and C:\(x",
        "A. $300 one night for a room and going all the way up to $400",
        "between $5-$10, $1,000, or ($300) or ($400); US $ 48 and US $ 52",
        "[a](https://example.org) <https://example.org> https://example.org &amp; &lt; &#65;",
        "![x](https://example.org/p.png) ![x](image:gone.png)",
        r"\begin{itemize}\item a\end{itemize} \begin{tabular}{c} a & b",
        "#1 is #2, *one*, ***, ** x **, ` and `` and ```",
    ],
)
def test_what_is_no_delimiter_stays_as_it_is_written(text: str, kind: Kind) -> None:
    lines = [escape(line, quote=False) for line in text.split("\n")]
    assert render_text(text, kind=kind) == f"<p>{'<br>'.join(lines)}</p>\n"


def test_only_a_response_may_hold_a_little_markdown() -> None:
    text = "# Part **one**\n**A** is `x_1`\n```py\na **b** < 1\n```\n1. **（1）$x$**"
    assert render_text(text, kind=Kind.RESPONSE) == (
        "<h3>Part <strong>one</strong></h3>\n"
        "<p><strong>A</strong> is <code>x_1</code></p>\n"
        '<pre><span class="part-label">py</span><code>a **b** &lt; 1</code></pre>\n'
        '<p>1. <strong>（1）<span class="math inline">x</span></strong></p>\n'
    )
    assert render_text("# a\n**b** `c`") == "<p># a<br>**b** `c`</p>\n"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("I \u3000  my homework.  Well", f"I{GAP}my homework.  Well"),
        (
            "at least \n  \u3000 \u3000. \nA. $1   B. $2",
            f"at least <br>{GAP}. <br>A. $1{SPACE}B. $2",
        ),
        ("the numbers     \nbefore my eyes.   \nA", f"the numbers{GAP}<br>before my eyes.   <br>A"),
        ("    材料一   乾元元年（  ）", f"    材料一{SPACE}乾元元年（  ）"),
        ("第七十二条   国民政府", f"第七十二条{SPACE}国民政府"),
        ("在材料上   的名字", f"在材料上{GAP}的名字"),
    ],
)
def test_three_blanks_within_a_line_are_a_gap_with_a_name(text: str, html: str) -> None:
    assert render_text(text) == f"<p>{html}</p>\n"


def test_in_an_answer_key_blanks_keep_answers_apart_and_are_no_gap() -> None:
    html = render_text("大量元素     细胞\nthe numbers    \nbefore", kind="key")
    assert html == f"<p>大量元素{SPACE}细胞<br>the numbers    <br>before</p>\n"


def test_the_name_of_a_gap_is_in_the_language_of_the_page() -> None:
    with translation.override("zh-hans"):
        assert 'aria-label="空白处"' in render_text("a    b")
    assert 'aria-label="blank to fill in"' in render_text("a    b")


def test_markdown_tables_and_sub_numbers() -> None:
    html = render_text(
        "| a | $|x|$ |\n|---|:--|\n| 1 | 2 | 3 |\n| \\| |\n\n（1）求 $x$\n(2)，由(1)得"
    )
    assert "<thead>\n<tr><th>a</th><th><span" in html
    assert "<td>1</td><td>2</td><td>3</td></tr>\n<tr><td>\\|</td><td></td></tr>" in html
    assert '<span class="sub-number">（1）</span>求' in html
    assert '<span class="sub-number">(2)</span>，由(1)得' in html
    assert "<table>" not in render_text("a | b\n--- no | row\n\n|a|b|\n|---|\n")


def table(rows: str) -> str:
    return f'<div class="table-wrap"><table>\n<tbody>\n{rows}\n</tbody>\n</table></div>\n'


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (r"{|c|c|}\hline a & $x & y$ \\ \hline", None),
        (
            r"[t]{|c|c|} \hline \multicolumn{2}{|c|}{ Age } \\ \cline{1 - 2} {$[1,2)$} & 5\% \\",
            '<tr><td colspan="2">Age</td></tr>\n'
            '<tr><td><span class="math inline">[1,2)</span></td><td>5%</td></tr>',
        ),
        (  # no \\ before the rule; the empty cell below a merged one goes
            r"{c} \multirow[t]{2}{*}{$\begin{array}{c}a \\ b\end{array}$} & 1 \hline & 2 \\",
            '<tr><td rowspan="2"><span class="math inline">\\begin{array}{c}a \\\\ b\\end{array}'
            "</span></td><td>1</td></tr>\n<tr><td>2</td></tr>",
        ),
        (  # more rows than there are, and something in the way
            r"{cc} \multirow{9}{*}{a} & 1 \\ b & 2 \\",
            "<tr><td>a</td><td>1</td></tr>\n<tr><td>b</td><td>2</td></tr>",
        ),
        (
            r"{|l|}\hlineGroup \textbf{X} & 1 \\",
            "<tr><td>Group <strong>X</strong></td><td>1</td></tr>",
        ),
    ],
)
def test_latex_tables_become_tables_with_merged_cells(body: str, rows: str | None) -> None:
    html = render_text(rf"见 \begin{{tabular}}{body}\end{{tabular}}表")
    if rows is None:
        assert "<td>a</td><td>$x</td><td>y$</td>" in html
    else:
        assert html == f"<p>见 </p>\n{table(rows)}<p>表</p>\n"


def test_an_array_with_lines_outside_of_mathematics_is_a_table() -> None:
    html = render_text(r"\begin{array}{|c|c|}\hline \text { 甲 } & x_{1} \\ 7 & \end{array}")
    assert html == table(
        '<tr><td> 甲 </td><td><span class="math inline">x_{1}</span></td></tr>\n'
        "<tr><td>7</td><td></td></tr>"
    )


def test_the_tagged_format_gets_labels() -> None:
    html = render_text("【解析】因为 <eoe>\n【答案】：A <eoa>")
    assert '<span class="part-label">解析</span>' in html
    assert '<span class="part-label">答案：</span>' in html
    assert "eoe" not in html


def test_images_come_only_from_the_bank() -> None:
    images = {"circuit.png": "/questions/images/1/"}
    assert '<img src="/questions/images/1/" alt="a circuit">' in render_text(
        "![a circuit](image:circuit.png)", images
    )
    unnamed = render_text("![](image:circuit.png)", images)
    assert 'alt="Image"' in unnamed, "one that does not load leaves its name, not nothing"
    assert "<img" not in render_text("![x](image:circuit.png)", {"circuit.png": "//evil/"}).replace(
        '<img alt="x">', ""
    )


def test_what_cannot_be_shown_is_said() -> None:
    assert changes_of("$x$ \\ _ * 【答案】\r\n\t![](image:none)") == ()
    assert changes_of("a\x08b") == (Change.REPLACED,)
    assert render_text("a\x08b\ud800\r\nc\rd") == "<p>a\ufffdb\ufffd<br>c<br>d</p>\n"
    assert changes_of("*" * (LONGEST + 1)) == (Change.CUT,)
    assert render_text("*" * (LONGEST + 1)).startswith("<pre>")


OPENERS = ["[", "*", ">", "`", "$", "(", "_", "![", "\\(", "\\[", "**", "|", "【", "{", "$ ", "`a "]
OPENERS += [
    "\\begin{tabular}",
    "\\begin{tabular}{c}",
    "\\multirow{",
    "|-\n",
    "\n#",
    "\n```",
    "![a](",
]


@KINDS
@pytest.mark.parametrize("opener", OPENERS)
def test_delimiters_that_nothing_closes_take_linear_work(opener: str, kind: Kind) -> None:
    """Twice the text makes twice the calls, not four times; no clock is asked."""
    calls = [work(opener * (size // len(opener)), kind) for size in (3_000, 6_000)]
    assert calls[1] < 2.5 * calls[0] + 200


def work(text: str, kind: Kind) -> int:
    """How many calls rendering takes, also of a text that another test rendered before."""
    count = 0

    def one(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    rendered.cache_clear()
    sys.setprofile(one)
    try:
        render_text(text, kind=kind)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("opener", ["\\(", "$", "|", "\\begin{tabular}", "【", "`", "**"])
def test_the_longest_text_of_delimiters_comes_back(opener: str) -> None:
    assert render_text(opener * (LONGEST // len(opener)), kind=Kind.RESPONSE)


PIECES = [*OPENERS, "$", "|", "\n", "}", "\\end{tabular}", "&", "\\\\", "x", "   ", "<b>", "】"]


@settings(max_examples=100)
@given(st.text(max_size=400) | st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_gives_inert_html(text: str) -> None:
    html = render_text(text, kind=Kind.RESPONSE)
    assert not re.search(r"<(script|style|iframe|svg|math|object|form|input)\b", html, re.I)


def test_pieces_that_differ_are_marked_and_nothing_else_is_let_in() -> None:
    html = render_pieces([("a ", False), ("b", True), (" <script>", False), ("$x$", True)])
    assert html == (
        '<p>a <mark>b</mark> &lt;script&gt;<mark><span class="math inline">x</span></mark></p>\n'
    )
    bold = render_pieces([("**a", False), ("b**", True), (" c\n\nd", True)], kind=Kind.RESPONSE)
    assert bold == (
        "<p><strong>a<mark>b</mark></strong><mark> c</mark></p>\n<p><mark>d</mark></p>\n"
    )
    cells = render_pieces([("|a|b|\n|-|-|\n|1|", False), ("2", True), ("|", False)])
    assert "<td>1</td><td><mark>2</mark></td>" in cells
    assert "<mark>" not in render_text("<mark>y</mark>")
