"""Markup in the texts and names that people and models give is text on every page that shows it."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from django.apps import apps
from django.db import models
from django.db.models import Value
from django.db.models.functions import Concat

from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.translation_pages import pages
from tests.translation_world import build

MARKUP = "\"'><x-probe onload=1></x-probe>{{7*7}}<script>x-probe</script>"
# Columns that hold what somebody wrote, in whichever table.
WRITTEN = {
    *("stem", "passage", "analysis", "reference_answer", "text", "reply", "body", "error_text"),
    *("name", "display_name", "model", "external_id", "english", "chinese", "source", "wording"),
    *("comment", "reason", "note", "marking_notes", "paused_reason", "explanation", "error"),
}


class Probe(HTMLParser):
    """What of ``MARKUP`` has become an element or an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.texts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag == "x-probe" else []
        self.found += [f"{tag} {name}" for name, _value in attrs if name == "onload"]
        self.texts += sum("x-probe" in (value or "") for _name, value in attrs)

    def handle_data(self, data: str) -> None:
        if data == "x-probe":
            self.found.append("script")
        self.texts += "<x-probe" in data


def write_markup() -> None:
    """Add ``MARKUP`` to every column of ``WRITTEN`` that has room for it."""
    for model in apps.get_models():
        if model._meta.app_label not in ("accounts", "questions", "evaluations"):
            continue
        for field in model._meta.concrete_fields:
            is_written = field.name in WRITTEN and not field.choices
            room = getattr(field, "max_length", None) or 1000
            if is_written and isinstance(field, models.CharField | models.TextField) and room > 90:
                longer = Concat(field.name, Value(MARKUP), output_field=models.TextField())
                model._default_manager.exclude(**{field.name: ""}).update(**{field.name: longer})


@pytest.mark.django_db
@pytest.mark.once
def test_markup_is_text_on_every_page(
    admin: User, curator: User, lead: User, teacher: User, other_teacher: User, outsider: User
) -> None:
    cast = {"admin": admin, "curator": curator, "lead": lead, "teacher": teacher}
    cast |= {"other_teacher": other_teacher, "outsider": outsider}
    looked_at = pages(build([teacher, other_teacher]))
    write_markup()
    shown = 0
    for who, addresses in looked_at.items():
        client = logged_in(cast[who])
        for address in addresses:
            answer = client.get(address)
            probe = Probe()
            probe.feed(b"".join(answer).decode())  # the body, streamed or not
            assert not probe.found, address
            shown += bool(probe.texts) and answer.status_code == 200
    assert shown > 60, "pages that show what was written"
