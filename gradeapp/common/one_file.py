"""A web process reads one untrusted file of each person at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.utils.translation import gettext as _

from gradeapp.common.refusals import Busy

_people: set[int] = set()
_lock = Lock()


@contextmanager
def one_file_of(person: int) -> Iterator[None]:
    """Raise Busy if this process reads another file of the *person* with that key already."""
    with _lock:
        if person in _people:
            raise Busy(_("Another file of yours is being read. Try again in a few seconds."))
        _people.add(person)
    try:
        yield
    finally:
        with _lock:
            _people.remove(person)
