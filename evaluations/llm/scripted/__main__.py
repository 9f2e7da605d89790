"""Run the scripted endpoint as a process: ``python -m evaluations.llm.scripted``."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import count

from aiohttp import web

from evaluations.llm.parent import LOOK_SECONDS, add_parent, is_orphan
from evaluations.llm.scripted import MODEL_NAME, completion_of, error_of, prompt_of
from evaluations.llm.scripted.batches import ScriptedBatches

LARGEST_REQUEST = 210_000_000  # a file of a batch


def application(latency: float) -> web.Application:
    """Return the server of models, chat completions and batches; *latency* in seconds."""
    numbers, kept = count(1), ScriptedBatches()

    async def models(request: web.Request) -> web.Response:
        model = {"id": MODEL_NAME, "object": "model", "owned_by": "gradeapp"}
        return web.json_response({"object": "list", "data": [model]})

    async def chat(request: web.Request) -> web.Response:
        prompt = prompt_of(await request.read())
        if prompt is None:
            error = error_of("The body is not a chat request", "bad_request")
            return web.json_response(error, status=400)
        await asyncio.sleep(latency)
        return web.json_response(completion_of(prompt, next(numbers)))

    async def batches(request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = (request.method, request.path_qs, headers, await request.read())
        status, answered = await asyncio.to_thread(kept.answer, *asked)
        if isinstance(answered, bytes):
            return web.Response(body=answered, content_type="application/jsonl", status=status)
        return web.json_response(answered, status=status)

    served = web.Application(client_max_size=LARGEST_REQUEST)
    served.router.add_get("/v1/models", models)
    served.router.add_post("/v1/chat/completions", chat)
    served.router.add_route("*", "/v1/{kind:files|batches}{rest:.*}", batches)
    return served


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C. If it cannot start, print why and return 1."""
    parser = argparse.ArgumentParser(prog="evaluations.llm.scripted", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8099, help="0 for any free port")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds for each answer")
    add_parent(parser)
    options = parser.parse_args(arguments)
    try:
        asyncio.run(_serve(options))
    except (OSError, ValueError, OverflowError) as error:
        print(f"The scripted endpoint cannot start: {error}", file=sys.stderr)
        return 1
    return 0


async def _serve(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    runner = web.AppRunner(application(options.latency), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, options.host, options.port, backlog=1024).start()
        port = runner.addresses[0][1]
        print(f"{MODEL_NAME} listens on http://{options.host}:{port}/v1", flush=True)
        while not stop.is_set() and not is_orphan(options.parent):
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_SECONDS)
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    sys.exit(main())
