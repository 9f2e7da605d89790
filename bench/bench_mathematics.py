"""How fast mathematical answers are read and compared, and the slowest hostile text.

    python -m bench.bench_mathematics [--quick] [--json] [--answers N]

Outputs have about 1,000 characters and end in one of several wordings. Reading
stands beside one fixed expression over the same texts, comparing beside AGIEval's
own comparison of strings over the same pairs (half of them equal but written
otherwise). Hostile texts are read and compared one by one, the slowest counts,
beside one plain scan of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from bench.measured import Measured, arguments, seconds_of, show
from evaluations.reading.rules.extraction.blanks import read_exact_answer
from evaluations.reading.rules.scoring.exact_match import exact_match
from evaluations.reading.rules.scoring.math_equivalence import equivalent

LENGTH = 1_000
REMARKS = (
    "设函数$f(x)=x^{2}+2x+1$，则对任意实数都有$f(x)\\ge 0$，当且仅当$x=-1$时取等号。",
    "We differentiate and find $f'(x) = 2x + 2$, which vanishes only at $x = -1$. ",
    "由余弦定理得$a^{2}=b^{2}+c^{2}-2bc\\cos A$，代入数据化简。\n",
    "The triangle has sides 3, 4 and 5, and hence its area is 6. ",
)
ENDINGS = (
    *("【答案】${0}$<eoa>", "Therefore, the answer is ${0}$.", "所以答案是${0}$。"),
    *("So $\\boxed{{{0}}}$.", "故所求的值为${0}$。", "The final answer is {0}"),
)
PAIRS: tuple[tuple[str, str], ...] = (
    ("{0}", "{0}.0"),
    ("\\frac{{{0}}}{{{1}}}", "{0}/{1}"),
    ("{0}\\sqrt{{{1}}}", "\\sqrt{{{0}}}\\cdot\\sqrt{{{0}}}\\cdot\\sqrt{{{1}}}"),
    ("({0},{1}]", "{0}<x\\le{1}"),
    ("{0}x+{1}y=0", "y=-\\frac{{{0}}}{{{1}}}x"),
    ("(x+{0})^2", "x^2+2\\cdot{0}x+{0}\\cdot{0}"),
    ("\\{{{0},{1}\\}}", "x={1} 或 x={0}"),
    ("{0}\\pi", "{1}\\pi"),
    ("{0}^\\circ", "{1}"),
    ("({0},{1})", "({1},{0})"),
)
HOSTILE = (
    "9**9**9**9",
    "9^{9^{9^{9}}}",
    "{" * 10_000 + "1" + "}" * 10_000,
    "\\sqrt{" * 500 + "2" + "}" * 500,
    "\\boxed{" * 10_000,
    "9" * 100_000,
    "\\" * 100_000,
    "(" * 100_000,
    "the answer is " * 7_000,
    "\u202e5\u202c" * 30_000,
    "+".join(f"\\sqrt{{{number}}}" for number in range(2, 80)),
    "(x+y+z)^{900}",
)


def outputs(count: int) -> list[str]:
    """*count* outputs of about ``LENGTH`` characters, the same each time."""
    random = Random(1118)
    texts = []
    for _ in range(count):
        words: list[str] = []
        while sum(map(len, words)) < LENGTH - 40:
            words.append(random.choice(REMARKS))
        answer = f"\\frac{{{random.randint(1, 99)}}}{{{random.randint(2, 99)}}}"
        texts.append("".join(words) + random.choice(ENDINGS).format(answer))
    return texts


def pairs(count: int) -> list[tuple[str, str]]:
    """*count* pairs of answers, the same each time."""
    random = Random(1000)
    numbers = [(random.randint(2, 40), random.randint(41, 90)) for _ in range(count)]
    return [
        (PAIRS[place % len(PAIRS)][0].format(*two), PAIRS[place % len(PAIRS)][1].format(*two))
        for place, two in enumerate(numbers)
    ]


def per_second(count: int, work: Callable[[], object]) -> float:
    """Return how many of *count* are done per second."""
    return count / seconds_of(work)


def reading(texts: Sequence[str]) -> Measured:
    """Outputs a second, beside one plain scan of each."""
    fixed = re.compile(r"(?:the answer is|答案是|【答案】)[:：\s]*(\S+)")
    floor = per_second(len(texts), lambda: [fixed.search(text) for text in texts])
    figure = per_second(len(texts), lambda: [read_exact_answer(text, 1) for text in texts])
    detail = f"{len(texts):,} outputs of about {LENGTH:,} characters; floor: one plain scan"
    return Measured.rate("mathematics: read", figure, floor, unit="outputs/s", detail=detail)


def comparing(written: Sequence[tuple[str, str]]) -> Measured:
    """Pairs a second, beside AGIEval's comparison of strings."""
    floor = per_second(len(written), lambda: [exact_match(*pair) for pair in written])
    figure = per_second(len(written), lambda: [equivalent(*pair) for pair in written])
    detail = f"{len(written):,} pairs of all shapes; floor: AGIEval's comparison of strings"
    return Measured.rate("mathematics: compared", figure, floor, unit="pairs/s", detail=detail)


def slowest() -> Measured:
    """The hostile text that takes longest to be read and compared."""
    worst, text = max(
        (seconds_of(lambda t=text: (read_exact_answer(t, 2), equivalent("x^2", t))), text)
        for text in HOSTILE
    )
    floor = seconds_of(lambda: re.findall(r"\d+", text))
    detail = f"{text[:16]!r}… ({len(text):,} characters); floor: one plain scan of it"
    return Measured.time("mathematics: slowest hostile text", worst, floor, detail=detail)


def main() -> None:
    """Print the three figures."""
    parser = arguments(__doc__, quick="100 outputs and pairs")
    parser.add_argument("--answers", type=int, default=5_000, help="outputs, and pairs")
    options = parser.parse_args()
    count = 100 if options.quick else options.answers
    equivalent("x^2", "x*x")  # what is loaded once is loaded before
    figures = (reading(outputs(count)), comparing(pairs(count)), slowest())
    show(figures, as_json=options.json)


if __name__ == "__main__":
    main()
