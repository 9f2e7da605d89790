"""The comparison of mathematical answers: properties, caps, how sure it is, and every real gold.

The table of cases is tests/cases/math.json, which check_cases runs.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluations.reading.rules.scoring.math_equivalence import Comparison, equivalent
from evaluations.reading.rules.scoring.math_nodes import Undecided
from evaluations.reading.rules.scoring.math_parse import parse
from evaluations.reading.rules.scoring.math_values import exact
from evaluations.reading.rules.scoring.math_zero import zero

SIGNS = [
    *"0123456789xyabein.,;:()[]{}|+-*/^_=<>$%!° ",
    *(r"\frac", r"\sqrt", r"\pi", r"\pm", r"\infty", r"\cup", r"\text{", r"\{", r"\}", r"\le"),
    *(r"\sin", r"\ln", r"\boxed{", r"\begin{pmatrix}", r"\end{pmatrix}", r"\\", "&", r"\left("),
    *("或", "且", "①", "③", "，", "；", "√", "²", "½", "cm", "元", " or ", " and ", "\u202e", "\0"),
]
formulas = st.lists(st.sampled_from(SIGNS), max_size=14).map("".join)
texts = formulas | st.text(max_size=30)


@settings(max_examples=400)
@given(texts, texts)
def test_the_comparison_is_symmetric_and_raises_nothing(one: str, other: str) -> None:
    assert equivalent(one, other).equal == equivalent(other, one).equal


@settings(max_examples=300)
@given(texts)
def test_what_has_content_equals_itself(text: str) -> None:
    compared = equivalent(text, text)
    assert (compared.method, compared.reason) == ("text", None)
    if any(c in "0123456789" for c in text):
        assert compared.equal is True


@given(st.fractions(max_denominator=999), st.fractions(max_denominator=999))
def test_fractions_are_equal_as_numbers_are(one: Fraction, other: Fraction) -> None:
    written = rf"\frac{{{other.numerator}}}{{{other.denominator}}}"
    assert equivalent(f"{one.numerator}/{one.denominator}", written).equal is (one == other)


@given(st.integers(1, 400), st.integers(1, 400))
def test_roots_are_equal_where_their_squares_are(one: int, other: int) -> None:
    product = rf"\sqrt{{{one}}}\cdot\sqrt{{{other}}}"
    assert equivalent(product, rf"\sqrt{{{one * other}}}").equal is True
    assert equivalent(product, rf"\sqrt{{{one * other + 1}}}").equal is False


@pytest.mark.parametrize(
    ("gold", "answer", "method"),
    [
        ("x+1", "$x + 1$", "text"),
        ("3/4", "0.75", "exact"),
        (r"2\sqrt3", r"\sqrt{12}", "algebraic"),
        (r"\sqrt{-4}", "2i", "algebraic"),
        (r"\sin 30^\circ", "1/2", "numeric"),
        ("2(x+1)", "2x+2", "points"),
        ("x>2", r"(2,+\infty)", "form"),
    ],
)
def test_the_method_says_how_sure_it_is(gold: str, answer: str, method: str) -> None:
    compared = equivalent(gold, answer)
    assert (compared.equal, compared.method, compared.reason) == (True, method, None)


@pytest.mark.parametrize(
    ("gold", "answer", "reason"),
    [
        ("5", "9**9**9**9", Undecided.TOO_LARGE),
        ("5", "9^{9^{9^{9}}}", Undecided.TOO_LARGE),
        ("5", "1e999999", Undecided.TOO_LARGE),
        ("5", "100000!", Undecided.TOO_LARGE),
        ("5", "e^{e^{e^{e^{e}}}}", Undecided.TOO_LARGE),
        ("5", r"\sqrt{" * 500 + "2" + "}" * 500, Undecided.TOO_LONG),
        ("5", r"\sqrt" * 300 + "2", Undecided.TOO_DEEP),
        ("5", "{" * 10_000 + "1" + "}" * 10_000, Undecided.TOO_LONG),
        ("5", "{" * 900 + "1" + "}" * 900, Undecided.TOO_DEEP),
        ("5", "9" * 100_000, Undecided.TOO_LONG),
        ("5", "\\" * 100_000, Undecided.TOO_LONG),
        ("5", "(" * 100_000, Undecided.TOO_LONG),
        ("5", "1+" * 900 + "1", Undecided.TOO_MANY),
        ("5", "1," * 90 + "1", Undecided.TOO_MANY),
        ("5", "5!!!!!!!!", Undecided.TOO_DEEP),
        ("1", "0/0", Undecided.UNDEFINED),
        (r"\ln x^2", r"2\ln x", Undecided.DOMAINS),
        ("8 apples", "8 pears", Undecided.UNITS),
        ("42_7", "30", Undecided.BASES),
        ("y=2x", "2x", Undecided.WRITING),
        ("x=3, y=4", "(3,4)", Undecided.NAMES),
        ("平行四边形", "矩形", Undecided.WORDS),
        ("1/2", r"\int_0^1 x dx", Undecided.NOT_READ),
    ],
)
def test_what_is_given_up_says_why(gold: str, answer: str, reason: Undecided) -> None:
    assert equivalent(gold, answer) == Comparison(None, "", reason)


def test_a_difference_far_behind_the_point_is_seen() -> None:
    # Ramanujan's number: e^(pi sqrt 163) misses a whole number in the thirtieth digit.
    assert equivalent(r"e^{\pi\sqrt{163}}", "262537412640768744").equal is False
    assert equivalent(r"\sqrt{2}+10^{-300}", r"\sqrt2").equal is False
    # Sums of three roots each that agree in their first digits only:
    # 3.1622... + 5.4772... + 4.2426... = 12.882..., 3.3166... + 5.3851... + 4.1231... = 12.824...
    assert (
        equivalent(r"\sqrt{10}+\sqrt{30}+\sqrt{18}", r"\sqrt{11}+\sqrt{29}+\sqrt{17}").equal
        is False
    )


def test_nested_roots_are_proved_by_the_separation_bound() -> None:
    # (sqrt 2 + sqrt 3 + sqrt 5)^2 = 10 + 2 sqrt 6 + 2 sqrt 10 + 2 sqrt 15
    node = parse(r"\sqrt{2}+\sqrt{3}+\sqrt{5}-\sqrt{10+2\sqrt{6}+2\sqrt{10}+2\sqrt{15}}")
    found = zero(node, {})
    assert (found.is_zero, found.method) == (True, "algebraic")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2^2", Fraction(-4)),
        ("2^3^2", Fraction(512)),
        ("6/2*3", Fraction(9)),
        (r"\frac12", Fraction(1, 2)),
        (r"\frac1{10}", Fraction(1, 10)),
        (r"11 \frac{2}{3}", Fraction(35, 3)),
        ("2 1/2", Fraction(5, 2)),
        (r"\frac{12}{5,525}", Fraction(12, 5525)),
        ("1.2e-05", Fraction(12, 1_000_000)),
        ("|3-5|!", Fraction(2)),
        ("50%", Fraction(1, 2)),
        (r"C_5^2", Fraction(10)),
        (r"0.1\overline{6}", Fraction(1, 6)),
    ],
)
def test_a_formula_has_the_value_that_it_is_read_with(text: str, value: Fraction) -> None:
    assert exact(parse(text), {}) == value


def golds(shared_data: Path, task: str) -> list[str]:
    lines = (shared_data / "agieval" / "v1" / f"{task}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["answer"] for line in lines]


# Pairs of real golds that are not written alike and yet are the same number.
SAME_NUMBERS = {
    (r"$\frac{1}{2}$", ".5"),
    (r"\frac{3}{2}", r"x = \frac{3}{2}"),
    (r"$\frac{\sqrt{3}}{3}$", r"\frac{1}{\sqrt{3}}"),
    (r"25\%", r"\frac{1}{4}"),
    ("3:1", "3"),
    (r"60^\circ", r"\frac{\pi}{3}"),
}


@pytest.mark.shareddata
def test_different_golds_are_equal_only_where_they_are_the_same(shared_data: Path) -> None:
    for one, other in SAME_NUMBERS:
        assert equivalent(one, other).equal is True, (one, other)
    # All golds of the cloze items against each other.
    distinct = sorted({gold.replace("$", "") for gold in golds(shared_data, "gaokao-mathcloze")})
    found = {
        (one, other)
        for place, one in enumerate(distinct)
        for other in distinct[place + 1 :]
        if equivalent(one, other).equal
    }
    assert found == {(r"90^{\circ}", r"\frac{\pi}{2}")}
