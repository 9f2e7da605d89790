"""A function on an untrusted file runs in a child: its limits end the child and nothing else."""

from __future__ import annotations

import io
import os
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest

from gradeapp.common import isolated
from gradeapp.common.isolated import Bounds, Exceeded, Why, isolated_bytes
from gradeapp.common.one_file import one_file_of
from gradeapp.common.refusals import Busy
from questions.importers.archive import ArchiveRefusal, unpack_isolated

pytestmark = pytest.mark.once
HERE = "tests.common.test_isolated"


def length(source: IO[bytes], factor: int) -> int:
    return len(source.read()) * factor


def memory(_source: IO[bytes]) -> int:
    return len(bytearray(10**9))


def endless(_source: IO[bytes]) -> None:
    while True:
        pass


def sleeping(_source: IO[bytes]) -> None:
    time.sleep(60)


def broken(_source: IO[bytes]) -> None:
    os.abort()


def niceness(_source: IO[bytes]) -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def chatty(_source: IO[bytes]) -> list[str]:
    print("a library prints")
    return sorted(os.environ)


def test_the_answer_of_a_child_is_json() -> None:
    assert isolated_bytes(f"{HERE}:length", b"four", 3) == 12


@pytest.mark.parametrize(
    ("name", "bounds", "why"),
    [
        ("memory", Bounds(), Why.MEMORY),
        ("endless", Bounds(cpu_seconds=1), Why.TIME),
        ("sleeping", Bounds(clock_seconds=2), Why.CLOCK),
        ("broken", Bounds(), Why.CRASH),
        ("missing", Bounds(), Why.CRASH),
    ],
)
def test_a_limit_ends_the_child(name: str, bounds: Bounds, why: Why) -> None:
    with pytest.raises(Exceeded) as caught:
        isolated_bytes(f"{HERE}:{name}", b"", bounds=bounds)
    assert caught.value.why is why


def test_who_finds_both_places_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that files hold few threads of a web process, and pages have the others."""
    monkeypatch.setattr(isolated, "WAIT", 0.2)
    slow = Bounds(clock_seconds=2)

    def read(_number: int) -> str:
        try:
            isolated_bytes(f"{HERE}:sleeping", b"", bounds=slow)
        except Exceeded as error:
            return error.why
        return "read"

    with ThreadPoolExecutor() as pool:
        done = sorted(pool.map(read, range(3)))
    assert done == ["busy", "clock", "clock"]
    assert isolated_bytes(f"{HERE}:length", b"four", 3) == 12


def test_one_person_has_one_file_read_at_once() -> None:
    with one_file_of(1):
        with pytest.raises(Busy), one_file_of(1):
            pass
        with one_file_of(2):
            pass
    with one_file_of(1):
        pass


def test_a_child_leaves_the_processor_to_others() -> None:
    assert isolated_bytes(f"{HERE}:niceness", b"") > os.getpriority(os.PRIO_PROCESS, 0)


def test_a_child_sees_no_variable_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "secret")
    seen = isolated_bytes(f"{HERE}:chatty", b"")
    assert {"SECRET_KEY", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"}.isdisjoint(seen)


def test_a_zip_is_unpacked_in_a_child(tmp_path: Path) -> None:
    def file(name: str, content: bytes) -> Path:
        path = tmp_path / "upload.zip"
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)
        path.write_bytes(made.getvalue())
        return path

    folder = tmp_path / "in"
    folder.mkdir()
    with file("a.jsonl", b"{}").open("rb") as stream:
        assert unpack_isolated(stream, folder) == 1
    assert (folder / "a.jsonl").read_bytes() == b"{}"
    with file("../b.jsonl", b"{}").open("rb") as stream, pytest.raises(ArchiveRefusal) as refused:
        unpack_isolated(stream, folder)
    assert (refused.value.code, refused.value.name) == ("unsafe_name", "../b.jsonl")
