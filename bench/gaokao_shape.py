"""A folder that looks like GAOKAO-Bench: its 32 files, 2,811 items and lengths of text.

The texts are filler: a benchmark measures reading and storing, not questions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from questions.importers.catalogue import file_kind
from questions.rules.vocabulary import Part


class Shape(NamedTuple):
    """One file: its items, sub-answers an item, and mean characters of each text."""

    keyword: str
    items: int
    sub_answers: int
    question: int
    analysis: int
    answer: int = 0


SHAPES = (
    Shape("2010-2013_English_MCQs", 105, 1, 148, 147),
    Shape("2010-2022_Biology_MCQs", 150, 1, 162, 201),
    Shape("2010-2022_Chemistry_MCQs", 124, 1, 385, 536),
    Shape("2010-2022_Chinese_Lang_and_Usage_MCQs", 56, 2, 431, 343),
    Shape("2010-2022_Chinese_Modern_Lit", 29, 3, 1872, 615),
    Shape("2010-2022_English_Fill_in_Blanks", 30, 20, 2577, 2542),
    Shape("2010-2022_English_Reading_Comp", 124, 4, 2423, 882),
    Shape("2010-2022_Geography_MCQs", 34, 3, 340, 374),
    Shape("2010-2022_History_MCQs", 287, 1, 158, 191),
    Shape("2010-2022_Math_II_MCQs", 218, 1, 157, 257),
    Shape("2010-2022_Math_I_MCQs", 214, 1, 181, 345),
    Shape("2010-2022_Physics_MCQs", 64, 1, 285, 389),
    Shape("2010-2022_Political_Science_MCQs", 320, 1, 228, 209),
    Shape("2012-2022_English_Cloze_Test", 26, 5, 1773, 1049),
    Shape("2010-2022_Biology_Open-ended_Questions", 116, 0, 359, 352, 95),
    Shape("2010-2022_Chemistry_Open-ended_Questions", 9, 0, 1144, 2133, 565),
    Shape("2010-2022_Chinese_Language_Ancient_Poetry_Reading", 29, 0, 310, 438, 136),
    Shape("2010-2022_Chinese_Language_Classical_Chinese_Reading", 29, 0, 1526, 899, 106),
    Shape("2010-2022_Chinese_Language_Famous_Passages_and_Sentences_Dictation", 28, 0, 219, 50, 61),
    Shape(
        "2010-2022_Chinese_Language_Language_and_Writing_Skills_Open-ended_Questions",
        42,
        0,
        279,
        246,
        140,
    ),
    Shape("2010-2022_Chinese_Language_Literary_Text_Reading", 29, 0, 2222, 1047, 363),
    Shape("2010-2022_Chinese_Language_Practical_Text_Reading", 24, 0, 2069, 768, 265),
    Shape("2010-2022_Geography_Open-ended_Questions", 28, 0, 173, 157, 146),
    Shape("2010-2022_History_Open-ended_Questions", 128, 0, 477, 241, 272),
    Shape("2010-2022_Math_II_Fill-in-the-Blank", 86, 0, 97, 299, 13),
    Shape("2010-2022_Math_II_Open-ended_Questions", 122, 0, 273, 218, 925),
    Shape("2010-2022_Math_I_Fill-in-the-Blank", 81, 0, 112, 373, 10),
    Shape("2010-2022_Math_I_Open-ended_Questions", 123, 0, 273, 257, 1137),
    Shape("2010-2022_Physics_Open-ended_Questions", 47, 0, 281, 481, 62),
    Shape("2010-2022_Political_Science_Open-ended_Questions", 60, 0, 528, 556, 352),
    Shape("2012-2022_English_Language_Error_Correction", 26, 0, 816, 716, 164),
    Shape("2014-2022_English_Language_Cloze_Passage", 23, 0, 1245, 974, 173),
)
FILLER = "设函数 $f(x)=\\ln x-\\frac{a}{x}$，求它的单调区间；The following passage asks: 为什么？\n"


def write_folder(folder: Path, shapes: Sequence[Shape] = SHAPES) -> Path:
    """Write the files below *folder* as the benchmark lays them out; returns *folder*."""
    for shape in shapes:
        kind = file_kind(shape.keyword)
        objective = kind is not None and kind.question_type.part is Part.OBJECTIVE
        place = folder / "Data" / f"{'Ob' if objective else 'Sub'}jective_Questions"
        place.mkdir(parents=True, exist_ok=True)
        document = {"keywords": shape.keyword, "example": _items(shape)}
        text = json.dumps(document, ensure_ascii=False, indent=4)
        (place / f"{shape.keyword}.json").write_text(text, encoding="utf-8")
    return folder


def _items(shape: Shape) -> list[dict[str, object]]:
    return [
        {
            "year": str(2010 + index % 13),
            "category": "（新课标Ⅰ）",
            "question": f"{index}. {_filler(shape.question)}",
            "answer": ["ABCD"[(index + sub) % 4] for sub in range(shape.sub_answers)]
            or _filler(shape.answer),
            "analysis": _filler(shape.analysis),
            "index": index,
            "score": 4,
        }
        for index in range(shape.items)
    ]


def _filler(length: int) -> str:
    return (FILLER * (length // len(FILLER) + 1))[:length]
