"""The page of the audit trail: who sees it, its filters, its pages, its file, its words."""

from __future__ import annotations

import ast
import csv
import hashlib
import io
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from evaluations.runs.services.batch_reports import BatchReport
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit import views
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.record import record
from gradeapp.audit.sealing import seal_all
from gradeapp.audit.tags import Tag
from gradeapp.audit.verifying import verify_all
from gradeapp.audit.words import DETAILS, OBJECTS, TAGS
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round
from tests.factories import make_user

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parent.parent.parent
TRAIL, EXPORT = "/audit/", "/audit/export/"


def test_everything_has_a_name_in_both_languages() -> None:
    assert set(Tag) <= set(TAGS), "name each tag in gradeapp/audit/words.py"
    for words in (TAGS, OBJECTS, DETAILS):
        assert all(english and chinese for english, chinese in words.values())
    # What a call of the recording functions names, but for who did it.
    written = {
        keyword.arg
        for package in ("gradeapp", "questions", "evaluations")
        for file in (ROOT / package).rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if call.func.id in ("record", "record_export", "record_view", "record_start")
        for keyword in call.keywords
        if keyword.arg
    }
    written |= set(BatchReport().as_dict())  # given as it is
    assert written - {"actor", "acting_user", "request", "problems"} <= set(DETAILS)


@pytest.mark.parametrize(
    ("tag", "detail", "english", "chinese"),
    [
        (
            Tag.MARK_FINALIZED,
            {"rule": "mean of two"},
            "rule: Mean of two",
            "定分规则 一评、二评均值",
        ),
        (Tag.ROUND_OPENED, {"scheme": "1"}, "scheme: One teacher", "评卷方式 单评"),
        (Tag.RESCORED, {"status": "stopped"}, "state: Stopped", "状态 已停止"),
        (Tag.ROUND_VIEWED, {"page": "seeds"}, "page: seed answers", "页面 种子卷"),
        (
            Tag.LABELS_SET,
            {"change": {"modal": {"from": "image", "to": "text"}}},
            "change: modality: before: Image",
            "变更 模态：变更前：",
        ),
        (Tag.FINAL_CORRECTED, {"reason": "slip"}, "reason: Slip", "原因 笔误"),
        # What people typed is not a code.
        (Tag.TEACHER_PAUSED, {"reason": "slip"}, "reason: slip", "原因 slip"),
        (Tag.ROLES_CHANGED, {"before": ["lead"], "after": []}, "before: Lead", "变更前 题组长"),
    ],
)
def test_codes_have_names_in_the_trail(
    admin: User, tag: Tag, detail: dict[str, object], english: str, chinese: str
) -> None:
    record(tag, "run:1", actor=admin, **detail)
    page = logged_in(admin)
    for language, words in (("en", english), ("zh-hans", chinese)):
        page.cookies[settings.LANGUAGE_COOKIE_NAME] = language
        (entry,) = page.get(TRAIL + "?object=run:1").context["entries"]
        signs = ": " if language == "en" else " "
        assert "; ".join(signs.join(pair) for pair in entry.details).startswith(words)


def test_filters_by_person_object_action_and_day(
    admin: User, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(Tag.RUN_STARTED, "run:1", actor=lead, planned=12, change={"from": [1], "to": None})
    record(Tag.RUN_STOPPED, "run:1", actor=None)
    record(Tag.RUN_STARTED, "run:2", actor=admin)
    page = logged_in(admin)

    def found(query: str) -> list[str]:
        entries = page.get(TRAIL + query).context["entries"]
        return [f"{one.action}, {one.name}" for one in entries]

    everything = ["Run started, Run 2", "Run stopped, Run 1", "Run started, Run 1"]
    assert found("") == everything
    assert found("?person=lin") == everything[2:]
    assert found("?object=run:1") == everything[1:]
    assert found("?object=run:1&action=run.stopped") == [everything[1]]
    today = timezone.localdate()
    assert found(f"?since={today}&until={today}") == everything
    assert found(f"?until={today - timedelta(days=1)}") == []
    # No zone has these days in whole.
    assert found("?since=0001-01-01&until=9999-12-31") == everything
    assert found("?since=9999-12-31") == found("?until=0001-01-01") == []
    assert page.get(f"{TRAIL}?nobody=1").status_code == 400
    text = page.get(TRAIL + "?person=lin").text
    assert reverse("runs:run", args=[1]) in text
    assert "before: 1, after: –" in text
    # One page after another, without an offset.
    monkeypatch.setattr(views, "PAGE", 2)
    assert found("") == everything[:2]
    before = page.get(TRAIL).context["next"]
    assert found(f"?before={before}") == everything[2:]


def test_the_state_of_the_chain_is_at_the_top(admin: User, lead: User) -> None:
    record(Tag.RUN_STARTED, "run:1", actor=lead)
    page = logged_in(admin)
    audit, marks = page.get(TRAIL).context["states"]
    assert (audit.sealed_at, audit.waiting, marks.waiting) == (None, 1, 0)
    seal_all()
    verify_all(timezone.now())
    response = page.get(TRAIL)
    assert response.context["states"][0].waiting == 0
    assert "Nothing changed" in response.text


def test_nobody_who_marks_sees_it(admin: User, lead: User, teacher: User) -> None:
    both = make_user(Role.ADMIN, "bo")
    both.groups.add(*teacher.groups.all())
    small_round([User.objects.get(pk=both.pk), teacher])
    for person in (lead, teacher, both):
        for address in (TRAIL, EXPORT):
            assert logged_in(person).get(address).status_code == 403
    assert logged_in(admin).get(TRAIL).status_code == 200


def test_the_file_is_safe_complete_and_noted(admin: User) -> None:
    record(Tag.RUN_STARTED, "run:1", actor=admin, name="=cmd()", planned=2)
    record(Tag.RUN_STARTED, "run:2", actor=None)
    response = logged_in(admin).get(f"{EXPORT}?object=run:1")
    content = b"".join(response.streaming_content)
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert rows[0][:3] == ["id", "at", "person"]
    assert [row[2:] for row in rows[1:]] == [
        ["ada", "Run started", "run.started", "Run 1", "run:1", "name: =cmd(); planned calls: 2"]
    ]
    entry = AuditEntry.objects.get(tag=Tag.TRAIL_EXPORTED)
    assert entry.actor == admin
    assert entry.detail == {
        "filters": {"object": "run:1"},
        "rows": 1,
        "sha256": hashlib.sha256(content).hexdigest(),
        "whole": True,
    }
    hostile = make_user(Role.ADMIN, "=1+1")
    record(Tag.RUN_STARTED, "run:3", actor=hostile)
    content = b"".join(logged_in(admin).get(f"{EXPORT}?object=run:3").streaming_content)
    assert b'"\'=1+1"' in content
