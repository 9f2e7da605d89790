"""Formulas as signs, folded words, and the line around a hit: by table."""

from __future__ import annotations

import time

import pytest

from questions.rules.readable import readable
from questions.rules.search_words import search_text, search_words, snippet


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain  text\nof two lines", "plain text of two lines"),
        (r"$\frac{1}{2}mv^{2}$", "1/2mv²"),
        (r"$\mathrm{CO}_{2}$ 的浓度", "CO₂ 的浓度"),
        (r"$a_{n+1}=\frac{\sqrt{2}}{x+1}$", "aₙ₊₁=(√2)/(x+1)"),
        (r"$\sin \alpha \leqslant 30^{\circ}$", "sin α≤30°"),
        (r"$\dfrac{x^{2}}{a^{2}}-y^2=1$", "x²/a²-y²=1"),
        (r"$\left(x\right) \quad 50\%$", "(x) 50%"),
        (r"$\begin{array}{ll}1 & 2 \\ 3 & 4\end{array}$", "1 & 2 3 & 4"),
        ("snake_case and 2^3 without a formula", "snake_case and 2^3 without a formula"),
        ("已知____填空", "已知＿填空"),
        ("见图 ![](images/a.png) 和 <u>线</u>", "见图 和 线"),
        ("a < b and c > d", "a < b and c > d"),
        (r"且 $P(2<X \leq 2.5)=0.36$, 则 $P(X>2.5)=$", "且 P(2<X ≤2.5)=0.36, 则 P(X>2.5)="),
        ("若 a<b 且 c>d", "若 a<b 且 c>d"),
        ("若 $x<a$, and $y>b$ 而 a<b>c", "若 x<a, and y>b 而 a<b>c"),
        (
            "a<b and c=d>e <Answer> <smiles>CC</smiles>",
            "a<b and c=d>e <Answer> <smiles>CC</smiles>",
        ),
        ("$1<u>0$ and <U>a</U> <br/>b <eoe>", "1<u>0 and a b"),
        ("<a id=\"OLE_LINK2\">x</a><font color='red'>y</font>", "x y"),
        ("parking space #3, C#, 3*E+2*SE", "parking space #3, C#, 3*E+2*SE"),
        ("时代&#8226;华纳 &lt;p&gt; `x`", "时代&#8226;华纳 &lt;p&gt; `x`"),
        (r"\begin{tabular}{|c|}\multirow{2}{*}{Sample} & 1\end{tabular}", "Sample & 1"),
        (
            r"\begin{tabular}{l}\hline IAPV & 76 \\KBV & 90 \\\hlineFungi & 100 \\in the wild",
            "IAPV & 76 KBV & 90 Fungi & 100 in the wild",
        ),
        (r"$a \\alpha \\\alpha$", "a alpha α"),
        ("", ""),
    ],
)
def test_a_formula_is_read_as_signs(text: str, shown: str) -> None:
    assert readable(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        *("\\frac{" * 4000, "{" * 30000, "$" + "_{" * 9000, "| " * 20000, "<a" * 20000),
        *("![" * 20000, "<a x=''" * 9000, "<a" + " a=''" * 12000, "\\(" * 30000),
        *("$<a>" * 15000, "</" + " " * 60000),
    ],
)
def test_hostile_markup_is_read_in_time(text: str) -> None:
    started = time.process_time()
    readable(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("  光合作用  CO2 ", ["光合作用", "co2"]),
        ("ＡＢＣ　１２３", ["abc", "123"]),
        (r"$\frac{1}{2}$", ["1/2"]),
        ("C# P(2<X", ["c#", "p(2<x"]),
        ("Straße STRASSE", ["strasse"]),
        ("a b c d e f g h i j", ["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("\x00", []),
        ("", []),
    ],
)
def test_words_are_folded_and_each_is_there_once(query: str, words: list[str]) -> None:
    assert search_words(query) == words


def test_text_is_folded_as_words_are() -> None:
    text = search_text([r"设 $\mathrm{CO}_{2}$ 的Ａ浓度", "", "The ÉCOLE"])
    assert text == "设 co2 的a浓度\nthe école"
    assert all(word in text for word in search_words("CO₂ ａ浓度 école E\u0301COLE"))


def test_the_line_around_the_first_hit_marks_what_was_found() -> None:
    parts = ["Nothing here", "x" * 100 + " ＣＯ₂ and again co2 " + "y" * 100]
    pieces = snippet(parts, ["co2"])
    assert [text for text, hit in pieces if hit] == ["ＣＯ₂", "co2"]
    assert pieces[0] == ("…", False)
    assert pieces[-1] == ("…", False)
    assert len("".join(text for text, _hit in pieces)) < 110
    assert snippet(parts, ["absent"]) == []


def test_a_sign_that_folds_to_several_is_marked_whole() -> None:
    assert snippet(["die Straße"], ["ss"]) == [("die Stra", False), ("ß", True), ("e", False)]
