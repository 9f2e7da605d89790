"""What a start is refused for: weak keys, inexact hosts, a demo or a bare server within reach.

Read by the settings, by ``serve`` and by the configuration of gunicorn; imports no settings.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import secrets
import sys
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
KEY_LENGTH = 50
# Random base64 or hexadecimal text of 50 characters has more of them.
KEY_CHARACTERS = 11
# Parts of keys that stand in templates and examples, and keys that projects have published.
KNOWN_KEYS = (
    "insecure",
    "change",
    "replace",
    "secret",
    "password",
    "example",
    "your-",
    "your_",
    "v8sk33sy82!uw3ty=!jjv5vp7=s2phrzw(m(hrn^f7e_#1h2al",
    "fefwefwef13;lfk{p!)@#*!)kdsjfwf2l+i5e3t(8a1n",
)


@contextlib.contextmanager
def in_one_sentence() -> Iterator[None]:
    """End the process with the sentence of a setting that makes no sense, without a traceback."""
    try:
        yield
    except ImproperlyConfigured as wrong:
        sys.exit(str(wrong))


@contextlib.contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Stop the start where *folder*, of GRADEAPP_VAR, takes no file: read-only, full, a file."""
    try:
        yield
    except OSError as error:
        raise ImproperlyConfigured(
            f"GRADEAPP_VAR: the folder {folder} cannot be used ({error.strerror})."
        ) from None


def var_folder(folder: Path) -> Path:
    """Return *folder*, which is made if it is not there."""
    with usable(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def key_weakness(key: str) -> str:
    """Return what is wrong with a SECRET_KEY, or nothing."""
    if len(key) < KEY_LENGTH:
        return f"is shorter than {KEY_LENGTH} characters"
    if any(known in key.lower() for known in KNOWN_KEYS):
        return "is known or an example"
    if len(set(key)) < KEY_CHARACTERS:
        return "has too few different characters"
    half = len(key) // 2
    if any(key[step:] == key[:-step] for step in range(1, half + 1)):
        return "repeats itself"
    steps = [abs(ord(one) - ord(two)) for one, two in pairwise(key)]
    if sum(step <= 1 for step in steps) > half:
        return "is a sequence"
    return ""


def check_key(name: str, key: str) -> str:
    """Return *key*; stop the start where it is weak, without showing it."""
    if weakness := key_weakness(key):
        raise ImproperlyConfigured(
            f"{name} {weakness}. It must be random and of {KEY_LENGTH} characters or more: "
            "python -c 'import secrets; print(secrets.token_urlsafe(60))'."
        )
    return key


def stored_secret(file: Path, new: bytes) -> str:
    """Return what is in *file*; where there is none, make it with *new*.

    The file appears whole: a process that starts at the same time reads the same secret.
    """
    with usable(file.parent):
        if not file.exists():
            own = file.with_name(f"{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
            try:
                own.touch(mode=0o600)
                own.write_bytes(new)
                # A process that made the file in the meantime wins.
                with contextlib.suppress(FileExistsError):
                    os.link(own, file)
            finally:
                own.unlink(missing_ok=True)
        return file.read_text().strip()


def check_hosts(hosts: Sequence[str], *, demo: bool, debug: bool) -> None:
    """Stop the start where a host is a wildcard, or where others reach the demo or DEBUG."""
    for host in hosts:
        if "*" in host or host.startswith("."):
            raise ImproperlyConfigured(
                f"ALLOWED_HOSTS has {host!r}; write each name in full, without * or leading dot."
            )
    if demo or debug:
        others = [host for host in hosts if host not in LOOPBACK_HOSTS]
        if others:
            raise ImproperlyConfigured(
                f"{'GRADEAPP_DEMO' if demo else 'DEBUG'} is on and ALLOWED_HOSTS has "
                f"{others[0]!r}: the demo and DEBUG are for this machine alone. Switch it off, or "
                "leave ALLOWED_HOSTS unset."
            )


def check_origins(origins: list[str]) -> list[str]:
    """Return *origins*; stop the start where one is no origin, or a wildcard."""
    for origin in origins:
        if not re.fullmatch(r"https?://[^/?#@*\s]+", origin):
            raise ImproperlyConfigured(
                f"CSRF_TRUSTED_ORIGINS has {origin!r}; write origins such as https://exam.example, "
                "without * and without a path."
            )
    return origins


def is_loopback(host: str) -> bool:
    """Return whether *host* is an address, or the name, of this machine alone."""
    if host.strip("[]").lower() == "localhost":
        return True
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def check_bind(host: str, *, demo: bool, debug: bool, proxies: int) -> None:
    """Stop the start of a web server that others would reach and should not."""
    if is_loopback(host):
        return
    if demo or debug:
        name = "GRADEAPP_DEMO" if demo else "DEBUG"
        raise ImproperlyConfigured(f"{name} is on: listen on 127.0.0.1, not on {host or 'all'}.")
    if not proxies:
        raise ImproperlyConfigured(
            f"Others would reach {host or 'every address'} without HTTPS. Listen on 127.0.0.1, or "
            "put a proxy in front and set GRADEAPP_PROXIES (docs/operations.md)."
        )


def check_issuer(address: str, *, client_id: str, secret: str) -> str:
    """Return *address*, of a provider of single sign-on; its answers must come as they were sent.

    Raises ImproperlyConfigured for one without TLS that is not on this machine, or without the name
    and the secret of this site there.
    """
    parts = urlsplit(address)
    if address and parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise ImproperlyConfigured("OIDC_ISSUER must be an https:// address.")
    if address and not (client_id and secret):
        raise ImproperlyConfigured(
            "OIDC_ISSUER is set; set OIDC_CLIENT_ID and OIDC_CLIENT_SECRET too."
        )
    return address


def check_field_keys(keys: list[str]) -> None:
    """Raise ImproperlyConfigured unless all *keys* are Fernet keys."""
    for key in keys:
        try:
            length = len(base64.urlsafe_b64decode(key))
        except ValueError:
            length = 0
        if length != 32:
            raise ImproperlyConfigured(
                "GRADEAPP_FIELD_KEYS must be Fernet keys: 32 random bytes in URL-safe base64."
            )
