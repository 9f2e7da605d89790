"""The same question twice: what is equal, what is alike, and when two keys contradict."""

from __future__ import annotations

import random
import time

import pytest

from questions.rules.duplicates import BankItem, Likeness, find_likenesses
from questions.rules.plain_text import comparable, squeezed
from questions.rules.text_runs import TextRuns, contained, runs_of

CHOICES = (
    "高纯硅可用于制作光感电池",
    "铝合金大量用于高铁建设",
    "活性炭具有除异味作用",
    "碘酒可用于消毒",
)
STEM = "化学与生活密切相关。下列叙述错误的是"


def item(ref: int, stem: str = STEM, **fields: object) -> BankItem:
    defaults: dict[str, object] = {
        "task": f"task-{ref}",
        "question_type": "single_choice",
        "options": CHOICES,
        "letters": "ABCD",
        "answer_key": ("C",),
    }
    return BankItem(ref=ref, stem=stem, **(defaults | fields))  # type: ignore[arg-type]


def printed(stem: str = STEM, options: tuple[str, ...] = CHOICES) -> str:
    return stem + "（ ）\n" + "\n".join(f"{a}．{b}" for a, b in zip("ABCD", options, strict=True))


def only(*items: BankItem) -> Likeness | None:
    found = find_likenesses(items)
    assert len(found) <= 1
    return found[0] if found else None


def test_equal_but_for_width_space_punctuation_and_the_place_of_the_options() -> None:
    left = item(1, printed(f"1. （6 分）{STEM}"), options=())
    right = item(2, f"{STEM} （ ）。", options=tuple(f" {text} " for text in CHOICES[::-1]))
    same = only(left, right)
    assert same == Likeness(1, 2, 1.0, True, (), ((0, 0),)), "C names another text in each"
    turned = item(2, STEM, options=CHOICES[::-1], answer_key=("B",))
    assert only(left, turned) == Likeness(1, 2, 1.0, True, (), ()), "the same text, another letter"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$x\\leqslant 1$", "$x \\le 1$"),
        ("$x\\leq1$", "x≤1"),
        ("\\left( \\frac{1}{2} \\right)", "(\\frac12)"),
        ("$1-\\mathrm{i}$", "1 - i"),
        ("ＡＢ，１", "AB 1"),
        ("$t \\quad\\, a$", "ta"),
        ("x²", "$x^2$"),
    ],
)
def test_one_spelling(one: str, other: str) -> None:
    assert comparable(one) == comparable(other)


def test_what_has_a_meaning_stays_different() -> None:
    assert comparable("-1") != comparable("1")
    assert comparable("a>b") != comparable("a<b")
    assert comparable("①②") != comparable("①③")
    assert squeezed("Ａ a") == "Aa"


def test_a_few_wrong_characters_are_a_near_duplicate() -> None:
    near = only(item(1), item(2, STEM, options=(*CHOICES[:3], "磺酒可用于消毒")))
    assert near is not None
    assert not near.exact
    assert 0.75 <= near.similarity < 1
    assert near.conflicts == ()


@pytest.mark.parametrize(
    "other",
    [
        item(2, "物理与生活密切相关。下列叙述正确的是", options=("一", "二", "三", "四")),
        item(2, STEM, options=("甲物质用途广", "乙物质不导电", "丙物质易燃烧", "丁物质有毒性")),
    ],
)
def test_other_questions_are_not_reported(other: BankItem) -> None:
    assert only(item(1), other) is None


def test_two_questions_about_one_table_are_two_questions() -> None:
    table = "2011年全国风力发电年末累计装机容量如下：" + "，".join(
        f"第{n}区{n * 37}" for n in range(60)
    )
    ages = item(1, f"{table}。增速超过10％的年份有多少个？", options=("2个", "3个", "4个", "5个"))
    most = item(2, f"{table}。增量最大的地区是哪个？", options=("华北", "西南", "东北", "西北"))
    assert only(ages, most) is None


def test_english_options_that_differ_in_one_letter_are_others() -> None:
    stem = "If X is mentioned in a chapter, which one of the following could be true?"
    one = tuple(f"{letter} is mentioned in chapter {n}" for n, letter in enumerate("RSTU", start=1))
    two = tuple(f"{letter} is mentioned in chapter {n}" for n, letter in enumerate("WXYZ", start=1))
    assert only(item(1, stem, options=one), item(2, stem, options=two)) is None


def test_without_options_only_the_numbers_differ_between_exercises() -> None:
    fields = {"question_type": "exact_answer", "options": (), "letters": ""}
    stem = "The line is parameterized by ({0}, {1}) + t ({2}, {3}). Find the pair (m, b)."
    one = item(1, stem.format(-3, -4, 7, -2), **fields)
    assert only(one, item(2, stem.format(8, -1, 2, 3), **fields)) is None
    assert only(one, item(2, stem.format(-3, -4, 7, -2), **fields)) is not None


def test_a_short_question_needs_the_same_passage() -> None:
    ends = ("Doubtful.", "Positive.", "Strict.", "Uncaring.")
    asked = "What is the tone?"
    wolves = "The wolves of the park were brought back, and the streams changed. " * 4
    ships = "The ships of the harbour were sold, and nobody in the city noticed it. " * 4
    one = item(1, asked, options=ends, passage=wolves)
    assert only(one, item(2, asked, options=ends, passage=ships)) is None
    assert only(one, item(2, asked, options=ends, passage=f"{wolves} More.")) is not None
    assert only(item(1, asked, options=ends), item(2, asked, options=ends, passage=ships)) is None


def test_a_sub_question_of_one_benchmark_is_an_item_of_another() -> None:
    passage = "Yellowstone brought its wolves back in 1995. " * 6
    stem = (
        f"{passage}\n28. What did the wolves change in the park over the years?\n"
        "A. Streams. B. Roads. C. Shops. D. Laws.\n"
        "29. What is the author's attitude towards the wolf project?\n"
        "A. Doubtful. B. Positive. C. Disapproving. D. Uncaring.\n"
    )
    whole = item(1, stem, question_type="multi_question_choice", options=(), answer_key=("A", "B"))
    part = item(
        2,
        "What is the author’s attitude towards the wolf project?",
        options=("Doubtful.", "Positive.", "Disapproving.", "Uncaring."),
        passage=passage,
        answer_key=("C",),
    )
    assert only(whole, part) == Likeness(1, 2, 1.0, False, ((2, 0),), ((2, 0),))


def test_translations_and_sets_without_their_passage_are_meant_so() -> None:
    pair = item(1, task="sat-en"), item(2, task="sat-en-without-passage")
    assert only(*pair) is None
    assert only(item(1, task="sat-en"), item(2, task="sat-en")) is not None


def test_figures_may_be_what_tells_two_questions_apart() -> None:
    stem = "如图，把下面的六个图形分为两类，使每一类图形都有各自的共同特征，分类正确的一项是"
    one, two = item(1, stem, answer_key=("A",)), item(2, stem, answer_key=("B",))
    same = only(one, two)
    assert same is not None
    assert same.exact
    assert same.conflicts == (), "each may be right about its own figure"
    with_images = (item(n, stem, images=(f"{n}.png",)) for n in (1, 2))
    assert only(*with_images) is None
    instruction = (item(n, "选择最合适的一个填入问号处", options=("",) * 4) for n in (1, 2))
    assert only(*instruction) is None


def test_among_names_one_side() -> None:
    items = [item(1), item(2), item(3)]
    assert {(one.first, one.second) for one in find_likenesses(items)} == {(1, 2), (1, 3), (2, 3)}
    found = find_likenesses(items, {2})
    assert {(one.first, one.second) for one in found} == {(1, 2), (2, 3)}


def test_jaccards_index_by_hand() -> None:
    runs = TextRuns([["abcdef"], ["abcdxx"], ["zz"], ["abcd", "bcdef"], []])
    assert runs.jaccard(0, 1) == pytest.approx(1 / 5)  # abcd of abcd bcde cdef bcdx cdxx
    assert runs.jaccard(0, 3) == 1.0  # abcd | bcde cdef
    assert (runs.jaccard(0, 2), runs.jaccard(0, 4)) == (0.0, 0.0)
    assert len(runs.of(2)) == 1, "a short text is one run by itself"
    assert contained(runs_of("abcd"), runs_of("xabcdx")) == 1.0


def test_nothing_to_compare() -> None:
    assert find_likenesses([]) == []
    assert find_likenesses([item(1)]) == []
    assert find_likenesses([item(1, "", options=()), item(2, "", options=())]) == []


def test_twelve_thousand_items_take_seconds() -> None:
    draw = random.Random(7)
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 2000)]
    texts = ["".join(draw.choices(letters, k=150)) for _ in range(6000)]
    items = [item(n, text, options=(), letters="") for n, text in enumerate(texts * 2)]
    started = time.process_time()
    found = find_likenesses(items)
    assert len(found) == 6000
    assert all(one.exact for one in found)
    assert time.process_time() - started < 20
