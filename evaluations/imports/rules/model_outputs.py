"""Read the answers of models in the format of GAOKAO-Bench, with marks and gradings."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from evaluations.imports.rules.answer_records import AnswerFile, AnswerRecord, Grading, Marks
from evaluations.imports.rules.belonging import key_text
from gradeapp.common.strict_json import JsonRefusal
from questions.importers.gaokao_files import (
    ANSWER_KEY,
    DATASET,
    PART_MARK,
    GaokaoFile,
    index_of,
    json_files,
    number_of,
    read_gaokao_file,
    text_of,
    text_problems,
)
from questions.importers.records import Problem
from questions.rules.json_schema import check_plain_name

MAX_MODEL_NAME = 100
# Names of the key in released rows; earlier rows use the name of the question files.
KEY_KEYS = ("standard_answer", "answer")
MARKS_KEY = "correction_score"
MOST_TEACHERS = 2
REPLY_KEY, TOTALS_KEY = "model_correction", "model_correction_score"
JUDGE_KEY = "teacher_model_name"


def read_model_outputs(
    path: Path, *, model: str | None = None, repeat: int = 1
) -> Iterator[AnswerFile]:
    """Yield each file at *path* (a file, or a folder with its subfolders), in a fixed order.

    The model is *model*, or the name in the file, or the first part of the file's name. Summaries
    and other files are recognised and skipped; a row that repeats an index is reported and does not
    count.
    """
    files = json_files(path)
    if not files:
        text = "The folder holds no .json file."
        yield AnswerFile(path.name, (), (Problem(path.name, None, "no_files", text, fatal=True),))
    for file in files:
        yield _answer_file(read_gaokao_file(file, lists=True), model, repeat)


def _answer_file(file: GaokaoFile | Problem, model: str | None, repeat: int) -> AnswerFile:
    if isinstance(file, Problem):
        return AnswerFile(file.file, (), (file,))
    if not file.holds_answers:
        text = "The file holds questions, not answers; it was passed over."
        return AnswerFile(file.name, (), (Problem(file.name, None, "questions_file", text),))
    # ``gpt-3.5-turbo`` of ``gpt-3.5-turbo_2010-2022_X.json``.
    before, separator, _ = Path(file.name).stem.partition(f"_{file.keyword}")
    of_file_name = before.removesuffix(PART_MARK) if separator else ""
    name = (model or file.header.get("model_name", "") or of_file_name).strip()
    if not 1 <= len(name) <= MAX_MODEL_NAME:
        text = "The file does not say which model answered; name it with --model."
        return AnswerFile(file.name, (), (Problem(file.name, None, "no_model", text, fatal=True),))
    try:
        check_plain_name("model_name", name)
    except JsonRefusal as refusal:
        problem = Problem(file.name, None, refusal.code, refusal.text, fatal=True)
        return AnswerFile(file.name, (), (problem,))
    answers: dict[str, AnswerRecord] = {}
    problems = list(text_problems(file))
    for row, item in enumerate(file.items, start=1):
        try:
            record = _record(file, item, row, name, repeat)
        except JsonRefusal as refusal:
            text = f"Item {row}: {refusal.text}"
            problems.append(Problem(file.name, row, refusal.code, text, fatal=True))
            continue
        first = answers.setdefault(record.external_id, record)
        if first is not record:
            how = "the same" if record.same_content(first) else "another"
            text = (
                f"Item {row} repeats index {record.external_id} of item {first.row} with {how}"
                " content; it does not count."
            )
            problems.append(Problem(file.name, row, "repeated_row", text))
    return AnswerFile(file.name, tuple(answers.values()), tuple(problems))


def _record(
    file: GaokaoFile, item: dict[str, Any], row: int, model: str, repeat: int
) -> AnswerRecord:
    if ANSWER_KEY not in item:
        raise JsonRefusal("missing_key", f"{ANSWER_KEY!r} is missing.")
    question = item.get("question")
    return AnswerRecord(
        row=row,
        dataset=DATASET,
        task=file.keyword,
        external_id=str(index_of(item)),
        model=model,
        repeat=repeat,
        text=text_of(item, ANSWER_KEY),
        marks=_human_marks(item),
        grading=_judge_grading(file.header, item),
        # Only compared with the bank: another type than text is ignored.
        question=question if isinstance(question, str) else "",
        key=key_text(next((item[key] for key in KEY_KEYS if item.get(key)), "")),
    )


def _human_marks(item: dict[str, Any]) -> Marks:
    """Return the marks ``[a, b]`` of *item* in points, None for a null; () without marks.

    Whether a mark is possible is checked later, with the full marks of the bank.
    """
    if MARKS_KEY not in item:
        return ()
    values = item[MARKS_KEY]
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_TEACHERS:
        raise JsonRefusal("wrong_type", f"{MARKS_KEY!r} is not a list of one or two marks.")
    marks: list[Decimal | None] = []
    for value in values:
        mark = None if value is None else number_of(value, MARKS_KEY)
        if mark is not None and mark != round(mark, 2):
            raise JsonRefusal("bad_value", f"A mark has at most two decimals, not {mark}.")
        marks.append(mark)
    return tuple(marks)


def _judge_grading(header: dict[str, str], item: dict[str, Any]) -> Grading | None:
    """Return the grading of *item* by the judge in the header; None if there is none.

    The released totals are kept as they are, also if they are impossible.
    """
    if REPLY_KEY not in item and TOTALS_KEY not in item:
        return None
    judge = header.get(JUDGE_KEY, "").strip()
    if not judge:
        raise JsonRefusal("no_judge", f"The file does not name the judge in {JUDGE_KEY!r}.")
    check_plain_name(JUDGE_KEY, judge)
    totals = item.get(TOTALS_KEY, [])
    if not isinstance(totals, list):
        raise JsonRefusal("wrong_type", f"{TOTALS_KEY!r} is not a list.")
    released = tuple(None if total is None else number_of(total, TOTALS_KEY) for total in totals)
    return Grading(judge=judge, reply=text_of(item, REPLY_KEY), released=released)
