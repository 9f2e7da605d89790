"""The summaries of scores that GAOKAO-Bench releases, in its own form.

Three JSON files: ``correction_score.json`` (objective), ``human_score.json`` or
``model_score.json`` (subjective) and ``merge_score.json`` (converted points). Keys and roundings
are those of the released evaluation scripts, so that its scripts read them. What was not answered
is left out, never written as 0.
Source: GAOKAO-Bench (Zhang et al. 2023, arXiv:2305.12474), released scripts for objective and
subjective scores and their merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evaluations.statistics.gaokao_750 import Precision, converted, part_points
from evaluations.statistics.rows import ScoredAnswer
from questions.rules.vocabulary import Part, Stream, Subject

S = Subject
# Subjects as the files name them, with their tasks in the order of the files.
OBJECTIVE: dict[str, tuple[str, ...]] = {
    "English": (
        "2010-2013_English_MCQs",
        "2010-2022_English_Fill_in_Blanks",
        "2012-2022_English_Cloze_Test",
        "2010-2022_English_Reading_Comp",
    ),
    "Math": ("2010-2022_Math_I_MCQs", "2010-2022_Math_II_MCQs"),
    "Chinese": ("2010-2022_Chinese_Modern_Lit", "2010-2022_Chinese_Lang_and_Usage_MCQs"),
    "Physics": ("2010-2022_Physics_MCQs",),
    "Chemistry": ("2010-2022_Chemistry_MCQs",),
    "Biology": ("2010-2022_Biology_MCQs",),
    "History": ("2010-2022_History_MCQs",),
    "Geography": ("2010-2022_Geography_MCQs",),
    "Politics": ("2010-2022_Political_Science_MCQs",),
}
SUBJECTIVE: dict[str, tuple[str, ...]] = {
    "English": (
        "2012-2022_English_Language_Error_Correction",
        "2014-2022_English_Language_Cloze_Passage",
    ),
    "Math_1": ("2010-2022_Math_I_Fill-in-the-Blank", "2010-2022_Math_I_Open-ended_Questions"),
    "Math_2": ("2010-2022_Math_II_Fill-in-the-Blank", "2010-2022_Math_II_Open-ended_Questions"),
    "Chinese": (
        "2010-2022_Chinese_Language_Ancient_Poetry_Reading",
        "2010-2022_Chinese_Language_Practical_Text_Reading",
        "2010-2022_Chinese_Language_Literary_Text_Reading",
        "2010-2022_Chinese_Language_Classical_Chinese_Reading",
        "2010-2022_Chinese_Language_Language_and_Writing_Skills_Open-ended_Questions",
        "2010-2022_Chinese_Language_Famous_Passages_and_Sentences_Dictation",
    ),
    "Physics": ("2010-2022_Physics_Open-ended_Questions",),
    "Chemistry": ("2010-2022_Chemistry_Open-ended_Questions",),
    "Biology": ("2010-2022_Biology_Open-ended_Questions",),
    "History": ("2010-2022_History_Open-ended_Questions",),
    "Geography": ("2010-2022_Geography_Open-ended_Questions",),
    "Politics": ("2010-2022_Political_Science_Open-ended_Questions",),
}
TASKS = {Part.OBJECTIVE: OBJECTIVE, Part.SUBJECTIVE: SUBJECTIVE}
# Names in the merged file, in its order.
MERGED: dict[str, Subject] = {
    "English": S.ENGLISH,
    "Science-Math": S.SCIENCES_MATHEMATICS,
    "Liberal-Arts-Math": S.HUMANITIES_MATHEMATICS,
    "Chinese": S.CHINESE,
    "Physics": S.PHYSICS,
    "Chemistry": S.CHEMISTRY,
    "Biology": S.BIOLOGY,
    "History": S.HISTORY,
    "Geography": S.GEOGRAPHY,
    "Politics": S.POLITICS,
}
TOTALS = {
    "Liberal-Arts_Total_score": Stream.HUMANITIES,
    "Science_Total_score": Stream.SCIENCES,
}
Summary = dict[str, object]


@dataclass(slots=True)
class Sums:
    """The full marks and points of what has points, and the number of questions.

    A question of an objective task counts once for each of its sub-answers.
    """

    full: float = 0.0
    points: float = 0.0
    questions: int = 0

    def add(self, other: Sums) -> None:
        """Add *other* to these."""
        self.full += other.full
        self.points += other.points
        self.questions += other.questions

    def as_dict(self) -> Summary:
        """Return the four numbers of the files; the rate has 3 decimals."""
        return {
            "total_score": self.full,
            "correct_score": self.points,
            "scoring_rate": round(self.points / self.full, 3),
            "question_num": float(self.questions),
        }


@dataclass(slots=True)
class TaskSums:
    """Sums by task of the answers of one model to the tasks of the benchmark."""

    tasks: dict[str, Sums] = field(default_factory=dict)

    def add(self, rows: Iterable[ScoredAnswer]) -> None:
        """Add *rows*; a row without points counts as a question only."""
        for row in rows:
            sums = self.tasks.setdefault(row.task, Sums())
            sums.questions += row.subs if row.part == Part.OBJECTIVE else 1
            if row.points is not None:
                sums.full += row.full
                sums.points += row.points

    def of(self, tasks: Iterable[str]) -> Sums:
        """Return the sums of all *tasks* that have points."""
        whole = Sums()
        for task in tasks:
            if (sums := self.tasks.get(task)) is not None and sums.full:
                whole.add(sums)
        return whole

    def rates(self) -> dict[tuple[Subject, Part], float]:
        """Return the rates that the merged file is made from."""
        tasks = {
            (subject, part): names
            for part, of_part in TASKS.items()
            for name, names in of_part.items()
            if (subject := MERGED.get(name)) is not None
        }
        first, second = OBJECTIVE["Math"]
        tasks[S.SCIENCES_MATHEMATICS, Part.OBJECTIVE] = (first,)
        tasks[S.HUMANITIES_MATHEMATICS, Part.OBJECTIVE] = (second,)
        tasks[S.SCIENCES_MATHEMATICS, Part.SUBJECTIVE] = SUBJECTIVE["Math_1"]
        tasks[S.HUMANITIES_MATHEMATICS, Part.SUBJECTIVE] = SUBJECTIVE["Math_2"]
        sums = {where: self.of(names) for where, names in tasks.items()}
        return {where: one.points / one.full for where, one in sums.items() if one.full}


def part_summary(part: Part, found: TaskSums, about: Mapping[str, object]) -> Summary:
    """Return the summary of one part: *about* (names), the whole, then subjects and tasks.

    Subjects and tasks in which nothing has points are left out.
    """
    subjects: Summary = {}
    everything = Sums()
    for subject, tasks in TASKS[part].items():
        whole = found.of(tasks)
        if not whole.full:
            continue
        everything.add(whole)
        types = {task: one.as_dict() for task in tasks if (one := found.of([task])).full}
        subjects[subject] = {**whole.as_dict(), "type": types}
    numbers = everything.as_dict() if everything.full else {}
    return {**about, **numbers, "subject": subjects}


def merged_summary(found: TaskSums, about: Mapping[str, object]) -> Summary:
    """Return the points of each subject and the totals of both streams; *about* has the names.

    A part without a rate is left out, and so are the totals that need it.
    """
    rates = found.rates()
    summary: Summary = {"model_name": about["model_name"]}
    for name, subject in MERGED.items():
        points = {
            f"{part.capitalize()}_score": part_points(
                subject, part, rates[subject, part], Precision.PUBLISHED
            )
            for part in Part
            if (subject, part) in rates
        }
        if len(points) == len(Part):
            points["total_score"] = round(sum(points.values()), 3)
        if points:
            summary[name] = points
    if "correction_type" in about:
        summary["sub_correction_type"] = about["correction_type"]
    if "teacher_model_name" in about:
        summary["sub_teacher_model_name"] = about["teacher_model_name"]
    for name, stream in TOTALS.items():
        total = converted(stream, rates, Precision.PUBLISHED).total
        if total is not None:
            summary[name] = total
    return summary
