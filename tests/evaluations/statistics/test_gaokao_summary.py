"""The summaries of GAOKAO-Bench: the four numbers by hand, and what is missing left out."""

from __future__ import annotations

from evaluations.statistics.gaokao_summary import TaskSums, merged_summary, part_summary
from evaluations.statistics.rows import ScoredAnswer
from questions.rules.vocabulary import Part


def row(task: str, part: Part, points: float | None, full: float, subs: int = 1) -> ScoredAnswer:
    return ScoredAnswer(
        response=1,
        question=1,
        run=1,
        model="m",
        condition="c",
        dataset="gaokao-bench",
        task=task,
        subject="",
        part=part,
        year=2020,
        repeat=1,
        marker="key",
        policy="published",
        points=points,
        full=full,
        subs=subs,
    )


def test_numbers_are_those_of_the_files_and_nothing_is_written_as_zero() -> None:
    """10 of 15 points in five sub-questions of physics; of chemistry nothing is scored."""
    sums = TaskSums()
    sums.add(
        [
            row("2010-2022_Physics_MCQs", Part.OBJECTIVE, 4, 6, 2),
            row("2010-2022_Physics_MCQs", Part.OBJECTIVE, 6, 9, 3),
            row("2010-2022_Chemistry_MCQs", Part.OBJECTIVE, None, 6),
            row("2010-2022_Physics_Open-ended_Questions", Part.SUBJECTIVE, 7.5, 10),
            row("2010-2022_Physics_Open-ended_Questions", Part.SUBJECTIVE, None, 10),
        ]
    )
    numbers = {"total_score": 15, "correct_score": 10, "scoring_rate": 0.667, "question_num": 5}
    made = part_summary(Part.OBJECTIVE, sums, {"model_name": "m"})
    types = {"2010-2022_Physics_MCQs": numbers}
    assert made == {
        "model_name": "m",
        **numbers,
        "subject": {"Physics": {**numbers, "type": types}},
    }
    about = {"model_name": "m", "correction_type": "human"}
    # 44 x 0.667 = 29.348; 66 x 0.75 = 49.5. No stream is complete, so no total is given.
    assert merged_summary(sums, about) == {
        "model_name": "m",
        "Physics": {"Objective_score": 29.348, "Subjective_score": 49.5, "total_score": 78.848},
        "sub_correction_type": "human",
    }
    assert part_summary(Part.SUBJECTIVE, TaskSums(), about) == {**about, "subject": {}}
