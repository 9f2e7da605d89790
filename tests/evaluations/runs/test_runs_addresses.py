"""Where an endpoint may lead: what a name resolves to counts, not how it is spelled."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from pytest_django import Settings

from evaluations.llm.addresses import is_allowed
from evaluations.llm.client import ChatFailure, ChatRequest, FailureKind, Limits
from evaluations.llm.openai_client import OpenAIChat
from evaluations.models import Endpoint
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.services import addresses
from evaluations.runs.services.addresses import check_address
from evaluations.runs.services.endpoint_checks import CHECK_MESSAGES, check_endpoint
from evaluations.runs.services.endpoints import open_chat, save_endpoint
from gradeapp.common.refusals import BadInput
from tests.evaluations.run_world import planned, worked


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
        "192.88.99.1",
        "fec0::1",
        "3fff::1",
        "3fff:fff::1",
        "ff02::1",
    ],
)
def test_addresses_that_lead_inside_are_not(address: str) -> None:
    assert not is_allowed(address)


def test_the_settings_can_allow_a_private_network() -> None:
    assert is_allowed("10.1.2.3", ["10.1.0.0/16"])
    assert not is_allowed("10.2.2.3", ["10.1.0.0/16"])
    assert is_allowed("::ffff:127.0.0.1", ["127.0.0.0/8"])


# V-SSRF of the threat table, without the ports and signs that are refused below.
INSIDE = (
    "127.0.0.1",
    "localhost",
    "localhost.",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:169.254.169.254]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "169.254.169.254/latest/meta-data",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "metadata.google.internal",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
)


def unsaved(url: str) -> Endpoint:
    return Endpoint(name="e", base_url=url, model="m", timeout_seconds=5)


@pytest.mark.parametrize("host", INSIDE)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_every_spelling_of_a_private_address_is_refused(
    scheme: str, host: str, settings: Settings
) -> None:
    """T056, T059, T060: at save (check_address) and at use (open_chat)."""
    settings.ENDPOINT_ALLOW_CIDRS = []
    with pytest.raises(BadInput):
        check_address(f"{scheme}://{host}")
    with pytest.raises(BadInput):
        open_chat(unsaved(f"{scheme}://{host}"))


def test_metadata_is_refused_in_an_allowed_network() -> None:
    """T059: the named addresses stay refused, whatever the settings list."""
    assert is_allowed("169.254.1.1", ["169.254.0.0/16"])
    assert not is_allowed("169.254.169.254", ["169.254.0.0/16"])
    assert not is_allowed("fd00:ec2::254", ["fd00::/8"])


@pytest.mark.parametrize("url", ["http://8.8.8.8/v1", "http://10.1.2.3:8000/v1"])
def test_https_is_required_off_this_machine(url: str, settings: Settings) -> None:
    """T135."""
    settings.ENDPOINT_ALLOW_CIDRS = ["10.1.0.0/16"]
    with pytest.raises(BadInput, match="must start with https"):
        check_address(url)
    check_address(url.replace("http:", "https:"))


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
        "https://①⑥⑨.②⑤④.①⑥⑨.②⑤④/",
        "https://169。254。169。254/",
        "https://ok.test:22",
        "https://8.8.8.8:0/v1",
    ],
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(BadInput):
        check_address(url)


Resolve = Callable[..., None]


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Resolve:
    """Let names resolve to one group of addresses at each look-up; the last group stays."""

    def script(*groups: Sequence[str]) -> None:
        left = list(groups)

        def answer(_host: object, port: object, *_args: object, **_kwargs: object) -> list[Any]:
            group = left.pop(0) if len(left) > 1 else left[0]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in group]

        monkeypatch.setattr(socket, "getaddrinfo", answer)

    return script


@pytest.fixture
def listener(settings: Settings) -> Iterator[socket.socket]:
    """A service on loopback that counts connections; no private address is allowed."""
    settings.ENDPOINT_ALLOW_CIDRS = []
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.setblocking(False)
        yield listening


def called(listening: socket.socket) -> bool:
    """Whether somebody has connected."""
    try:
        listening.accept()
    except BlockingIOError:
        return False
    return True


PUBLIC, PRIVATE = "93.184.216.34", "127.0.0.1"


@pytest.mark.parametrize("group", [[PRIVATE], [PUBLIC, "10.0.0.1"]])
def test_one_private_address_of_a_name_is_enough(
    resolve: Resolve, settings: Settings, group: list[str]
) -> None:
    """T056."""
    settings.ENDPOINT_ALLOW_CIDRS = []
    resolve(group)
    with pytest.raises(BadInput, match="private"):
        check_address("https://two-faced.test/v1")


def test_a_name_server_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody else is served by the thread of the web server that waits."""
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: released.wait(20))
    monkeypatch.setattr(addresses, "RESOLVE_SECONDS", 0.05)
    with pytest.raises(BadInput, match="Cannot resolve the address"):
        check_address("https://slow.test/v1")
    released.set()


@pytest.mark.django_db
def test_an_address_that_changes_between_check_and_connection(
    resolve: Resolve, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T058, T136: the name is public at save and before use, and loopback at the connection."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel-5e1f")
    resolve([PUBLIC], [PUBLIC], [PRIVATE])
    url = f"https://rebind.test:{listener.getsockname()[1]}/v1"
    endpoint = save_endpoint(name="e", base_url=url, model="m", acting_user=None, timeout_seconds=3)
    check = check_endpoint(endpoint)
    assert not called(listener)
    assert "No call was made" in check.sentence


@pytest.mark.django_db
def test_a_run_pauses_when_the_address_has_changed(
    resolve: Resolve, listener: socket.socket
) -> None:
    """T136: public at save, at the start and at the work session, loopback at the connection."""
    resolve([PUBLIC], [PUBLIC], [PUBLIC], [PRIVATE])
    url = f"https://rebind.test:{listener.getsockname()[1]}/v1"
    endpoint = save_endpoint(name="e", base_url=url, model="m", acting_user=None)
    run = worked(planned(endpoint, 1))
    assert (run.status, run.pause_reason) == (RunStatus.PAUSED, PauseReason.ADDRESS)
    assert not called(listener)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0", "[::ffff:7f00:1]"]
)
def test_the_client_by_itself_calls_no_private_address(listener: socket.socket, host: str) -> None:
    """T056, T060: the connection is refused also where nobody checked the URL before."""

    async def call() -> None:
        url = f"http://{host}:{listener.getsockname()[1]}/v1"
        limits = Limits(deadline=3.0)
        async with OpenAIChat(url, "m", "sk-sentinel-5e1f", limits=limits) as chat:
            await chat.complete(ChatRequest("check", CHECK_MESSAGES, {}))

    with pytest.raises(ChatFailure) as failed:
        asyncio.run(call())
    assert failed.value.kind is FailureKind.ADDRESS
    assert not failed.value.may_have_been_billed
    assert not called(listener)
