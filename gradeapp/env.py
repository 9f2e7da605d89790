"""Typed readers for settings from the environment.

A value that makes no sense stops the start with one sentence that names the
variable, what it holds and what it may hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
KEY_HOST = re.compile(
    r"(?P<variable>[A-Z][A-Z0-9_]*_(KEY|TOKEN))=(?P<host>([\w.-]+|\[[0-9a-fA-F:]+\])(:(\d+|\*))?)"
)


class Environment:
    """Reads one mapping of variables; the process environment unless told otherwise."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self._variables = os.environ if variables is None else variables

    def text(self, name: str, default: str = "") -> str:
        """The variable without surrounding blanks; *default* where unset or empty."""
        return self._variables.get(name, "").strip() or default

    def flag(self, name: str, *, default: bool) -> bool:
        """A yes or no; anything else stops the start."""
        value = self.text(name).lower()
        if not value:
            return default
        if value in TRUE_WORDS:
            return True
        if value in FALSE_WORDS:
            return False
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be yes or no.")

    def number(self, name: str, default: int, *, low: int, high: int, or_zero: bool = False) -> int:
        """A whole number from *low* to *high*, both included; 0 is taken too with *or_zero*."""
        value = self.text(name)
        if not value:
            return default
        try:
            number = int(value.encode("ascii"))  # no digits of other scripts
        except ValueError:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be a number.") from None
        if not (low <= number <= high or (or_zero and number == 0)):
            allowed = f"{'0, or ' if or_zero else ''}from {low} to {high}"
            raise ImproperlyConfigured(f"{name} is {number}; it must be {allowed}.")
        return number

    def words(self, name: str, default: list[str]) -> list[str]:
        """A list separated by commas."""
        value = self.text(name)
        return [word.strip() for word in value.split(",") if word.strip()] or default

    def roles(self, name: str, default: list[str]) -> list[str]:
        """Roles separated by commas; ``none`` is no role."""
        words = self.words(name, default)
        unknown = set(words) - {"admin", "curator", "lead", "teacher", "none"}
        if unknown or ("none" in words and len(words) > 1):
            raise ImproperlyConfigured(
                f"{name} is {','.join(words)!r}; it must be roles such as admin,lead or none."
            )
        return [] if words == ["none"] else words

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """One of *allowed*."""
        value = self.text(name, default)
        if value not in allowed:
            raise ImproperlyConfigured(f"{name} is {value!r}; it must be {' or '.join(allowed)}.")
        return value

    def file(self, name: str) -> str:
        """A file that can be read; "" where unset."""
        value = self.text(name)
        try:
            if value:
                Path(value).open("rb").close()
        except (OSError, ValueError):
            raise ImproperlyConfigured(
                f"{name} is {value!r}; there is no such file, or it cannot be read."
            ) from None
        return value

    def networks(self, name: str, default: list[str]) -> list[str]:
        """Networks in CIDR form, separated by commas."""
        words = self.words(name, default)
        for word in words:
            try:
                ip_network(word)
            except ValueError as error:
                raise ImproperlyConfigured(f"{name}: {error}.") from None
        return words

    def key_hosts(self, name: str, default: dict[str, list[str]]) -> dict[str, list[str]]:
        """Names of variables and the hosts that their keys may be sent to, over *default*.

        Each word is ``VARIABLE=HOST``, ``VARIABLE=HOST:PORT`` or ``VARIABLE=HOST:*``.
        """
        given: dict[str, list[str]] = {}
        for word in self.words(name, []):
            match = KEY_HOST.fullmatch(word)
            if match is None:
                raise ImproperlyConfigured(
                    f"{name} has {word!r}; write VARIABLE_KEY=HOST, HOST:PORT or HOST:*."
                )
            given.setdefault(match["variable"], []).append(match["host"].lower())
        return {**default, **given}

    def time_zone(self, name: str, default: str) -> str:
        """A time zone of the system's database, such as Asia/Shanghai."""
        value = self.text(name, default)
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ImproperlyConfigured(
                f"{name} is {value!r}; it must be a time zone such as Asia/Shanghai."
            ) from None
        return value

    def database(self, name: str, default_file: Path) -> dict[str, object]:
        """Django's database settings from a URL: ``sqlite:///FILE`` or ``postgresql://...``."""
        url = self.text(name)
        if not url:
            return sqlite(default_file)
        parts = urlsplit(url)
        if parts.scheme == "sqlite":
            if not parts.path.strip("/"):
                raise ImproperlyConfigured(f"{name} names no file; write sqlite:////full/path.")
            return sqlite(Path(unquote(parts.path[1:])))
        if parts.scheme in ("postgres", "postgresql"):
            return postgresql(name, url)
        raise ImproperlyConfigured(
            f"{name} starts with {parts.scheme or url!r}; use sqlite:///FILE or "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME."
        )

    def broker(self, name: str, default: str) -> str:
        """A Celery broker: ``filesystem://``, ``redis://``, ``rediss://`` or ``amqp://``."""
        url = self.text(name, default)
        if urlsplit(url).scheme not in ("filesystem", "redis", "rediss", "amqp", "amqps"):
            raise ImproperlyConfigured(
                f"{name} is {url!r}; use filesystem://, redis://HOST:6379/0 or amqp://HOST//."
            )
        return url


def sqlite(file: Path) -> dict[str, object]:
    """SQLite that keeps what it confirmed (FULL) and queues writers instead of failing.

    They wait up to a minute: an import stores a whole file of answers in one piece.
    """
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "CONN_MAX_AGE": 600,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 60, "init_command": pragmas},
    }


def postgresql(name: str, url: str) -> dict[str, object]:
    """PostgreSQL through psycopg 3, with a statement timeout and checked connections.

    A page that an index names is as cheap as the next one, as it is in memory and on a
    solid-state disk; with the price of a turning disk PostgreSQL reads a whole round for one
    response. No query is compiled to machine code (``jit``): for a page that costs more than
    it saves.
    """
    parts = urlsplit(url)
    database = unquote(parts.path.lstrip("/"))
    if not database:
        raise ImproperlyConfigured(f"{name} names no database; add /NAME at its end.")
    try:
        port = parts.port or 5432
    except ValueError:
        raise ImproperlyConfigured(f"{name} has a port that is not a number.") from None
    # Every row of a cursor is read, not the first tenth, which is what PostgreSQL plans for.
    settings = "-c statement_timeout=60000 -c lock_timeout=10000 -c jit=off -c random_page_cost=1.1"
    settings += " -c cursor_tuple_fraction=1"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": port,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"options": settings, **dict(parse_qsl(parts.query))},
    }
