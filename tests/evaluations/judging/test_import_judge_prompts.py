"""GAOKAO-Bench's own prompts for judges, from its file: kept word for word, in versions."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command

from evaluations.judging.rules.judge_prompt import judge_messages
from evaluations.judging.selectors import prompts_to_choose
from evaluations.judging.services.judges import stored_judge_prompts
from evaluations.models import JudgePrompts

NAME = "Sub_Grade_Prompt_wo_marking_criterion.json"


def imported(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    call_command("import_judge_prompts", str(path), "--format", "json")
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.shareddata
@pytest.mark.django_db
def test_the_released_file(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shared_data / "gaokao-bench" / "Bench" / NAME
    assert imported(path, capsys) == {"set": "gaokao-bench", "version": 1, "tasks": 18}
    assert imported(path, capsys)["version"] == 1, "the same content is the same version"
    assert prompts_to_choose()[-1] == "gaokao-bench"
    content = stored_judge_prompts("gaokao-bench").content
    for one in json.loads(path.read_text("utf-8"))["examples"]:
        system, user = judge_messages(
            subject="-",
            question="Why?",
            analysis="it falls",
            answer_key="g",
            full_marks=Decimal(5),
            response_text="my answer",
            fence="a1b2c3d4e5",
            prompts=content,
            task=one["keyword"],
        )
        assert system["content"].startswith(one["prefix_prompt"].rstrip())
        assert "<a1b2c3d4e5>" in system["content"], "a sentence on the fence follows"
        labels = ["题目", "分析过程", "标准答案", "分值", "学生分析与答案"]
        assert [part[1 : part.index("】")] for part in user["content"].split("\n\n")] == labels


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{}", "no list 'examples'"),
        ('{"examples": [{"keyword": "a"}]}', "lacks the texts"),
        (
            json.dumps({"examples": [{"keyword": "a", "prefix_prompt": "b"}] * 2}),
            "stands twice",
        ),
        ("[", "no prompts for judges"),
    ],
)
def test_another_file_gets_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, sentence: str
) -> None:
    path = tmp_path / NAME
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match="1"):
        call_command("import_judge_prompts", str(path))
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not JudgePrompts.objects.exists()
