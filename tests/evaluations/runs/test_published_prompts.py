"""The published prompts, made from the benchmarks' own files, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluations.runs.rules.prompting.compose import compose
from evaluations.runs.rules.prompting.items import PromptItem
from evaluations.runs.rules.prompting.prompt_sets import BrokenPromptSet, PromptSetContent
from evaluations.runs.rules.prompting.published_sets import agieval_set, gaokao_bench_set
from questions.importers.agieval_examples import raw_examples
from questions.rules.vocabulary import Language, QuestionType

pytestmark = [pytest.mark.shareddata, pytest.mark.once]


def read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


@pytest.fixture
def agieval(shared_data: Path) -> PromptSetContent:
    folder = shared_data / "agieval"
    examples = raw_examples(folder / "few_shot_prompts.csv")
    return agieval_set(read(folder / "prompts.json"), examples)


def asked(task: str, row: dict[str, Any], index: int) -> PromptItem:
    options = row["options"] or []
    return PromptItem(
        dataset="agieval",
        task=task,
        external_id=str(index),
        index=index,
        question_type=QuestionType.SINGLE_CHOICE if options else QuestionType.EXACT_ANSWER,
        language=Language.CHINESE,
        stem=row["question"],
        passage=row["passage"] or "",
        letters="ABCDE"[: len(options)],
        original={"options": " ".join(options)},
    )


def test_agieval_messages_equal_the_published_ones(
    shared_data: Path, agieval: PromptSetContent
) -> None:
    """Three tasks in four settings, with both steps; made by the published program."""
    golden = read(shared_data.parent / "cases" / "agieval_prompts.json")
    compared = 0
    for task, settings in golden.items():
        lines = (shared_data / "agieval" / "v1" / f"{task}.jsonl").read_text("utf-8").splitlines()
        for setting, cases in settings.items():
            for case in cases:
                item = asked(task, json.loads(lines[case["index"]]), case["index"])
                made = compose(agieval, setting.lower(), item)
                assert made.messages() == case["messages"]
                reply = case.get("second_step_reply")
                assert made.steps == (1 if reply is None else 2)
                if reply is not None:
                    assert made.messages(2, [reply]) == case["second_step"]
                compared += 1
    assert compared == 48


def test_agieval_has_words_and_examples_for_every_task(
    shared_data: Path, agieval: PromptSetContent
) -> None:
    """The published examples all fit into the published budget of 2,048."""
    for file in sorted((shared_data / "agieval" / "v1").glob("*.jsonl")):
        row = json.loads(file.read_text("utf-8").splitlines()[0])
        made = compose(agieval, "few-shot-cot", asked(file.stem, row, 0))
        assert made.examples_used >= 3
        assert made.examples_dropped == 0
    passages = [example.passage for example in agieval.examples["sat-en"]]
    without = agieval.examples["sat-en-without-passage"]
    assert all(passages)
    assert [example.passage for example in without] == [""] * 3
    assert [example.stem for example in without] == [
        example.stem for example in agieval.examples["sat-en"]
    ]
    # A published label may be a list, and is written as the published program writes it.
    assert agieval.examples["jec-qa-kd"][1].answer == "['A', 'B', 'C']"


def test_gaokao_bench_asks_with_the_prompts_of_its_files(shared_data: Path) -> None:
    bench = shared_data / "gaokao-bench" / "Bench"
    files = [read(bench / name) for name in ("Obj_Prompt.json", "Sub_Prompt.json")]
    prompts = gaokao_bench_set(*files)
    entries = [entry for file in files for entry in file["examples"]]
    assert len(prompts.templates) == len(entries) == 32
    for entry in entries:
        item = PromptItem(
            "gaokao-bench",
            entry["keyword"],
            "0",
            0,
            QuestionType.OPEN_ENDED,
            Language.CHINESE,
            stem=" 若 {x}，\\frac{1}{2} \n ",
        )
        made = compose(prompts, "zero-shot", item)
        first = entry["prefix_prompt"]
        first = first[0] if isinstance(first, list) else first
        assert made.messages() == [
            {"role": "system", "content": first},
            {"role": "user", "content": "若 {x}，\\frac{1}{2}\n"},
        ]
    assert [len(t.settings["zero-shot"].steps) for t in prompts.templates].count(2) == 1


def test_the_correction_task_compares_two_texts(shared_data: Path) -> None:
    """The text after the instructions, and the text of the first reply."""
    bench = shared_data / "gaokao-bench" / "Bench"
    published = read(bench / "Sub_Prompt.json")
    prompts = gaokao_bench_set(read(bench / "Obj_Prompt.json"), published)
    keyword = "2012-2022_English_Language_Error_Correction"
    (entry,) = [entry for entry in published["examples"] if entry["keyword"] == keyword]
    file = shared_data / "gaokao-bench" / "Data" / "Subjective_Questions" / f"{keyword}.json"
    for index, row in enumerate(read(file)["example"]):
        stem = row["question"]
        item = PromptItem(
            "gaokao-bench",
            keyword,
            str(index),
            index,
            QuestionType.CORRECTION,
            Language.ENGLISH,
            stem=stem,
        )
        made = compose(prompts, "zero-shot", item)
        article = (stem.strip() + "\n").split("不计分。")[1]
        assert made.messages(2, ["好。【答案】 I was {young}.\n<eoa> 【解析】"]) == [
            {"role": "system", "content": entry["prefix_prompt"][1]},
            {
                "role": "user",
                "content": "Article 1:" + article + "\nArticle 2:I was {young}.",
            },
        ]
        assert made.messages(2, ["no tags"])[1]["content"].endswith("\nArticle 2:")


def test_broken_files_are_refused_with_their_place() -> None:
    for files, place in (
        ([{}], "file 1"),
        ([{"examples": [{"keyword": 1}]}], "file 1, examples.1"),
        ([{"examples": [{"keyword": "a", "prefix_prompt": ["x"] * 3}]}], "file 1, examples.1"),
    ):
        with pytest.raises(BrokenPromptSet) as refused:
            gaokao_bench_set(*files)
        assert refused.value.problems[0].place == place
    for prompts, place in (
        ({}, "prompts.json"),
        ({"kinds": {"a": {}}}, "prompts.json, kinds.a"),
        (
            {
                "kinds": {
                    "a": {"example_question": "", "explanation_line": "", "example_answer": ""}
                }
            },
            "prompts.json, kinds.a.zero-shot",
        ),
    ):
        with pytest.raises(BrokenPromptSet) as refused:
            agieval_set(prompts, {})
        assert refused.value.problems[0].place == place
