"""The outcomes of reading, scoring and judging a response."""

from __future__ import annotations

from enum import StrEnum

from gradeapp.common.named import Named


class LedgerOutcome(Named):
    """The outcome of a response in the report ``ledger``; every response has exactly one."""

    CORRECT = "correct", "Correct", "全对"
    PARTIAL = "partial", "Partly correct", "部分正确"
    WRONG = "wrong", "Wrong", "错误"
    NO_ANSWER = "no_answer", "No answer found", "未作答"
    AMBIGUOUS = "ambiguous", "Ambiguous answer", "答案不明确"
    REFUSED = "refused", "Refused", "拒答"
    TRUNCATED = "truncated", "Cut off", "输出被截断"
    API_ERROR = "api_error", "API error", "接口错误"
    NOT_SCORED = "not_scored", "Not scored", "未评分"
    EXCLUDED = "excluded", "Excluded", "已剔除"


# Outcomes of reading without an answer. Only these are scored 0; an API error, an unscored and an
# excluded response have no score.
UNREAD = frozenset(
    {
        LedgerOutcome.NO_ANSWER,
        LedgerOutcome.AMBIGUOUS,
        LedgerOutcome.REFUSED,
        LedgerOutcome.TRUNCATED,
    }
)


class ReadingOutcome(StrEnum):
    """How the reading of one output ended; the ledger of scores uses the same values."""

    READ = "read"
    NO_ANSWER = "no_answer"
    AMBIGUOUS = "ambiguous"
    REFUSED = "refused"
    TRUNCATED = "truncated"


class ReplyEnding(Named):
    """What the reply to a call is, apart from its text; each has exactly one."""

    COMPLETE = "complete", "Complete", "完整"
    CUT_OFF = "cut_off", "Cut off", "被截断"
    FILTERED = "filtered", "Stopped by a content filter", "被内容过滤拦截"
    REFUSED = "refused", "Refused", "拒答"
    TOOL_CALLS = "tool_calls", "Tool calls instead of an answer", "只有工具调用，没有作答"
    REASONING = "reasoning", "Reasoning without an answer", "只有推理过程，没有作答"
    EMPTY = "empty", "Empty", "空白"


class JudgeStatus(StrEnum):
    """Whether a reply has a total, and if not, why."""

    SCORED = "scored"
    OVER_FULL_MARKS = "over_full_marks"
    BELOW_ZERO = "below_zero"
    SEVERAL_TOTALS = "several_totals"
    UNCLEAR_TOTAL = "unclear_total"
    WRONG_DENOMINATOR = "wrong_denominator"
    # Of replies in JSON, whose points are of scoring points by number.
    POINTS_DIFFER = "points_differ"
    POINTS_UNCLEAR = "points_unclear"
    NO_TOTAL = "no_total"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    # Not sent, so there is no reply (``judged_texts.withheld``).
    NO_CONTENT = "no_content"
    OVERSIZE = "oversize"


class CanaryKind(Named):
    """The classes of made-up responses that check a judge."""

    EMPTY = "empty", "Empty response", "空白作答"
    KEY = "key", "The answer key itself", "参考答案本身"
    WRONG_LAST_STEP = "wrong_last_step", "Key with a wrong last step", "末步错误的参考答案"
    LONG_WRONG = "long_wrong", "Long and wrong", "冗长且错误"
    QUESTION = "question", "The question repeated", "重复题目"
    OTHER_KEY = "other_key", "Key of another question", "他题的参考答案"
    INJECTION_ZH = "injection_zh", "Instruction in Chinese", "中文指令注入"
    INJECTION_EN = "injection_en", "Instruction in English", "英文指令注入"
    DUPLICATE = "duplicate", "Same response twice", "重复的作答"


class JudgeVerdict(Named):
    """What a check says of a judge."""

    PASSED = "passed", "Passed", "通过"
    OPEN = "open", "Not decided yet", "尚未判定"
    SUSPENDED = "suspended", "Suspended", "已停用"
