"""Guessing passwords: what is counted, for how long, and what a refused person reads."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher, identify_hasher, make_password
from django.db import connection
from django.db.models import F
from django.test import Client, RequestFactory
from django.utils import timezone

from gradeapp.accounts import passwords, throttle
from gradeapp.accounts.models import GuessCount, User
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import Busy
from tests.conftest import REAL_HASHERS, logged_in
from tests.factories import PASSWORD


@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that reached the hash, in their order."""
    seen: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        seen.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    return seen


def log_in(name: str, password: str, **extra: Any) -> Any:
    return Client().post("/login/", {"username": name, "password": password}, **extra)


def test_the_sixth_guess_reaches_no_hash(admin: User, hashes: list[str]) -> None:
    for number in range(5):
        log_in("ada", f"wrong {number}", headers={"x-forwarded-for": f"203.0.113.{number}"})
    hashes.clear()
    refused = log_in("ada", PASSWORD, headers={"x-forwarded-for": "203.0.113.9"})
    assert refused.status_code == 429
    assert "Too many failed attempts. Try again in 15 minutes." in refused.text
    assert "_auth_user_id" not in refused.client.session
    assert not hashes
    tags = AuditEntry.objects.values_list("tag", "target").order_by("id")
    assert list(tags) == [
        *[("account.login_failed", f"user:{admin.pk}")] * 5,
        ("account.locked_out", f"user:{admin.pk}"),
    ]


def test_guesses_of_a_stolen_session_at_the_own_password_are_counted(
    admin: User, hashes: list[str]
) -> None:
    """At the page of tokens a wrong password was given back, with those of other pages."""
    client, wrong = logged_in(admin), {"old_password": "wrong", "new_password1": "x"}
    client.post("/password/", wrong)
    hashes.clear()
    form = {"name": "cron", "scopes": ["read"], "days": "7", "password": "wrong"}
    for _ in range(5):
        client.post("/tokens/", form)
    assert "Too many failed attempts" in client.post("/tokens/", form | {"password": PASSWORD}).text
    assert "Too many failed attempts" in client.post("/password/", wrong).text
    assert len(hashes) == 4


def test_a_busy_machine_makes_the_own_password_no_wrong_guess(
    admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looked at it: it is asked for again, and then taken."""
    client, new = logged_in(admin), "another-long-password"
    change = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    token = {"name": "cron", "scopes": ["read"], "days": "7", "password": PASSWORD}

    def busy(*_given: Any) -> str:
        raise Busy("Too many people are logging in.")

    with monkeypatch.context() as machine:
        machine.setattr(MD5PasswordHasher, "encode", busy)
        for _ in range(3):
            for page, sent in (("/password/", change), ("/tokens/", token)):
                said = client.post(page, sent)
                assert (said.status_code, "Too many people" in said.text) == (200, True)
    assert client.post("/password/", change)["Location"] == "/password/done/"


def test_a_colleague_behind_the_same_address_still_logs_in(admin: User, teacher: User) -> None:
    for _ in range(6):
        log_in("ada", "wrong")
    assert log_in("tao", PASSWORD).status_code == 302
    assert log_in("ada", PASSWORD, REMOTE_ADDR="198.51.100.7").status_code == 302


def earlier(minutes: int) -> None:
    """Let everything that was counted be *minutes* older."""
    GuessCount.objects.update(since=F("since") - timedelta(minutes=minutes))


def test_a_login_before_the_guesses_is_not_told_by_the_wait(teacher: User) -> None:
    """Each waited as long as the login was away: who exists, and when they were last here."""
    assert log_in("tao", PASSWORD).status_code == 302
    earlier(minutes=5)
    for name in ("tao", "nobody-at-all"):
        refused = [log_in(name, "wrong") for _ in range(6)][-1]
        assert "Try again in 15 minutes." in refused.text, name


def test_a_login_between_the_guesses_is_not_told_by_their_number(teacher: User) -> None:
    for name in ("tao", "nobody-at-all"):
        for _ in range(3):
            log_in(name, "wrong")
    earlier(minutes=5)
    assert log_in("tao", PASSWORD).status_code == 302
    for name in ("tao", "nobody-at-all"):
        answers = [log_in(name, "wrong") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429], name
        assert "Try again in 10 minutes." in answers[-1].text, name


def test_the_wait_for_a_name_or_an_address_begins_with_the_first_wrong_guess(db: None) -> None:
    name, *rest = throttle.login_limits("tao", "127.0.0.1")
    begin = timezone.now()
    throttle.reserve([name, *rest], now=begin)
    throttle.release([name, *rest])
    later = begin + timedelta(minutes=40)
    for limit in rest:
        for number in range(100):
            at = later + timedelta(seconds=number)
            throttle.reserve([limit], now=at)
            throttle.fail([limit], now=at)
        with pytest.raises(throttle.Throttled) as refused:
            throttle.reserve([limit], now=later + timedelta(minutes=10))
        assert refused.value.seconds == 50 * 60


def test_the_right_own_password_takes_the_wrong_ones_back(admin: User) -> None:
    """Only its person is asked for it."""
    limits = throttle.own_password_limits(admin.pk)
    for _ in range(3):
        for _ in range(4):
            assert not throttle.guess(limits, lambda: False)
        assert throttle.guess(limits, lambda: True)


def test_the_lock_ends_after_its_window(teacher: User) -> None:
    limits = throttle.login_limits("tao", "127.0.0.1")
    begin = timezone.now()
    for _ in range(5):
        throttle.reserve(limits, now=begin)
        throttle.fail(limits, now=begin)
    with pytest.raises(throttle.Throttled) as refused:
        throttle.reserve(limits, now=begin + timedelta(minutes=14, seconds=50))
    assert refused.value.seconds == 10
    throttle.reserve(limits, now=begin + timedelta(minutes=15))


def test_one_address_has_a_ceiling_over_all_names(db: None) -> None:
    for number in range(100):
        limits = throttle.login_limits(f"name{number}", "203.0.113.5")
        throttle.reserve(limits)
        throttle.fail(limits)
    with pytest.raises(throttle.Throttled):
        throttle.reserve(throttle.login_limits("another", "203.0.113.5"))
    throttle.reserve(throttle.login_limits("another", "203.0.113.6"))


@pytest.mark.django_db(transaction=True)
def test_of_50_guesses_at_once_five_reach_the_hash(hashes: list[str]) -> None:
    ensure_user("tao", roles=[], password=PASSWORD)
    hashes.clear()

    def one(number: int) -> int:
        try:
            status: int = log_in("tao", f"wrong {number}").status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        statuses = list(pool.map(one, range(50)))
    assert statuses.count(429) == 45
    assert len([word for word in hashes if word.startswith("wrong")]) == 5


@pytest.mark.django_db(transaction=True)
def test_a_class_that_logs_in_with_one_account_at_once_gets_in() -> None:
    ensure_user("tao", roles=[], password=PASSWORD)

    def one(_: int) -> int:
        try:
            status: int = log_in("tao", PASSWORD).status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(one, range(16))) == {302}


@pytest.mark.parametrize("name", ["tao", "nobody-at-all", "published"])
def test_known_unknown_and_inactive_people_read_and_cost_the_same(
    name: str, teacher: User, hashes: list[str]
) -> None:
    ensure_user("published", roles=[])
    hashes.clear()
    answers = [log_in(name, "wrong") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert "Please enter a correct username and password" in answers[0].text
    # A password that nobody has is hashed for an account without one: the same time.
    assert len(hashes) == 5


def test_only_declared_proxies_are_believed(settings: Any) -> None:
    forwarded = {"HTTP_X_FORWARDED_FOR": "1.1.1.1, 203.0.113.4, 10.0.0.2"}
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", **forwarded)
    for proxies, address in ((0, "10.0.0.1"), (1, "10.0.0.2"), (2, "203.0.113.4"), (5, "10.0.0.1")):
        settings.PROXIES = proxies
        assert throttle.client_address(request) == address
    settings.PROXIES = 0
    request.META["REMOTE_ADDR"] = "2001:db8:1:2:3::9"
    assert throttle.client_address(request) == "2001:0db8:0001:0002::"


def test_the_trail_notes_the_address_that_declared_proxies_say(
    teacher: User, settings: Any
) -> None:
    settings.AUDIT_ADDRESSES, settings.PROXIES = True, 1
    Client(HTTP_X_FORWARDED_FOR="203.0.113.4").post(
        "/login/", {"username": teacher.username, "password": PASSWORD}
    )
    entry = AuditEntry.objects.get(tag="account.login")
    assert entry.detail["address"] == "203.0.113.4"


def test_a_password_takes_19_mib_and_an_old_one_is_hashed_anew(settings: Any) -> None:
    settings.PASSWORD_HASHERS = REAL_HASHERS
    settings.LOGIN_HASHES = 2
    hashed = make_password(PASSWORD)
    assert "m=19456,t=2,p=1" in hashed
    hasher = identify_hasher(hashed)
    assert not hasher.must_update(hashed)
    assert hasher.must_update(hashed.replace("m=19456,t=2,p=1", "m=102400,t=2,p=8"))


def test_two_passwords_are_hashed_at_once_and_the_third_waits(settings: Any) -> None:
    settings.LOGIN_HASHES = 2
    ready, leave = threading.Barrier(3), threading.Event()

    def hold() -> None:
        with passwords.hashing_slot():
            ready.wait(5)
            leave.wait(5)

    holders = [threading.Thread(target=hold) for _ in range(2)]
    for holder in holders:
        holder.start()
    ready.wait(5)
    begin = time.monotonic()
    with pytest.raises(Busy), passwords.hashing_slot(patience=0.1):
        pass
    assert time.monotonic() - begin >= 0.1
    leave.set()
    for holder in holders:
        holder.join(5)
    with passwords.hashing_slot(patience=0.1):
        pass
