"""What the fact table of reports costs those who write: with its writer, and without.

    python -m bench.bench_fact_writer [--quick] [--json]

A mark saved by the service of the desk, which gives each response its final mark at the
second save, and runs whose replies are stored and scored by the engine. Each is done in
turn with the writer of facts and with nothing in its place, on the same database; the
floor is the median without it. At most 1.1 is allowed.
"""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib import import_module
from itertools import cycle
from statistics import median
from typing import Any

from bench.measured import Measured, arguments, seconds_of, show
from bench.own_database import engine, own_database

# Where services call the writer, by the name of the function.
CALLED = {
    "record_finals": "evaluations.marking.services.finalizing",
    "record_responses": "evaluations.runs.answering",
    "record_scores": "evaluations.reading.services.scoring",
}


@contextmanager
def without_writer() -> Iterator[None]:
    """Let the services write no facts while this lasts."""
    own = {name: getattr(import_module(place), name) for name, place in CALLED.items()}

    def nothing(responses: Any, *_policy: object) -> None:
        for _response in responses:
            pass

    try:
        for name, place in CALLED.items():
            setattr(import_module(place), name, nothing)
        yield
    finally:
        for name, place in CALLED.items():
            setattr(import_module(place), name, own[name])


def compared(name: str, works: Sequence[Callable[[], object]], detail: str) -> Measured:
    """Do *works* in turn with and without the writer; the first of each kind is not counted."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for work, writes in zip(works, cycle((True, False, False, True))):
        if writes:
            times[True].append(seconds_of(work))
        else:
            with without_writer():
                times[False].append(seconds_of(work))
    figure, bare = (1000 * median(times[one][1:]) for one in (True, False))
    return Measured.time(name, figure, bare, unit="ms", detail=detail)


def saves(answers_a_question: int) -> Measured:
    """Both marks of a response, saved one after the other, and the final mark they make."""
    from django.utils import timezone

    from bench.desk_world import make_world
    from evaluations.marking.desk.services.marking import save_mark
    from evaluations.marking.desk.services.slots import claim_next
    from evaluations.marking.services.finalizing import finalize_all_due
    from evaluations.models import BlindAnswer
    from gradeapp.accounts.models import User

    world = make_world(2, answers_a_question)
    people = [User.objects.get(username=name) for name in world.teachers]
    responses = BlindAnswer.objects.count()

    def save() -> None:
        now = timezone.now()
        for teacher in people:
            slot = claim_next(teacher, now=now)
            if slot is None:
                continue
            rubric = slot.answer.rubric
            points = [Decimal(0)] * rubric.points.count() if rubric else []
            total = None if rubric else Decimal(0)
            given = {"points": points, "total": total, "now": now}
            save_mark(slot, teacher, key=uuid.uuid4(), based_on_version=0, **given)
        finalize_all_due(timezone.now())

    detail = f"two marks and the final mark, {responses} times on {engine()}"
    return compared("marks saved, with facts", [save] * responses, detail)


def replies(calls: int, rounds: int) -> Measured:
    """A whole run of *calls*, from its first call to the last answer stored and scored."""
    from bench.bench_generation import Load, make_world, with_run
    from bench.quick_endpoint import quick_endpoint

    load = Load(calls, 0.0, 32)
    times: dict[bool, list[float]] = {True: [], False: []}
    with own_database(), quick_endpoint(load.latency) as endpoint:
        make_world(endpoint.base_url, load)
        with_run(load)
        for _ in range(rounds):
            times[True].append(with_run(load).seconds)
            with without_writer():
                times[False].append(with_run(load).seconds)
        database = engine()
    figure, bare = (1000 * median(times[one]) / calls for one in (True, False))
    detail = f"a run of {calls:,} calls, median of {rounds} on {database}"
    return Measured.time("reply stored, with facts", figure, bare, unit="ms", detail=detail)


def main() -> None:
    """Measure and print."""
    parser = arguments(__doc__, quick="one answer to each question, one run of 16 calls each way")
    parser.add_argument("--answers", type=int, default=60, help="answers to each question")
    parser.add_argument("--calls", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--replies", action="store_true", help="measure runs alone")
    options = parser.parse_args()
    answers, calls, rounds = options.answers, options.calls, options.rounds
    if options.quick:
        answers, calls, rounds = 1, 16, 1
    if options.replies:
        show([replies(calls, rounds)], as_json=options.json)
        return
    with own_database():
        made = saves(answers)
    show([made], as_json=options.json)
    # A database of its own: the settings of a process are read once.
    again = [sys.executable, "-m", "bench.bench_fact_writer", "--replies"]
    again += ["--calls", str(calls), "--rounds", str(rounds)]
    subprocess.run([*again, *(["--json"] if options.json else [])], check=True)


if __name__ == "__main__":
    main()
