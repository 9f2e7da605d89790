"""Which dimensions a task asks for, and the closed list of weaknesses under them."""

from __future__ import annotations

import pytest

from evaluations.capability.rules.dimensions import Dimension, asked_of
from evaluations.capability.rules.weaknesses import BY_DIMENSION, KEYS, Weakness, in_order
from questions.importers.agieval_tasks import TASKS

U, K, R, C = Dimension
# From the paper's words, file by file: mathematics, biology, chemistry and physics calculate.
AGIEVAL_CALCULATES = {
    *("aqua-rat", "math", "sat-math", "gaokao-mathqa", "gaokao-mathcloze"),
    *("gaokao-biology", "gaokao-chemistry", "gaokao-physics"),
}


@pytest.mark.parametrize("name", sorted(TASKS))
def test_agievals_files_ask_as_the_paper_does(name: str) -> None:
    asked = asked_of(name, TASKS[name].subject or "")
    assert asked == ((U, K, R, C) if name in AGIEVAL_CALCULATES else (U, K, R))


@pytest.mark.parametrize(
    ("task", "subject", "calculates"),
    [
        ("2010-2022_Physics_MCQs", "Physics", True),
        ("2010-2022_Math_I_MCQs", "Sciences Mathematics", True),
        ("2010-2022_History_MCQs", "History", False),
        ("2010-2022_Geography_MCQs", "Geography", False),
        ("2023_Math_MCQs", "", True),  # both streams: its subject is not guessed
        ("a-task-of-ones-own", "", True),
    ],
)
def test_other_tasks_follow_their_subject(task: str, subject: str, calculates: bool) -> None:
    assert (C in asked_of(task, subject)) is calculates
    assert asked_of(task, subject)[:3] == (U, K, R)


def test_every_weakness_stands_under_one_dimension_and_has_a_key_of_its_own() -> None:
    listed = [weakness for group in BY_DIMENSION.values() for weakness in group]
    assert listed == list(Weakness)
    assert [len(BY_DIMENSION[one]) for one in Dimension] == [4, 2, 7, 1]
    assert set(KEYS) == set(Weakness)
    assert len(set(KEYS.values())) == len(KEYS)
    assert not set(KEYS.values()) & set("qancrsu")


def test_weaknesses_are_put_in_order_and_nothing_else_is_one() -> None:
    given = ["multi_hop", "formulas", "multi_hop"]
    assert in_order(given) == (Weakness.FORMULAS, Weakness.MULTI_HOP)
    assert in_order([]) == ()
    with pytest.raises(ValueError, match="laziness"):
        in_order(["laziness"])
