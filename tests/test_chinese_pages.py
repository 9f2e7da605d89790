"""A Chinese browser gets Chinese pages, with nothing left in English; machines get their codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import translation

from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.factories import PASSWORD
from tests.translation_pages import pages
from tests.translation_world import World, build
from tests.visible_text import KNOWN_WORDS, latin_words, visible_text

CHINESE = re.compile("[\u4e00-\u9fff]")
CAST = {"admin", "curator", "lead", "teacher", "other_teacher", "outsider"}
PEOPLE = {"ada", "chen", "lin", "tao", "wei", "otto"}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """The compiled catalogue is not committed, and pages read it."""
    call_command("compile_translations")


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    """The language of the last request stays with the thread; the next test is not about it."""
    yield
    translation.deactivate()


# ---- which language ----


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-hans"),
        ("zh", "zh-hans"),
        ("zh-TW", "zh-hans"),
        ("zh-HK,en;q=0.5", "zh-hans"),
        ("en-GB,zh;q=0.5", "en"),
        ("fr", "en"),
        ("fr,zh;q=0.5", "zh-hans"),
        ("", "en"),
    ],
)
def test_the_browser_says_which_language(accepted: str, language: str) -> None:
    page = Client().get(reverse("login"), headers={"accept-language": accepted})
    assert f'<html lang="{language}">' in page.text
    assert ("密码" in page.text) == (language == "zh-hans")


@pytest.mark.django_db
def test_a_choice_outlasts_what_the_browser_says() -> None:
    client = Client(headers={"accept-language": "zh-CN"})
    client.post(reverse("set_language"), {"language": "en", "next": "/login/"})
    assert '<html lang="en">' in client.get(reverse("login")).text


# ---- pages ----


def chinese_browser(user: User) -> Client:
    client = logged_in(user)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-CN,zh;q=0.9,en;q=0.8"
    return client


@pytest.fixture
def world(admin: User, lead: User, teacher: User, other_teacher: User) -> World:
    return build([teacher, other_teacher])


def test_no_page_speaks_english_to_a_chinese_reader(
    world: World, request: pytest.FixtureRequest
) -> None:
    left = {}
    for who, addresses in pages(world).items():
        client = chinese_browser(request.getfixturevalue(who))
        for address in addresses:
            page = client.get(address)
            assert page.status_code == 200, f"{who} {address}"
            assert '<html lang="zh-hans">' in page.text
            if words := list(latin_words(visible_text(page.text), KNOWN_WORDS | PEOPLE)):
                left[who, address] = words
    assert not left
    assert {who for who, addresses in pages(world).items() if addresses} == CAST


def test_a_refusal_is_chinese_too(teacher: User, outsider: User) -> None:
    for client in (chinese_browser(teacher), chinese_browser(outsider)):
        for address in (reverse("rounds:list"), reverse("reports:overview"), "/no-such-page/"):
            page = client.get(address)
            assert page.status_code in (403, 404), address
            assert CHINESE.search(page.text), address
            assert not list(latin_words(visible_text(page.text), KNOWN_WORDS | PEOPLE)), address


def test_the_reader_of_pages_would_notice_english() -> None:
    html = (
        '<html lang="zh-hans"><p>作答 R-1</p><p lang="en">A stem</p><code>x_y</code>'
        '<button aria-label="Save it">保存</button><p class="rich">text</p><b>left over</b>'
    )
    found = list(latin_words(visible_text(html), frozenset({"it"})))
    assert found == ["Save: Save it", "left, over: left over"]


# ---- what Django says, and what machines read ----


def test_forms_complain_in_chinese(teacher: User) -> None:
    guest = Client(headers={"accept-language": "zh-CN"})
    wrong = guest.post(reverse("login"), {"username": "tao", "password": "wrong"}).text
    assert "请输入一个正确的" in wrong
    assert "必填项" in guest.post(reverse("login"), {"username": "tao"}).text
    new = {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"}
    refused = chinese_browser(teacher).post(reverse("password_change"), new).text
    assert "密码太短，至少需要10个字符。" in refused
    for page in (wrong, refused):
        assert not list(latin_words(visible_text(page), KNOWN_WORDS | PEOPLE))


def test_a_name_that_is_taken_is_refused_in_chinese(admin: User) -> None:
    form = {"name": "接口一", "base_url": "http://127.0.0.1:8099/v1", "model": "m-1"}
    save_endpoint(**form, acting_user=None)
    form |= {"no_key": "on", "price_input": 0, "price_output": 0, "currency": "CNY"}
    form |= {"max_in_flight": 8, "timeout_seconds": 120, "max_tokens": 2048}
    page = chinese_browser(admin).post(reverse("runs:endpoint-new"), form).text
    assert "已有名为“接口一”的接口。" in page
    assert not list(latin_words(visible_text(page), KNOWN_WORDS | PEOPLE))


def test_json_and_csv_keep_their_codes_in_every_language(world: World, lead: User) -> None:
    english, chinese = logged_in(lead), chinese_browser(lead)
    names = ("rates", "converted", "agreement", "ledger")
    addresses = [f"/api/v1/reports/{name}/?dataset=exam-1" for name in names]
    files = [reverse("reports:export", args=[name, "csv"]) for name in names]
    addresses += [f"{file}?dataset=exam-1" for file in files]
    for address in addresses:
        one, other = english.get(address), chinese.get(address)
        assert one.status_code == other.status_code == 200, address
        assert b"".join(one) == b"".join(other), address
