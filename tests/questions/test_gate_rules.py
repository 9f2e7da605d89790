"""What is wrong with one item, by tables: what counts, what does not, what quarantines."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from questions.rules.gate import Finding, Item, find_problems

OPTIONS = ("one", "two", "three", "four")
STEM = "哪个正确？"


def item(**fields: Any) -> Item:
    whole = {
        "question_type": "single_choice",
        "stem": STEM,
        "letters": "ABCD",
        "options": OPTIONS,
        "answer_key": ("A",),
        "sub_marks": (Decimal(6),),
    }
    return Item(**(whole | fields))


def found(**fields: Any) -> list[tuple[str, bool]]:
    return [(finding.code.value, finding.quarantines) for finding in find_problems(item(**fields))]


def only(**fields: Any) -> Finding:
    (finding,) = find_problems(item(**fields))
    return finding


def test_a_sound_item_has_no_problem() -> None:
    assert found() == []
    assert found(options=(), stem=f"{STEM}\nA. one\nB. two\nC. three\nD. four") == []
    assert found(question_type="multi_choice", answer_key=("BD",)) == []


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"answer_key": ("F",)}, [("key_outside_options", True)]),
        ({"answer_key": ("BD",)}, [("several_letters", True)]),
        (
            {"question_type": "multi_question_choice", "answer_key": ("A", "BC"), "options": ()},
            [("several_letters", True), ("key_count", True)],
        ),
        ({"answer_key": ("A", "B")}, [("key_count", True)]),
        ({"answer_key": ()}, [("empty_key", True)]),
        ({"answer_key": (" ",)}, [("key_outside_options", True), ("empty_key", True)]),
        ({"question_type": "exact_answer", "letters": "", "answer_key": ("2",), "options": ()}, []),
        (
            {"question_type": "exact_answer", "letters": "", "answer_key": ("",), "options": ()},
            [("empty_key", True)],
        ),
    ],
)
def test_keys(fields: dict[str, Any], problems: list[tuple[str, bool]]) -> None:
    assert found(**fields) == problems


@pytest.mark.parametrize(
    ("options", "key", "images", "quarantines"),
    [
        (("", "", "", ""), "A", (), True),
        (("", "", "", ""), "A", ("all.png",), False),
        (("one", "two", "three", ""), "D", (), True),
        (("one", "two", "three", ""), "A", (), False),
        (("one", " ", "three", "four"), "A", (), False),
    ],
)
def test_empty_options(
    options: tuple[str, ...], key: str, images: tuple[str, ...], quarantines: bool
) -> None:
    finding = only(options=options, answer_key=(key,), images=images)
    assert (finding.code, finding.quarantines) == ("empty_options", quarantines)


def test_options_printed_without_a_text_are_empty() -> None:
    finding = only(options=(), stem="下列图示正确的是（ ）\nA．  B．\nC．  D．\n")
    assert (finding.code, finding.quarantines) == ("empty_options", True)
    assert finding.detail == {"options": ["A", "B", "C", "D"]}


@pytest.mark.parametrize(
    ("options", "key", "named", "quarantines"),
    [
        (("8.75", "8.79", "8.75", "8.71"), "C", ["AC"], True),
        (("277", "288", "200", "277"), "B", ["AD"], False),
        (("３/2 倍", "3倍", "2倍", "3 倍"), "D", ["BD"], True),
        (("Aa", "aa", "AA", "1"), "A", [], False),
        (("x²", "x2", "1", "2"), "A", [], False),
    ],
)
def test_repeated_options(
    options: tuple[str, ...], key: str, named: list[str], quarantines: bool
) -> None:
    findings = find_problems(item(options=options, answer_key=(key,)))
    assert [finding.detail["options"] for finding in findings] == ([named] if named else [])
    assert any(finding.quarantines for finding in findings) is quarantines


def test_equal_texts_that_are_all_in_the_key_are_fair() -> None:
    assert found(
        question_type="multi_choice", options=("a", "b", "b", "c"), answer_key=("BC",)
    ) == [("repeated_options", False)]


def test_one_picture_behind_all_letters_is_no_repetition() -> None:
    picture = "![](image:all.png)"
    assert found(options=(picture,) * 4, images=("all.png",)) == []
    assert found(options=(picture, picture, "c", "d"), images=("all.png",)) == [
        ("repeated_options", True)
    ]


def test_a_sub_question_is_named_before_its_letters() -> None:
    stem = "1. A. x B. y C. z D. w\n2. A. up B. on C. on D. off"
    finding = only(
        question_type="multi_question_choice",
        options=(),
        stem=stem,
        answer_key=("A", "D"),
        sub_marks=(Decimal(2), Decimal(2)),
    )
    assert finding.detail == {"options": ["2BC"]}
    assert not finding.quarantines


def test_the_key_against_the_analysis() -> None:
    finding = only(analysis="B正确，C错误。\n故选：BC。")
    assert (finding.code, finding.quarantines) == ("key_against_analysis", True)
    assert finding.detail == {"subs": [], "keys": ["A"], "says": ["BC"]}
    assert found(analysis="故选A。") == []


def test_each_sub_question_is_held_against_its_own_part_of_the_analysis() -> None:
    finding = only(
        question_type="multi_question_choice",
        options=(),
        answer_key=("A", "D", "C"),
        sub_marks=(Decimal(2),) * 3,
        analysis="67．A 段落大意题．故选 A．\n68．D 推理题．故选 C．\n69．C 细节题．",
    )
    assert finding.detail == {"subs": [2], "keys": ["D"], "says": ["C"]}


@pytest.mark.parametrize(
    "stem",
    [
        "如图，空间存在匀强电场",
        "如下图所示的电路",
        "下图为给定的多面体",
        "漫画（如图）讽刺了",
        "能引起移动（见图）的是",
        "图1、图2 分别表示",
        "图a和图 b分别反映",
        "图中的①②③④中，能够反映",
        "由图可知，正确的是",
        "按图示装置进行实验",
        "The figure above shows a circle",
        "In the diagram, D and E are the midpoints",
        "The graph of f is shown below.",
    ],
)
def test_a_figure_that_is_not_there_is_a_flag(stem: str) -> None:
    assert found(stem=stem) == [("missing_figure", False)]
    assert found(stem=stem, images=("a.png",)) == []
    assert found(stem=f"{stem}\n[asy]draw((0,0)--(1,1));[/asy]") == []


@pytest.mark.parametrize(
    "stem",
    [
        "按图索骥 照猫画虎",
        "试图中止合同",
        "企图中饱私囊",
        "《清明上河图3.0》高科技互动展演",
        "插图 2353 幅",
        "地图中心与图书馆",
        "各代的藏家在上面盖上图章",
        "下图书馆借书",
        "版图和意图",
        "Figure out which of the following is true.",
        "The table above shows",
        "he pictured himself",
    ],
)
def test_other_senses_of_the_word_figure(stem: str) -> None:
    assert found(stem=stem) == []


def test_a_picture_from_elsewhere_was_part_of_the_item() -> None:
    finding = only(stem="下列正确的是 ![](https://cdn.example.org/a.jpg?height=1)")
    assert (finding.code, finding.quarantines) == ("missing_figure", True)
    assert finding.detail == {"links": 1, "words": ""}


@pytest.mark.parametrize(
    ("sums", "wrong"),
    [
        ({}, []),
        ({1: Decimal("6.0"), 2: Decimal(4)}, []),
        ({1: Decimal(5), 2: Decimal(4)}, [1]),
        ({1: Decimal(6)}, [2]),
        ({3: Decimal(2), 1: Decimal(6), 2: Decimal(4)}, [3]),
    ],
)
def test_a_rubric_gives_the_full_marks(sums: dict[int, Decimal], wrong: list[int]) -> None:
    findings = find_problems(
        item(
            question_type="subjective",
            letters="",
            options=(),
            answer_key=(),
            reference_answer="...",
            sub_marks=(Decimal(6), Decimal("4.0")),
            rubric_sums=sums,
        )
    )
    assert [finding.detail["subs"] for finding in findings] == ([wrong] if wrong else [])
    assert not any(finding.quarantines for finding in findings)


def test_an_open_question_needs_something_to_mark_by() -> None:
    fields = {"question_type": "subjective", "letters": "", "options": (), "answer_key": ()}
    assert found(**fields) == [("empty_key", False)]
    assert found(**fields, analysis="解：略") == []
