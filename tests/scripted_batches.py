"""The batch API of the scripted endpoint with faults on purpose, for tests.

``ends_as`` and ``answers`` say how a batch ends and how many of its requests are answered.
``meets`` is called with the name of each step before it and after it (``upload``, ``create``,
``list``, ``look``, ``cancel``, ``fetch``): a test ends the client there. Steps of ``without`` are
not served, and each of ``faults`` is one answer in place of a step's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluations.llm.scripted.batches import Answer, ScriptedBatches, Step


@dataclass
class FaultyBatches(ScriptedBatches):
    """What ``/v1/files`` and ``/v1/batches`` answer, or what a test says instead."""

    looks: int = 1
    page: int = 2  # so that there are pages
    ends_as: str = "completed"
    answers: int = 10**9
    without: frozenset[str] = frozenset()
    meets: Callable[[str], None] = lambda step: None
    faults: list[Answer] = field(default_factory=list)
    headers: tuple[tuple[str, str], ...] = ()  # of all answers

    def step(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Step | None:
        found = super().step(method, path, headers, body)
        if found is None or found[0] in self.without:
            return None
        name, serve = found

        def met() -> Answer:
            self.meets(f"before {name}")
            answered = self.faults.pop(0) if self.faults else serve()
            self.meets(f"after {name}")
            return answered

        return name, met

    def end(self, batch: dict[str, Any], state: str) -> None:
        state = self.ends_as if state == "completed" else state
        if state == "failed":
            batch["status"] = state
            batch["errors"] = {"object": "list", "data": [{"code": "x", "message": "too many"}]}
            return
        lines = self.requests_of(batch)
        self.answered(batch, state, lines[: self.answers], lines)
