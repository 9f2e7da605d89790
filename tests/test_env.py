"""Settings from the environment: typed, and nonsense stops the start with a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from gradeapp.env import Environment

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("value", "expected"), [("yes", True), ("ON", True), ("1", True), ("no", False), ("", True)]
)
def test_flags(value: str, expected: bool) -> None:
    assert Environment({"DEBUG": value}).flag("DEBUG", default=True) is expected


@pytest.mark.parametrize(
    ("reader", "value", "sentence"),
    [
        (lambda e: e.flag("X", default=False), "maybe", "X is 'maybe'; it must be yes or no."),
        (lambda e: e.file("X"), "/nowhere/ca.pem", "X is '/nowhere/ca.pem'; there is no such file"),
        (lambda e: e.number("X", 1, low=1, high=9), "ten", "X is 'ten'; it must be a number."),
        (lambda e: e.number("X", 1, low=1, high=9), "10", "X is 10; it must be from 1 to 9."),
        (lambda e: e.choice("X", "a", ("a", "b")), "c", "X is 'c'; it must be a or b."),
        (lambda e: e.database("X", Path("f")), "mysql://h/d", "X starts with 'mysql'"),
        (lambda e: e.database("X", Path("f")), "postgresql://host", "X names no database"),
        (lambda e: e.database("X", Path("f")), "postgresql://h:port/d", "not a number"),
        (lambda e: e.database("X", Path("f")), "sqlite://", "X names no file"),
        (lambda e: e.broker("X", "filesystem://"), "kafka://h", "X is 'kafka://h'"),
    ],
)
def test_nonsense_is_named(reader, value: str, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ImproperlyConfigured) as refused:
        reader(Environment({"X": value}))
    assert sentence in str(refused.value)


def test_databases() -> None:
    environment = Environment({"X": "postgresql://me:p%40ss@db.example:6432/exam?sslmode=require"})
    database = environment.database("X", Path("unused"))
    assert database["ENGINE"] == "django.db.backends.postgresql"
    assert (database["USER"], database["PASSWORD"]) == ("me", "p@ss")
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", 6432, "exam")
    assert database["OPTIONS"]["sslmode"] == "require"
    assert "-c jit=off" in database["OPTIONS"]["options"]
    sqlite = Environment({}).database("X", Path("here.sqlite3"))
    assert sqlite["NAME"] == "here.sqlite3"
    assert sqlite["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "oracle://x"),
        ("CELERY_BROKER_URL", "nonsense"),
        ("SECRET_KEY", "short"),
        ("RUN_LEASE_SECONDS", "0"),
        ("DEBUG", "perhaps"),
        ("LOG_LEVEL", "LOUD"),
        ("TIME_ZONE", "Mars/Olympus"),
        ("ENDPOINT_ALLOW_CIDRS", "10.0.0.0/99"),
    ],
)
def test_the_start_stops_on_nonsense(name: str, value: str, tmp_path: Path) -> None:
    environment = {**os.environ, name: value, "GRADEAPP_VAR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert name in done.stderr.splitlines()[-1]
