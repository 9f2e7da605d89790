"""AGIEval's files: items of each kind, printed letters, few-shot examples, and refusals."""

from __future__ import annotations

import csv
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gradeapp.common import strict_json
from questions.importers.agieval import read_agieval
from questions.importers.agieval_items import read_options
from questions.importers.agieval_tasks import TASKS
from questions.importers.papers import examination_paper
from questions.importers.records import QuestionRecord, SourceFile
from questions.rules.vocabulary import Language, QuestionType, Subject

ITEM: dict[str, Any] = {
    "passage": "A passage.",
    "question": "Which one?",
    "options": ["(A)one", "(B)two", "(C)three", "(D)four"],
    "label": "B",
    "answer": None,
    "other": None,
}
CLOZE = ITEM | {"passage": None, "options": None, "label": None, "answer": "$5$;$10$"}


def write(folder: Path, *items: dict[str, Any], task: str = "lsat-ar") -> Path:
    file = folder / f"{task}.jsonl"
    lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    file.write_text("".join(lines), encoding="utf-8")
    return file


def read(path: Path) -> SourceFile:
    (file,) = read_agieval(path)
    return file


def one(folder: Path, item: dict[str, Any], task: str = "lsat-ar") -> QuestionRecord:
    file = read(write(folder, item, task=task))
    assert not file.refused, file.problems
    (record,) = file.records
    return record


def codes(file: SourceFile) -> list[str]:
    return [problem.code for problem in file.problems]


def test_an_item_is_read_with_its_parts_apart(tmp_path: Path) -> None:
    record = one(tmp_path, ITEM)
    assert (record.passage, record.stem) == ("A passage.", "Which one?")
    assert (record.letters, record.options) == ("ABCD", ("one", "two", "three", "four"))
    assert record.answer_key == ("B",)
    assert record.question_type is QuestionType.SINGLE_CHOICE
    assert (record.language, record.subject) == (Language.ENGLISH, None)
    assert (record.dataset, record.task, record.external_id) == ("agieval", "lsat-ar", "0")
    assert record.full_marks == 1


def test_source_and_solution_become_paper_and_analysis(tmp_path: Path) -> None:
    other = {"source": "2021年生物试卷（新课标ⅲ）", "solution": "because", "level": 5}
    record = one(tmp_path, ITEM | {"other": other}, "gaokao-biology")
    assert (record.year, record.paper) == (2021, "新课标Ⅲ")
    assert record.paper_published == "2021年生物试卷（新课标ⅲ）"
    assert (record.analysis, record.extra) == ("because", {"level": "5"})
    assert (record.subject, record.language) == (Subject.BIOLOGY, Language.CHINESE)


@pytest.mark.parametrize(
    ("task", "label", "key", "question_type"),
    [
        ("lsat-ar", "B", "B", QuestionType.SINGLE_CHOICE),
        ("gaokao-mathqa", "A B D", "ABD", QuestionType.MULTIPLE_CHOICE),
        ("gaokao-mathqa", "D", "D", QuestionType.SINGLE_CHOICE),
        ("gaokao-physics", ["D", "A"], "AD", QuestionType.MULTIPLE_CHOICE),
        ("gaokao-physics", "C", "C", QuestionType.MULTIPLE_CHOICE),
        ("jec-qa-kd", ["B"], "B", QuestionType.MULTIPLE_CHOICE),
        ("jec-qa-kd", [], "", QuestionType.MULTIPLE_CHOICE),
        ("lsat-ar", None, "", QuestionType.SINGLE_CHOICE),
    ],
)
def test_a_label_is_a_set_of_letters_and_several_make_a_multiple_choice(
    tmp_path: Path, task: str, label: object, key: str, question_type: QuestionType
) -> None:
    record = one(tmp_path, ITEM | {"label": label}, task)
    assert (record.answer_key, record.question_type) == ((key,), question_type)


def test_an_odd_sign_in_a_label_is_named(tmp_path: Path) -> None:
    file = read(write(tmp_path, ITEM | {"label": ["A", "D", "。"]}, task="jec-qa-ca"))
    assert file.records[0].answer_key == ("AD",)
    assert codes(file) == ["label_cleaned"]


def test_keys_that_only_a_person_can_settle_are_named(tmp_path: Path) -> None:
    file = read(write(tmp_path, ITEM | {"label": "E"}, ITEM | {"label": None}, CLOZE))
    assert [(p.row, p.code, p.fatal) for p in file.problems] == [
        (1, "key_outside_letters", False),
        (2, "empty_key", False),
    ]


@pytest.mark.parametrize(("answer", "named"), [("", ["empty_key"]), (" \\frac12 ", [])])
def test_an_exact_answer_is_kept_as_published(
    tmp_path: Path, answer: str, named: list[str]
) -> None:
    file = read(write(tmp_path, CLOZE | {"answer": answer}, task="math"))
    (record,) = file.records
    assert record.question_type is QuestionType.EXACT_ANSWER
    assert (record.answer_key, record.letters) == ((answer.strip(),), "")
    assert codes(file) == named


def test_two_blanks_with_dollar_signs_are_one_key(tmp_path: Path) -> None:
    other = {"source": "2022年数学试卷（理科）（新课标ⅱ）"}
    record = one(tmp_path, CLOZE | {"other": other}, "gaokao-mathcloze")
    assert record.answer_key == ("$5$;$10$",)
    assert record.subject is Subject.SCIENCES_MATHEMATICS
    assert one(tmp_path, CLOZE, "gaokao-mathcloze").subject is None


@pytest.mark.parametrize(
    ("options", "texts", "note"),
    [
        (["(A)one", "(B) two"], ("one", "two"), None),
        (["（A）一", "（B）二"], ("一", "二"), None),
        (["A．甲。", "B。乙。"], ("甲。", "乙。"), None),
        (["A: one", "(B)two"], ("one", "two"), None),
        (["A .one", "B、two"], ("one", "two"), None),
        (["A 没有党参", "B 没有首乌"], ("没有党参", "没有首乌"), None),
        (["(A)A is a doctor", "(B)I am a doctor"], ("A is a doctor", "I am a doctor"), None),
        (["(A)1", "(C)3", "(B)2", "(D)4"], ("1", "2", "3", "4"), "options_reordered"),
        (["(A)1", "(B)2", "(C)3", "(C)4"], ("1", "2", "3", "4"), "option_letters"),
        (["A man left.", "Two men left."], ("A man left.", "Two men left."), "option_letters"),
        (["錀", "镭", "(C)铼", "(D)氡"], ("錀", "镭", "铼", "氡"), "option_letters"),
    ],
)
def test_printed_letters_are_taken_off(
    options: list[str], texts: tuple[str, ...], note: str | None
) -> None:
    read = read_options(options)
    assert read.texts == texts
    assert read.letters == "ABCD"[: len(options)]
    assert (read.note[0] if read.note else None) == note


@pytest.mark.parametrize(
    ("source", "year", "paper"),
    [
        ("2019年高考新课标全国3卷理综化学", 2019, "新课标Ⅲ"),
        ("2020年高考真题数学【新高考全国Ⅰ卷】(山东卷)", 2020, "新高考Ⅰ"),
        ("2021新高考1卷数学", 2021, "新高考Ⅰ"),
        ("2022年全国新高考II卷数学", 2022, "新高考Ⅱ"),
        ("2010年数学试卷（理科）（大纲版ⅱ）", 2010, "大纲版Ⅱ"),
        ("2014年物理试卷（大纲卷）", 2014, "大纲版"),
        ("2019年全国高考I卷理综(化学)试题", 2019, "全国卷Ⅰ"),
        ("2022年全国高考乙卷数学", 2022, "全国乙卷"),
        ("2021年文综地理（全国甲卷）", 2021, "全国甲卷"),
        ("浙江省2022年1月普通高中学业水平选择性考试地理试题", 2022, "浙江卷1月"),
        ("2017年浙江省高考地理【11月】", 2017, "浙江卷11月"),
        ("2011年数学试卷（理科）（新课标）", 2011, "新课标"),
        ("2018年天津市高考化学试卷", 2018, "天津卷"),
        ("模拟卷", None, ""),
    ],
)
def test_a_paper_has_a_year_and_one_name(source: str, year: int | None, paper: str) -> None:
    found = examination_paper(source)
    assert (found.year, found.paper) == (year, paper)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"question": " "}, "bad_value"),
        ({"question": 3}, "wrong_type"),
        ({"options": "ABCD"}, "wrong_type"),
        ({"options": ["(A)one", 2]}, "wrong_type"),
        ({"options": ["(A)one"]}, "bad_value"),
        ({"options": ["x"] * 11}, "bad_value"),
        ({"label": 3}, "wrong_type"),
        ({"label": [["A"]]}, "wrong_type"),
        ({"other": ["x"]}, "wrong_type"),
        ({"other": {"level": [1]}}, "wrong_type"),
        ({"other": {"source": "卷" * 81}}, "too_long"),
        ({"colour": "red"}, "unknown_key"),
    ],
)
def test_a_wrong_item_refuses_the_file_and_is_named(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    file = read(write(tmp_path, ITEM, ITEM | change))
    assert file.refused
    assert [(p.file, p.row, p.code) for p in file.problems] == [("lsat-ar.jsonl", 2, code)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{oops", "broken_json"),
        (b"[1]", "not_an_object"),
        (b'{"question": ' + b"[" * 100_000, "too_deep"),
        (b'{"label": ' + b"9" * 5000 + b"}", "number_out_of_range"),
        (b'{"label": NaN}', "not_a_number"),
        (b'{"label": "A", "label": "B"}', "duplicate_key"),
        ('{"question": "题目"}'.encode("gbk"), "not_utf8"),
        ('{"question": "题目"}'.encode("utf-16"), "not_utf8"),
        (b'{"question": "a\x00b"}', "broken_json"),
        (b'{"question": "' + b"x" * strict_json.MAX_LINE_BYTES + b'"}', "line_too_long"),
    ],
    ids=lambda value: value if isinstance(value, str) else "line",
)
def test_a_broken_line_refuses_the_file_and_is_named(
    tmp_path: Path, line: bytes, code: str
) -> None:
    file = write(tmp_path, ITEM)
    file.write_bytes(file.read_bytes() + line)
    found = read(file)
    assert found.refused
    assert [(p.row, p.code) for p in found.problems] == [(2, code)]


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_LINES_BYTES", 100)
    file = read(write(tmp_path, ITEM))
    assert [(p.code, p.fatal) for p in file.problems] == [("file_too_large", True)]


def test_nul_in_a_text_is_replaced_and_kept_beside(tmp_path: Path) -> None:
    file = read(write(tmp_path, ITEM | {"passage": "a\x00b"}))
    assert codes(file) == ["text_cleaned"]
    assert file.records[0].passage == "a\ufffdb"
    assert file.records[0].extra == {"raw:passage": "YQBi"}


def test_files_that_are_no_task_are_passed_over(tmp_path: Path) -> None:
    file = read(write(tmp_path, ITEM, task="sat-latin"))
    assert (codes(file), file.refused, file.records) == (["unknown_task"], False, ())


@pytest.mark.parametrize(("make", "code"), [("folder", "no_files"), ("file", "empty")])
def test_nothing_there_is_said(tmp_path: Path, make: str, code: str) -> None:
    path = tmp_path if make == "folder" else write(tmp_path)
    assert codes(read(path)) == [code]
    assert codes(read(tmp_path / "gone" / "lsat-ar.jsonl")) == ["unreadable"]


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "v1"
    folder.mkdir()
    (folder / "lsat-ar.jsonl").symlink_to(write(tmp_path, ITEM))
    assert codes(read(folder)) == ["link_leads_out"]


# ---- few_shot_prompts.csv ----


def write_examples(folder: Path, *rows: list[str]) -> Path:
    write(folder, ITEM)
    with (folder / "few_shot_prompts.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return folder


def test_examples_come_with_their_explanation(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    sample = repr(ITEM | {"options": ["A. one\tB. two\r\nC. three"]})
    write_examples(
        tmp_path,
        ["", "lsat-ar", "math"],
        ["sample 1", sample, ""],
        ["explanation 1", "Because.", ""],
        ["sample 2", repr(ITEM), repr(CLOZE)],
        ["explanation 2", "", "Both."],
    )
    examples, task = read_agieval(tmp_path)
    assert (examples.name, examples.problems) == ("few_shot_prompts.csv", ())
    first, second = task.tasks[0].examples
    assert (first.number, first.options, first.answer_key) == (1, ("one", "two", "three"), ("B",))
    assert (first.passage, first.explanation) == ("A passage.", "Because.")
    assert (second.number, second.explanation) == (2, "")


@pytest.mark.parametrize(
    ("rows", "row", "code"),
    [
        ([["", "lsat-ar"], ["sample 1", "__import__('os').getcwd()"]], 2, "broken_literal"),
        ([["", "lsat-ar"], ["sample 1", "{'question': "]], 2, "broken_literal"),
        ([["", "lsat-ar"], ["sample 1", "[" * 90 + "]" * 90]], 2, "too_deep"),
        ([["", "lsat-ar"], ["sample 1", "-" * 90_000 + "1"]], 2, "broken_literal"),
        ([["", "lsat-ar"], ["sample 1", "9" * 90_000]], 2, "broken_literal"),
        ([["", "lsat-ar"], ["sample 1", "[1]"]], 2, "not_an_object"),
        ([["", "lsat-ar"], ["sample 1", "{'question': 'a'}"]], 2, "missing_key"),
        ([["", "sat-latin"], ["sample 1", repr(ITEM)]], 2, "unknown_task"),
        ([["", "lsat-ar"], ["example 1", repr(ITEM)]], 2, "bad_value"),
        ([["", "lsat-ar"], ["sample 1"]], None, "broken_csv"),
    ],
)
def test_broken_examples_refuse_their_file_and_no_other(
    tmp_path: Path, rows: list[list[str]], row: int | None, code: str
) -> None:
    examples, task = read_agieval(write_examples(tmp_path, *rows))
    assert [(p.file, p.row, p.code, p.fatal) for p in examples.problems] == [
        ("few_shot_prompts.csv", row, code, True)
    ]
    assert (len(task.records), task.tasks[0].examples) == (1, ())


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("题目".encode("gbk"), "not_utf8"),
        (",lsat-ar\n".encode("utf-16"), "not_utf8"),
        (b",lsat-ar\nsample 1,\x00\n", "broken_csv"),
        (b',lsat-ar\nsample 1,"a"b\n', "broken_csv"),
        (b"", "broken_csv"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    write(tmp_path, ITEM)
    (tmp_path / "few_shot_prompts.csv").write_bytes(content)
    examples, task = read_agieval(tmp_path)
    assert [p.code for p in examples.problems] == [code]
    assert not task.refused


# ---- the published benchmark ----


@pytest.mark.shareddata
def test_the_published_benchmark_is_read_whole(shared_data: Path) -> None:
    examples, *files = read_agieval(shared_data / "agieval")
    records = [record for file in files for record in file.records]
    assert examples.problems == ()
    assert {file.name.removesuffix(".jsonl") for file in files} == set(TASKS)
    assert len(records) == 8269
    assert Counter(p.code for file in files for p in file.problems) == {
        "options_reordered": 38,
        "option_letters": 6,
        "label_cleaned": 1,
        "empty_key": 1,
    }
    assert sum(len(file.tasks[0].examples) for file in files) == 83
    types = Counter(record.question_type for record in records)
    assert types[QuestionType.EXACT_ANSWER] == 1118
    assert types[QuestionType.MULTIPLE_CHOICE] == 1000 + 1000 + 200 + 7
    gaokao = [record for record in records if record.task.startswith("gaokao")]
    assert all(record.year and record.paper for record in gaokao)
    assert len({record.paper for record in gaokao}) == 36
    assert [f.records for f in read_agieval(shared_data / "agieval" / "v1")] == [
        file.records for file in files
    ]


def test_a_valve_keeps_its_letter_when_options_were_printed_in_two_columns() -> None:
    # logiqa-zh 108: opening valve 1 needs 2 open and 5, then 4 closed, so 3 open. The key is B.
    printed = ["(A) 2和4", "(C) 3和5", "(B) 2和3", "(D) 4和5"]
    read = read_options(printed)
    assert read.texts[read.letters.index("B")] == "2和3"


def test_human_performance_is_that_of_the_paper() -> None:
    assert len(TASKS) == 21
    assert (TASKS["math"].average, TASKS["math"].top) == (Decimal("0.4"), Decimal("0.9"))
    assert (TASKS["lsat-rc"].average, TASKS["jec-qa-kd"].top) == (Decimal("0.56"), Decimal("0.78"))
    # The 21 figures of the paper's table added up by hand, so that no single one is misread.
    sums = [sum(getattr(task, kind) for task in TASKS.values()) for kind in ("average", "top")]
    assert sums == [Decimal("14.08"), Decimal("19.06")]
