"""AGIBench's own reading of answers: the patterns of the paper's table 5.

Source: AGIBench (Tang et al. 2023, arXiv:2309.06495), table 5. The benchmark
released no program, so three things are decided here:

- The patterns are tried in printed order, and the first match decides.
- The printed class ``[::]`` has one colon twice: the full-width colon was lost in the
  text, and full-width commas with it. Both widths are read in the classes of colons
  and commas and in the fixed sentence; everything else is as printed, so ``[是|为]``
  also matches a vertical bar.
- In the paper 33 % of the replies match no pattern; GPT-4 read their answers and
  people checked them. Here such a reply has no answer.

Row 9 is written without its ambiguous blanks; it matches the same texts in linear time.
"""

from __future__ import annotations

import re

from evaluations.reading.rules.extraction.reading import Extraction, unread
from evaluations.statistics.outcomes import ReadingOutcome

# The printed row and its expression; group 1 is the answer.
PATTERNS: tuple[tuple[int, re.Pattern[str]], ...] = tuple(
    (row, re.compile(expression))
    for row, expression in (
        (
            1,
            r"【?答案】?(?:和原因)?(?:为|(?:应该)?是|选择)?[:：]?\s?(?:选项)?([A-Z])[^A-Z]*?(?:。|$)",
        ),
        (2, r"^(?:选项\s?)?([A-Z])[\.。,，\s][^A-Z]*?$"),
        (3, r"选择?:?\s?([A-Z])(?:选项)?[^A-Z]*?(?:。|$)"),
        (
            4,
            r"(?:[Aa]nswer|statement|[Ss]olution)\s?(?:to (?:your|this) question)? is:?"
            r" (?: option )?\"?([A-Z])\"?(?:\.|。|:|$)",
        ),
        (
            5,
            "作为一个人工智能语言模型[,，]我还没学习如何回答这个问题[,，]"
            "您可以向我问一些其它的问题[,，]我会尽力帮您解决的。",
        ),
        (6, r"^(?:答案[:：]\s?)?([A-Z])(?:\.|。|\s)?$"),
        (7, r"^(?:选项\s?)?([A-Z])[\.。,，\s](?:[^A-Z]|(\1))*?$"),
        (8, r"(?:选项)?\s?([A-Z])\s?[是|为]正确答案"),
        (9, r"^(?:答案[:：]\s?)?((?:[A-Z](?:\s?+[、\.-]\s?+|\s{0,3}+))+)。?$"),
        (10, r"^\s*$"),
    )
)
FIXED_SENTENCE, EMPTY_REPLY = 5, 10


def read_agibench(output: str) -> Extraction:
    """Read *output* by the first published pattern that matches it.

    The answer is a letter, or by row 9 the sorted set of several. The fixed
    sentence is a refusal; an empty reply and one that matches nothing have no
    answer. Linear in the length of *output*.
    """
    for row, pattern in PATTERNS:
        match = pattern.search(output)
        if match is None:
            continue
        name = f"agibench.{row}"
        if row == FIXED_SENTENCE:
            return unread(
                ReadingOutcome.REFUSED, 1, method="published", pattern=name, span=match.span()
            )
        if row == EMPTY_REPLY:
            return unread(ReadingOutcome.NO_ANSWER, 1, method="published", pattern=name)
        letters = "".join(sorted(set(re.findall("[A-Z]", match[1]))))
        return Extraction((letters,), ReadingOutcome.READ, "published", name, (match.span(1),), 1.0)
    return unread(ReadingOutcome.NO_ANSWER, 1, method="published")
