"""Names that can pass for another are refused."""

from __future__ import annotations

import pytest
from django.urls import reverse

from gradeapp.accounts.models import User
from gradeapp.accounts.services import ensure_user
from gradeapp.common.names import name_problem
from gradeapp.common.refusals import BadInput
from tests.conftest import logged_in


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("\u0430dmin", "mixed"),
        ("Ωmega", "mixed"),
        ("chen\u202e", "invisible"),
        ("chen\u200b", "invisible"),
        ("a\nb", "invisible"),
        ("a\U000e0067", "invisible"),
        ("陈老师", ""),
        ("Иван Петров", ""),
        ("Müller-Lüdenscheidt", ""),
        ("Ivan Петров", ""),
        ("2024 数学 A 卷", ""),
        ("O'Brien", ""),
    ],
)
def test_a_name_is_what_it_looks_like(name: str, problem: str) -> None:
    assert name_problem(name) == problem


@pytest.mark.django_db
def test_the_admin_refuses_such_a_name(admin: User) -> None:
    with pytest.raises(BadInput, match="alike"):
        ensure_user("\u0430dmin", roles=[])
    form = {"username": "\u0430dmin", "password1": "a-long-one-92", "password2": "a-long-one-92"}
    admin.is_staff = admin.is_superuser = True
    admin.save()
    page = logged_in(admin).post(reverse("admin:accounts_user_add"), form)
    assert page.status_code == 200
    assert not User.objects.filter(username="\u0430dmin").exists()
