"""Lines of a file of replies that are none."""

from __future__ import annotations

from datetime import UTC, datetime

from evaluations.llm.batch_files import MOST_VALUES, BadLine, read_lines

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_line_of_more_values_than_any_reply_has_is_not_parsed() -> None:
    """20 MB of empty lists took 12 s of a processor and 640 MB."""
    lines = [b'{"custom_id": "1", "x": [' + b"[]," * MOST_VALUES + b"0]}", b"", b"{}"]
    read = list(read_lines(lines, NOW))
    assert [(type(line), getattr(line, "number", 0)) for line in read] == [
        (BadLine, 1),
        (BadLine, 3),
    ]
