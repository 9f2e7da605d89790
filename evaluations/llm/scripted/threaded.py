"""The scripted endpoint in a thread of its own, for tests."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from evaluations.llm.scripted.endpoint import Ledger, ScriptedEndpoint
from evaluations.llm.scripted.faults import FaultScript
from evaluations.llm.scripted.http import Received


class ScriptedServer:
    """A server on a free loopback port: ``with ScriptedServer(...) as server``.

    It stores every request. ``endpoint.faults`` may be changed while it runs.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        faults: FaultScript | None = None,
        ledger: Path | None = None,
        api_key: str | None = None,
    ) -> None:
        self.endpoint = ScriptedEndpoint(
            latency=latency, faults=faults, ledger=ledger, api_key=api_key, keep=True
        )
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="scripted-endpoint", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self.endpoint.start(), self._loop)
        self.port = starting.result(timeout=10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self.endpoint.stop(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    @property
    def base_url(self) -> str:
        """The address for clients, up to ``/chat/completions``."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def ledger(self) -> Ledger:
        """The ledger of billed requests."""
        return self.endpoint.ledger

    @property
    def requests(self) -> list[Received]:
        """All requests, in the order of arrival."""
        return self.endpoint.requests
