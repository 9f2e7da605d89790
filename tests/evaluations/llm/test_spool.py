from __future__ import annotations

import resource
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from evaluations.llm import spool
from evaluations.llm.client import CallResult, ChatFailure, ChatReply, FailureKind

REPLY = ChatReply("答\n案", "", "", 0, "stop", 3, None, "m", "id", '{"a": "\\u0000"}')
FAILURE = ChatFailure(
    FailureKind.RATE_LIMIT, "slow", http_status=429, retry_after=2.5, request_id="r"
)


def test_outcomes_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "spool.jsonl"
    spool.append(path, [CallResult(1, REPLY, 0.5)])
    spool.append(path, [CallResult("two", FAILURE, 1.5)])
    (first, second), unreadable = spool.read(path)
    assert (first, unreadable) == (CallResult(1, REPLY, 0.5), [])
    assert second.as_dict() == CallResult("two", FAILURE, 1.5).as_dict()
    assert second.failure is not None
    assert vars(second.failure) == vars(FAILURE)


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    spool.append(path, [CallResult(1, REPLY, 0.5)])
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_torn_line_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(b'{"key": 9, "sec')
    spool.append(path, [CallResult(1, REPLY, 0.5)])
    outcomes, unreadable = spool.read(path)
    assert [outcome.key for outcome in outcomes] == [1]
    assert unreadable == [b'{"key": 9, "sec']


def test_replay_hands_in_and_clears(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    spool.append(path, [CallResult(1, REPLY, 0.5), CallResult(2, FAILURE, 0.5)])
    with path.open("ab") as file:
        file.write(b"torn")
    got: list[CallResult] = []
    assert spool.replay(path, got.extend) == 2
    assert [outcome.key for outcome in got] == [1, 2]
    assert not path.exists()
    assert path.with_suffix(".unreadable").read_bytes() == b"torn\n"
    assert spool.replay(path, got.extend) == 0


def test_a_failed_replay_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    spool.append(path, [CallResult(1, REPLY, 0.5)])

    def refuse(batch: Sequence[CallResult]) -> None:
        raise OSError("the database is down")

    with pytest.raises(OSError, match="down"):
        spool.replay(path, refuse)
    assert len(spool.read(path)[0]) == 1


def test_what_arrived_outlives_its_process_until_it_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    first, second, third = (CallResult(n, REPLY, 0.5) for n in (1, 2, 3))
    got: list[CallResult] = []

    def replayed() -> list[object]:
        got.clear()
        for file in sorted(tmp_path.glob("*.jsonl")):
            spool.replay(file, got.extend)
        return [one.key for one in got]

    with suppress(OSError), spool.Arrivals(path) as arrivals:
        arrivals.add(first)
        arrivals.turn()
        arrivals.add(second)
        assert replayed() == [], "the files of a living pump are left alone"
        arrivals.stored()
        arrivals.turn()
        arrivals.add(third)
        raise OSError("the spool cannot be written")
    assert replayed() == [3, 2], "the first was stored"
    with spool.Arrivals(path) as arrivals:
        arrivals.add(first)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    long = CallResult(2, replace(REPLY, text="长" * 1000), 0.5)
    with suppress(OSError), spool.Arrivals(tmp_path / "spool.jsonl") as arrivals:
        arrivals.add(CallResult(1, REPLY, 0.5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        try:
            arrivals.add(long)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        arrivals.add(CallResult(3, REPLY, 0.5))
        raise OSError("the spool cannot be written")
    outcomes, unreadable = spool.read(tmp_path / "spool-arrived-1.jsonl")
    assert ([one.key for one in outcomes], unreadable) == ([1, 3], [])
