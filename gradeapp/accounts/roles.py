"""Roles and what each may do: the one place where this is written down.

A user may have several roles; what they may do is the union. Pages, API routes
and commands ask for a capability, never for a role, so that a new role is one
entry here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from gradeapp.common.named import Named


class Role(Named):
    """The four roles of gradeapp."""

    ADMIN = "admin", "Admin", "管理员"
    CURATOR = "curator", "Curator", "题库管理员"
    LEAD = "lead", "Lead", "题组长"
    TEACHER = "teacher", "Teacher", "评卷教师"


class Capability(StrEnum):
    """What an interface asks for."""

    SEE_QUESTIONS = "see_questions"
    EDIT_QUESTIONS = "edit_questions"
    ACCEPT_RUBRICS = "accept_rubrics"
    CHECK_ANSWERS = "check_answers"
    SEE_RUNS = "see_runs"
    START_RUNS = "start_runs"
    MARK = "mark"
    LEAD_ROUNDS = "lead_rounds"
    SEE_JUDGEMENTS = "see_judgements"
    SEE_REPORTS = "see_reports"
    EXPORT = "export"
    OPERATE = "operate"


C = Capability
# Teachers see neither questions nor reports outside the desk: a report names
# the model and the judge, and a marker must stay blind (MARKING, "Who may do what").
ROLE_CAPABILITIES: dict[Role, frozenset[Capability]] = {
    Role.ADMIN: frozenset(C) - {C.MARK},
    Role.CURATOR: frozenset(
        {C.SEE_QUESTIONS, C.EDIT_QUESTIONS, C.ACCEPT_RUBRICS, C.CHECK_ANSWERS, C.SEE_REPORTS}
    ),
    Role.LEAD: frozenset(
        {
            C.SEE_QUESTIONS,
            C.ACCEPT_RUBRICS,
            C.CHECK_ANSWERS,
            C.SEE_RUNS,
            C.LEAD_ROUNDS,
            C.SEE_JUDGEMENTS,
            C.SEE_REPORTS,
            C.EXPORT,
        }
    ),
    Role.TEACHER: frozenset({C.MARK}),
}


# What stays open to somebody who marks blind just now, whatever their roles. Every other capability
# leads to pages that can tell a model, a run, a judge model or a partner; a new one is closed too.
OPEN_WHILE_MARKING = frozenset({C.MARK, C.SEE_QUESTIONS, C.EDIT_QUESTIONS, C.ACCEPT_RUBRICS})


def roles_named(names: Collection[str | None]) -> tuple[Role, ...]:
    """The roles whose groups are called *names*, in the order of the list of roles."""
    return tuple(role for role in Role if role.value in names)


def capabilities(roles: Iterable[Role]) -> frozenset[Capability]:
    """Everything that the holder of *roles* may do."""
    return frozenset().union(*(ROLE_CAPABILITIES[role] for role in roles))


# What each role may do in the Django admin, for operators: app.model -> actions.
# Evidence is never changed there; evaluations/admin.py keeps it read-only besides.
SITE_RIGHTS: dict[Role, dict[str, tuple[str, ...]]] = {
    Role.ADMIN: {
        "accounts.user": ("add", "change", "view"),
        "auth.group": ("view",),
        "questions.*": ("view",),
        "evaluations.*": ("view",),
        "evaluations.endpoint": ("add", "change", "view"),
    }
}
