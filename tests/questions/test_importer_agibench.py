"""AGIBench's file: what is read of an item, and what refuses the file."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gradeapp.common import strict_json
from questions.importers.agibench import read_agibench
from questions.importers.papers import civil_service_paper
from questions.importers.records import SourceFile
from questions.rules.four_tuple import difficulty_level, modal_of
from questions.rules.vocabulary import AbilityBranch, Modal
from tests.questions.image_world import png

PNG = png()
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"

ITEM: dict[str, Any] = {
    "Question": "如图![](images/a.png)所示，哪一项正确？",
    "Option_A": "![](images/b.png)",
    "Option_B": "二",
    "Option_C": "三",
    "Option_D": "四",
    "Answer": "B",
    "Accuracy": "61.25%",
    "Reason": "故正确答案为B。",
    "Source": "2022江苏A116～120",
    "Year": "2022",
    "Level": 2,
    "Ability Branch": "Reasoning",
    "Knowledge": "图形推理",
    "Knowledge Subclass": "位置规律",
    "Knowledge (EN)": "Graphic Reasoning",
    "Knowledge Subclass (EN)": "Positional Principles",
    "Image Context": True,
}


def write(folder: Path, *items: dict[str, Any]) -> Path:
    (folder / "images").mkdir(exist_ok=True)
    for name in ("a.png", "b.png"):
        (folder / "images" / name).write_bytes(PNG)
    (folder / "datasets.json").write_text(json.dumps(items, ensure_ascii=False), "utf-8")
    return folder


def read(path: Path) -> SourceFile:
    (file,) = read_agibench(path)
    return file


def test_an_item_is_read_with_all_that_is_published(tmp_path: Path) -> None:
    file = read(write(tmp_path, ITEM))
    (record,) = file.records
    assert file.problems == ()
    assert record.stem == "如图![](image:a.png)所示，哪一项正确？"
    assert record.options == ("![](image:b.png)", "二", "三", "四")
    assert (record.letters, record.answer_key) == ("ABCD", ("B",))
    assert record.images == ("a.png", "b.png")
    assert record.analysis == "故正确答案为B。"
    assert (record.year, record.paper, record.paper_published) == (
        *(2022, "江苏A"),
        "2022江苏A116～120",
    )
    assert record.labels is not None
    assert record.labels.ability_branch is AbilityBranch.REASONING
    assert record.labels.knowledge == "graphic-reasoning-positional-principles"
    assert record.labels.difficulty == 2
    assert [rate.value for rate in record.human_rates] == [Decimal("0.6125")]
    assert record.extra == {"Image Context": "true"}
    assert (record.external_id, record.full_marks) == ("0", 1)


def test_the_file_itself_is_taken_with_the_images_beside_it(tmp_path: Path) -> None:
    assert read(write(tmp_path, ITEM) / "datasets.json").records == read(tmp_path).records


def test_items_that_only_a_person_can_settle_are_taken_and_named(tmp_path: Path) -> None:
    empty = {f"Option_{letter}": "" for letter in "ABCD"}
    file = read(
        write(
            tmp_path,
            ITEM | {"Answer": "F"},
            ITEM | empty,
            ITEM | {"Answer": ""},
            ITEM | {"Level": 5},
            ITEM | {"Ability Branch": "Common Sense"},
            ITEM | {"Knowledge Subclass": "新的一类"},
        )
    )
    assert [(problem.row, problem.code) for problem in file.problems] == [
        (1, "key_outside_letters"),
        (3, "empty_key"),
        (4, "level_differs"),
        (5, "branch_differs"),
        (6, "unknown_knowledge"),
    ]
    assert not file.refused
    assert file.records[1].options == ("", "", "", "")
    assert file.records[5].extra["Knowledge Subclass"] == "新的一类"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"Question": " "}, "bad_value"),
        ({"Question": 3}, "wrong_type"),
        ({"Answer": "b"}, "bad_value"),
        ({"Accuracy": "101%"}, "bad_value"),
        ({"Accuracy": "0.61"}, "bad_value"),
        ({"Accuracy": "61.123%"}, "bad_value"),
        ({"Accuracy": 61}, "wrong_type"),
        ({"Level": 6}, "bad_value"),
        ({"Level": "2"}, "wrong_type"),
        ({"Year": "around 2010"}, "bad_value"),
        ({"Ability Branch": "Magic"}, "bad_value"),
        ({"Source": "卷" * 81}, "too_long"),
        ({"Other": [1]}, "wrong_type"),
        ({"Option_B": "![](images/gone.png)"}, "image_missing"),
        ({"Option_B": "![](a.png)"}, "image_name"),
        ({"Reason": "![](images/../../a.png)"}, "image_name"),
        ({"Reason": "![](/etc/passwd)"}, "image_name"),
        ({"Reason": "![](file:///etc/passwd)"}, "image_name"),
        ({"Reason": "![](images/..\\..\\a.png)"}, "image_name"),
        ({"Reason": "![](images/%2e%2e/a.png)"}, "image_name"),
        ({"Reason": "![](http://127.0.0.1/a.png)"}, "image_name"),
        ({"Reason": "![](data:image/svg+xml,x)"}, "image_name"),
        ({"Reason": "![](images/a.svg)"}, "image_svg"),
    ],
)
def test_a_wrong_item_refuses_the_file_and_is_named(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    file = read(write(tmp_path, ITEM, ITEM | change))
    assert file.refused
    assert [(p.file, p.row, p.code) for p in file.problems] == [("datasets.json", 2, code)]


def test_a_key_that_is_left_out_refuses_the_file(tmp_path: Path) -> None:
    item = {key: value for key, value in ITEM.items() if key != "Option_D"}
    assert [p.code for p in read(write(tmp_path, item)).problems] == ["missing_key"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (SVG, "image_content"),
        (b"GIF89a", "image_content"),
        (b"\xff\xd8\xff\xe0" + bytes(20), "image_content"),
    ],
)
def test_an_image_is_what_its_name_says(tmp_path: Path, content: bytes, code: str) -> None:
    write(tmp_path, ITEM)
    (tmp_path / "images" / "a.png").write_bytes(content)
    assert [(p.row, p.code) for p in read(tmp_path).problems] == [(1, code)]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    write(folder, ITEM)
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "images" / "a.png").unlink()
    (folder / "images" / "a.png").symlink_to(tmp_path / "secret.png")
    assert [p.code for p in read(folder).problems] == ["image_missing"]
    (folder / "datasets.json").rename(tmp_path / "elsewhere.json")
    (folder / "datasets.json").symlink_to(tmp_path / "elsewhere.json")
    assert [p.code for p in read(folder).problems] == ["link_leads_out"]


@pytest.mark.parametrize(
    ("content", "row", "code"),
    [
        (b"[{]", 1, "broken_json"),
        (b"{}", None, "not_an_array"),
        (b"[]", None, "empty"),
        (b"[3]", 1, "wrong_type"),
        (b"[" * 100_000, None, "too_deep"),
        (b'[{"Level": ' + b"9" * 5000 + b"}]", 1, "number_out_of_range"),
        (b'[{"Level": NaN}]', 1, "not_a_number"),
        (b'[{"Level": 1, "Level": 2}]', 1, "duplicate_key"),
        ('[{"Question": "题目"}]'.encode("gbk"), None, "not_utf8"),
        ('[{"Question": "题目"}]'.encode("utf-16"), None, "not_utf8"),
        (b'[{"Question": "a\x00b"}]', 1, "broken_json"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(
    tmp_path: Path, content: bytes, row: int | None, code: str
) -> None:
    (tmp_path / "datasets.json").write_bytes(content)
    file = read(tmp_path)
    assert file.refused
    assert [(p.row, p.code) for p in file.problems] == [(row, code)]


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_FILE_BYTES", 100)
    assert [p.code for p in read(write(tmp_path, ITEM)).problems] == ["file_too_large"]


def test_nul_in_a_text_is_replaced_and_kept_beside(tmp_path: Path) -> None:
    file = read(write(tmp_path, ITEM | {"Reason": "a\x00b"}))
    assert [(p.row, p.code, p.fatal) for p in file.problems] == [(1, "text_cleaned", False)]
    assert file.records[0].analysis == "a\ufffdb"
    assert file.records[0].extra["raw:Reason"] == "YQBi"


def test_reading_stops_after_a_hundred_problems(tmp_path: Path) -> None:
    file = read(write(tmp_path, *[ITEM | {"Answer": "?"}] * 200))
    assert len(file.problems) == 101
    assert file.problems[-1].code == "too_many_problems"


@pytest.mark.parametrize(
    ("source", "paper"),
    [
        ("2022福建10", "福建"),
        ("2021广东县级 91 ～95", "广东县级"),
        ("2022江苏 B116～120", "江苏B"),
        ("2020国考副省56～60", "国考副省"),
        ("", ""),
    ],
)
def test_a_paper_is_the_source_without_year_and_number(source: str, paper: str) -> None:
    assert civil_service_paper(source) == paper


@pytest.mark.shareddata
def test_the_published_benchmark_is_read_whole(shared_data: Path) -> None:
    file = read(shared_data / "agibench")
    assert len(file.records) == 927
    assert [(p.row, p.code) for p in file.problems] == [(596, "key_outside_letters")]
    labels = [record.labels for record in file.records]
    levels = [difficulty_level(record.human_rates[0].value) for record in file.records]
    assert [label and label.difficulty for label in labels] == levels
    assert len({label.knowledge for label in labels if label}) == 69
    assert sum(not any(record.options) for record in file.records) == 21
    # docs/datasets.md compares these with the paper's 863, 10, 38, 5 and 11.
    assert Counter(modal_of(r.stem, r.options, images=r.images) for r in file.records) == {
        Modal.TEXT: 858,
        Modal.TEXT_TABLE: 15,
        Modal.TEXT_IMAGE: 43,
        Modal.IMAGE: 5,
        Modal.TEXT_IMAGE_TABLE: 6,
    }
