"""The OpenAPI description is whole: no route without a type, no serializer by default."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from gradeapp.accounts.models import User
from tests.conftest import logged_in

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.django_db
def test_the_description_has_no_gap(tmp_path: Path) -> None:
    file = tmp_path / "schema.yml"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(file))
    assert "/api/v1/questions/" in file.read_text(encoding="utf-8")


def test_the_description_is_served_to_people_who_are_logged_in(teacher: User) -> None:
    assert logged_in(teacher).get("/api/v1/schema/").status_code == 200


def test_no_serializer_takes_every_field() -> None:
    for app in ("questions", "evaluations"):
        for file in (ROOT / app / "api").glob("*.py"):
            assert "__all__" not in file.read_text(encoding="utf-8"), file


def test_the_api_speaks_json_only(teacher: User) -> None:
    page = logged_in(teacher).get("/api/v1/questions/", headers={"Accept": "text/html"})
    assert page["Content-Type"] == "application/json"
