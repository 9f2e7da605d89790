"""Reads AGIEval as its authors publish it: a JSON line an item, a file a task.

An item has no number of its own, so its place in the file from 0 is its
identity, as in the published outputs. A file is taken whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradeapp.common.strict_json import JsonRefusal, cleaned, numbered_objects
from questions.importers.agieval_examples import FILE as EXAMPLES_FILE
from questions.importers.agieval_examples import read_examples
from questions.importers.agieval_items import AgievalItem, full_marks, read_item
from questions.importers.agieval_tasks import RATE_SOURCE, TASKS, AgievalTask
from questions.importers.exam_format import contradictions
from questions.importers.papers import examination_paper
from questions.importers.records import (
    FewShotRecord,
    HumanRateRecord,
    Problem,
    QuestionRecord,
    SourceFile,
    TaskRecord,
)
from questions.importers.source_files import (
    files_in,
    leads_out,
    refused,
    refused_links,
    unreadable,
)
from questions.rules.vocabulary import RateKind, Subject

DATASET = "agieval"
FOLDERS = (".", "v1", "data/v1", "v1_1", "data/v1_1")
MAX_PROBLEMS = 100
MAX_SOURCE = 80


def files_of_folder(path: Path) -> tuple[list[Path], list[Path]]:
    """What is read of the benchmark's folder *path*: files of tasks, and the table of examples.

    They come from the first of FOLDERS with any; the table lies there, beside it or in ``data``.
    """
    folder = next((path / name for name in FOLDERS if files_in(path / name, ".jsonl")), None)
    if folder is None:
        return [], []
    tables = (file for place in (path, path / "data", folder) for file in files_in(place, ".csv"))
    examples = [file for file in tables if file.name.lower() == EXAMPLES_FILE]
    return files_in(folder, ".jsonl"), examples[:1]


def read_agieval(path: Path) -> Iterator[SourceFile]:
    """Each task file at *path*: the benchmark's folder, its ``v1`` folder, or one file.

    Nothing is raised for bad input: what is broken comes as a fatal problem of
    its file, what is no task of AGIEval as a problem that is not fatal.
    """
    if not path.is_dir():
        yield _source_file(path, ())
        return
    files, prompts = files_of_folder(path)
    if not files:
        yield refused(path.name, None, "no_files", "The folder holds no .jsonl file.")
        return
    yield from refused_links(path, [*files, *prompts])
    examples: dict[str, tuple[FewShotRecord, ...]] = {}
    for file in prompts:
        if not leads_out(path, file):
            source_file, examples = read_examples(file)
            yield source_file
    for file in files:
        if not leads_out(path, file):
            yield _source_file(file, examples.get(file.stem, ()))


def _source_file(file: Path, examples: tuple[FewShotRecord, ...]) -> SourceFile:
    task = TASKS.get(file.stem)
    if task is None:
        text = f"AGIEval has no task called {file.stem[:80]!r}; the file was passed over."
        return SourceFile(file.name, (), (Problem(file.name, None, "unknown_task", text),))
    records: list[QuestionRecord] = []
    problems: list[Problem] = []
    try:
        with file.open("rb") as stream:
            for number, row in numbered_objects(stream):
                _line(file, number, row, task, records, problems)
                if len(problems) >= MAX_PROBLEMS and any(p.fatal for p in problems):
                    text = f"Reading stopped after {MAX_PROBLEMS} problems."
                    problems.append(
                        Problem(file.name, number, "too_many_problems", text, fatal=True)
                    )
                    break
    except OSError as error:
        return unreadable(file, error)
    if not records and not problems:
        return refused(file.name, None, "empty", f"{file.name!r} holds no question.")
    facts = TaskRecord(DATASET, file.stem, _rates(task), examples)
    return SourceFile(file.name, tuple(records), tuple(problems), (facts,))


def _line(
    file: Path,
    number: int,
    row: dict[str, Any] | JsonRefusal,
    task: AgievalTask,
    records: list[QuestionRecord],
    problems: list[Problem],
) -> None:
    """Add the record of one line, and what is wrong or odd with it."""
    try:
        if isinstance(row, JsonRefusal):
            raise row
        clean, originals = cleaned(row)
        item = read_item(clean, task)
        record = _record(file.stem, number - 1, item, task, originals)
    except JsonRefusal as refusal:
        problems.append(Problem(file.name, number, refusal.code, refusal.text, fatal=True))
        return
    records.append(record)
    found = [*item.notes, *contradictions(record)]
    if originals:
        text = "A character that no database stores was replaced; the original is kept."
        found.append(("text_cleaned", text))
    problems += [Problem(file.name, number, code, text) for code, text in found]


def _record(
    name: str, index: int, item: AgievalItem, task: AgievalTask, originals: dict[str, str]
) -> QuestionRecord:
    if len(item.source) > MAX_SOURCE:
        raise JsonRefusal("too_long", f"'source' is longer than {MAX_SOURCE} characters.")
    paper = examination_paper(item.source)
    return QuestionRecord(
        dataset=DATASET,
        task=name,
        external_id=str(index),
        position=index,
        subject=_subject(name, item.source, task),
        question_type=item.question_type,
        language=task.language,
        passage=item.passage,
        stem=item.stem,
        options=item.options,
        letters=item.letters,
        answer_key=item.answer_key,
        reference_answer="",
        analysis=item.analysis,
        sub_marks=full_marks(),
        year=paper.year,
        paper=paper.paper,
        paper_published=item.source,
        extra=item.extra | {f"raw:{place}": text for place, text in originals.items()},
    )


def _subject(name: str, source: str, task: AgievalTask) -> Subject | None:
    """The task's; for mathematics the stream, where the paper's title names one."""
    if name in ("gaokao-mathqa", "gaokao-mathcloze"):
        if "理科" in source:
            return Subject.SCIENCES_MATHEMATICS
        if "文科" in source:
            return Subject.HUMANITIES_MATHEMATICS
    return task.subject


def _rates(task: AgievalTask) -> tuple[HumanRateRecord, ...]:
    return (
        HumanRateRecord(task.average, RATE_SOURCE),
        HumanRateRecord(task.top, RATE_SOURCE, kind=RateKind.TOP),
    )
