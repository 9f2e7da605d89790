"""Chinese names of the published tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import translation

from questions.rules.task_names import chinese_task_name
from questions.templatetags.names import task_name


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("2010-2022_Biology_MCQs", "2010–2022年生物选择题"),
        ("2023_Math_MCQs", "2023年数学选择题"),
        # Five gaps and seven sentences; twenty gaps with four options each.
        ("2012-2022_English_Cloze_Test", "2012–2022年英语七选五"),
        ("2010-2022_English_Fill_in_Blanks", "2010–2022年英语完形填空"),
        ("lsat-ar", "LSAT 分析推理"),
        ("sample_History_MCQs_in_English", "样卷历史选择题（英文）"),
        ("Biology_MCQs", None),
        ("2010-2022_Astronomy_MCQs", None),
        ("", None),
    ],
)
def test_a_task_is_named_as_its_examination_is(slug: str, name: str | None) -> None:
    assert chinese_task_name(slug) == name


def test_only_chinese_pages_use_it() -> None:
    with translation.override("en"):
        assert task_name("2010-2022_Biology_MCQs") == "2010-2022 Biology MCQs"
    with translation.override("zh-hans"):
        assert task_name("2010-2022_Biology_MCQs") == "2010–2022年生物选择题"
        assert task_name("my_own_task") == "my own task"


@pytest.mark.shareddata
def test_every_published_task_has_a_name(shared_data: Path) -> None:
    gaokao = shared_data.glob("gaokao-bench/Data/*/*.json")
    names = [file.stem for file in (*gaokao, *shared_data.glob("agieval/v1/*.jsonl"))]
    assert len(names) == 53
    assert [name for name in names if not chinese_task_name(name)] == []
