"""What the published benchmarks' tasks are called in Chinese.

A benchmark names its tasks by files with English names (``2010-2022_Biology_MCQs``,
``lsat-ar``); a Chinese page calls them as the examinations are called. Yearly papers
of GAOKAO-Bench differ in the years alone.
"""

from __future__ import annotations

import re

_YEARS = re.compile(r"(\d{4}(?:-\d{4})?)_(.+)")
_SAMPLE = re.compile(r"sample_(.+?)(_in_English)?")

GAOKAO: dict[str, str] = {
    "Biology_MCQs": "生物选择题",
    "Biology_Open-ended_Questions": "生物非选择题",
    "Chemistry_MCQs": "化学选择题",
    "Chemistry_Open-ended_Questions": "化学非选择题",
    "Chinese_Lang_and_Usage_MCQs": "语文语言文字运用选择题",
    "Chinese_Language_Ancient_Poetry_Reading": "语文古代诗歌阅读",
    "Chinese_Language_Classical_Chinese_Reading": "语文文言文阅读",
    "Chinese_Language_Famous_Passages_and_Sentences_Dictation": "语文名篇名句默写",
    "Chinese_Language_Language_and_Writing_Skills_Open-ended_Questions": "语文语言文字运用非选择题",
    "Chinese_Language_Literary_Text_Reading": "语文文学类文本阅读",
    "Chinese_Language_Practical_Text_Reading": "语文实用类文本阅读",
    "Chinese_Modern_Lit": "语文现代文阅读",
    "English_Cloze_Test": "英语七选五",
    "English_Fill_in_Blanks": "英语完形填空",
    "English_Language_Cloze_Passage": "英语语法填空",
    "English_Language_Error_Correction": "英语短文改错",
    "English_MCQs": "英语单项选择",
    "English_Reading_Comp": "英语阅读理解",
    "Geography_MCQs": "地理选择题",
    "Geography_Open-ended_Questions": "地理非选择题",
    "History_MCQs": "历史选择题",
    "History_Open-ended_Questions": "历史非选择题",
    "Math_MCQs": "数学选择题",
    "Math_Fill-in-the-Blank": "数学填空题",
    "Math_Open-ended_Questions": "数学解答题",
    "Math_I_MCQs": "理科数学选择题",
    "Math_I_Fill-in-the-Blank": "理科数学填空题",
    "Math_I_Open-ended_Questions": "理科数学解答题",
    "Math_II_MCQs": "文科数学选择题",
    "Math_II_Fill-in-the-Blank": "文科数学填空题",
    "Math_II_Open-ended_Questions": "文科数学解答题",
    "Physics_MCQs": "物理选择题",
    "Physics_Open-ended_Questions": "物理非选择题",
    "Political_Science_MCQs": "政治选择题",
    "Political_Science_Open-ended_Questions": "政治非选择题",
}
# The tasks of the sample exam, without "sample_" and "_in_English".
SAMPLE: dict[str, str] = {
    "Biology_Data_MCQs": "生物图表选择题",
    "Chinese_Classical_Reading": "语文文言文阅读",
    "Chinese_Famous_Lines_Dictation": "语文名篇名句默写",
    "Chinese_Language_Use": "语文语言文字运用",
    "Chinese_Poetry_Reading": "语文古代诗歌阅读",
    "Chinese_Reading": "语文现代文阅读",
    "Geography_Figure_MCQs": "地理图表选择题",
}
_SUBJECTS = {
    "Biology": "生物",
    "Chemistry": "化学",
    "Chinese": "语文",
    "English": "英语",
    "Geography": "地理",
    "History": "历史",
    "Humanities_Mathematics": "文科数学",
    "Physics": "物理",
    "Politics": "政治",
    "Sciences_Mathematics": "理科数学",
}
_KINDS = {
    "MCQs": "选择题",
    "Multiple_Choice": "多项选择题",
    "Open-ended": "解答题",
    "Fill-in-the-Blank": "填空题",
    "Cloze_Passage": "语法填空",
    "Cloze_Test": "七选五",
    "Error_Correction": "短文改错",
    "Fill_in_Blanks": "完形填空",
    "Reading_Comp": "阅读理解",
}
SAMPLE |= {
    f"{subject}_{kind}": f"{_SUBJECTS[subject]}{_KINDS[kind]}"
    for subject in _SUBJECTS
    for kind in _KINDS
}

AGIEVAL: dict[str, str] = {
    "aqua-rat": "GMAT 与 GRE 数学（AQuA-RAT）",
    "gaokao-biology": "高考生物",
    "gaokao-chemistry": "高考化学",
    "gaokao-chinese": "高考语文",
    "gaokao-english": "高考英语",
    "gaokao-geography": "高考地理",
    "gaokao-history": "高考历史",
    "gaokao-mathcloze": "高考数学填空题",
    "gaokao-mathqa": "高考数学选择题",
    "gaokao-physics": "高考物理",
    "jec-qa-ca": "司法考试案例分析",
    "jec-qa-kd": "司法考试知识题",
    "logiqa-en": "公务员逻辑推理（英文）",
    "logiqa-zh": "公务员逻辑推理（中文）",
    "lsat-ar": "LSAT 分析推理",
    "lsat-lr": "LSAT 逻辑推理",
    "lsat-rc": "LSAT 阅读理解",
    "math": "数学竞赛（MATH）",
    "sat-en": "SAT 英语",
    "sat-en-without-passage": "SAT 英语（无文章）",
    "sat-math": "SAT 数学",
}


def chinese_task_name(slug: str) -> str | None:
    """The Chinese name of a published task; None for one that nobody has named.

    ``2010-2022_Biology_MCQs`` is 2010–2022年生物选择题.
    """
    if slug in AGIEVAL:
        return AGIEVAL[slug]
    sample = _SAMPLE.fullmatch(slug)
    if sample is not None and sample[1] in SAMPLE:
        return f"样卷{SAMPLE[sample[1]]}{'（英文）' if sample[2] else ''}"
    match = _YEARS.fullmatch(slug)
    if match is None or match[2] not in GAOKAO:
        return None
    return f"{match[1].replace('-', '–')}年{GAOKAO[match[2]]}"
