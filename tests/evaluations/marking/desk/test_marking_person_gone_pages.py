"""R34: a teacher is deactivated, or somebody tries to delete them, while a response is at hand."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.urls import reverse
from django.utils import timezone

from evaluations.models import BlindAnswer, Draft, Mark, Slot
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking.desk.test_marking_pages import HTMX, address, filled
from tests.evaluations.marking_world import small_round

pytestmark = pytest.mark.django_db


def test_who_is_deactivated_at_the_desk_saves_nothing_more_and_loses_nothing(
    teacher: User, other_teacher: User, admin: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 1, scheme=Scheme.SINGLE)
    slot = Slot.objects.get()
    person, other = sorted([teacher, other_teacher], key=lambda one: one.pk != slot.planned_id)
    browser, by_admin, by_lead = logged_in(person), logged_in(admin), logged_in(lead)
    browser.post(address("next", made))
    answer = BlindAnswer.objects.get()
    form = filled(browser.get(address("desk", answer)).text, "3", "2", "6", comment="half a page")
    assert browser.post(address("draft", answer), form | {"sequence": "1"}).status_code < 300

    by_admin.post(f"/people/{person.pk}/deactivate/")
    assert browser.post(address("save", answer), form, headers=HTMX).status_code == 401
    late = form | {"sequence": "2", "comment": "typed later"}
    assert browser.post(address("draft", answer), late, headers=HTMX).status_code == 401
    assert browser.get(address("desk", answer))["Location"].startswith("/login/")
    assert not Mark.objects.exists()
    assert Draft.objects.get().content["comment"] == "half a page"
    # The lead sees what was typed once the round is paused.
    action = reverse("rounds:pause", args=[made.public_id])
    assert by_lead.post(action).status_code == 302
    page = by_lead.get(reverse("rounds:round", args=[made.public_id])).text
    assert "half a page" in page
    by_lead.post(reverse("rounds:resume", args=[made.public_id]))

    by_admin.post(f"/people/{person.pk}/activate/")
    back = logged_in(person)
    assert "half a page" in back.get(address("desk", answer)).text

    by_admin.post(f"/people/{person.pk}/deactivate/")
    Slot.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    colleague = logged_in(other)
    assert colleague.post(address("next", made))["Location"] == address("desk", answer)
    page = colleague.get(address("desk", answer)).text
    assert "half a page" not in page, "a draft is shown to nobody else who marks"
    done = colleague.post(address("save", answer), filled(page, "1", "1", "1"), headers=HTMX)
    assert done.status_code == 200
    assert Mark.objects.get().teacher == other


def test_who_has_a_response_at_hand_cannot_be_deleted(
    teacher: User, other_teacher: User, admin: User
) -> None:
    made = small_round([teacher, other_teacher], 1)
    logged_in(teacher).post(address("next", made))
    assert Slot.objects.filter(holder=teacher).exists()
    admin.is_staff = admin.is_superuser = True
    admin.save()
    page = reverse("admin:accounts_user_delete", args=[teacher.pk])
    assert logged_in(admin).post(page, {"post": "yes"}).status_code == 403
    with pytest.raises(ProtectedError):
        teacher.delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        delete_by_sql(teacher)
    assert User.objects.filter(pk=teacher.pk).exists()
    assert Slot.objects.filter(holder=teacher).exists()


def delete_by_sql(person: User) -> None:
    """Past the ORM; the database checks its keys at the end of the transaction, here at once."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM accounts_user WHERE id = %s", [person.pk])
    connection.check_constraints()
