"""What holds for every table: closed lists are checked by the database, orders join no table."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db.models import CheckConstraint, Field, Model

TABLES = [
    model
    for app in ("accounts", "audit", "questions", "evaluations")
    for model in apps.get_app_config(app).get_models()
]
LISTS = [
    pytest.param(model, field, id=f"{model.__name__}.{field.name}")
    for model in TABLES
    for field in model._meta.local_fields
    if field.choices
]


@pytest.mark.parametrize(("model", "field"), LISTS)
def test_a_closed_list_is_checked_by_the_database(
    model: type[Model], field: Field[object, object]
) -> None:
    conditions = [
        condition
        for constraint in model._meta.constraints
        if isinstance(constraint, CheckConstraint)
        for condition in constraint.condition.children
        if isinstance(condition, tuple) and condition[0] == f"{field.name}__in"
    ]
    values = {value for value, _name in field.choices or ()} | ({""} if field.blank else set())
    assert [set(listed) for _lookup, listed in conditions] == [values]


def test_no_default_order_joins_another_table() -> None:
    crossing = [
        (model.__name__, name)
        for model in TABLES
        for name in model._meta.ordering
        if "__" in name or model._meta.get_field(name.lstrip("-")).is_relation
    ]
    assert crossing == []
