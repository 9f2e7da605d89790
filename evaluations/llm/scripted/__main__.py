"""``python -m evaluations.llm.scripted``: the scripted endpoint as a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluations.llm.scripted.endpoint import MODEL_NAME, ScriptedEndpoint
from evaluations.llm.scripted.faults import FaultScript, script_from


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C; 1 with a sentence where it cannot start."""
    options = _options(arguments)
    try:
        faults = _faults(options.faults)
        asyncio.run(_serve(options, faults))
    except (OSError, ValueError) as error:
        print(f"The scripted endpoint cannot start: {error}", file=sys.stderr)
        return 1
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="evaluations.llm.scripted", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds for each answer")
    parser.add_argument("--ledger", type=Path, help="append a line for each billed request")
    parser.add_argument("--faults", type=Path, help="a fault script: a JSON list")
    return parser.parse_args(arguments)


def _faults(path: Path | None) -> FaultScript | None:
    return script_from(json.loads(path.read_text(encoding="utf-8"))) if path else None


async def _serve(options: argparse.Namespace, faults: FaultScript | None) -> None:
    endpoint = ScriptedEndpoint(latency=options.latency, faults=faults, ledger=options.ledger)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    port = await endpoint.start(options.host, options.port)
    print(f"{MODEL_NAME} listens on http://{options.host}:{port}/v1", flush=True)
    await stop.wait()
    await endpoint.stop()


if __name__ == "__main__":
    sys.exit(main())
