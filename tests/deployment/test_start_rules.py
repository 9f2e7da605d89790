"""What a start is refused for: T065, T098, a demo or a bare server within reach of others."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from argparse import ArgumentTypeError
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from evaluations.management.commands.serve import Command, free_port, port_is_free, port_number
from gradeapp.start_rules import check_bind, check_hosts, check_issuer, check_origins, key_weakness
from gradeapp.web_worker import reads_forwarded
from tests.worker_processes import ROOT


def test_a_weak_key() -> None:
    # Not parameters: two workers must collect the same tests.
    for key in (
        "",
        "x" * 49,
        "x" * 60,
        "abcdefghijkl" * 5,
        secrets.token_urlsafe(18) * 3,
        secrets.token_urlsafe(30) + "changeme" + secrets.token_urlsafe(30),
        "django-insecure-" + secrets.token_urlsafe(60),
        "v8sk33sy82!uw3ty=!jjv5vp7=s2phrzw(m(hrn^f7e_#1h2al",
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    ):
        assert key_weakness(key), key


def test_a_random_key() -> None:
    for _ in range(200):
        for key in (secrets.token_urlsafe(60), secrets.token_hex(32), secrets.token_urlsafe(38)):
            assert not key_weakness(key), key


@pytest.mark.parametrize(
    ("hosts", "demo", "debug"),
    [
        (["*"], False, False),
        ([".example.edu"], False, False),
        (["exam.example.edu"], True, False),
        (["localhost", "10.0.0.5"], False, True),
    ],
)
def test_hosts_that_are_refused(hosts: list[str], demo: bool, debug: bool) -> None:
    check_hosts(["exam.example.edu", "localhost"], demo=False, debug=False)
    check_hosts(["localhost", "[::1]"], demo=True, debug=True)
    with pytest.raises(ImproperlyConfigured, match="ALLOWED_HOSTS"):
        check_hosts(hosts, demo=demo, debug=debug)


@pytest.mark.parametrize("origin", ["exam.example", "https://*.example", "https://x.example/a"])
def test_origins_that_are_refused(origin: str) -> None:
    good = ["https://exam.example", "http://127.0.0.1:8000", "https://[::1]:8443"]
    assert check_origins(good) == good
    with pytest.raises(ImproperlyConfigured, match="CSRF_TRUSTED_ORIGINS"):
        check_origins([*good, origin])


def test_a_provider_of_single_sign_on_speaks_tls_or_is_on_this_machine() -> None:
    client = {"client_id": "gradeapp", "secret": "s"}
    for address in ("", "https://sso.example.edu/realm", "http://127.0.0.1:8080", "http://[::1]/"):
        assert check_issuer(address, **client) == address
    for address in ("http://sso.example.edu", "sso.example.edu", "http://127.0.0.1.example.edu"):
        with pytest.raises(ImproperlyConfigured, match="https"):
            check_issuer(address, **client)
    with pytest.raises(ImproperlyConfigured, match="OIDC_CLIENT_SECRET"):
        check_issuer("https://sso.example.edu", client_id="gradeapp", secret="")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", "", "10.0.0.5", "exam.example.edu"])
def test_an_address_within_reach_needs_a_proxy(host: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="GRADEAPP_PROXIES"):
        check_bind(host, demo=False, debug=False, proxies=0)
    check_bind(host, demo=False, debug=False, proxies=1)
    for demo, debug in ((True, False), (False, True)):
        with pytest.raises(ImproperlyConfigured, match="listen on"):
            check_bind(host, demo=demo, debug=debug, proxies=1)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost", "::ffff:127.0.0.1"])
def test_loopback_is_open_to_all(host: str) -> None:
    check_bind(host, demo=True, debug=True, proxies=0)


def start(tmp_path: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the project with nothing but *variables* set."""
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=known | {"GRADEAPP_VAR": str(tmp_path)} | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_start_with_production_settings_has_nothing_to_say(tmp_path: Path) -> None:
    """`check --deploy` is clean; the same with a weak key of before ends with a sentence."""
    server = {
        "SECRET_KEY": secrets.token_urlsafe(60),
        "SECRET_KEY_FALLBACKS": secrets.token_urlsafe(60),
        "ALLOWED_HOSTS": "exam.example.edu",
        "GRADEAPP_HTTPS": "yes",
        "GRADEAPP_PROXIES": "1",
    }
    check = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    clean = start(tmp_path, *check, **server)
    assert clean.returncode == 0, clean.stderr
    weak = start(tmp_path, *check, **server | {"SECRET_KEY_FALLBACKS": "x" * 60})
    assert weak.returncode == 1
    assert "SECRET_KEY_FALLBACKS has too few different characters" in weak.stderr
    assert "x" * 60 not in weak.stderr


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"AUDIT_RETENTION_DAYS": "29"}, "is 29; it must be 0, or from 30 to 36500."),
        ({"OIDC_ISSUER": "https://x.example"}, "set OIDC_CLIENT_ID and OIDC_CLIENT_SECRET too."),
        ({"AUDIT_RETENTION_DAYS": "30"}, ""),
    ],
)
def test_settings_that_make_no_sense_end_with_a_sentence(
    variables: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    done = start(tmp_path, "manage.py", "check", **variables)
    assert done.returncode == (1 if sentence else 0), done.stderr
    assert "Traceback" not in done.stderr
    assert not sentence or done.stderr.strip().endswith(sentence)


@pytest.mark.parametrize(
    "command",
    [
        ("manage.py", "serve", "--host", "0.0.0.0", "--port", "8159"),
        ("-m", "gunicorn", "-c", "python:gradeapp.gunicorn_config", "--bind", "0.0.0.0:8159"),
    ],
)
def test_no_server_starts_within_reach_without_a_proxy(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    refused = start(tmp_path, *command)
    assert refused.returncode == 1
    assert "GRADEAPP_PROXIES" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("demo", "variables", "sentence"),
    [
        (["--demo"], {}, "GRADEAPP_DEMO=yes"),
        (["--demo"], {"GRADEAPP_DEMO": "yes"}, "add --prepare"),
        ([], {}, "The database is not prepared: add --prepare."),
    ],
)
def test_what_cannot_start_says_why_in_one_sentence(
    tmp_path: Path, demo: list[str], variables: dict[str, str], sentence: str
) -> None:
    refused = start(tmp_path, "manage.py", "serve", *demo, "--port", "8159", **variables)
    assert refused.returncode == 1
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_port_that_does_not_exist_ends_with_the_usage(tmp_path: Path) -> None:
    for port in ("0", "65536", "８０", "x"):
        with pytest.raises(ArgumentTypeError, match=f"from 1 to 65535, not {port}"):
            port_number(port)
    refused = start(tmp_path, "manage.py", "serve", "--port=８０")
    assert refused.returncode == 2
    assert "usage: manage.py serve" in refused.stderr
    assert "must be a whole number from 1 to 65535, not ８０" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_of_two_starts_at_once_the_second_says_that_the_port_is_taken(tmp_path: Path) -> None:
    """Also in the seconds before the server of the first one listens; the models take the next."""
    port = free_port("127.0.0.1", 19_600)
    first, second = Command(), Command()
    assert first.hold("127.0.0.1", port)
    assert port_is_free("127.0.0.1", port), "nobody listens yet"
    refused = start(tmp_path, "manage.py", "serve", "--port", str(port))
    assert refused.returncode == 1
    assert refused.stderr == f"Port {port} is taken. Choose another: serve --port {port + 1}\n"
    models = [one.next_port(port) for one in (first, second, first)]
    assert len({port, *models}) == 4
    for one in (first, second):
        for held in one.held:
            held.close()
    assert second.hold("127.0.0.1", port), "as soon as the first one ended"
    second.held[-1].close()


def test_a_start_says_first_what_takes_minutes(db: None) -> None:
    """Nothing else is said while the database is made."""
    said = StringIO()
    Command(stdout=said).prepare(demo=False)
    assert said.getvalue().splitlines() == [
        "Preparing the database (some minutes the first time on a busy machine) ...",
        "Starting the web server and the worker ...",
    ]


SERVE = ("manage.py", "serve", "--port", "8159")


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"TIME_ZONE": "Mars/Olympus"}, "TIME_ZONE is 'Mars/Olympus'; it must be a time zone"),
        ({"DATABASE_URL": "foo"}, "DATABASE_URL starts with 'foo'; use"),
        ({"SESSION_HOURS": "１２"}, "SESSION_HOURS is '１２'; it must be a number."),
        ({"GRADEAPP_VAR": "README.md"}, "GRADEAPP_VAR: the folder README.md cannot be used (File"),
        ({"GRADEAPP_VAR": "/proc/x"}, "/proc/x cannot be used (No such file or directory)."),
    ],
)
def test_a_wrong_environment_is_named_in_one_sentence(
    tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    refused = start(tmp_path, *SERVE, **variables)
    assert refused.returncode == 1
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", ["gunicorn --config python:gradeapp.gunicorn_config", "celery -A gradeapp worker"]
)
def test_web_server_and_worker_name_a_wrong_environment_too(tmp_path: Path, command: str) -> None:
    refused = start(tmp_path, "-m", *command.split(), TIME_ZONE="Mars/Olympus")
    assert refused.returncode == 1
    assert refused.stderr.startswith("TIME_ZONE is 'Mars/Olympus'; it must be a time zone")


@pytest.mark.parametrize("options", [["--demo"], ["--demo", "--prepare"]])
def test_a_database_that_does_not_answer_is_named_in_one_sentence(
    tmp_path: Path, options: list[str]
) -> None:
    url = "postgresql://nobody:hidden@127.0.0.1:9/none"
    refused = start(tmp_path, *SERVE, *options, GRADEAPP_DEMO="yes", DATABASE_URL=url)
    assert refused.returncode == 1
    assert refused.stderr.startswith("The database does not answer: connection")
    assert refused.stderr.count("\n") == 1
    assert not {"hidden", "--prepare"} & {*refused.stderr.split()}


def test_a_file_that_is_no_database_is_named_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("no database\n" * 100)
    other = start(tmp_path, *SERVE, "--prepare", DATABASE_URL=f"sqlite:///{tmp_path}/text.txt")
    assert other.stderr == "The database does not answer: file is not a database.\n"


def test_a_second_start_on_the_same_folder_is_refused(tmp_path: Path, settings: Any) -> None:
    settings.VAR_DIR = tmp_path
    first = Command()
    assert first.hold_folder("127.0.0.1", 8158) == ""
    refused = start(tmp_path, "manage.py", "serve", "--port", "8159")
    assert (refused.returncode, refused.stdout) == (1, "")
    own = f"http://127.0.0.1:8158/ (process {os.getpid()})"
    assert f"Another serve runs on the data in {tmp_path}: {own}. Stop it first" in refused.stderr
    assert refused.stderr.count("\n") == 1
    os.close(first.held.pop())
    assert "add --prepare" in start(tmp_path, "manage.py", "serve", "--port", "8159").stderr


@pytest.mark.parametrize("mode", ["DEMO", "DEBUG"])
def test_the_demo_answers_this_machine_alone(mode: str, settings) -> None:  # type: ignore[no-untyped-def]
    """A server that listens everywhere and a forged Host; a relay here that rewrites the Host."""
    assert not reads_forwarded(settings)
    setattr(settings, mode, True)
    assert reads_forwarded(settings), "waitress would drop most of these headers"
    answer = Client(REMOTE_ADDR="10.0.0.7").get("/login/", headers={"Host": "localhost"})
    assert answer.status_code == 403
    for name in ("Forwarded", "Via", "X-Real-IP", "X-Forwarded-For", "X-Forwarded-Proto"):
        relayed = Client().get("/login/", headers={name: "8.8.8.8"})
        assert (relayed.status_code, relayed.content) == (403, answer.content), name
