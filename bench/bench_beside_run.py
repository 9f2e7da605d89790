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
from random import Random
from typing import TYPE_CHECKING

from bench.measured import Measured, arguments, show
from bench.own_database import engine, own_database

if TYPE_CHECKING:
    from bench.desk_load import Teacher, Timed

TEACHERS = 20
LATENCY = 0.5
IN_FLIGHT = 16
# Seconds that a teacher reads a response before the save: shorter than people take.
SHORTEST, LONGEST = 1.0, 5.0


def at_human_pace(teacher: Teacher, random: Random, seconds: float) -> list[float]:
    """How long each save took of those that *teacher* makes in so many *seconds*."""
    end, saves = time.monotonic() + seconds, []
    time.sleep(random.uniform(0, LONGEST))
    while time.monotonic() < end:
        saves.append(teacher.save())
        time.sleep(random.uniform(SHORTEST, LONGEST))
    return saves


def together(teachers: list[Teacher], seconds: float, random_seed: int) -> Timed:
    """The saves of all teachers at once."""
    from bench.desk_load import Timed

    randoms = [Random(random_seed + number) for number in range(len(teachers))]
    with ThreadPoolExecutor(len(teachers)) as threads:
        done = threads.map(at_human_pace, teachers, randoms, [seconds] * len(teachers))
        return Timed([one for saves in done for one in saves], seconds)


@contextmanager
def model_run() -> Iterator[None]:
    """A run that goes on as long as this does; no figure where it was over before."""
    from bench.bench_generation import ROOT, endpoint
    from evaluations.llm.scripted import MODEL_NAME
    from evaluations.models import Response
    from evaluations.services.endpoints import save_endpoint

    with endpoint(LATENCY) as base_url:
        save_endpoint(
            name="bench",
            base_url=base_url,
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


def measure(seconds: float, answers_a_question: int) -> tuple[Timed, Timed]:
    """Saves without a run and beside one; then whether anything was lost."""
    from bench.browsing import served
    from bench.desk_load import Teacher, check
    from bench.desk_world import make_world

    world = make_world(TEACHERS, answers_a_question)
    with ExitStack() as stack:
        port = stack.enter_context(served())
        teachers = [Teacher(port, name) for name in world.teachers]
        for teacher in teachers:
            teacher.arrive(world)
        quiet = together(teachers, seconds, random_seed=1)
        stack.enter_context(model_run())
        busy = together(teachers, seconds, random_seed=2)
    check(teachers)
    return quiet, busy


def figures(quiet: Timed, busy: Timed) -> list[Measured]:
    """What teachers wait beside a run, and without one."""
    detail = f"{len(busy.saves)} saves by {TEACHERS} teachers on {engine()}, none lost; "
    detail += f"{IN_FLIGHT} calls in flight"
    name = f"{engine()}: save beside a run"
    return [
        Measured.time(f"{name}, p50", busy.ms(50), quiet.ms(50), unit="ms", detail=detail),
        Measured.time(f"{name}, p95", busy.ms(95), quiet.ms(95), unit="ms"),
    ]


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__, quick="8 seconds instead of 40").parse_args()
    with own_database():
        seconds, answers = (8.0, 20) if options.quick else (40.0, 40)
        show(figures(*measure(seconds, answers)), as_json=options.json)


if __name__ == "__main__":
    main()
