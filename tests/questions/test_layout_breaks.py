"""Lines that a printed page broke are joined; lines that were meant stay."""

from __future__ import annotations

import pytest

from evaluations.templatetags.rendering import flowing, rendered
from questions.rules.layout_breaks import without_layout_breaks

# 30 Chinese characters, 60 columns: a line as a page fills it.
FULL = "某研究小组考察了湖泊中处于食物链最高营养级的某鱼种群的年龄组"
LATIN = "Science cannot explain the power of pets but many studies have"

JOINED = [
    # Chinese without a blank, whatever blanks stand at the ends.
    (f"{FULL}\n成，结果如下表。", f"{FULL}成，结果如下表。"),
    (f"{FULL}  \n  成，结果如下表。", f"{FULL}成，结果如下表。"),
    # Punctuation that the page put at the start of the next line.
    (f"{FULL}\n，结果如下表。", f"{FULL}，结果如下表。"),
    # Latin with a blank; at a border of the two none.
    (f"{LATIN}\nshown that their company helps.", f"{LATIN} shown that their company helps."),
    (f"{FULL}\n84岁的人。", f"{FULL}84岁的人。"),
    # Three lines are one.
    (f"{FULL}\n{FULL}\n成。", f"{FULL}{FULL}成。"),
    # A number that goes on is no mark of a list.
    (f"{FULL}\n6.8%，降幅收窄。", f"{FULL}6.8%，降幅收窄。"),
    # A mark of a list at the start of the line that breaks off, not of the next.
    (f"（1）{FULL}\n成为何？", f"（1）{FULL}成为何？"),
]
APART = [
    # A sentence ended, also within quotation marks.
    f"{FULL[:-1]}。\n下一段由此开始。",
    f"“{FULL[:-1]}。”\n下一段由此开始。",
    f"“{FULL[:-1]}。 ”\n下一段由此开始。",
    f"{LATIN}.\nThe next paragraph.",
    # What begins a line of its own.
    *(
        f"{FULL}\n{begin}甲乙丙"
        for begin in ("（1）", "(2)", "（Ⅱ）", "(iii)", "（三）", "①", "3．")
    ),
    *(
        f"{FULL}\n{begin}甲乙丙"
        for begin in ("3．", "12. ", "二、", "A．", "B. ", "C、", "- ", "● ")
    ),
    *(f"{FULL}\n{begin}甲乙丙" for begin in ("【注】", "| ", "> ", "## ", "材料二：", "注：")),
    # A blank line.
    f"{FULL}\n\n成为何？",
    f"{FULL}\n \n成为何？",
    # A line that is not full, as headings, verse and lists have.
    f"到梨花屯去\n何士光\n{FULL}。",
    "前时雪压无寻处，昨夜月明依旧开\n折寄遥怜人似玉，相思应恨劫成灰",
    "惆怅江头几树梅\n杖藜行绕去还来\n前时雪压无寻处\n昨夜月明依旧开",
    # Tables, by bars or by blanks only.
    f"| {FULL} | 2 |\n| 甲 | 3 |",
    "年龄  0+ 1+ 2+ 3+ 4+ 5+ 6+ 7+ 8+ 9+ 10+ 11+ 12+ 13+ 14+ 15+\n个体数  92 187 121 70 69 62",
    # Formulas, code, and a text that no page broke: it has a longer line.
    f"{FULL}$x$\n甲乙丙",
    f"{FULL}\\(x\\)\n甲乙丙",
    f"```\n{FULL}\n甲乙丙\n```",
    f"{FULL}\n{FULL * 3}",
    # The source below a passage.
    f"——据{FULL}\n上述材料说明了什么？",
    "",
    FULL,
]


@pytest.mark.parametrize(("text", "shown"), JOINED)
def test_a_line_that_breaks_off_in_a_sentence_is_joined(text: str, shown: str) -> None:
    assert without_layout_breaks(text) == shown
    assert without_layout_breaks(shown) == shown, "once is enough"


@pytest.mark.parametrize("text", APART)
def test_a_line_that_was_meant_stays(text: str) -> None:
    assert without_layout_breaks(text) == text


def test_each_option_keeps_its_line() -> None:
    options = "\n".join(f"{letter}．{FULL}" for letter in "ABCD")
    broken = options.replace("组\nB", "组\n成\nB")
    assert without_layout_breaks(options) == options
    assert without_layout_breaks(broken) == options.replace("组\nB", "组成\nB")


def test_the_page_shows_it_in_one_line_and_the_text_stays() -> None:
    text = f"{FULL}\n成为何？"
    assert rendered(flowing(text)) == f"<p>{FULL}成为何？</p>\n"
    assert rendered(text) == f"<p>{FULL}<br>成为何？</p>\n"
