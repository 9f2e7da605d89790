"""Twenty teachers at a human pace, beside a running model run and without one.

    python -m bench.bench_beside_run [--quick] [--json]

The floor is the same teachers at the same pace on the same server while no model
runs. The run asks a scripted endpoint, 16 calls in flight, in a process of its
own. There is no figure where a save was lost, a response handed out twice, or the
run was over before the teachers were.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from bench.measured import Measured, arguments, show
from bench.own_database import engine, own_database

if TYPE_CHECKING:
    from bench.desk_load import Teacher, Timed

TEACHERS = 20
LATENCY = 0.5
IN_FLIGHT = 16


@dataclass(frozen=True, slots=True)
class Load:
    """How many teachers, for how many seconds, and how long each reads before a save."""

    teachers: int
    seconds: float
    shortest: float
    longest: float
    answers_a_question: int


FULL = Load(TEACHERS, 40.0, 1.0, 5.0, 40)  # people take longer
QUICK = Load(3, 0.5, 0.1, 0.3, 20)


def at_human_pace(teacher: Teacher, random: Random, load: Load) -> list[float]:
    """How long each save took of those that *teacher* makes; at least one."""
    end, saves = time.monotonic() + load.seconds, []
    time.sleep(random.uniform(0, load.longest))
    while not saves or time.monotonic() < end:
        saves.append(teacher.save())
        time.sleep(random.uniform(load.shortest, load.longest))
    return saves


def together(teachers: list[Teacher], load: Load, random_seed: int) -> Timed:
    """The saves of all teachers at once."""
    from bench.desk_load import Timed

    randoms = [Random(random_seed + number) for number in range(len(teachers))]
    with ThreadPoolExecutor(len(teachers)) as threads:
        done = threads.map(at_human_pace, teachers, randoms, [load] * len(teachers))
        return Timed([one for saves in done for one in saves], load.seconds)


@contextmanager
def model_run() -> Iterator[None]:
    """A run that goes on as long as this does; no figure where it was over before."""
    from bench.quick_endpoint import ROOT, quick_endpoint
    from evaluations.llm.scripted import MODEL_NAME
    from evaluations.models import Response
    from evaluations.runs.services.endpoints import save_endpoint

    with quick_endpoint(LATENCY) as endpoint:
        save_endpoint(
            name="bench",
            base_url=endpoint.base_url,
            model=MODEL_NAME,
            acting_user=None,
            max_in_flight=IN_FLIGHT,
        )
        before = Response.objects.count()
        command = [sys.executable, "manage.py", "run_model", "--endpoint", "bench"]
        options = ["--dataset", "sample-exam", "--repeats", "100", "--wait"]
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while Response.objects.count() == before and process.poll() is None:
                time.sleep(0.2)
            yield
            if process.poll() is not None:
                raise SystemExit("the model run was over before the teachers were")
        finally:
            process.terminate()
            process.wait(timeout=60)


def measure(load: Load) -> tuple[Timed, Timed]:
    """Saves without a run and beside one; then whether anything was lost."""
    from bench.browsing import served
    from bench.desk_load import Teacher, check
    from bench.desk_world import make_world

    world = make_world(load.teachers, load.answers_a_question)
    with ExitStack() as stack:
        port = stack.enter_context(served())
        teachers = [Teacher(port, name) for name in world.teachers]
        for teacher in teachers:
            teacher.arrive(world)
        quiet = together(teachers, load, random_seed=1)
        stack.enter_context(model_run())
        busy = together(teachers, load, random_seed=2)
    check(teachers)
    return quiet, busy


def figures(load: Load, quiet: Timed, busy: Timed) -> list[Measured]:
    """What teachers wait beside a run, and without one."""
    detail = f"{len(busy.saves)} saves by {load.teachers} teachers on {engine()}, none lost; "
    detail += f"{IN_FLIGHT} calls in flight"
    name = f"{engine()}: save beside a run"
    return [
        Measured.time(f"{name}, p50", busy.ms(50), quiet.ms(50), unit="ms", detail=detail),
        Measured.time(f"{name}, p95", busy.ms(95), quiet.ms(95), unit="ms"),
    ]


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__, quick="three teachers for half a second").parse_args()
    load = QUICK if options.quick else FULL
    with own_database():
        show(figures(load, *measure(load)), as_json=options.json)


if __name__ == "__main__":
    main()
