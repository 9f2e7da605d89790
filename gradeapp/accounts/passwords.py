"""What a password must be, said in the reader's language, and how passwords are hashed."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from gradeapp.common.refusals import Busy


class MinimumLength(MinimumLengthValidator):
    """Django 5.2 refuses a short password with a sentence that its own catalogues do not hold."""

    def get_error_message(self) -> str:
        """The refusal, with the length that is asked for."""
        return ngettext(
            "This password is too short. It must contain at least %(length)d character.",
            "This password is too short. It must contain at least %(length)d characters.",
            self.min_length,
        ) % {"length": self.min_length}


class BoundedArgon2(Argon2PasswordHasher):
    """Argon2id with 19 MiB, 2 passes and 1 lane (OWASP), a few at once on one machine.

    Django's own parameters take 100 MiB and 8 threads a hash. A password that was hashed with
    them is checked with them, and hashed anew when its owner logs in.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with hashing_slot():
            encoded: str = super().encode(password, salt)
        return encoded

    def verify(self, password: str, encoded: str) -> bool:
        with hashing_slot():
            right: bool = super().verify(password, encoded)
        return right


@contextmanager
def hashing_slot(patience: float = 5.0) -> Iterator[None]:
    """Hold one of the machine's places for hashing, at most ``LOGIN_HASHES`` in all processes.

    *patience* is how many seconds to wait for a place; raises Busy after that. A lock on a file
    ends with the process that holds it.
    """
    deadline = time.monotonic() + patience
    while True:
        for number in range(settings.LOGIN_HASHES):
            with (settings.VAR_DIR / f"hashing-{number}.lock").open("w") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                yield
                return
        if time.monotonic() > deadline:
            raise Busy(_("Too many people are logging in. Try again in a few seconds."))
        time.sleep(0.01)
