"""How fast answers are read, beside one look through the same texts.

    python -m bench.bench_reading [--quick] [--json]

66,744 responses of 1,000 characters, as many as AGIBench read with its patterns,
on one core: reasoning in Chinese and in English with a tagged, a said, an
unmarked or no answer. The floor runs one fixed expression over each text, from
its beginning to its end. Processor time counts, not the clock on the wall.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice

from bench.measured import Measured, arguments, show
from evaluations.reading.rules.extraction.cascade import read_answer
from questions.rules.vocabulary import QuestionType

RESPONSES = 66_744
QUICK = 200
LENGTH = 1_000
FLOOR = re.compile(r"答案[是为：:]\s*[A-D]|answer is \(?[A-D]")

# A filling that names no option, and what is said of the options, once.
REASONING = (
    (
        "【解析】根据题干可知，该物质在加热时分解，生成两种气体；结合质量守恒定律，可以推出它的组成。",
        "A项中的说法与材料的第二段不符；B项混淆了原因与结果，“因此”二字没有依据；D项过于绝对。",
    ),
    (
        "Let us go through the passage again. The author claims that the new method saves time, "
        "but the second paragraph gives only one experiment as evidence. ",
        "Option A goes too far, and (B) is not supported by what is said; D repeats a detail. ",
    ),
    (
        "首先求函数的定义域与导数：由题意可知它在该区间上单调递减，所以最大值在左端点处取得，计算后与各项比较。",
        "设 $f(x)=\\frac{1}{x}$，则 $f'(x)<0$，由 $x^2+3x=10$ 得 $x=2$，故A、B不正确。",
    ),
)
ENDINGS = (
    *("\n【答案】C<eoa>", "综上所述，故选C。", "\nTherefore, the answer is (C)."),
    *("\n**Answer: C**", "\\boxed{C}", "以上就是对本题的全部分析。"),
)


def responses(count: int) -> list[str]:
    """*count* texts of ``LENGTH`` characters, no two neighbours alike."""
    kinds = cycle([(*texts, ending) for texts in REASONING for ending in ENDINGS])
    made = []
    for number, (filling, options, ending) in enumerate(islice(kinds, count)):
        tail = options + ending
        head = f"{number}。 " + filling * (LENGTH // len(filling) + 1)
        made.append(head[: LENGTH - len(tail)] + tail)
    return made


def seconds_of(way: Callable[[str], object], texts: Sequence[str]) -> float:
    """Processor time of *way* over all *texts*."""
    started = time.process_time()
    for text in texts:
        way(text)
    return time.process_time() - started


def read(text: str) -> object:
    """As a single choice of four."""
    return read_answer(text, QuestionType.SINGLE_CHOICE, "ABCD", 1)


def scan(text: str) -> int:
    """Every place of a fixed expression."""
    return sum(1 for _ in FLOOR.finditer(text))


def measure(count: int) -> Measured:
    """Both ways over the same texts."""
    texts = responses(count)
    for text in texts[:100]:
        read(text)
    figure, floor = seconds_of(read, texts), seconds_of(scan, texts)
    whole = figure * RESPONSES / count
    detail = f"{count:,} responses; {1000 * figure / count:.3f} ms each, {whole:.1f} s of 66,744"
    return Measured.time("reading of answers", figure, floor, detail=detail)


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__, quick=f"{QUICK:,} responses").parse_args()
    show([measure(QUICK if options.quick else RESPONSES)], as_json=options.json)


if __name__ == "__main__":
    main()
