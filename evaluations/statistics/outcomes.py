"""The outcomes of the ledger: every response has exactly one."""

from __future__ import annotations

from gradeapp.common.named import Named


class LedgerOutcome(Named):
    """One word per response; the counts of a report's ledger sum to its responses."""

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


# How reading an output can end without an answer. Only these become a score of 0;
# an API error, an unscored or an excluded response has no score at all.
UNREAD = frozenset(
    {
        LedgerOutcome.NO_ANSWER,
        LedgerOutcome.AMBIGUOUS,
        LedgerOutcome.REFUSED,
        LedgerOutcome.TRUNCATED,
    }
)
