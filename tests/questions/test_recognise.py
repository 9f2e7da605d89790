"""What an uploaded folder is, told by what its files hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from questions.importers.recognise import data_files, recognised, roots, source_root
from questions.services.imports import READERS

SAMPLE = Path(__file__).resolve().parents[2] / "questions" / "sample" / "gradeapp-sample"
OWN = {"dataset": "exam", "task": "t", "id": "1", "stem": "?"}
AGIEVAL = {"passage": None, "question": "?", "options": ["(A)1"], "label": "A", "other": None}


def write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def test_our_own_format() -> None:
    assert recognised(SAMPLE) == "jsonl"
    assert roots(SAMPLE, "jsonl") == [SAMPLE]
    assert len(data_files(SAMPLE, "jsonl")) == 10


def test_wrapping_folders_are_gone_through(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "exam.jsonl", OWN)
    write(tmp_path / "a" / "b" / "images" / "x.json", {})
    assert source_root(tmp_path) == tmp_path / "a" / "b"


def test_the_folder_that_a_reader_knows_by_name_is_kept(tmp_path: Path) -> None:
    paper = {"keywords": "2023_Biology_MCQs", "example": []}
    write(tmp_path / "Data" / "Objective_Questions" / "renamed.json", paper)
    assert source_root(tmp_path) == tmp_path
    assert recognised(tmp_path) == "gaokao-bench"
    assert [file.name for file in data_files(tmp_path, "gaokao-bench")] == ["renamed.json"]


def test_agieval_by_its_keys_and_agibench_by_its_file(tmp_path: Path) -> None:
    write(tmp_path / "eval" / "v1" / "lsat-ar.jsonl", AGIEVAL)
    write(tmp_path / "bench" / "datasets.json", [])
    assert recognised(tmp_path / "eval") == "agieval"
    assert recognised(tmp_path / "bench") == "agibench"


def test_an_export_of_several_datasets_has_several_roots(tmp_path: Path) -> None:
    write(tmp_path / "one" / "t.jsonl", OWN)
    write(tmp_path / "two" / "t.jsonl", OWN)
    (tmp_path / "two" / "images").mkdir()
    assert roots(tmp_path, "jsonl") == [tmp_path / "one", tmp_path / "two"]


def test_a_broken_first_line_is_still_of_its_source(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"dataset": "exam", "task": "t", "id": 1', encoding="utf-8")
    assert recognised(tmp_path) == "jsonl", "the reader then says what is broken"


@pytest.mark.parametrize("content", ["", "[]", "null", "\ufeff", '{"a": 1}', "\x00\x01"])
def test_anything_else_is_not_guessed(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.jsonl").write_text(content, encoding="utf-8")
    (tmp_path / "b.json").write_text(content, encoding="utf-8")
    assert recognised(tmp_path) == ""


def test_a_suffix_is_known_in_any_case(tmp_path: Path) -> None:
    write(tmp_path / "own" / "a.JSONL", OWN)
    write(tmp_path / "own" / "b.jsonl", OWN)
    assert [file.name for file in data_files(tmp_path / "own", "jsonl")] == ["a.JSONL", "b.jsonl"]
    assert recognised(tmp_path / "own") == "jsonl"
    paper = {"keywords": "2023_Biology_MCQs", "example": []}
    write(tmp_path / "gaokao" / "Data" / "biology.JSON", paper)
    assert recognised(tmp_path / "gaokao") == "gaokao-bench"
    assert len(data_files(tmp_path / "gaokao", "gaokao-bench")) == 1
    write(tmp_path / "eval" / "v1" / "lsat-ar.Jsonl", AGIEVAL)
    write(tmp_path / "eval" / "few_shot_prompts.CSV", "")
    assert recognised(tmp_path / "eval") == "agieval"
    names = [file.name for file in data_files(tmp_path / "eval", "agieval")]
    assert names == ["lsat-ar.Jsonl", "few_shot_prompts.CSV"]
    write(tmp_path / "bench" / "Datasets.JSON", [])
    assert recognised(tmp_path / "bench") == "agibench"
    assert len(data_files(tmp_path / "bench", "agibench")) == 1


@pytest.mark.parametrize("source", list(READERS))
def test_the_readers_go_through_these_files(tmp_path: Path, source: str) -> None:
    names = ("a.JSONL", "b.jsonl", "v1/c.jsonl", "d.json", "more/e.JSON", "datasets.Json", "x.csv")
    for name in (*names, "few_shot_prompts.csv", "v1/few_shot_prompts.csv"):
        write(tmp_path / name, {})
    read = [Path(file.name).name for file in READERS[source](tmp_path)]
    assert sorted(file.name for file in data_files(tmp_path, source)) == sorted(read)


@pytest.mark.shareddata
@pytest.mark.parametrize("name", ["gaokao-bench", "agieval", "agibench"])
def test_the_published_folders(shared_data: Path, name: str) -> None:
    assert recognised(source_root(shared_data / name)) == name
