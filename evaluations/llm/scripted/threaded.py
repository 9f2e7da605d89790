"""The scripted endpoint in a thread of its own, for tests that are synchronous or asynchronous."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from evaluations.llm.scripted.endpoint import ScriptedEndpoint
from evaluations.llm.scripted.faults import FaultScript
from evaluations.llm.scripted.http import Received
from evaluations.llm.scripted.ledger import Ledger


class ScriptedServer:
    """``with ScriptedServer(...) as server``: a real server on a free loopback port.

    It remembers every request. ``faults`` may be set anew while it runs.
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
        """What a client is given: ends before ``/chat/completions``."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def ledger(self) -> Ledger:
        """What was billed."""
        return self.endpoint.ledger

    @property
    def requests(self) -> list[Received]:
        """Everything that came in, in order."""
        return self.endpoint.requests
