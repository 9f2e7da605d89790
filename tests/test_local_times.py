"""Times on pages: the site's zone, named; and no template that shows one without it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.template import Context, Template
from django.utils import timezone

from tests import translation_sources as sources

NEW_YEARS_EVE = datetime(2026, 12, 31, 23, 30, 5, tzinfo=UTC)


def shown(template: str, **values: object) -> str:
    return Template(template).render(Context(values))


def test_a_time_is_shown_in_the_zone_of_the_site_and_names_it() -> None:
    assert shown("{{ at|local_time }}", at=NEW_YEARS_EVE) == (
        '<time datetime="2027-01-01T07:30:05+08:00" '
        'title="2027-01-01 07:30:05 UTC+08:00 Asia/Shanghai">2027-01-01 07:30</time>'
    )


def test_a_zone_behind_utc() -> None:
    with timezone.override(ZoneInfo("America/St_Johns")):
        page = shown("{{ at|local_time_of_day }}", at=NEW_YEARS_EVE)
    assert 'title="2026-12-31 20:00:05 UTC-03:30 America/St_Johns">20:00:05<' in page


@pytest.mark.parametrize("name", ["local_time", "local_time_of_day"])
def test_no_time_is_no_text(name: str) -> None:
    assert shown("{{ at|" + name + " }}", at=None) == ""


def test_a_time_inside_a_sentence_stays_markup() -> None:
    page = shown(
        "{% load i18n %}{% blocktranslate with time=at|local_time:'%H:%M' asvar note %}"
        "remaining, until about {{ time }}{% endblocktranslate %}{{ note }}",
        at=NEW_YEARS_EVE,
    )
    assert page.startswith("remaining, until about <time ")
    assert page.endswith(">07:30</time>")


def test_no_template_shows_a_time_without_its_zone() -> None:
    for file in sources.templates():
        text = file.read_text()
        # The sentences in _mark_form.html are shown in _saved.html, which names the zone.
        if re.search(r"\|(date|time):", text) and file.name != "_mark_form.html":
            assert "{% zone %}" in text, file.name
