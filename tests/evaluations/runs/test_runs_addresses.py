"""Where an endpoint may lead: what a name resolves to counts, not how it is spelled."""

from __future__ import annotations

import socket

import pytest
from pytest_django import Settings

from evaluations.runs.services.addresses import check_address, is_allowed
from gradeapp.common.refusals import BadInput


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "93.184.216.34"],
)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "2001:0:53aa:64c::1",
        "ff02::1",
    ],
)
def test_addresses_that_lead_inside_are_not(address: str) -> None:
    assert not is_allowed(address)


def test_the_settings_can_allow_a_private_network() -> None:
    assert is_allowed("10.1.2.3", ["10.1.0.0/16"])
    assert not is_allowed("10.2.2.3", ["10.1.0.0/16"])
    assert is_allowed("::ffff:127.0.0.1", ["127.0.0.0/8"])


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1",
        "http://localhost:8000/v1",
        "http://127.1:8000/v1",
        "http://2130706433/v1",
        "http://0x7f000001/v1",
        "http://0177.0.0.1/v1",
        "http://0/v1",
        "http://[::1]/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "http://169.254.169.254/latest/meta-data/",
        "http://[64:ff9b::a9fe:a9fe]/",
    ],
)
def test_every_spelling_of_a_private_address_is_refused(url: str, settings: Settings) -> None:
    settings.ENDPOINT_ALLOW_CIDRS = []
    with pytest.raises(BadInput):
        check_address(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ok.test/v1",
        "file:///etc/passwd",
        "gopher://ok.test/",
        "unix:///run/docker.sock",
        "http://",
        "http://user:pw@127.0.0.1:8000/v1",
        "http://ok.test\\@127.0.0.1/v1",
        "http://127.0.0.1:8000/v1#there",
        "http://127.0.0.1:8000/v1?key=1",
        "http://①②⑦.⓪.⓪.①:8000/v1",
        "http://127。0。0。1:8000/v1",
        "http://127.0.0.1:22/v1",
        "http://127.0.0.1:6379/v1",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1:8000/ v1",
        "http://no-such-host.invalid/v1",
    ],
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(BadInput):
        check_address(url)


def test_one_private_address_among_public_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers(*_args: object, **_kwargs: object) -> list[tuple[object, ...]]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))
            for address in ("93.184.216.34", "10.0.0.1")
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    with pytest.raises(BadInput, match="private"):
        check_address("https://two-faced.test/v1")
