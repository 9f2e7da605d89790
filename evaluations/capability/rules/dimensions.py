"""The four dimensions on which people judge a wrong answer, and which of them a task asks for.

Source: AGIEval (Zhong et al. 2023, arXiv 2304.06364), the qualitative analysis of
section 4. A reviewer gives 1 where the model does well on a dimension and 0 where
it does poorly, or does not show the skill in what it wrote.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradeapp.common.named import Named
from questions.rules.vocabulary import Subject


class Dimension(Named):
    """What a review judges; the stored value is a column of the judgement."""

    UNDERSTANDING = "understanding", "Understanding", "理解"
    KNOWLEDGE = "knowledge", "Knowledge", "知识"
    REASONING = "reasoning", "Reasoning", "推理"
    CALCULATION = "calculation", "Calculation", "计算"


# 1, 0, or None where the dimension does not apply to the answer.
Values = Mapping[Dimension, int | None]

# Where the paper looks at calculation: mathematics and the natural sciences.
CALCULATING_SUBJECTS = frozenset(
    {
        Subject.SCIENCES_MATHEMATICS,
        Subject.HUMANITIES_MATHEMATICS,
        Subject.PHYSICS,
        Subject.CHEMISTRY,
        Subject.BIOLOGY,
    }
)
# AGIEval's files without a subject of ours that ask for no calculation: reading, logic and law.
# Its files of mathematics are not among them.
TASKS_WITHOUT_CALCULATION = frozenset(
    {
        *("lsat-ar", "lsat-lr", "lsat-rc", "sat-en", "sat-en-without-passage"),
        *("logiqa-en", "logiqa-zh", "jec-qa-kd", "jec-qa-ca"),
    }
)


def asked_of(task: str, subject: str) -> tuple[Dimension, ...]:
    """The dimensions that are judged for items of *task* (its slug) and *subject*, in order.

    Understanding, knowledge and reasoning are always asked. Calculation follows
    the subject; without one it is asked unless the task is known to need none,
    since a reviewer can still say that it does not apply.
    """
    if subject:
        calculates = subject in CALCULATING_SUBJECTS
    else:
        calculates = task not in TASKS_WITHOUT_CALCULATION
    return tuple(one for one in Dimension if calculates or one is not Dimension.CALCULATION)
