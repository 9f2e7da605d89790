"""What the files of GAOKAO-Bench are: subject, type and language by keyword, and paper names.

A keyword is years and a rest: ``2010-2022_Biology_MCQs``, and for the yearly
papers that followed ``2023_Biology_MCQs``. The rest decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gradeapp.common.normal_form import normal_form
from questions.rules.vocabulary import Language, Part, QuestionType, Subject

_KEYWORD = re.compile(r"(?P<first>\d{4})(?:-(?P<last>\d{4}))?_(?P<rest>[A-Za-z][\w-]*)")


@dataclass(frozen=True, slots=True)
class FileKind:
    """What a file's keyword says about its items. *subject* None: both mathematics streams."""

    subject: Subject | None
    question_type: QuestionType

    @property
    def language(self) -> Language:
        """English papers are in English, all others in Chinese."""
        return Language.ENGLISH if self.subject is Subject.ENGLISH else Language.CHINESE

    @property
    def letters(self) -> str:
        """The letters on offer; empty for a marked item."""
        if self.question_type.part is Part.SUBJECTIVE:
            return ""
        return "ABCDEFG" if self.question_type is QuestionType.FIVE_OUT_OF_SEVEN else "ABCD"


_T = QuestionType
_S = Subject

# The rest of the keyword of all 32 published files.
PUBLISHED: dict[str, FileKind] = {
    "English_MCQs": FileKind(_S.ENGLISH, _T.SINGLE_CHOICE),
    "English_Fill_in_Blanks": FileKind(_S.ENGLISH, _T.SEVERAL_QUESTIONS),
    "English_Reading_Comp": FileKind(_S.ENGLISH, _T.SEVERAL_QUESTIONS),
    "English_Cloze_Test": FileKind(_S.ENGLISH, _T.FIVE_OUT_OF_SEVEN),
    "English_Language_Error_Correction": FileKind(_S.ENGLISH, _T.CORRECTION),
    "English_Language_Cloze_Passage": FileKind(_S.ENGLISH, _T.CLOZE),
    "Chinese_Lang_and_Usage_MCQs": FileKind(_S.CHINESE, _T.SEVERAL_QUESTIONS),
    "Chinese_Modern_Lit": FileKind(_S.CHINESE, _T.SEVERAL_QUESTIONS),
    "Chinese_Language_Ancient_Poetry_Reading": FileKind(_S.CHINESE, _T.OPEN_ENDED),
    "Chinese_Language_Classical_Chinese_Reading": FileKind(_S.CHINESE, _T.OPEN_ENDED),
    "Chinese_Language_Famous_Passages_and_Sentences_Dictation": FileKind(_S.CHINESE, _T.CLOZE),
    "Chinese_Language_Language_and_Writing_Skills_Open-ended_Questions": FileKind(
        _S.CHINESE, _T.OPEN_ENDED
    ),
    "Chinese_Language_Literary_Text_Reading": FileKind(_S.CHINESE, _T.OPEN_ENDED),
    "Chinese_Language_Practical_Text_Reading": FileKind(_S.CHINESE, _T.OPEN_ENDED),
    "Math_I_MCQs": FileKind(_S.SCIENCES_MATHEMATICS, _T.SINGLE_CHOICE),
    "Math_I_Fill-in-the-Blank": FileKind(_S.SCIENCES_MATHEMATICS, _T.CLOZE),
    "Math_I_Open-ended_Questions": FileKind(_S.SCIENCES_MATHEMATICS, _T.OPEN_ENDED),
    "Math_II_MCQs": FileKind(_S.HUMANITIES_MATHEMATICS, _T.SINGLE_CHOICE),
    "Math_II_Fill-in-the-Blank": FileKind(_S.HUMANITIES_MATHEMATICS, _T.CLOZE),
    "Math_II_Open-ended_Questions": FileKind(_S.HUMANITIES_MATHEMATICS, _T.OPEN_ENDED),
    "Physics_MCQs": FileKind(_S.PHYSICS, _T.MULTIPLE_CHOICE),
    "Physics_Open-ended_Questions": FileKind(_S.PHYSICS, _T.OPEN_ENDED),
    "Chemistry_MCQs": FileKind(_S.CHEMISTRY, _T.SINGLE_CHOICE),
    "Chemistry_Open-ended_Questions": FileKind(_S.CHEMISTRY, _T.OPEN_ENDED),
    "Biology_MCQs": FileKind(_S.BIOLOGY, _T.SINGLE_CHOICE),
    "Biology_Open-ended_Questions": FileKind(_S.BIOLOGY, _T.OPEN_ENDED),
    "Political_Science_MCQs": FileKind(_S.POLITICS, _T.SINGLE_CHOICE),
    "Political_Science_Open-ended_Questions": FileKind(_S.POLITICS, _T.OPEN_ENDED),
    "History_MCQs": FileKind(_S.HISTORY, _T.SINGLE_CHOICE),
    "History_Open-ended_Questions": FileKind(_S.HISTORY, _T.OPEN_ENDED),
    "Geography_MCQs": FileKind(_S.GEOGRAPHY, _T.SEVERAL_QUESTIONS),
    "Geography_Open-ended_Questions": FileKind(_S.GEOGRAPHY, _T.OPEN_ENDED),
}

# Later papers have one Math file for both streams: its subject is not guessed.
LATER: dict[str, FileKind] = {
    "Math_MCQs": FileKind(None, _T.SINGLE_CHOICE),
    "Math_Fill-in-the-Blank": FileKind(None, _T.CLOZE),
    "Math_Open-ended_Questions": FileKind(None, _T.OPEN_ENDED),
}

_BY_REST = PUBLISHED | LATER


def file_kind(keyword: str) -> FileKind | None:
    """What the file called *keyword* holds; None for a keyword that is not of the benchmark."""
    match = _KEYWORD.fullmatch(keyword)
    return _BY_REST.get(match["rest"]) if match else None


_PAPER = re.compile(r"(?P<name>.*?)(?P<number>[Ii]{0,3})卷?(?:[文理]科)?")
_NUMBERS = {"I": "Ⅰ", "II": "Ⅱ", "III": "Ⅲ"}
_NAMES = {
    "甲": "全国甲卷",
    "全国甲": "全国甲卷",
    "乙": "全国乙卷",
    "全国乙": "全国乙卷",
    "全国": "全国卷",
    "解析版": "",
    # Later papers put the country in; a year tells these papers from earlier ones.
    "新课标全国": "新课标",
    "新高考全国": "新高考",
    "全国新高考": "新高考",
}


def canonical_paper(category: str) -> str:
    """One name for the many spellings of one paper: ``（新课标ⅰ）`` becomes ``新课标Ⅰ``.

    Brackets, spaces, the spelling of the Roman number, a last 卷 and the stream
    after it do not count; 甲卷 is short for 全国甲卷. Names that mean different papers in some
    years (新课标Ⅱ and 全国卷Ⅱ) stay apart, and 解析版 (with solutions) names no
    paper, so it gives the empty name.
    """
    plain = normal_form("NFKC", category).translate({ord(c): None for c in " ()"})
    match = _PAPER.fullmatch(plain)
    if match is None:
        return plain
    return _NAMES.get(match["name"], match["name"]) + _NUMBERS.get(match["number"].upper(), "")


def stream_of(category: str) -> Subject | None:
    """The mathematics subject of a paper that names its stream (``全国甲卷理科``); else None."""
    if "理科" in category:
        return Subject.SCIENCES_MATHEMATICS
    return Subject.HUMANITIES_MATHEMATICS if "文科" in category else None
