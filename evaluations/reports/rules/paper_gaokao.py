"""Rebuild the tables of GAOKAO-Bench (Zhang et al. 2023, arXiv:2305.12474)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evaluations.reports.rules.paper_cells import Cells, Loaded, StandIns, best, of_part
from evaluations.reports.rules.paper_sums import (
    minus,
    of_conditions,
    put_row,
    rates_by,
    shares_by,
)
from evaluations.reports.rules.published_tables import PublishedPaper
from evaluations.statistics.agreement import MIN_PAIRS, MarkPair
from evaluations.statistics.coefficients import Floats, kendall_tau_b, spearman
from evaluations.statistics.figure import Figure, missing
from evaluations.statistics.gaokao_750 import (
    STREAMS,
    WEIGHTS,
    Precision,
    converted,
    missing_reason,
    no_questions_reason,
)
from evaluations.statistics.rows import ModelCondition
from questions.rules.vocabulary import Part, QuestionType, Stream, Subject

if TYPE_CHECKING:
    import pandas as pd

LAST_YEAR = 2022
OVERALL = "Overall"
TEACHERS = "teachers"
UNMARKED = "unmarked"
NOBODY_MARKED = "no_teacher_marks"
NO_JUDGE = "no_judge"
OTHER_PROMPT = {True: "judge_without_criterion", False: "judge_with_criterion"}
NO_PAIRS = "no_pairs"
NO_LATER = "no_later_questions"
NO_OBJECTIVE = "no_objective_answers"
TYPES = {
    QuestionType.SINGLE_CHOICE: "objective/Single Choice",
    QuestionType.SEVERAL_QUESTIONS: "objective/Multi-Question Choice",
    QuestionType.MULTIPLE_CHOICE: "objective/Multi-Choice",
    QuestionType.FIVE_OUT_OF_SEVEN: "objective/Five out of Seven",
    QuestionType.OPEN_ENDED: "subjective/Open-ended Question",
    QuestionType.CLOZE: "subjective/Cloze",
    QuestionType.CORRECTION: "subjective/Correction",
}
COEFFICIENTS: dict[str, Callable[[Floats, Floats], float | None]] = {
    "spearman": spearman,
    "kendall-tau": kendall_tau_b,
}


@dataclass(frozen=True, slots=True)
class GaokaoMaterial:
    """What the tables are made from.

    ``questions`` has a row for each question, with ``file_type`` (the question type of its file),
    ``characters`` and ``words`` of its text. ``answers`` has a frame by marker, and ``teachers``
    among the markers. ``with_criterion`` says of each judge whether it saw the marking criterion.
    ``pairs`` are marks of teachers and of judges, and ``question_of`` has the question of each of
    their responses. ``precision`` is that of converted totals.
    """

    paper: PublishedPaper
    stand_ins: StandIns
    questions: pd.DataFrame
    answers: Mapping[str, pd.DataFrame]
    with_criterion: Mapping[str, bool]
    pairs: Sequence[MarkPair]
    question_of: Mapping[int, int]
    precision: Precision

    def base(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the files of the paper."""
        return frame[frame["task"].isin(list(self.paper.table("table-8").rows))]

    def people(self) -> Iterator[tuple[str, Loaded]]:
        """Yield each model by its name in the tables, with the condition that stands for it."""
        for name in self.stand_ins.models:
            found = best(self.stand_ins.conditions(name))
            if found is not None:
                yield name, found

    def judges(self, asked: ModelCondition, criterion: bool) -> tuple[str, str]:
        """Return the judge with (or without) criterion that marked most, and the reason if none."""
        found: dict[bool, list[tuple[int, str]]] = {True: [], False: []}
        for judge, has in self.with_criterion.items():
            own = of_conditions(self.answers[judge], [asked])
            marked = int(own[own["part"] == Part.SUBJECTIVE.value]["n"].sum())
            if marked:
                found[has].append((marked, judge))
        if found[criterion]:
            return max(found[criterion])[1], ""
        return "", OTHER_PROMPT[criterion] if found[not criterion] else NO_JUDGE


def rebuilt(material: GaokaoMaterial) -> Cells:
    """Return every cell that the loaded questions, answers and marks give."""
    cells = _of_questions(material) | _weights()
    for name, loaded in material.people():
        cells |= _rates(material, name, loaded)
        cells |= _totals(material, name, loaded)
        cells |= _years(material, name, loaded)
        cells |= _leakage(material, name, loaded)
        cells |= _correlations(material, name, loaded)
    return cells


def _of_questions(material: GaokaoMaterial) -> Cells:
    """Return tables 3 and 8: types and lengths."""
    base = material.base(material.questions)
    if base.empty:
        return {}
    cells: Cells = {}
    numbers = base.groupby("file_type").size()
    shares = shares_by(base, "file_type")
    for value, row in TYPES.items():
        if value.value in numbers:
            n = int(numbers[value.value])
            figures = {"number": Figure(n, n), "percentage": shares[value.value]}
            cells |= put_row("table-3", row, list(figures), figures)
    for task, rows in base.groupby("task"):
        length = rows["words" if (rows["subject"] == Subject.ENGLISH.value).all() else "characters"]
        figures = {
            "number": Figure(len(rows), len(rows)),
            "average_length": Figure(float(length.mean()), len(rows)),
        }
        cells |= put_row("table-8", str(task), list(figures), figures)
    return cells


def _weights() -> Cells:
    """Return table 7."""
    cells: Cells = {}
    for subject, weight in WEIGHTS.items():
        points = (weight.objective, weight.subjective, weight.total)
        names = ("objective", "subjective", "total")
        figures = {name: Figure(n, 0) for name, n in zip(names, points, strict=True)}
        cells |= put_row("table-7", subject.value, names, figures)
    return cells


def _rates(material: GaokaoMaterial, name: str, loaded: Loaded) -> Cells:
    """Return the row of a model in tables 1 and 2."""
    cells: Cells = {}
    for table, part, lacking, marker in (
        ("table-1", Part.OBJECTIVE, NO_OBJECTIVE, ""),
        ("table-2", Part.SUBJECTIVE, NOBODY_MARKED, TEACHERS),
    ):
        own = of_conditions(material.base(material.answers[TEACHERS]), [loaded.asked])
        own = own[own["part"] == part.value].replace({"reason": {UNMARKED: NOBODY_MARKED}})
        questions = material.base(material.questions)
        questions = questions[questions["part"] == part.value]
        figures = rates_by(own, questions, "subject")
        if everything := rates_by(own, questions):
            figures[OVERALL] = everything[""]
        columns = [column.name for column in material.paper.table(table).columns]
        cells |= put_row(table, name, columns, figures, loaded, lacking=lacking, marker=marker)
    return cells


def _total(
    material: GaokaoMaterial, own: pd.DataFrame, stream: Stream, questions: pd.DataFrame
) -> Figure:
    """Return the converted total of one stream; a part that is missing is its reason.

    Parts of which there are no *questions* go before those without answers or marks. A total of
    answers to only some of them has the reason ``partly_answered``.
    """
    own, questions = (one[one["subject"].isin(list(STREAMS[stream]))] for one in (own, questions))
    scored = own[own["n"] > 0]
    sums = scored.groupby(["subject", "part"])[["points", "full", "units"]].sum()
    wheres = [(subject, part) for subject in STREAMS[stream] for part in Part]
    known = {}
    n = 0
    for subject, part in wheres:
        if (subject.value, part.value) in sums.index:
            row = sums.loc[(subject.value, part.value)]
            known[subject, part] = float(row["points"]) / float(row["full"])
            n += int(row["units"])
    total = converted(stream, known, material.precision)
    if total.total is None:
        there = set(zip(questions["subject"], questions["part"], strict=True))
        without = [where for where in total.missing if where not in there]
        return missing(
            no_questions_reason(without) if without else missing_reason(total.missing), n
        )
    return of_part(Figure(total.total, n), scored["question"].nunique(), len(questions))


def _totals(material: GaokaoMaterial, name: str, loaded: Loaded) -> Cells:
    """Return the totals of a model in table 4, and those released with the answers."""
    markers = {"human": (TEACHERS, NOBODY_MARKED)}
    markers["GPT-4-turbo"] = material.judges(loaded.asked, criterion=True)
    released, lacking = material.judges(loaded.asked, criterion=False)
    cells: Cells = {}
    for stream in Stream:
        for column, (marker, reason) in markers.items():
            figure = _marked_total(material, loaded, marker, reason, stream)
            figures = {f"{stream}:{column}": figure}
            cells |= put_row("table-4", name, list(figures), figures, loaded, marker=marker)
        figures = {stream.value: _marked_total(material, loaded, released, lacking, stream)}
        cells |= put_row("released-totals", name, list(figures), figures, loaded, marker=released)
    return cells


def _marked_total(
    material: GaokaoMaterial, loaded: Loaded, marker: str, reason: str, stream: Stream
) -> Figure:
    """Return a converted total by *marker*; *reason* if it marked nothing of the model."""
    if not marker:
        return missing(reason)
    own = of_conditions(material.base(material.answers[marker]), [loaded.asked])
    if not (own[own["part"] == Part.SUBJECTIVE.value]["n"] > 0).any():
        return missing(reason or NO_JUDGE)
    return _total(material, own, stream, material.base(material.questions))


def _years(material: GaokaoMaterial, name: str, loaded: Loaded) -> Cells:
    """Return figure 3: the totals of each year, by each marker that marked answers of the model."""
    cells: Cells = {}
    by_year = dict(iter(material.questions.groupby("year")))
    for marker, answers in material.answers.items():
        own = of_conditions(answers, [loaded.asked])
        marked = own[(own["part"] == Part.SUBJECTIVE.value) & (own["n"] > 0)]
        for year in sorted(marked["year"].dropna().unique()):
            for stream in Stream:
                column = f"{stream}:{marker}"
                figure = _total(material, own[own["year"] == year], stream, by_year[year])
                figures = {column: figure}
                row = f"{name}/{year}"
                cells |= put_row("figure-3", row, [column], figures, loaded, marker=marker)
    return cells


def _leakage(material: GaokaoMaterial, name: str, loaded: Loaded) -> Cells:
    """Return table 5: objective rates on the questions of the paper and on later ones."""
    own = of_conditions(material.answers[TEACHERS], [loaded.asked])
    own = own[own["part"] == Part.OBJECTIVE.value]
    questions = material.questions[material.questions["part"] == Part.OBJECTIVE.value]
    before = rates_by(material.base(own), material.base(questions)).get("")
    later = questions[questions["year"].fillna(0) > LAST_YEAR]
    after = rates_by(own[own["year"].fillna(0) > LAST_YEAR], later).get("")
    lacking = NO_LATER if later.empty else "no_data"
    figures = {
        "GAOKAO-Bench": before or missing(NO_OBJECTIVE),
        "GAOKAO-Bench-2023": after or missing(lacking),
        "difference": minus(after, before, lacking if before else NO_OBJECTIVE),
    }
    return put_row("table-5", name, list(figures), figures, loaded)


def _correlations(material: GaokaoMaterial, name: str, loaded: Loaded) -> Cells:
    """Return the coefficients of table 4, and of table 6 with and without criterion."""
    cells: Cells = {}
    base = material.base(material.questions)
    written = set(base[base["part"] == Part.SUBJECTIVE.value]["question"])
    for word, criterion in (("with", True), ("without", False)):
        judge, reason = material.judges(loaded.asked, criterion)
        pairs = [
            pair
            for pair in material.pairs
            if pair.asked == loaded.asked and pair.pair == f"{TEACHERS}-{judge}"
        ]
        marked = written & {material.question_of.get(pair.response) for pair in pairs}
        figures = {
            coefficient: of_part(figure, len(marked), len(written))
            for coefficient, figure in _coefficients(pairs, reason or NO_PAIRS).items()
        }
        if criterion:
            cells |= put_row("table-4", name, list(figures), figures, loaded, marker=judge)
        for coefficient, figure in figures.items():
            row = f"{word}/{coefficient}"
            cells |= put_row("table-6", row, [name], {name: figure}, loaded, marker=judge)
    return cells


def _coefficients(pairs: Iterable[MarkPair], lacking: str) -> dict[str, Figure]:
    points = np.array([(pair.x, pair.y) for pair in pairs], dtype=np.float64).reshape(-1, 2)
    n = len(points)
    figures = {}
    for name, formula in COEFFICIENTS.items():
        value = formula(points[:, 0], points[:, 1]) if n >= MIN_PAIRS else None
        reason = "no_variance" if n >= MIN_PAIRS else "too_few_pairs" if n else lacking
        figures[name] = missing(reason, n) if value is None else Figure(value, n)
    return figures
