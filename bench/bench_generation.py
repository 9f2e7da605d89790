"""How fast answers come in: whole runs through the database, beside clients that store nothing.

    python -m bench.bench_generation [--quick] [--json] [--calls N] [--latency S] [--in-flight N]

Without options the two loads of the goals: 500 ms at 64 in flight, where the endpoint is the limit
(goal: at most 1.08 times the ideal time), and 50 ms at 256, where the processor is (goals: as fast
as the floor, and two workers at least 1.6 times as fast as one).
A run is planned, claimed, sent, stored and scored as a worker does it; its time is from the first
call to the last answer stored. The floor is the same calls in the same rounds by the shortest loop
that one writes by hand: ``AsyncOpenAI`` on its aiohttp transport, which parses the replies and
stores nothing. The detail has raw aiohttp, the ideal (calls x latency / in flight), and seconds of
processor time for 1,000 calls, of the endpoint too. All use one endpoint in a process of its own
(``bench.quick_endpoint``), which counts what is in flight; the median of the rounds counts.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median

import aiohttp
import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient

from bench.measured import Measured, arguments, seconds_of, show
from bench.own_database import engine, own_database
from bench.quick_endpoint import quick_endpoint
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

    @property
    def name(self) -> str:
        """The name of the endpoint."""
        return f"bench {self.latency:g} s x {self.in_flight}"


def messages(number: int) -> list[dict[str, str]]:
    """A prompt of the usual length: a question of about 400 characters."""
    question = "题目如下：已知函数的定义域与值域，判断下列说法是否正确。" * 14
    options = "\nA. 一\nB. 二\nC. 三\nD. 四\n"
    return [{"role": "user", "content": f"请做选择题第{number}题。{question}{options}"}]


@dataclass(frozen=True)
class Took:
    """Wall time of all calls, and processor time of the processes that made them, in seconds."""

    seconds: float
    processor: float


def with_run(load: Load, workers: int = 1) -> Took:
    """Take all calls through a run, from its first call to the last answer stored.

    With several *workers*, each is a process of its own.
    """
    from django.db.models import Count, Max, Min

    from evaluations.models import Attempt, Endpoint, ObjectiveScore, Response
    from evaluations.runs.rules.question_choice import QuestionChoice
    from evaluations.runs.services.generation import work_on_run
    from evaluations.runs.services.runs import start_run
    from questions.models import Dataset

    dataset = Dataset.objects.get()
    questions = Dataset.objects.get().tasks.aggregate(n=Count("questions"))["n"]
    repeats = ceil(load.calls / questions)
    run = start_run(
        endpoint=Endpoint.objects.get(name=load.name),
        dataset=dataset,
        acting_user=None,
        repeats=repeats,
        choice=QuestionChoice(limit=ceil(load.calls / repeats)),
    )
    before = processor_time()
    if workers == 1:
        work_on_run(run.pk)
        used = processor_time() - before
    else:
        used = in_processes(run.pk, workers)
    run.refresh_from_db()
    attempts = Attempt.objects.filter(job__run=run, status="answered")
    times = attempts.aggregate(first=Min("sent_at"), last=Max("finished_at"), n=Count("pk"))
    answered = Response.objects.filter(run=run)
    scored = ObjectiveScore.objects.filter(response__run=run, policy="strict").count()
    objective = answered.filter(question__task__part="objective").count()
    if run.status != "finished" or not times["n"] == answered.count() >= load.calls:
        raise SystemExit(f"{load.calls - answered.count()} of {load.calls} calls have no answer")
    if scored < objective:
        raise SystemExit(f"{objective - scored} answers are not scored")
    share = load.calls / times["n"]  # repeats of whole questions may be a few calls more
    seconds = (times["last"] - times["first"]).total_seconds()
    return Took(seconds * share, used * share)


def in_processes(run_id: int, workers: int) -> float:
    """Work on a run in processes that begin together; return their processor time."""
    command = [sys.executable, "-m", "bench.bench_generation", "--work-on", str(run_id)]
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        for _ in range(workers)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("begin\n")
        process.stdin.flush()
    return sum(float(process.communicate(timeout=600)[0]) for process in processes)


def processor_time() -> float:
    """Return the processor time of this process and of its ended children, in seconds."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def with_aiohttp(base_url: str, load: Load) -> int:
    """Send every call with aiohttp alone, and read its reply as JSON."""

    async def loop() -> int:
        places = asyncio.Semaphore(load.in_flight)
        connector = aiohttp.TCPConnector(limit=load.in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def ask(number: int) -> str | None:
                body = {"model": MODEL_NAME, "messages": messages(number), "temperature": 0}
                async with (
                    places,
                    session.post(f"{base_url}/chat/completions", json=body) as response,
                ):
                    reply = await response.json()
                content: str | None = reply["choices"][0]["message"]["content"]
                return content

            texts = await asyncio.gather(*(ask(number) for number in range(load.calls)))
        return sum(text is not None for text in texts)

    return asyncio.run(loop())


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


def time_of(way: Callable[[str, Load], int], base_url: str, load: Load) -> Took:
    """Return the time of one round; exit if an answer is lost."""
    answered: list[int] = []
    before = processor_time()
    seconds = seconds_of(lambda: answered.append(way(base_url, load)))
    if answered != [load.calls]:
        raise SystemExit(f"{load.calls - answered[0]} of {load.calls} calls were not answered")
    return Took(seconds, processor_time() - before)


def middle(rounds: Sequence[Took]) -> Took:
    """Return the medians of *rounds*."""
    return Took(median(one.seconds for one in rounds), median(one.processor for one in rounds))


def make_world(base_url: str, load: Load) -> None:
    """Store the endpoint of *load*, and the sample exam unless it is there."""
    from django.conf import settings

    from evaluations.runs.services.endpoints import save_endpoint
    from questions.models import Dataset
    from questions.services.imports import import_questions

    settings.RUN_MAX_IN_FLIGHT = load.in_flight
    if not Dataset.objects.exists():
        import_questions("jsonl", settings.BASE_DIR / "questions" / "sample" / "gradeapp-sample")
    save_endpoint(
        name=load.name,
        base_url=base_url,
        model=MODEL_NAME,
        acting_user=None,
        max_in_flight=load.in_flight,
    )


def measured(load: Load, rounds: int, workers: Sequence[int]) -> list[Measured]:
    """Measure runs with each number of *workers*, and the clients beside them in each round."""
    runs: dict[int, list[Took]] = {n: [] for n in workers}
    openai, raw = [], []
    with quick_endpoint(load.latency) as endpoint:
        base_url = endpoint.base_url
        os.environ["RUN_MAX_IN_FLIGHT"] = str(load.in_flight)
        make_world(base_url, load)
        for _ in range(rounds):
            raw.append(time_of(with_aiohttp, base_url, load))
            openai.append(time_of(with_bare_loop, base_url, load))
            for n in workers:
                runs[n].append(with_run(load, n))
        counts, database = endpoint.counts(), engine()
    if counts.most > load.in_flight:
        raise SystemExit(f"{counts.most} calls were in flight at once")
    floor = middle(openai)
    said = f"{load.calls:,} calls of {load.latency:g} s, {load.in_flight} in flight, ideal "
    said += f"{load.floor:.2f} s; raw aiohttp {middle(raw).seconds:.2f} s"
    found = []
    for n in workers:
        took = middle(runs[n])
        cpu = [1000 * one.processor / load.calls for one in (took, floor, middle(raw))]
        detail = f"{said}; processor time for 1,000 calls: {cpu[0]:.2f} s, openai over aiohttp "
        detail += f"{cpu[1]:.2f} s, raw {cpu[2]:.2f} s, "
        detail += f"endpoint {1000 * counts.processor / counts.calls:.2f} s"
        name = f"{database}: run, {1000 * load.latency:.0f} ms"
        name += "" if n == 1 else f", {n} workers"
        found.append(Measured.time(name, took.seconds, floor.seconds, detail=detail))
    return found


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__, quick="40 calls, 32 in flight, one round")
    parser.add_argument("--calls", type=int, default=1781)
    parser.add_argument("--latency", type=float)
    parser.add_argument("--in-flight", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--work-on", type=int, help="be a worker of this run")
    options = parser.parse_args()
    if options.work_on is not None:
        work_as_process(options.work_on)
        return
    if options.quick:
        todo: list[tuple[Load, Sequence[int]]] = [(Load(40, 0.05, 32), [1])]
        rounds = 1
    else:
        todo, rounds = loads(options), options.rounds
    with own_database():
        for number, (load, workers) in enumerate(todo):
            found = measured(load, rounds, workers)
            show(found, as_json=options.json, heading=not number)


def loads(options: Namespace) -> list[tuple[Load, Sequence[int]]]:
    """Return what is measured, and with how many workers each."""
    if options.latency or options.in_flight:
        own = Load(options.calls, options.latency or 0.05, options.in_flight or 256)
        return [(own, options.workers)]
    slow, quick = Load(options.calls, 0.5, 64), Load(options.calls, 0.05, 256)
    return [(slow, [1]), (quick, options.workers)]


def work_as_process(run_id: int) -> None:
    """Work on a run until it is over, as a process of a worker does; say the processor time."""
    import django

    django.setup()
    from evaluations.models import Run
    from evaluations.runs.services.generation import work_on_run

    print("ready", flush=True)
    sys.stdin.readline()
    before = processor_time()
    while not Run.objects.filter(pk=run_id, status="finished").exists():
        work_on_run(run_id)
        time.sleep(0.05)
    print(processor_time() - before, flush=True)


if __name__ == "__main__":
    main()
