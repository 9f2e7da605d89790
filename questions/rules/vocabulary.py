"""Closed lists of the bank: subjects, question types, parts and roles of an item.

Closed lists are code; open lists (knowledge, subclass) are rows. Every member
carries its English and its Chinese name, so that a page, a CSV and a prompt
call one thing by one name. This module stands alone: it imports only the
standard library.
"""

from __future__ import annotations

from gradeapp.common.named import Named


class Subject(Named):
    """The ten subjects of GAOKAO-Bench; the stored value is the published name."""

    CHINESE = "Chinese", "Chinese", "语文"
    ENGLISH = "English", "English", "英语"
    SCIENCES_MATHEMATICS = "Sciences Mathematics", "Sciences Mathematics", "理科数学"
    HUMANITIES_MATHEMATICS = "Humanities Mathematics", "Humanities Mathematics", "文科数学"
    PHYSICS = "Physics", "Physics", "物理"
    CHEMISTRY = "Chemistry", "Chemistry", "化学"
    BIOLOGY = "Biology", "Biology", "生物"
    POLITICS = "Politics", "Politics", "政治"
    HISTORY = "History", "History", "历史"
    GEOGRAPHY = "Geography", "Geography", "地理"


class Stream(Named):
    """The two streams of the examination; each has a total of 750 points."""

    SCIENCES = "sciences", "Sciences", "理科"
    HUMANITIES = "humanities", "Humanities", "文科"


class Part(Named):
    """Objective items are scored by rule, subjective ones are marked."""

    OBJECTIVE = "objective", "Objective", "客观题"
    SUBJECTIVE = "subjective", "Subjective", "主观题"


class QuestionType(Named):
    """What an item asks for; decides how an answer is read and scored."""

    SINGLE_CHOICE = "single_choice", "Single choice", "单项选择"
    MULTIPLE_CHOICE = "multi_choice", "Multiple choice", "多项选择"
    SEVERAL_QUESTIONS = "multi_question_choice", "Several sub-questions", "题组选择"
    FIVE_OUT_OF_SEVEN = "five_out_of_seven", "Five out of seven", "七选五"
    EXACT_ANSWER = "exact_answer", "Exact answer", "精确作答"
    CLOZE = "cloze", "Cloze", "填空"
    CORRECTION = "correction", "Error correction", "短文改错"
    OPEN_ENDED = "subjective", "Open-ended", "解答题"

    @property
    def part(self) -> Part:
        """Choice items and exact answers are objective; the other types are marked."""
        return Part.OBJECTIVE if self in OBJECTIVE_TYPES else Part.SUBJECTIVE


CHOICE_TYPES = frozenset(
    {
        QuestionType.SINGLE_CHOICE,
        QuestionType.MULTIPLE_CHOICE,
        QuestionType.SEVERAL_QUESTIONS,
        QuestionType.FIVE_OUT_OF_SEVEN,
    }
)
# An exact answer is compared as text or as mathematics (AGIEval section 4.1); it has no letters.
OBJECTIVE_TYPES = CHOICE_TYPES | {QuestionType.EXACT_ANSWER}
# Their answers are read for several sub-questions; one of another objective type has one key.
SEVERAL_ANSWERS = (
    QuestionType.SEVERAL_QUESTIONS,
    QuestionType.FIVE_OUT_OF_SEVEN,
    QuestionType.EXACT_ANSWER,
)


class Language(Named):
    """The language an item is written in."""

    CHINESE = "zh", "Chinese", "中文"
    ENGLISH = "en", "English", "英文"


class ItemStatus(Named):
    """Whether an item takes part in scoring."""

    ACTIVE = "active", "Active", "可用"
    QUARANTINED = "quarantined", "Quarantined", "待查"
    EXCLUDED = "excluded", "Excluded", "剔除"


class AbilityBranch(Named):
    """First place of AGIBench's four-tuple."""

    COMMON_SENSE = "common_sense", "Common sense", "常识"
    UNDERSTANDING = "understanding", "Understanding", "理解"
    REASONING = "reasoning", "Reasoning", "推理"


class Modal(Named):
    """Fourth place of AGIBench's four-tuple: what an item's content is made of."""

    TEXT = "text", "Text", "文字"
    TEXT_TABLE = "text_table", "Text and table", "文字+表格"
    TEXT_IMAGE = "text_image", "Text and image", "文字+图片"
    IMAGE = "image", "Image only", "图片"
    TEXT_IMAGE_TABLE = "text_image_table", "Text, image and table", "文字+图片+表格"


class LabelOrigin(Named):
    """Where one of the four labels of an item comes from."""

    PUBLISHED = "published", "Published", "原数据"
    DERIVED = "derived", "Derived from the human rate", "由人类正确率推出"
    CONTENT = "content", "Detected in the content", "由试题内容判定"
    PERSON = "person", "Set by a person", "人工标注"


class RateKind(Named):
    """Of whom a human rate is: all people, or the best of those who took a whole task."""

    AVERAGE = "average", "average", "平均"
    TOP = "top", "top", "最高"


class ProblemCode(Named):
    """What the gate finds wrong with an item; the values are stable."""

    KEY_OUTSIDE = "key_outside_options", "Answer key not among the options", "答案不在选项中"
    SEVERAL_LETTERS = (
        "several_letters",
        "Several answer keys where one is expected",
        "单选题有多个答案",
    )
    KEY_COUNT = "key_count", "Answer keys and sub-questions differ in number", "答案数与小题数不符"
    EMPTY_KEY = "empty_key", "Empty answer key", "答案为空"
    EMPTY_OPTIONS = "empty_options", "Empty options", "选项为空"
    REPEATED_OPTIONS = "repeated_options", "Repeated options", "选项重复"
    KEY_AGAINST_ANALYSIS = (
        "key_against_analysis",
        "Answer key contradicts its analysis",
        "答案与解析矛盾",
    )
    MISSING_FIGURE = "missing_figure", "Missing figure", "提到的图缺失"
    EXACT_DUPLICATE = "exact_duplicate", "Exact duplicate", "试题完全重复"
    NEAR_DUPLICATE = "near_duplicate", "Near duplicate", "试题高度相似"
    CONFLICTING_KEY = "conflicting_key", "Same question with different answer keys", "同题答案冲突"
    RUBRIC_SUM = "rubric_sum", "Rubric and full marks differ", "采分点与满分不符"
    GOLD_UNREAD = "gold_unread", "Answer key does not score as correct", "参考答案自身未判为正确"
    REPORTED = "reported", "Reported by a person", "人工报告"


class Decision(Named):
    """What a curator decides about an item with a problem."""

    KEEP = "keep", "Keep as it is", "保留原样"
    REPAIR = "repair", "Repair", "修正"
    EXCLUDE = "exclude", "Exclude", "剔除"


class RubricSource(Named):
    """Where a version of a rubric comes from."""

    IMPORT = "import", "Came with the questions", "随题目导入"
    PERSON = "person", "Written by a person", "人工编写"
    FILE = "file", "From a file", "来自文件"
    PROPOSAL = "proposal", "Proposed from the key", "由参考答案拟定"
    MODEL = "model", "Proposed by a model", "由模型拟定"


class ImportStatus(Named):
    """Where an import stands: as other work, and checked before a person says that it imports."""

    QUEUED = "queued", "Waiting", "等待中"
    WORKING = "working", "Running", "进行中"
    CHECKED = "checked", "Checked", "已预检"
    STOPPED = "stopped", "Stopped", "已停止"
    INTERRUPTED = "interrupted", "Interrupted", "已中断"
    FAILED = "failed", "Failed", "失败"
    DONE = "done", "Imported", "已导入"
    DISCARDED = "discarded", "Discarded", "已放弃"
