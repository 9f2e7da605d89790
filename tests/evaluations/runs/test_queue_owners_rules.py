"""When the holder of work is surely gone, and when nobody can know."""

from __future__ import annotations

import pytest

from evaluations.runs.rules.owners import (
    NAME_LENGTH,
    Owner,
    ProcessState,
    has_ended,
    name_of,
    owner_in,
    place_of,
    state_in,
)

BOOT, NAMESPACE = "2ab3f346-3ed4-45f4-9366-08720ac19f08\n", "pid:[4026531836]"
HERE = place_of(BOOT, NAMESPACE)
OWNER = Owner(pid=4321, started=493938, place=HERE)
STAT = "4321 (cat) S 1407 1407 14579 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 493938 3133440 412"


@pytest.mark.parametrize(
    ("place", "state", "gone"),
    [
        (HERE, ProcessState(exists=False), True),
        (HERE, ProcessState(exists=True, started=493939), True),
        (HERE, ProcessState(exists=True, started=493938), False),
        (HERE, ProcessState(exists=True), False),
        (None, ProcessState(exists=False), False),
        (place_of("another boot", NAMESPACE), ProcessState(exists=False), False),
        (place_of(BOOT, "pid:[4026532000]"), ProcessState(exists=False), False),
        (place_of("another boot", NAMESPACE), ProcessState(exists=True, started=1), False),
    ],
)
def test_only_who_shares_its_place_can_say_that_a_holder_is_gone(
    place: str | None, state: ProcessState, gone: bool
) -> None:
    assert has_ended(OWNER, place, state) is gone


def test_a_name_is_read_back_and_fits() -> None:
    name = name_of("worker-1.exam.example.org", 4321, "0a1b2c3d", 493938, HERE)
    assert name == f"worker-1.exam.exampl:4321:0a1b2c3d:493938:{HERE}"
    assert owner_in(name) == OWNER
    # The longest: a number of 22 bits, and a hundred years of ticks since the start.
    longest = name_of("h" * 255, 4_194_304, "f" * 8, 315_360_000_000, HERE)
    assert len(longest) <= NAME_LENGTH
    assert owner_in(longest) == Owner(4_194_304, 315_360_000_000, HERE)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gone",
        "host:4321:0a1b2c3d",
        name_of("host", 4321, "0a1b2c3d", None, HERE),
        name_of("host", 4321, "0a1b2c3d", 493938, None),
        f"host:0:0a1b2c3d:493938:{HERE}",
        f"host:-1:0a1b2c3d:493938:{HERE}",
        f"host:99999999999:0a1b2c3d:493938:{HERE}",
        f"host:4321:0a1b2c3d:soon:{HERE}",
        f"host:4321:0a1b2c3d:४:{HERE}",
        "host:4321:0a1b2c3d:493938:here",
        f"ho:st:4321:0a1b2c3d:493938:{HERE}",
    ],
)
def test_a_name_that_tells_too_little_tells_of_nobody(name: str) -> None:
    assert owner_in(name) is None


@pytest.mark.parametrize(
    ("stat", "state"),
    [
        (STAT, ProcessState(exists=True, started=493938)),
        (STAT.replace("cat", "a) Z 1 (b c"), ProcessState(exists=True, started=493938)),
        (STAT.replace(" S ", " Z "), ProcessState(exists=False)),
        (STAT.replace(" S ", " T "), ProcessState(exists=True, started=493938)),
        (STAT.replace("493938", "?"), ProcessState(exists=True)),
        ("", ProcessState(exists=True)),
        ("4321 (cat) S 1407", ProcessState(exists=True)),
    ],
)
def test_what_the_system_says_of_a_process(stat: str, state: ProcessState) -> None:
    assert state_in(stat) == state


def test_places_differ_by_boot_and_by_namespace() -> None:
    places = {
        HERE,
        place_of("another boot", NAMESPACE),
        place_of(BOOT, "pid:[4026532000]"),
        place_of(BOOT + " ", NAMESPACE),
    }
    assert len(places) == 3, "blanks around the number of a boot mean nothing"
