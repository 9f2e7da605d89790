"""The OpenAPI description is whole: no route without a type, no serializer by default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator
from rest_framework.serializers import BaseSerializer, Serializer

from gradeapp.accounts.models import User
from tests.conftest import logged_in

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.django_db
def test_the_description_has_no_gap(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    given = {"format": "openapi-json", "validate": True, "fail_on_warn": True}
    call_command("spectacular", file=str(file), **given)
    described = json.loads(file.read_text(encoding="utf-8"))
    assert "/api/v1/questions/" in described["paths"]
    assert sorted(set(unbounded_integers(described))) == []
    assert sorted(set(unbounded_lists(described))) == []


def unbounded_integers(described: dict[str, Any]) -> Iterator[str]:
    """Return the integers that a body may have of any size, but for keys of runs."""
    for name, part in parts_of_bodies(described):
        if part.get("type") == "integer" and "maximum" not in part and name not in ("run", "runs"):
            yield name


def unbounded_lists(described: dict[str, Any]) -> Iterator[str]:
    """Return the lists of any length that a body of JSON may have.

    Of a serializer with ``many`` the description does not say the length.
    """
    schemas = described["components"]["schemas"]
    for name, part in parts_of_bodies(described, "application/json"):
        if part.get("type") == "array" and "maxItems" not in part:
            kind = part["items"].get("$ref", "").rpartition("/")[2]
            if "properties" not in schemas.get(kind, {}):
                yield name


def parts_of_bodies(described: dict[str, Any], kind: str = "") -> Iterator[tuple[str, Any]]:
    """Return all that is described of bodies, or of those of one *kind*, with its name."""
    methods = [one for path in described["paths"].values() for one in path.values()]
    bodies = [one["requestBody"] for one in methods if "requestBody" in one]
    left: list[tuple[str, Any]] = [
        ("", one["content"].get(kind) if kind else one) for one in bodies
    ]
    seen: set[str] = set()
    while left:
        name, part = left.pop()
        if isinstance(part, list):
            left += [(name, one) for one in part]
        elif isinstance(part, dict):
            yield name, part
            if (kind := part.get("$ref", "").rpartition("/")[2]) and kind not in seen:
                seen.add(kind)
                left.append((kind, described["components"]["schemas"][kind]))
            inner = part.get("properties", {})
            left += [(inner_name, one) for inner_name, one in inner.items()]
            left += [(name, one) for key, one in part.items() if key != "properties"]


def test_the_description_is_made_once_for_each_format(
    teacher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = logged_in(teacher)
    written = client.get("/api/v1/schema/")
    assert written["Content-Type"].startswith("application/vnd.oai.openapi")
    described = client.get("/api/v1/schema/", {"format": "json"})
    assert f"\n  {next(iter(described.json()['paths']))}:\n" in written.text
    monkeypatch.setattr(SchemaGenerator, "get_schema", None)
    assert client.get("/api/v1/schema/", {"format": "json"}).content == described.content


def test_no_serializer_takes_every_field() -> None:
    files = [file for app in ("questions", "evaluations") for file in (ROOT / app).rglob("*.py")]
    interfaces = [file for file in files if "api" in file.relative_to(ROOT).as_posix()]
    assert len(interfaces) > 20
    for file in interfaces:
        assert "__all__" not in file.read_text(encoding="utf-8"), file


def serializers_below(kind: type[BaseSerializer[Any]]) -> Iterator[type[BaseSerializer[Any]]]:
    for one in kind.__subclasses__():
        yield one
        yield from serializers_below(one)


def test_what_may_have_no_value_says_so() -> None:
    """A field that is null where the row that it comes from is missing is described as nullable."""
    get_resolver().url_patterns  # noqa: B018  all modules of the API
    missing = [
        f"{kind.__module__}.{kind.__name__}.{name}"
        for kind in serializers_below(BaseSerializer)
        if kind.__module__.startswith(("questions.", "evaluations.", "gradeapp."))
        and issubclass(kind, Serializer)
        for name, field in kind().fields.items()
        if field.default is None and not field.allow_null
    ]
    assert missing == []


def test_the_api_speaks_json_only(teacher: User) -> None:
    page = logged_in(teacher).get("/api/v1/questions/", headers={"Accept": "text/html"})
    assert page["Content-Type"] == "application/json"
