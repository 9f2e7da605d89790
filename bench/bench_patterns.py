"""How fast patterns are searched for in as many responses as the paper's, beside one plain scan.

    python -m bench.bench_patterns [--quick] [--json] [--responses N]

AGIBench searched 66,744 responses with 10 iterations of 100 samples. Each of ours
has about 1,000 characters: an explanation in Chinese or English that goes through
the options, and an answer in one of several wordings, or in none. The floor runs
one fixed expression over the same texts; the figure makes the texts plain, searches,
and counts the cover of every pattern.
"""

from __future__ import annotations

import re
import time
from random import Random

from bench.measured import Measured, arguments, seconds_of, show
from evaluations.reading.rules.extraction.pattern_mining import (
    Output,
    Settings,
    cover,
    find_patterns,
)
from evaluations.reading.rules.extraction.source_text import plain_source

PAPER = 66_744
LENGTH = 1_000
ENDINGS = (
    *("【答案】{0}<eoa>", "【答案】 {0} <eoa>", "【答案】:{0}", "综上所述,故选{0}。"),
    *("所以,正确答案是{0}。", "因此,本题应选择{0}。", "Therefore, the answer is {0}."),
    *("So the correct option is ({0}).", "\n{0}", "最终结果:\\boxed{{{0}}}"),
    "这个问题没有足够的条件。",
)
REMARKS = (
    "选项{0}说的是另外一回事,与题目没有直接的关系,我们先看下一项。",
    "由题意可知物体先做匀加速运动,再做匀速运动,因此位移随时间的变化不是线性的。",
    "Option {0} repeats a detail of the second paragraph and misses the main idea. ",
    "设$f(x)=x^2+2x+1$,则对任意实数都有$f(x)\\ge 0$,当且仅当$x=-1$时取等号。",
)


def responses(count: int) -> list[str]:
    """*count* outputs of about ``LENGTH`` characters, the same each time."""
    random = Random(66744)
    texts = []
    for _ in range(count):
        words: list[str] = []
        while sum(map(len, words)) < LENGTH - 40:
            words.append(random.choice(REMARKS).format(random.choice("ABCD")))
        texts.append("".join(words) + random.choice(ENDINGS).format(random.choice("ABCD")))
    return texts


def measure(count: int) -> list[Measured]:
    """The whole search beside the floor."""
    texts = responses(count)
    fixed = re.compile(r"答案(?:是|为|】)[::\s]*([A-D])")
    bare = seconds_of(lambda: [len(fixed.findall(text)) for text in texts])
    started = time.perf_counter()
    outputs = [Output(plain_source(text).text, "ABCD") for text in texts]
    plain = time.perf_counter() - started
    search = find_patterns(outputs, Settings(), Random(1))
    mined = time.perf_counter() - started
    read: set[int] = set()
    for proposal in search.versions:
        read.update(cover(outputs, proposal.expression, several=False).read)
    seconds = time.perf_counter() - started
    characters = sum(map(len, texts)) / count
    detail = (
        f"{count:,} responses of {characters:,.0f} characters: {plain:.1f} s to make them plain, "
        f"{mined - plain:.1f} s of search, {seconds - mined:.1f} s to count "
        f"{len(search.versions)} patterns; cover {len(read) / count:.1%}"
    )
    return [Measured.time("search for patterns (HRE)", seconds, bare, detail=detail)]


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__, quick="300 responses")
    parser.add_argument("--responses", type=int, default=PAPER)
    options = parser.parse_args()
    show(measure(300 if options.quick else options.responses), as_json=options.json)


if __name__ == "__main__":
    main()
