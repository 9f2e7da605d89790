"""Closed lists of the evaluations: states that rows go through."""

from __future__ import annotations

from enum import StrEnum

from gradeapp.common.named import Named


class RunStatus(Named):
    """The life of a run. ``paused`` names its reason; ``stopped`` was a person's wish."""

    QUEUED = "queued", "Queued", "排队中"
    RUNNING = "running", "Running", "运行中"
    STOPPING = "stopping", "Stopping", "正在停止"
    STOPPED = "stopped", "Stopped", "已停止"
    PAUSED = "paused", "Paused", "已暂停"
    FINISHED = "finished", "Finished", "已完成"
    IMPORTED = "imported", "Imported", "已导入"


class PauseReason(Named):
    """Why a run waits. Those with ``passes`` go on by themselves."""

    AUTH = "auth", "The endpoint rejects the API key", "接口拒绝密钥"
    QUOTA = "quota", "The account has no credit left", "账户余额不足"
    NOT_FOUND = "not_found", "The endpoint does not know the model", "接口没有该模型"
    REDIRECT = "redirect", "The endpoint redirects", "接口要求跳转"
    BUDGET = "budget", "The budget is used up", "预算已用完"
    STUDY_BUDGET = "study_budget", "The budget of the study is used up", "研究的预算已用完"
    ENDPOINT_DOWN = "endpoint_down", "The endpoint does not respond", "接口无响应"
    ASKED_TO_WAIT = "asked_to_wait", "The endpoint asks to wait", "接口要求等待"
    ENDPOINT_ERRORS = "endpoint_errors", "The endpoint returns errors only", "接口持续报错"
    BROKEN_REPLIES = "broken_replies", "The endpoint's replies cannot be read", "接口回复无法解析"
    NO_REPLY = "no_reply", "Calls get no complete reply", "调用得不到完整回复"
    REJECTED = "rejected", "The endpoint rejects every call", "接口拒绝所有调用"
    NOT_STORED = "not_stored", "Results cannot be stored", "结果无法保存"
    NO_KEY = "no_key", "The API key is not set", "未设置密钥"
    ADDRESS = "address", "The address is not allowed", "地址不允许访问"
    ENDPOINT_CHANGED = "endpoint_changed", "The endpoint has changed", "接口已被修改"
    BATCH_REJECTED = "batch_rejected", "The endpoint rejects batches", "接口拒绝批次"
    UNREADABLE = "unreadable", "None of the first replies can be read", "最初的回复均无法读取"
    SPENDING_CAP = "spending_cap", "The spending cap is reached", "已达到费用上限"
    BY_PERSON = "by_person", "Paused by a person", "人工暂停"

    @property
    def passes(self) -> bool:
        """Whether the run goes on by itself: one call is tried from time to time."""
        return self in PASSING


PASSING = frozenset(
    {
        PauseReason.ENDPOINT_DOWN,
        PauseReason.ASKED_TO_WAIT,
        PauseReason.ENDPOINT_ERRORS,
        PauseReason.BROKEN_REPLIES,
        PauseReason.NO_REPLY,
        PauseReason.REJECTED,
        PauseReason.NOT_STORED,
    }
)


class BatchState(Named):
    """A batch waits for its replies until they are read, or until nobody waits for them."""

    WAITING = "waiting", "Waiting for replies", "等待回复"
    READ = "read", "Replies read", "已读取回复"
    FAILED = "failed", "Rejected by the endpoint", "接口拒绝"
    DISCARDED = "discarded", "Discarded", "已放弃"


class RunPurpose(Named):
    """A run answers, suggests to curators, or judges or reads what another run answered."""

    ANSWER = "answer", "Answer", "作答"
    JUDGE = "judge", "Judge", "模型评分"
    SUGGEST = "suggest", "Suggest", "建议"
    READ = "read", "Read answers", "提取答案"


class PatternVerdict(Named):
    """What a person decided about a pattern that a search found."""

    ACCEPTED = "accepted", "Accepted", "已采纳"
    RETIRED = "retired", "Retired", "已停用"


class JobStatus(Named):
    """A job is claimed by a lease; ``failed`` only after its last attempt.

    A second step is ``waiting`` until the reply of the first is stored.
    """

    PENDING = "pending", "Pending", "待处理"
    WAITING = "waiting", "Waiting for the first step", "等待第一步"
    LEASED = "leased", "In flight", "进行中"
    DONE = "done", "Done", "已完成"
    FAILED = "failed", "Failed", "失败"


# The error of a job whose step before failed, so that it was never asked.
FIRST_STEP_FAILED = "first_step_failed"


class AttemptStatus(Named):
    """``unknown``: sent, perhaps billed, and no answer came back."""

    SENT = "sent", "Sent", "已发送"
    ANSWERED = "answered", "Answered", "已回复"
    ERROR = "error", "Error", "出错"
    UNKNOWN = "unknown", "Answer unknown", "结果未知"


class UsageState(Named):
    """What an answered call said of its tokens; where it is not complete, the reservation stands.

    ``odd``: the counts contradict each other, as a total below its parts, or are far above what was
    sent and asked for, which then costs the most that is believed. ``reported``: neither
    can be used, but the provider says that the call cost more than was reserved, and that counts.
    """

    COMPLETE = "complete", "Complete", "完整"
    MISSING = "missing", "Usage missing: the reserved amount stands", "缺少用量：按预留金额计"
    ODD = (
        "odd",
        "Usage cannot be right: the most that the call can cost stands",
        "用量不可信：按此次调用的最高费用计",
    )
    REPORTED = (
        "reported",
        "Usage missing: the provider's cost counts",
        "缺少用量：按服务商报告的费用计",
    )


class RoundStatus(Named):
    """A marking round is planned, then open for marking until a lead closes it."""

    PLANNED = "planned", "Planned", "准备中"
    OPEN = "open", "Open", "进行中"
    PAUSED = "paused", "Paused", "已暂停"
    CLOSED = "closed", "Closed", "已结束"


# A round that has begun and is not over; only an open one gives something out.
LIVE = (RoundStatus.OPEN.value, RoundStatus.PAUSED.value)
NOT_CLOSED = (RoundStatus.PLANNED.value, *LIVE)


class SlotKind(Named):
    """Which of the marks of one response this is."""

    FIRST = "first", "First mark", "一评"
    SECOND = "second", "Second mark", "二评"
    THIRD = "third", "Third mark", "三评"
    ARBITRATION = "arbitration", "Arbitration", "仲裁"
    SEED = "seed", "Seed answer", "种子卷"
    REPEAT = "repeat", "Intra-rater check", "自评一致性检查"


# Marks that watch a teacher and never count for a response.
CHECK_KINDS = (SlotKind.SEED.value, SlotKind.REPEAT.value)


class AnswerRole(Named):
    """Why a blind answer is in a round; markers cannot tell."""

    ANSWER = "answer", "Response", "作答"
    SEED = "seed", "Seed answer", "种子卷"
    REPEAT = "repeat", "Intra-rater check", "自评一致性检查"


class ReviewStatus(Named):
    """A review is open until a lead closes it."""

    OPEN = "open", "Open", "进行中"
    CLOSED = "closed", "Closed", "已结束"


class Flag(Named):
    """One-key flags of the marking desk."""

    CUT_OFF = "cut_off", "Cut off", "答案被截断"
    REPEATS = "repeats", "Repeats itself", "内容重复"
    REFUSES = "refuses", "Refuses", "拒答"
    OFF_TOPIC = "off_topic", "Off topic", "答非所问"
    OTHER_LANGUAGE = "other_language", "Other language", "语言不符"
    KEY_LOOKS_WRONG = "key_looks_wrong", "Answer key looks wrong", "参考答案疑误"
    CANNOT_BE_READ = "cannot_be_read", "Cannot be read", "无法辨认"


class ArbitrationReason(Named):
    """Why the lead decided as they did."""

    RUBRIC_SILENT = "rubric_silent", "Rubric silent", "评分细则未涉及"
    SLIP = "slip", "Slip", "笔误"
    GENEROUS = "generous_reading", "Generous reading", "从宽理解"
    STRICT = "strict_reading", "Strict reading", "从严理解"
    KEY_WRONG = "answer_key_wrong", "Answer key wrong", "参考答案有误"


class CheckSource(Named):
    """Why a reading comes to a person; the order is that of the queue."""

    MODEL = "model", "Extracted by a model", "由模型提取"
    AMBIGUOUS = "ambiguous", "Ambiguous", "答案不明确"
    LOW = "low", "Low confidence", "把握较低"
    SAMPLE = "sample", "Random sample", "随机抽查"
    UNREAD = "unread", "Nothing extracted", "未提取答案"
    SECOND = "second", "Second check", "二次核对"
    DIFFER = "differ", "Conflicting checks", "核对不一致"


class Asks(Named):
    """What a model is asked to suggest to the curators; nothing counts before a person takes it."""

    LABELS = "labels", "Labels", "标注"
    RUBRIC = "rubric", "Rubric drafts", "评分细则草稿"


class FactMarker(StrEnum):
    """Who gave the points of a row of ``AnswerFact``."""

    KEY = "key"
    TEACHERS = "teachers"
    JUDGE = "judge"
