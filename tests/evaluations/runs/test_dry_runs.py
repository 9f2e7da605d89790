"""The published prompts through the command: byte for byte, with every step."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from questions.models import Question

pytestmark = [pytest.mark.django_db, pytest.mark.shareddata, pytest.mark.once]


def lines(name: str, *arguments: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command(name, *arguments, "--format", "json", stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_agieval_asks_what_its_program_asks(shared_data: Path, tmp_path: Path) -> None:
    """Three tasks in four settings, four questions each, by the published program."""
    golden = json.loads((shared_data.parent / "cases" / "agieval_prompts.json").read_text("utf-8"))
    source = tmp_path / "agieval" / "v1"
    source.mkdir(parents=True)
    for task in golden:
        shutil.copy(shared_data / "agieval" / "v1" / f"{task}.jsonl", source)
    for name in ("few_shot_prompts.csv", "prompts.json"):
        shutil.copy(shared_data / "agieval" / name, source.parent)
    lines("import_questions", "agieval", str(source.parent))
    lines("import_prompts", "agieval", str(shared_data / "agieval"))
    compared = 0
    for setting in ("zero-shot", "zero-shot-cot", "few-shot", "few-shot-cot"):
        calls = lines(
            *("run_model", "--dry-run", "--dataset", "agieval", "--prompts", "agieval"),
            *("--setting", setting, "--tasks", ",".join(golden)),
            *("--assume-reply", "REPLY-OF-STEP-ONE"),
        )
        found = {(call["task"], call["index"], call["step"]): call["messages"] for call in calls}
        for task, settings in golden.items():
            (name,) = [name for name in settings if name.lower() == setting]
            for case in settings[name]:
                assert found[task, case["index"], 1] == case["messages"]
                second = case.get("second_step")
                assert found.get((task, case["index"], 2)) == second
                compared += 1
    assert compared == 48


def test_gaokao_bench_asks_with_its_files(shared_data: Path) -> None:
    """All 32 prompt files; the error correction compares the first text with the new one."""
    folder = shared_data / "gaokao-bench"
    lines("import_questions", "gaokao-bench", str(folder))
    lines("import_prompts", "gaokao-bench", str(folder))
    entries = [
        entry
        for name in ("Obj_Prompt.json", "Sub_Prompt.json")
        for entry in json.loads((folder / "Bench" / name).read_text("utf-8"))["examples"]
    ]
    assert len(entries) == 32
    calls = lines(
        *("run_model", "--dry-run", "--dataset", "gaokao-bench", "--prompts", "gaokao-bench"),
        *("--temperature", "0.3", "--assume-reply", "【答案】 I was young. <eoa>"),
    )
    tasks = set(Question.objects.values_list("task__slug", flat=True))
    by_task: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        by_task.setdefault(call["task"], []).append(call)
    assert set(by_task) == tasks == {entry["keyword"] for entry in entries}
    for entry in entries:
        prompts = entry["prefix_prompt"]
        prompts = prompts if isinstance(prompts, list) else [prompts]
        file = next((folder / "Data").glob(f"*/{entry['keyword']}.json"))
        rows = json.loads(file.read_text("utf-8"))["example"]
        for call in by_task[entry["keyword"]]:
            system, user = call["messages"]
            assert system == {"role": "system", "content": prompts[call["step"] - 1]}
            assert call["params"]["temperature"] == 0.3
            asked = rows[call["index"]]["question"].strip() + "\n"
            if call["step"] == 1:
                assert user == {"role": "user", "content": asked}
            else:
                article = asked.split("不计分。")[1]
                assert user["content"] == f"Article 1:{article}\nArticle 2:I was young."
        assert len(by_task[entry["keyword"]]) == len(prompts) * len(
            {call["index"] for call in by_task[entry["keyword"]]}
        )
