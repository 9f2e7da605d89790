"""The sample exam is whole: every subject, part, type and kind of content, with sound keys."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import questions.sample
from questions.importers.jsonl import read_jsonl, write_jsonl
from questions.importers.records import QuestionRecord, SourceFile
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint, findings
from questions.rules.vocabulary import Language, Part, QuestionType, Subject

SAMPLE = Path(next(iter(questions.sample.__path__)))
DOCUMENT = Path(__file__).parents[2] / "docs" / "datasets.md"
FOLDER = SAMPLE / "gradeapp-sample"
SOURCES: list[SourceFile] = list(read_jsonl(FOLDER))
RECORDS: list[QuestionRecord] = [record for source in SOURCES for record in source.records]
ANSWERS: list[dict[str, Any]] = [
    json.loads(line) for line in (SAMPLE / "answers.jsonl").read_text("utf-8").splitlines()
]

objective = [record for record in RECORDS if record.part is Part.OBJECTIVE]
marked = [record for record in RECORDS if record.part is Part.SUBJECTIVE]


def test_every_line_is_read_without_a_problem() -> None:
    assert [source.problems for source in SOURCES] == [()] * len(SOURCES)
    lines = [
        line for file in FOLDER.glob("*.jsonl") for line in file.read_text("utf-8").split("\n")
    ]
    of_tasks = [line for line in lines if line.startswith('{"about": "task"')]
    assert len(RECORDS) == sum(bool(line) for line in lines) - len(of_tasks) >= 70
    assert len(of_tasks) > 20, "worked examples for few-shot prompts"


def test_ids_are_unique_over_the_whole_exam() -> None:
    ids = Counter(record.external_id for record in RECORDS)
    assert [name for name, count in ids.items() if count > 1] == []


def test_all_belong_to_one_dataset() -> None:
    assert {record.dataset for record in RECORDS} == {"sample-exam"}


def test_a_task_holds_one_subject_type_and_language() -> None:
    kinds: dict[str, set[tuple[object, ...]]] = {}
    for record in RECORDS:
        kind = (record.subject, record.question_type, record.language)
        kinds.setdefault(record.task, set()).add(kind)
    assert [task for task, found in kinds.items() if len(found) > 1] == []


@pytest.mark.parametrize("subject", Subject)
def test_each_subject_has_both_parts(subject: Subject) -> None:
    parts = Counter(record.part for record in RECORDS if record.subject is subject)
    assert parts[Part.OBJECTIVE] >= 3
    assert parts[Part.SUBJECTIVE] >= 2


def test_every_question_type_stands_in_it() -> None:
    # Exact answers are AGIEval's; they are not scored by rule yet.
    wanted = set(QuestionType) - {QuestionType.EXACT_ANSWER}
    assert {record.question_type for record in RECORDS} == wanted


@pytest.mark.parametrize(
    "subject", [Subject.PHYSICS, Subject.SCIENCES_MATHEMATICS, Subject.BIOLOGY]
)
def test_some_subjects_ask_in_both_languages(subject: Subject) -> None:
    assert {record.language for record in RECORDS if record.subject is subject} == set(Language)


def test_the_language_is_the_one_of_the_stem() -> None:
    for record in RECORDS:
        has_chinese = re.search(r"[\u4e00-\u9fff]", record.stem) is not None
        assert has_chinese == (record.language is Language.CHINESE), record.external_id


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        (r"(?<!\$)\$[^$\n]+\$(?!\$)", 20),
        (r"\|:?-+:?\|", 2),
        (r"!\[[^\]]+\]\(image:[a-z]+\.png\)", 2),
    ],
    ids=["formula", "table", "image"],
)
def test_stems_hold_formulas_tables_and_images(pattern: str, least: int) -> None:
    assert sum(re.search(pattern, record.stem) is not None for record in RECORDS) >= least


def test_displayed_formulas_stand_in_questions_and_in_answers() -> None:
    assert any("$$" in record.stem for record in RECORDS)
    assert any("$$" in record.reference_answer for record in RECORDS)


def test_dollars_and_braces_are_closed() -> None:
    for record in RECORDS:
        points = [point.text for point in record.rubric]
        for text in (record.stem, record.reference_answer, record.analysis, *points):
            assert text.count("$") % 2 == 0, text
            assert text.count("{") == text.count("}"), text


def test_a_question_fits_a_small_context() -> None:
    for record in RECORDS:
        assert len(re.findall(r"[\u4e00-\u9fff]", record.stem)) <= 500, record.external_id
        assert len(record.stem) <= 2000, record.external_id


def test_an_objective_item_has_one_key_a_sub_question() -> None:
    for record in objective:
        assert len(record.answer_key) == len(record.sub_marks), record.external_id
        assert all(set(key) <= set(record.letters) for key in record.answer_key)
        assert record.analysis, record.external_id


def test_two_rubrics_hold_a_group_of_either_kind() -> None:
    """The demo has a cap over several points, and alternatives."""
    chosen = [group.choose for record in marked for group in record.rubric_groups]
    assert sorted(chosen) == [1, 2]


def test_the_options_of_an_objective_item_are_its_letters() -> None:
    for record in objective:
        found = re.findall(r"(?:^|[\n　]|\(\d\) )([A-G])\. ", record.stem)
        seven = record.question_type is QuestionType.FIVE_OUT_OF_SEVEN
        blocks = 1 if seven else len(record.sub_marks)
        assert "".join(found) == record.letters * blocks, record.external_id


def test_a_multiple_choice_says_so_and_has_several_right_letters() -> None:
    for record in objective:
        if record.question_type is QuestionType.MULTIPLE_CHOICE:
            assert "多选" in record.stem, record.external_id
            assert 1 < len(record.answer_key[0]) < len(record.letters), record.external_id


def test_the_keys_are_spread_over_the_letters() -> None:
    single = [r for r in objective if r.question_type is not QuestionType.MULTIPLE_CHOICE]
    count = Counter(key for record in single for key in record.answer_key)
    for letter in "ABCD":
        assert 0.15 < count[letter] / count.total() < 0.35


def test_a_rubric_gives_the_full_marks_in_half_points() -> None:
    for record in marked:
        points = tuple(ScoringPoint(**asdict(point)) for point in record.rubric)
        groups = tuple(PointGroup(**asdict(group)) for group in record.rubric_groups)
        lines = RubricLines(points, groups)
        assert findings(lines, record.sub_marks) == [], record.external_id
        assert record.reference_answer, record.external_id
        assert record.analysis, record.external_id


def test_an_image_is_a_small_real_png_that_a_question_shows() -> None:
    for path in sorted((FOLDER / "images").iterdir()):
        assert path.stat().st_size < 60_000, path
        with Image.open(path, formats=["PNG"]) as image:
            image.load()
            assert min(image.size) >= 300, path
        assert any(path.name in record.images for record in RECORDS), path


def test_the_document_counts_the_questions_of_each_subject() -> None:
    for subject in Subject:
        of_subject = [record for record in RECORDS if record.subject is subject]
        counts = [
            sum(record.part is Part.OBJECTIVE for record in of_subject),
            sum(record.part is Part.SUBJECTIVE for record in of_subject),
            sum(record.language is Language.ENGLISH for record in of_subject),
        ]
        row = " | ".join([subject.english, *map(str, counts)])
        assert f"| {row} |" in DOCUMENT.read_text("utf-8")


def test_the_document_counts_the_whole_exam() -> None:
    counts = f"{len(RECORDS)} questions ({len(objective)} objective, {len(marked)} marked)"
    assert counts in DOCUMENT.read_text("utf-8")


def test_the_exam_survives_a_round_trip(tmp_path: Path) -> None:
    (tmp_path / "images").symlink_to(FOLDER / "images", target_is_directory=True)
    (tmp_path / "all.jsonl").write_text(write_jsonl(RECORDS), encoding="utf-8")
    (source,) = read_jsonl(tmp_path)
    assert source.problems == ()
    assert list(source.records) == RECORDS
    assert [r.content_hash() for r in source.records] == [r.content_hash() for r in RECORDS]


def test_the_answers_are_of_two_students_to_the_same_marked_items() -> None:
    places = {(record.dataset, record.task, record.external_id): record for record in marked}
    by_student: dict[str, set[tuple[str, str, str]]] = {}
    for answer in ANSWERS:
        place = (answer["dataset"], answer["task"], answer["id"])
        assert place in places
        assert answer["repeat"] == 1
        by_student.setdefault(answer["model"], set()).add(place)
    assert set(by_student) == {"sample-student-a", "sample-student-b"}
    assert by_student["sample-student-a"] == by_student["sample-student-b"]
    assert len(ANSWERS) == 24
    assert len({places[place].subject for place in by_student["sample-student-a"]}) == len(Subject)


def test_an_answer_has_the_documented_keys() -> None:
    needed = {"dataset", "task", "id", "model", "repeat", "text"}
    known = needed | {"finish_reason", "prompt_tokens", "completion_tokens"}
    for answer in ANSWERS:
        assert needed <= set(answer) <= known
        assert answer["text"].strip(), answer["id"]
        assert answer["text"].count("$") % 2 == 0 or answer.get("finish_reason") == "length"
