"""Save-and-next at the marking desk over real HTTP: one teacher, and eight at once.

    python -m bench.bench_desk [--quick] [--json]

A gunicorn as ``serve`` starts it, and teachers who log in and send the forms that
their pages hold. The floor is a second gunicorn with one bare view that saves
one row and renders a small template: same database, same browsers, in turn with
the desk, block by block. At the end the database is asked whether a save was
lost or a response handed out twice; if so, there is no figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.measured import Measured, arguments, show
from bench.own_database import engine, own_database

if TYPE_CHECKING:
    from bench.desk_load import Times


def figures(times: Times) -> list[Measured]:
    """How long one teacher waits, how much eight get done, and how long they wait."""
    alone, bare, crowd, bare_crowd = (
        times.alone,
        times.bare_alone,
        times.together,
        times.bare_together,
    )
    one = f"{len(alone.saves)} saves on {engine()}, none lost, no response handed out twice"
    eight = f"{len(crowd.saves)} saves on {engine()}, none lost, no response handed out twice"
    after = f"{len(times.helping.saves)} saves by a teacher whose own share is done"
    save = f"{engine()}: save and next"
    return [
        Measured.time(f"{save}, p50", alone.ms(50), bare.ms(50), unit="ms", detail=one),
        Measured.time(f"{save}, p95", alone.ms(95), bare.ms(95), unit="ms"),
        Measured.rate(
            f"{save}, eight",
            crowd.per_second,
            bare_crowd.per_second,
            unit="marks/s",
            detail=eight,
        ),
        Measured.time(f"{save}, eight, p95", crowd.ms(95), bare_crowd.ms(95), unit="ms"),
        Measured.time(
            f"{save}, for others, p95", times.helping.ms(95), bare.ms(95), unit="ms", detail=after
        ),
    ]


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__, quick="three teachers, one short block").parse_args()
    with own_database():
        from bench.desk_load import Load, run  # after Django is set up

        full = Load(blocks=4, alone=40, each=20, helping=40, answers_a_question=32)
        quick = Load(blocks=1, alone=5, each=3, helping=3, answers_a_question=1, teachers=3)
        times = run(quick if options.quick else full)
        show(figures(times), as_json=options.json)


if __name__ == "__main__":
    main()
