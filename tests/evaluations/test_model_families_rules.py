"""The family of a model from its name."""

from __future__ import annotations

import pytest

from evaluations.model_families import family_of, family_of_any, shared_family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4-1106-preview", "GPT"),
        ("openai/gpt-4o", "GPT"),
        ("o1-mini", "GPT"),
        ("ChatGLM-6B", "GLM"),
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen"),
        ("gpt-j-6b", "GPT-J"),
        ("yi-34b", "Yi"),
        ("yield", ""),
        ("canary-gpt-7f3a", ""),
        ("", ""),
    ],
)
def test_the_beginning_of_a_name_tells_the_family(name: str, family: str) -> None:
    assert family_of(name) == family


def test_two_models_share_a_family_only_where_both_are_known() -> None:
    assert family_of_any(["at home", "deepseek-v3"]) == "DeepSeek"
    assert shared_family(["our judge", "gpt-4"], ["gpt-3.5-turbo"]) == "GPT"
    assert shared_family(["gpt-4"], ["qwen-72b"]) == ""
    assert shared_family(["unknown"], ["unknown"]) == ""
