"""Which responses are not sent to a judge, and whether the model that answered is the one asked.

A response without content (nothing, signs, or only the opening words of a solution) gets points
from some judges, and a response of a million characters costs as much as a round. Neither is sent:
teachers mark them, and the judgement says why there is no total.
"""

from __future__ import annotations

import re

from evaluations.runs.rules.fence import visible
from evaluations.statistics.outcomes import JudgeStatus

# The longest reply in the published benchmarks has 12,000 characters.
MOST_CHARACTERS = 60_000
# Words that open a solution and say nothing; "One Token to Fool LLM-as-a-Judge", table 1.
OPENERS = frozenset(
    [
        *("solution", "answer", "the answer is", "final answer", "thought process", "explanation"),
        *("lets solve this problem step by step", "lets think step by step", "step 1"),
        *("解", "答", "解答", "答案", "解析", "分析", "解题过程"),
        *("思考过程", "让我们一步一步地思考"),
        *("かいせつ", "respuesta", "réponse", "lösung"),
    ]
)
_SIGNS = re.compile(r"[\W_]+")


def withheld(text: str) -> JudgeStatus | None:
    """Return why the response *text* is not sent to a judge; None if it is."""
    if len(text) > MOST_CHARACTERS:
        return JudgeStatus.OVERSIZE
    if len(text) < 200:
        words = " ".join(_SIGNS.sub(" ", visible(text).replace("'", "")).split()).casefold()
        if not words or words in OPENERS:
            return JudgeStatus.NO_CONTENT
    return None
