"""GAOKAO-Bench's question files: what is read, what is passed over, what is refused."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gradeapp.common import strict_json
from questions.importers.catalogue import PUBLISHED, canonical_paper, file_kind
from questions.importers.gaokao_bench import read_gaokao_bench
from questions.importers.records import SourceFile
from questions.rules.vocabulary import Language, Part, QuestionType, Subject

ITEM: dict[str, Any] = {
    "year": "2015",
    "category": "（新课标ⅰ）",
    "question": "Which?\nA. a\nB. b\nC. c\nD. d",
    "answer": ["B"],
    "analysis": "because",
    "index": 0,
    "score": 6,
}


def write(
    folder: Path, items: list[dict[str, Any]], keyword: str = "2010-2022_Biology_MCQs"
) -> Path:
    file = folder / f"{keyword}.json"
    document = {"keywords": keyword, "example": items}
    file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return file


def read_one(path: Path) -> SourceFile:
    (file,) = read_gaokao_bench(path)
    return file


def test_an_objective_item_is_worth_its_score_for_each_answer(tmp_path: Path) -> None:
    item = ITEM | {"answer": ["B", "DA"], "score": 1.5, "index": 7}
    file = read_one(write(tmp_path, [item], "2010-2022_English_Fill_in_Blanks"))
    (record,) = file.records
    assert record.answer_key == ("B", "AD")
    assert record.sub_marks == (Decimal("1.5"), Decimal("1.5"))
    assert record.full_marks == 3
    assert (record.external_id, record.position, record.year) == ("7", 7, 2015)
    assert (record.paper, record.paper_published) == ("新课标Ⅰ", "（新课标ⅰ）")
    assert (record.subject, record.language) == (Subject.ENGLISH, Language.ENGLISH)
    assert record.letters == "ABCD"
    assert [problem.code for problem in file.problems] == ["several_letters"]


def test_a_subjective_item_is_worth_its_score(tmp_path: Path) -> None:
    item = ITEM | {"answer": "model answer", "score": 12, "year": 2023}
    (record,) = read_one(write(tmp_path, [item], "2023_Geography_Open-ended_Questions")).records
    assert (record.full_marks, record.reference_answer) == (12, "model answer")
    assert (record.answer_key, record.letters, record.year) == ((), "", 2023)
    assert record.part is Part.SUBJECTIVE


@pytest.mark.parametrize(
    ("keyword", "subject", "question_type"),
    [
        ("2010-2022_Math_I_MCQs", Subject.SCIENCES_MATHEMATICS, QuestionType.SINGLE_CHOICE),
        ("2010-2022_Math_II_Fill-in-the-Blank", Subject.HUMANITIES_MATHEMATICS, QuestionType.CLOZE),
        ("2023_Biology_MCQs", Subject.BIOLOGY, QuestionType.SINGLE_CHOICE),
        ("2024_Physics_MCQs", Subject.PHYSICS, QuestionType.MULTIPLE_CHOICE),
        ("2023_Math_MCQs", None, QuestionType.SINGLE_CHOICE),
    ],
)
def test_the_keyword_says_what_a_file_is(
    keyword: str, subject: Subject | None, question_type: QuestionType
) -> None:
    kind = file_kind(keyword)
    assert kind is not None
    assert (kind.subject, kind.question_type) == (subject, question_type)


def test_five_out_of_seven_offers_seven_letters() -> None:
    kind = file_kind("2012-2022_English_Cloze_Test")
    assert kind is not None
    assert kind.letters == "ABCDEFG"


@pytest.mark.parametrize("keyword", ["Biology_MCQs", "2010-2022_Alchemy_MCQs", "2010-2022", ""])
def test_an_unknown_keyword_is_not_guessed(keyword: str) -> None:
    assert file_kind(keyword) is None


@pytest.mark.parametrize(
    ("published", "canonical"),
    [
        ("（新课标Ⅰ）", "新课标Ⅰ"),
        ("（新课标ⅰ）", "新课标Ⅰ"),
        ("（新课标i）", "新课标Ⅰ"),
        ("（新课标Ⅰ卷）", "新课标Ⅰ"),
        ("(新课标 III)", "新课标Ⅲ"),
        ("（新课标）", "新课标"),
        ("（新课标卷）", "新课标"),
        ("（甲卷）", "全国甲卷"),
        ("（全国甲卷）", "全国甲卷"),
        ("（全国卷ii）", "全国卷Ⅱ"),
        ("全国甲卷理科", "全国甲卷"),
        ("全国甲卷文科", "全国甲卷"),
        ("新课标全国Ⅰ卷", "新课标Ⅰ"),
        ("新课标卷", "新课标"),
        ("全国新高考Ⅱ卷", "新高考Ⅱ"),
        ("（新高考全国Ⅰ卷）", "新高考Ⅰ"),
        ("（解析版）", ""),
        ("", ""),
    ],
)
def test_one_paper_has_one_name(published: str, canonical: str) -> None:
    assert canonical_paper(published) == canonical


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"index": "0"}, "wrong_type"),
        ({"index": True}, "wrong_type"),
        ({"score": "6"}, "wrong_type"),
        ({"score": 0}, "bad_value"),
        ({"score": 1e9}, "bad_value"),
        ({"score": 0.333333}, "bad_value"),
        ({"question": "  "}, "missing_key"),
        ({"question": 3}, "wrong_type"),
        ({"answer": "B"}, "wrong_type"),
        ({"answer": []}, "wrong_type"),
        ({"answer": ["B", ""]}, "wrong_type"),
        ({"year": "around 2010"}, "bad_value"),
        ({"category": None}, "wrong_type"),
    ],
)
def test_a_wrong_item_refuses_the_file_and_is_named(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    file = read_one(write(tmp_path, [ITEM, ITEM | {"index": 1} | change]))
    assert file.refused
    (problem,) = file.problems
    assert (problem.row, problem.code) == (2, code)
    assert "Item 2" in problem.text


def test_a_score_with_many_decimals_is_told_of_them(tmp_path: Path) -> None:
    (problem,) = read_one(write(tmp_path, [ITEM | {"score": 0.333333}])).problems
    assert problem.text == "Item 1: 'score' has more than 2 decimals."


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / "Data" / str(year)).mkdir(parents=True)
        paper = {"keywords": f"{year}_Biology_MCQs", "example": [ITEM, ITEM]}
        (tmp_path / "Data" / str(year) / "biology.json").write_text(json.dumps(paper))
    files = list(read_gaokao_bench(tmp_path))
    assert [file.name for file in files] == ["Data/2023/biology.json", "Data/2024/biology.json"]
    assert all(problem.file == file.name for file in files for problem in file.problems)


def test_an_index_that_stands_twice_refuses_the_file(tmp_path: Path) -> None:
    file = read_one(write(tmp_path, [ITEM, ITEM]))
    assert file.refused
    assert [(problem.row, problem.code) for problem in file.problems] == [(2, "duplicate_id")]


@pytest.mark.parametrize(
    ("text", "row", "code"),
    [
        ('{"keywords": "2010-2022_Biology_MCQs",\n "example": [{"index": 0,]}', 2, "broken_json"),
        ('{"example": [{"index": 0}, {"index": 1, "index": 2}]}', 2, "duplicate_key"),
        ('{"example": [{"score": NaN}]}', 1, "not_a_number"),
        ('{"example": [{"score": 1e999}]}', 1, "number_out_of_range"),
        ("[" * 60 + "]" * 60, None, "too_deep"),
        ("[1]", None, "not_an_object"),
        ('{"keyword": 3, "example": [{}]}', None, "wrong_type"),
        ('{"keyword": "2010-2022_Biology_MCQs", "example": {}}', None, "wrong_type"),
        ('{"keyword": "2010-2022_Biology_MCQs", "example": [3]}', 1, "wrong_type"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(
    tmp_path: Path, text: str, row: int | None, code: str
) -> None:
    (tmp_path / "broken.json").write_text(text, encoding="utf-8")
    file = read_one(tmp_path)
    assert file.refused
    assert [(p.file, p.row, p.code) for p in file.problems] == [("broken.json", row, code)]


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gbk.json").write_bytes('{"question": "题目"}'.encode("gbk"))
    assert [problem.code for problem in read_one(tmp_path).problems] == ["not_utf8"]


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_FILE_BYTES", 100)
    assert [p.code for p in read_one(write(tmp_path, [ITEM])).problems] == ["file_too_large"]


def test_nothing_there_is_said(tmp_path: Path) -> None:
    assert [p.code for p in read_one(tmp_path).problems] == ["no_files"]
    assert [p.code for p in read_one(tmp_path / "gone.json").problems] == ["unreadable"]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"examples": [{"type": "single_choice"}]}, "prompts_file"),
        ({"model_name": "m", "total_score": 1}, "summary_file"),
        ({"name": "something"}, "not_of_the_benchmark"),
        ({"keyword": "2010-2022_Biology_MCQs", "example": [{"model_output": ""}]}, "answers_file"),
        ({"keyword": "2010-2022_Alchemy", "example": [ITEM]}, "unknown_keyword"),
    ],
)
def test_other_files_are_recognised_and_passed_over(
    tmp_path: Path, document: dict[str, Any], code: str
) -> None:
    (tmp_path / "other.json").write_text(json.dumps(document), encoding="utf-8")
    file = read_one(tmp_path)
    assert not file.refused
    assert not file.records
    assert [problem.code for problem in file.problems] == [code]


def test_one_keyword_comes_from_one_file(tmp_path: Path) -> None:
    write(tmp_path, [ITEM])
    (tmp_path / "copy").mkdir()
    write(tmp_path / "copy", [ITEM])
    codes = [[problem.code for problem in file.problems] for file in read_gaokao_bench(tmp_path)]
    assert codes == [[], ["duplicate_keyword"]]


def test_the_math_file_for_both_streams_is_named(tmp_path: Path) -> None:
    file = read_one(write(tmp_path, [ITEM], "2023_Math_MCQs"))
    assert file.records[0].subject is None
    assert [problem.code for problem in file.problems] == ["both_streams"]


def test_text_that_no_database_stores_is_replaced_and_kept_beside(tmp_path: Path) -> None:
    file = read_one(write(tmp_path, [ITEM | {"analysis": "a\x00b"}]))
    (record,) = file.records
    assert record.analysis == "a\ufffdb"
    assert record.extra == {"raw:analysis": "YQBi"}  # base64 of a, NUL, b
    assert [(problem.row, problem.code) for problem in file.problems] == [(1, "text_cleaned")]


# ---- later papers, which are published a year at a time ----


def test_the_math_file_takes_its_stream_from_the_paper(tmp_path: Path) -> None:
    items = [
        ITEM | {"index": index, "category": category}
        for index, category in enumerate(["全国甲卷理科", "全国甲卷文科", "新课标Ⅰ卷"])
    ]
    file = read_one(write(tmp_path, items, "2023_Math_MCQs"))
    assert [record.subject for record in file.records] == [
        Subject.SCIENCES_MATHEMATICS,
        Subject.HUMANITIES_MATHEMATICS,
        None,
    ]
    assert [record.paper for record in file.records] == ["全国甲卷", "全国甲卷", "新课标Ⅰ"]
    (problem,) = file.problems
    assert (problem.code, problem.text[:8]) == ("both_streams", "1 items ")


def test_one_file_mixes_years_as_texts_and_numbers_and_single_and_multiple_keys(
    tmp_path: Path,
) -> None:
    five = "Which?\nA. a\nB. b\nC. c\nD. d\nE. e"
    items = [
        ITEM | {"year": "2023"},
        ITEM | {"index": 1, "year": 2023, "answer": ["ABD"]},
        ITEM | {"index": 2, "year": 2023, "answer": ["E"], "question": five},
        ITEM | {"index": 3, "answer": ["A", "C"]},
    ]
    file = read_one(write(tmp_path, items, "2023_Math_MCQs"))
    assert [record.question_type for record in file.records] == [
        QuestionType.SINGLE_CHOICE,
        QuestionType.MULTIPLE_CHOICE,
        QuestionType.SINGLE_CHOICE,
        QuestionType.SEVERAL_QUESTIONS,
    ]
    assert [record.year for record in file.records] == [2023, 2023, 2023, 2015]
    assert [record.letters for record in file.records] == ["ABCD", "ABCD", "ABCDE", "ABCD"]
    assert [record.full_marks for record in file.records] == [6, 6, 6, 12]
    assert [problem.code for problem in file.problems] == ["both_streams"]


def test_a_physics_item_with_five_options_offers_five_letters(tmp_path: Path) -> None:
    stem = "哪些正确\nA. 甲\nB. 乙\nC. 丙\nD. 丁\nE. 戊"
    item = ITEM | {"year": 2023, "question": stem, "answer": ["BDE"]}
    file = read_one(write(tmp_path, [item], "2023_Physics_MCQs"))
    assert (file.records[0].letters, file.records[0].answer_key) == ("ABCDE", ("BDE",))
    assert file.problems == ()


@pytest.mark.parametrize("blanks", [15, 20])
def test_a_cloze_has_as_many_blanks_as_answers(tmp_path: Path, blanks: int) -> None:
    item = ITEM | {"answer": ["A", "B", "C"] * (blanks // 3) + ["D"] * (blanks % 3), "score": 1.5}
    (record,) = read_one(write(tmp_path, [item], "2023_English_Fill_in_Blanks")).records
    assert (len(record.answer_key), record.full_marks) == (blanks, blanks * Decimal("1.5"))


@pytest.mark.parametrize(
    ("category", "paper", "subject"),
    [
        ("所以渐近线取 $y=2x$,\n则圆心到渐近线距离" + "为一" * 40, "", None),
        ("方法二: $a=5$.故选: C\n全国甲卷文科", "全国甲卷", Subject.HUMANITIES_MATHEMATICS),
        ("所以 $x=1$.故选: 全国新高考Ⅱ卷", "新高考Ⅱ", None),
    ],
)
def test_a_category_with_a_slipped_text_keeps_it_and_its_paper(
    tmp_path: Path, category: str, paper: str, subject: Subject | None
) -> None:
    file = read_one(write(tmp_path, [ITEM | {"category": category}], "2023_Math_MCQs"))
    (record,) = file.records
    assert (record.paper, record.subject) == (paper, subject)
    assert (record.paper_published, record.extra) == ("", {"category": category})
    assert "category_odd" in [problem.code for problem in file.problems]


def test_an_import_of_later_papers_adds_tasks_to_the_same_dataset(tmp_path: Path) -> None:
    (tmp_path / "Data").mkdir()
    write(tmp_path / "Data", [ITEM], "2010-2022_Biology_MCQs")
    write(tmp_path / "Data", [ITEM | {"year": 2023}], "2023_Biology_MCQs")
    files = list(read_gaokao_bench(tmp_path))
    assert [file.records[0].task for file in files] == [
        "2010-2022_Biology_MCQs",
        "2023_Biology_MCQs",
    ]


@pytest.mark.shareddata
def test_the_published_benchmark_is_read_whole(shared_data: Path) -> None:
    files = list(read_gaokao_bench(shared_data / "gaokao-bench"))
    records = [record for file in files for record in file.records]
    objective = [record for record in records if record.part is Part.OBJECTIVE]
    assert len(files) == len(PUBLISHED) == 32
    assert not [problem for file in files for problem in file.problems]
    assert (len(objective), len(records) - len(objective)) == (1781, 1030)
    assert sum(len(record.answer_key) for record in objective) == 2944
    assert sum(record.full_marks for record in objective) == 9702
    assert {record.paper for record in records} == {
        "新课标",
        "新课标Ⅰ",
        "新课标Ⅱ",
        "新课标Ⅲ",
        "全国卷Ⅱ",
        "全国卷Ⅲ",
        "全国甲卷",
        "全国乙卷",
        "",
    }


@pytest.mark.shareddata
def test_the_types_are_those_of_the_published_prompts(shared_data: Path) -> None:
    prompts = [
        entry
        for name in ("Obj_Prompt", "Sub_Prompt")
        for entry in json.loads((shared_data / f"gaokao-bench/Bench/{name}.json").read_text())[
            "examples"
        ]
    ]
    kinds = {entry["keyword"]: file_kind(entry["keyword"]) for entry in prompts}
    assert {key: kind and kind.question_type for key, kind in kinds.items()} == {
        entry["keyword"]: entry["type"] for entry in prompts
    }
