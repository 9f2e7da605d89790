"""The key that an analysis concludes: "故选C", "故正确答案为C", "Choice D is correct".

Made to be right where it says something, not to say something everywhere: what
an analysis weighs, rejects or quotes of another question is no conclusion. This
module stands alone: it imports only the standard library.
"""

from __future__ import annotations

import re

# "C", "BC", "B、C", "$\mathrm{C}$", "(C)"; not the C of "CO2", "C项错误" or "Choice".
_OPEN = r"\s*[(（“\"\[]?\s*(?:\$\s*)?(?:\\(?:mathrm|mathbf|text|textbf)\s*\{\s*)?"
_LETTERS = r"([A-G](?:\s?[、,，和与]?\s?[A-G]){0,6})"
_CLOSE = (
    r"(?:\s*\})?(?:\s*\$)?(?![A-Za-z0-9_^+\-²³₀-₉])"
    r"(?!\s*[)）]?\s*(?:选项|项)?\s*(?:错|不|排除|有误|也|均|都|或))"
)
_KEY = _OPEN + _LETTERS + _CLOSE

_CHINESE = re.compile(
    r"(?<![不非未])(?:"
    # 故选C, 因此本题选 C, 所以应选择C, 综上，选C
    r"(?:故|因此|所以|综上所?述?|从而|即)[，,]?\s?(?:本题|此题|答案|正确答案|正确选项|选项)?(?:应该?|只能)?"
    r"(?:为|是|选择?)\s*(?:为|是)?\s*[:：]?"
    # 本题选C, 答案选C
    r"|(?:本题|此题|答案|正确答案)应?选择?\s*[:：]?"
    # 正确答案为C, 答案：C, 【答案】C, 正确选项是C
    r"|(?:答案|正确选项)[】\]]?\s*(?:应?[为是])?\s*[:：]?"
    r")" + _KEY
)
# the answer is (C), Answer: C, correct option is C, and "Answer C" or "ANS C" at the end of a line
_ENGLISH = re.compile(
    r"(?i:\b(?:answer|ans|(?:correct|right|best)\s+(?:choice|option))\s*(?:is|[:：=])\s*"
    r"(?:choice\s+|option\s+)?)" + _KEY
)
_LINE_END = re.compile(r"(?i:\bans(?:wer)?\.?)" + _KEY + r"\s*[)）]?[.。]?\s*$", re.MULTILINE)
# Choice D is correct, option C is the best answer, (C) is the correct answer
_NAMED = re.compile(
    _KEY
    + r"\s*[)）]?\s*(?i:(?:is|was)\s+(?:the\s+)?"
    + r"(?:correct\b(?!ly)|best\s+answer|right\s+answer|answer\b))"
)
_SEPARATORS = re.compile(r"[\s、,，和与]")
_REJECTED = re.compile(
    r"(?:不能?|不可|不应|误|错|若|如果|假如|并非|不要|why|not|if|wrong)\s*$", re.IGNORECASE
)
# A conclusion of another question: "第12题答案为C", "12．【答案】C".
_OTHER = re.compile(r"第\s*[(（]?\d{1,3}[)）]?\s*(?:小?题|问|空)[^。\n]{0,8}$")


def concluded_keys(analysis: str) -> tuple[str, ...]:
    """The keys that *analysis* concludes, in the order of the text, each as sorted letters."""
    plain = analysis.translate({ord("Ａ") + n: ord("A") + n for n in range(26)})
    found: list[tuple[int, str]] = []
    for pattern in (_CHINESE, _ENGLISH, _LINE_END, _NAMED):
        for match in pattern.finditer(plain):
            before = plain[max(match.start() - 20, 0) : match.start()]
            if _REJECTED.search(before) or _OTHER.search(before):
                continue
            letters = _SEPARATORS.sub("", match.group(1))
            if list(letters) == sorted(set(letters)):
                found.append((match.start(1), letters))
    return tuple(letters for _place, letters in sorted(set(found)))


def contradicted(key: str, analysis: str) -> tuple[str, ...]:
    """What *analysis* concludes instead of *key*; empty where it agrees or says nothing.

    An analysis that also concludes the key itself (a slip, or two ways to it) does
    not count against it.
    """
    concluded = concluded_keys(analysis)
    return () if key in concluded else tuple(dict.fromkeys(concluded))


# Where the analysis of a sub-question begins: "36．", "(2)", "【12题详解】".
_HEAD = re.compile(
    r"(?:^|\n|(?<=[。．.]))[ \t\u3000]*(?:【\s*)?[(（]?(\d{1,3})[)）]?\s*"
    r"(?:[．.、](?!\d)|题详解】|[)）])"
)


def sections(analysis: str, count: int) -> tuple[str, ...]:
    """*analysis* cut into those of its *count* sub-questions; empty where that is not clear.

    The sub-questions must be numbered one after another, each once.
    """
    heads = [(int(match.group(1)), match) for match in _HEAD.finditer(analysis)]
    for first, (number, _match) in enumerate(heads):
        run = [head for head in heads[first:] if number <= head[0] < number + count]
        if [head[0] for head in run] == list(range(number, number + count)):
            ends = [match.start() for _number, match in run[1:]] + [len(analysis)]
            begins = [match.end() for _number, match in run]
            return tuple(analysis[slice(*part)] for part in zip(begins, ends, strict=True))
    return ()
