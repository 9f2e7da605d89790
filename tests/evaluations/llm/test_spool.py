from __future__ import annotations

from collections.abc import Sequence
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
