"""Pages of the site itself: the icon that browsers ask for without being told."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from gradeapp.accounts.models import User
from tests.conftest import logged_in


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_browser_that_was_told_of_no_icon_finds_one(language: str) -> None:
    response = Client(headers={"accept-language": language}).get("/favicon.ico", follow=True)
    assert (response.status_code, len(response.redirect_chain)) == (200, 1)
    assert b"".join(response.streaming_content).startswith(b"\0\0\1\0")  # an ICO file begins so


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_page_names_its_icon(language: str, admin: User) -> None:
    client = logged_in(admin)
    page = client.get("/", headers={"accept-language": language}).text
    named = re.search(r'<link rel="icon" href="([^"]+)" type="image/svg\+xml">', page)
    assert named
    assert client.get(named.group(1)).status_code == 200
