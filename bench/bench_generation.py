"""How fast answers come in: the pump beside a bare loop over the OpenAI client, and the floor.

    python -m bench.bench_generation [--quick] [--json] [--calls N] [--latency S] [--in-flight N]

The floor is calls x latency / in flight: what an endpoint that takes exactly
the latency would need if the client cost nothing. The peer is the shortest
loop that one writes by hand: ``AsyncOpenAI`` on its aiohttp transport, one task
for each call, a semaphore. Both run in turn against one scripted endpoint in a
process of its own; the median of the rounds counts.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient

from bench.measured import Measured, arguments, seconds_of, show
from evaluations.llm.blocking import run_pump
from evaluations.llm.callbacks import Callbacks
from evaluations.llm.client import CallResult, ChatRequest
from evaluations.llm.openai_client import OpenAIChat
from evaluations.llm.scripted import MODEL_NAME

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Load:
    """What is asked: ``calls`` of ``latency`` seconds, ``in_flight`` at once."""

    calls: int
    latency: float
    in_flight: int

    @property
    def floor(self) -> float:
        """Seconds that the endpoint itself needs."""
        return self.calls * self.latency / self.in_flight


def messages(number: int) -> list[dict[str, str]]:
    """A prompt of the usual length: a question of about 400 characters."""
    question = "题目如下：已知函数的定义域与值域，判断下列说法是否正确。" * 14
    options = "\nA. 一\nB. 二\nC. 三\nD. 四\n"
    return [{"role": "user", "content": f"请做选择题第{number}题。{question}{options}"}]


@contextmanager
def endpoint(latency: float) -> Iterator[str]:
    """The base URL of a scripted endpoint in a process of its own."""
    command = [sys.executable, "-m", "evaluations.llm.scripted", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--latency", str(latency)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process.stdout.readline().split()[-1] if process.stdout else ""
    finally:
        process.terminate()
        process.wait(timeout=10)


def with_pump(base_url: str, load: Load) -> int:
    """Every call through the pump, with claims and deliveries as a service makes them."""
    waiting = iter(range(load.calls))
    answered: list[str] = []

    def claim(most: int) -> list[ChatRequest]:
        taken = islice(waiting, most)
        return [ChatRequest(number, messages(number), {"temperature": 0}) for number in taken]

    def deliver(batch: Sequence[CallResult]) -> None:
        answered.extend(outcome.reply.text for outcome in batch if outcome.reply)

    chat = OpenAIChat(
        base_url, MODEL_NAME, "none", max_in_flight=load.in_flight, networks=["127.0.0.0/8"]
    )
    with tempfile.TemporaryDirectory() as folder:
        run_pump(
            Callbacks(claim, deliver, lambda: False),
            chat,
            in_flight=load.in_flight,
            spool_path=Path(folder) / "spool.jsonl",
            random=Random(0),
        )
    return len(answered)


def with_bare_loop(base_url: str, load: Load) -> int:
    """Every call as a task of its own behind a semaphore."""

    async def loop() -> int:
        limits = httpx2.Limits(max_connections=load.in_flight)
        http = DefaultAioHttpClient(limits=limits)
        places = asyncio.Semaphore(load.in_flight)
        async with AsyncOpenAI(
            api_key="none", base_url=base_url, max_retries=0, http_client=http
        ) as client:

            async def ask(number: int) -> str | None:
                async with places:
                    completion = await client.chat.completions.create(
                        model=MODEL_NAME,
                        messages=messages(number),  # type: ignore[arg-type]
                        temperature=0,
                    )
                return completion.choices[0].message.content

            texts = await asyncio.gather(*(ask(number) for number in range(load.calls)))
        return sum(text is not None for text in texts)

    return asyncio.run(loop())


def time_of(way: Callable[[str, Load], int], base_url: str, load: Load) -> float:
    """Return the wall time of one round; exit if an answer is lost."""
    answered: list[int] = []
    seconds = seconds_of(lambda: answered.append(way(base_url, load)))
    if answered != [load.calls]:
        raise SystemExit(f"{load.calls - answered[0]} of {load.calls} calls were not answered")
    return seconds


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__, quick="100 calls, 32 in flight, one round")
    parser.add_argument("--calls", type=int, default=1781)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    load = Load(options.calls, options.latency, options.in_flight)
    rounds = options.rounds
    if options.quick:
        load, rounds = Load(100, options.latency, 32), 1
    pump, bare = [], []
    with endpoint(load.latency) as base_url:
        for _ in range(rounds):
            pump.append(time_of(with_pump, base_url, load))
            bare.append(time_of(with_bare_loop, base_url, load))
    show([measured(load, median(pump), median(bare))], as_json=options.json)


def measured(load: Load, pump: float, bare: float) -> Measured:
    """Seconds of the pump beside the floor, and beside the bare loop in the detail."""
    detail = f"{load.calls:,} calls of {load.latency:g} s, {load.in_flight} in flight; a bare "
    detail += f"AsyncOpenAI loop takes {bare:.2f} s ({bare / load.floor:.2f} x the floor)"
    return Measured.time("generation", pump, load.floor, detail=detail)


if __name__ == "__main__":
    main()
