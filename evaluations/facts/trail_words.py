"""What the codes that evaluations store in the audit trail are called there."""

from __future__ import annotations

from evaluations.models.vocabulary import ArbitrationReason, Asks
from evaluations.schemes import FinalRule, Scheme
from evaluations.statistics.outcomes import JudgeVerdict
from evaluations.statistics.policies import Policy
from gradeapp.audit.tags import Tag
from gradeapp.audit.values import Codes, register
from gradeapp.common.named import WorkStatus

TO: Codes = {
    "same": ("the same teacher", "原评卷教师"),
    "others": ("other teachers", "其他评卷教师"),
}
# Pages with marks. Others are called by the response or the teacher that they show.
PAGES: Codes = {
    "plan": ("plan", "评卷计划"),
    "round": ("round", "评卷任务"),
    "monitoring": ("monitoring", "质量监控"),
    "sending back": ("return for re-marking", "退回重评"),
    "rubrics": ("new rubrics", "新评分细则"),
    "tolerance": ("tolerance simulator", "误差阈值试算"),
    "arbitration": ("arbitration", "仲裁"),
    "seeds": ("seed answers", "种子卷"),
    "sheets": ("marking sheets", "评卷单"),
    "key flags": ("flagged answer keys", "参考答案疑误"),
    "judgements": ("judgements", "模型评分"),
    "responses": ("responses", "作答"),
    "answers": ("wrong answers", "错答"),
    "report": ("report", "报告"),
    "review": ("review", "分析任务"),
    "run": ("run", "运行"),
    "study": ("study", "研究"),
    "batch": ("batch", "批次"),
    "repeated": ("one text to many questions", "多题雷同作答"),
    "sample plan": ("plan of a sample", "抽样方案"),
    "export": ("export", "导出"),
    "admin": ("admin", "后台管理"),
    "audit": ("audit trail", "审计记录"),
    "api": ("API", "API"),
}


def register_codes() -> None:
    """Have the audit trail call the codes of evaluations by their names."""
    register("rule", FinalRule)
    register("scheme", Scheme)
    register("policy", Policy)
    register("status", WorkStatus)
    register("asks", Asks)
    register("verdict", JudgeVerdict)
    register("reason", ArbitrationReason, tags=[Tag.ARBITRATED, Tag.FINAL_CORRECTED])
    register("to", TO, tags=[Tag.MARKS_RETURNED])
    register("page", PAGES)
