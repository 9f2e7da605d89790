"""Run the scripted endpoint as a process: ``python -m evaluations.llm.scripted``."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluations.llm.scripted.endpoint import MODEL_NAME, ScriptedEndpoint
from evaluations.llm.scripted.faults import script_from


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C. If it cannot start, print why and return 1."""
    parser = argparse.ArgumentParser(prog="evaluations.llm.scripted", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099, help="0 for any free port")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds for each answer")
    parser.add_argument("--ledger", type=Path, help="append a line for each billed request")
    parser.add_argument("--faults", type=Path, help="a fault script: a JSON list")
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_serve(options))
    except (OSError, ValueError) as error:
        print(f"The scripted endpoint cannot start: {error}", file=sys.stderr)
        return 1
    return 0


async def _serve(options: argparse.Namespace) -> None:
    path: Path | None = options.faults
    faults = script_from(json.loads(path.read_text(encoding="utf-8"))) if path else None
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
