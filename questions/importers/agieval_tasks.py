"""What the 21 files of AGIEval are: subject, language and type by name, and how people did.

Source: AGIEval, tables 1 and 2 (human performance, average and top, in per cent).
A file is known by its name without the suffix.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from questions.rules.vocabulary import Language, QuestionType, Subject

RATE_SOURCE = "AGIEval, human performance"

_T = QuestionType
_S = Subject


@dataclass(frozen=True, slots=True)
class AgievalTask:
    """One file: *average* and *top* are shares of people from 0 to 1.

    ``question_type`` is the commonest one; where it is a single choice, an item with
    several right letters is a multiple choice all the same.
    """

    language: Language
    question_type: QuestionType
    average: Decimal
    top: Decimal
    subject: Subject | None = None


def _task(
    average: int,
    top: int,
    subject: Subject | None = None,
    question_type: QuestionType = _T.SINGLE_CHOICE,
    language: Language = Language.CHINESE,
) -> AgievalTask:
    return AgievalTask(language, question_type, Decimal(average) / 100, Decimal(top) / 100, subject)


def _english(average: int, top: int, question_type: QuestionType = _T.SINGLE_CHOICE) -> AgievalTask:
    return _task(average, top, None, question_type, Language.ENGLISH)


TASKS: dict[str, AgievalTask] = {
    "aqua-rat": _english(85, 100),
    "math": _english(40, 90, _T.EXACT_ANSWER),
    "logiqa-en": _english(86, 95),
    "logiqa-zh": _task(88, 96),
    "jec-qa-kd": _task(71, 78, None, _T.MULTIPLE_CHOICE),
    "jec-qa-ca": _task(58, 85, None, _T.MULTIPLE_CHOICE),
    "lsat-ar": _english(56, 91),
    "lsat-lr": _english(56, 91),
    "lsat-rc": _english(56, 91),
    "sat-math": _english(66, 94),
    "sat-en": _english(66, 94),
    "sat-en-without-passage": _english(66, 94),
    "gaokao-chinese": _task(65, 85, _S.CHINESE),
    "gaokao-english": _task(69, 91, _S.ENGLISH, language=Language.ENGLISH),
    "gaokao-geography": _task(65, 85, _S.GEOGRAPHY),
    "gaokao-history": _task(64, 85, _S.HISTORY),
    "gaokao-biology": _task(68, 89, _S.BIOLOGY),
    "gaokao-chemistry": _task(66, 86, _S.CHEMISTRY),
    "gaokao-physics": _task(71, 94, _S.PHYSICS, _T.MULTIPLE_CHOICE),
    # The papers for the sciences say so in their source; the others are for both streams.
    "gaokao-mathqa": _task(73, 96),
    "gaokao-mathcloze": _task(73, 96, None, _T.EXACT_ANSWER),
}
