"""What an API token may be made for: a scope for each kind of thing that the API does."""

from __future__ import annotations

from gradeapp.accounts.roles import Capability
from gradeapp.common.named import Named

C = Capability
READING = frozenset({"GET", "HEAD", "OPTIONS"})


class Scope(Named):
    """What a token may do, within what its person may do."""

    READ = "read", "Read", "读取"
    MARK = "mark", "Mark and check", "评卷与核对"
    EDIT = "edit", "Edit questions", "编辑题库"
    LEAD = "lead", "Lead rounds", "管理评卷任务"
    RUN = "run", "Start runs", "启动运行"
    EXPORT = "export", "Export files", "导出文件"


# What a change needs that asks for a capability; a test holds the list complete.
CHANGES: dict[Capability, Scope] = {
    C.SEE_QUESTIONS: Scope.EDIT,
    C.EDIT_QUESTIONS: Scope.EDIT,
    C.ACCEPT_RUBRICS: Scope.EDIT,
    C.CHECK_ANSWERS: Scope.MARK,
    C.MARK: Scope.MARK,
    C.SEE_RUNS: Scope.RUN,
    C.START_RUNS: Scope.RUN,
    C.LEAD_ROUNDS: Scope.LEAD,
    C.SEE_JUDGEMENTS: Scope.LEAD,
    C.SEE_REPORTS: Scope.LEAD,
    C.EXPORT: Scope.EXPORT,
    C.OPERATE: Scope.RUN,
}


def scope_for(capability: Capability | None, method: str | None) -> Scope:
    """Return the scope that a request with *method* needs where *capability* is asked for."""
    if capability == C.EXPORT:
        return Scope.EXPORT
    if method in READING or capability is None:
        return Scope.READ
    return CHANGES[capability]
