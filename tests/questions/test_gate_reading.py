"""Options printed in a stem, and the key that an analysis concludes: tables of real layouts."""

from __future__ import annotations

import pytest

from questions.rules.analysis_key import concluded_keys, contradicted, sections
from questions.rules.options import option_groups


@pytest.mark.parametrize(
    "text",
    [
        "哪个？\nA．甲\nB．乙\nC．丙\nD．丁\n",
        "哪个？\nA. 甲  B. 乙\nC. 丙  D. 丁",
        "哪个？A、甲 B、乙 C、丙 D、丁",
        "Which?\n(A) 甲 (B) 乙 (C) 丙 (D) 丁",
        "哪个？（A）甲（B）乙（C）丙（D）丁",
        "哪个？\nＡ．甲　Ｂ．乙　Ｃ．丙　Ｄ．丁",
        "哪个？A．甲B．乙C．丙D．丁",
        "哪个？\nA 甲   B 乙   C 丙   D 丁",
        "哪个？\n$\\mathrm{A}$. 甲\nB: 乙\nC) 丙\nD. 丁",
        "已知 A、B 两点，DNA. 是什么？\nA. 甲\nB. 乙\nC. 丙\nD. 丁",
    ],
)
def test_layouts(text: str) -> None:
    (group,) = option_groups(text, "ABCD")
    assert group.texts == ("甲", "乙", "丙", "丁")
    assert "".join(letter for letter, _text in group.options) == "ABCD"
    assert text[group.begin :].startswith(("A", "(A", "（A", "Ａ", "$", "\nA"))


def test_formulas_and_letters_inside_options_stay_whole() -> None:
    text = "A. $f(A)=\\frac{A}{B}$\nB. 维生素A. 和 C\nC. $D_{1}$\nD. U.S.A. only"
    (group,) = option_groups(text, "ABCD")
    assert group.texts == ("$f(A)=\\frac{A}{B}$", "维生素A. 和 C", "$D_{1}$", "U.S.A. only")


def test_several_sub_questions_on_one_line() -> None:
    text = "1．人口（ ） A．升 B．降 C．平 D．无 2．类型（ ） A．东 B．西 C．南 D．北 2．5"
    first, second = option_groups(text, "ABCD")
    assert first.texts == ("升", "降", "平", "无")
    assert text[first.end : second.begin].strip() == "2．类型（ ）"
    assert second.texts[:3] == ("东", "西", "南")


def test_seven_letters() -> None:
    (group,) = option_groups(" ".join(f"{letter}. {letter * 2}" for letter in "ABCDEFG"), "ABCDEFG")
    assert group.texts[-1] == "GG"


@pytest.mark.parametrize("text", ["", "A. one\nB. two\nD. four", "no options", "DNA. RNA. C. D."])
def test_what_is_half_there_is_not_given(text: str) -> None:
    assert option_groups(text, "ABCD") == []
    assert option_groups("A. one", "A") == []


@pytest.mark.parametrize(
    ("analysis", "keys"),
    [
        ("故选C", ("C",)),
        ("故选：BC。", ("BC",)),
        ("故选 $\\mathrm{BC}$ 。", ("BC",)),
        ("故\n选A.", ("A",)),
        ("故本题选 D．", ("D",)),
        ("故正确答案为C。", ("C",)),
        ("本题为选非题，故正确答案为B。", ("B",)),
        ("【答案】Ａ", ("A",)),
        ("答案：A、C", ("AC",)),
        ("可知，本题的最佳答案为D。", ("D",)),
        ("因此选择B项。", ("B",)),
        ("The answer is (C).", ("C",)),
        ("ANSWER:A", ("A",)),
        ("= 5%\nAnswer D", ("D",)),
        ("Choice $A$ is the best answer. Choices $B$ and $C$ are incorrect.", ("A",)),
        ("Choice D is correct. Since $k=3$ ...", ("D",)),
        ("Hence (C) is the correct answer", ("C",)),
        # what is no conclusion
        ("故选项C错误，故B正确", ()),
        ("不选C，故不能选B", ()),
        ("答案不是C", ()),
        ("如果答案是C，则矛盾", ()),
        ("第12题答案为C", ()),
        ("故C项错误", ()),
        ("答案C项错误", ()),
        ("故选CO2", ()),
        ("Choice B is incorrect. Choice C is not correct.", ()),
        ("go through each answer choice: (A) can never be true", ()),
        ("the answer is A+B", ()),
        ("Answer Alma gave to the cashier", ()),
        ("", ()),
    ],
)
def test_what_an_analysis_concludes(analysis: str, keys: tuple[str, ...]) -> None:
    assert concluded_keys(analysis) == keys


@pytest.mark.parametrize(
    ("key", "analysis", "says"),
    [
        ("A", "故选C", ("C",)),
        ("B", "故选：BD。", ("BD",)),
        ("C", "故选C", ()),
        ("BC", "故选：CB", ()),
        ("A", "由此故选C，更正：故选A", ()),
        ("A", "没有结论", ()),
    ],
)
def test_what_contradicts_a_key(key: str, analysis: str, says: tuple[str, ...]) -> None:
    assert contradicted(key, analysis) == says


def test_the_sections_of_an_analysis() -> None:
    assert sections("36．B 甲\n37．E 乙\n", 2) == ("B 甲", "E 乙\n")
    assert sections("【12题详解】甲【13题详解】乙", 2) == ()
    assert sections("【导语】…\n【12题详解】\n甲\n【13题详解】\n乙", 2)[1] == "\n乙"
    assert sections("(1)甲\n(2)乙\n(1)再", 2) == ()
    assert sections("没有编号", 2) == ()
