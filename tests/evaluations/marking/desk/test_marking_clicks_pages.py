"""A double click at the desk: both requests are answered, and there is one mark."""

from __future__ import annotations

import os
from functools import partial

import pytest
from django.test import Client
from django.urls import reverse

from bench.browsing import form_in
from evaluations.models import Mark, MarkChange
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from tests.conftest import logged_in
from tests.evaluations.marking.desk.test_marking_races import at_once
from tests.evaluations.marking_world import answers_of, held_slot, small_round

pytestmark = pytest.mark.django_db(transaction=True)
CLICKS = 200 if os.environ.get("GRADEAPP_FULL") == "yes" else 8


def post(client: Client, address: str, sent: dict[str, str]) -> int:
    return client.post(address, sent, headers={"HX-Request": "true"}).status_code


def test_a_double_click_makes_one_mark_and_is_answered_twice(
    teacher: User, other_teacher: User
) -> None:
    changes = MarkChange.objects.count()  # emptying tables before this test may leave some
    windows = [logged_in(teacher), logged_in(teacher)]
    for answer in answers_of(small_round([teacher, other_teacher], CLICKS)):
        held_slot(answer, teacher)
        page = windows[0].get(reverse("marking:desk", args=[answer.public_id])).text
        form = form_in(page, "/save/")
        sent = form.fields | dict.fromkeys(form.offered, "1") | {"seconds": "30"}
        calls = [partial(post, window, form.action, sent) for window in windows]
        assert at_once(*calls) == [200, 200]
    assert Mark.objects.filter(stale=False).count() == Mark.objects.count() == CLICKS
    assert AuditEntry.objects.filter(tag="mark.saved").count() == CLICKS
    assert MarkChange.objects.count() == changes
