"""Families of language models: models of one developer's line, told from the beginning of a name.

A judge may favour responses of its own family (Panickssery et al. 2024, arXiv:2404.13076). A name
that begins with none of ``FAMILIES`` has no known family, and nothing is said of it. A new family
is a new line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# The beginning of a name, in small letters, and the family; the longest beginning decides.
FAMILIES = {
    "abab": "MiniMax",
    "baichuan": "Baichuan",
    "chatglm": "GLM",
    "chatgpt": "GPT",
    "claude": "Claude",
    "codellama": "Llama",
    "command-r": "Command",
    "davinci": "GPT",
    "deepseek": "DeepSeek",
    "doubao": "Doubao",
    "ernie": "ERNIE",
    "gemini": "Gemini",
    "gemma": "Gemini",
    "glm": "GLM",
    "gpt": "GPT",
    "gpt-j": "GPT-J",
    "gpt-neo": "GPT-J",
    "grok": "Grok",
    "hunyuan": "Hunyuan",
    "internlm": "InternLM",
    "kimi": "Kimi",
    "llama": "Llama",
    "meta-llama": "Llama",
    "minimax": "MiniMax",
    "ministral": "Mistral",
    "mistral": "Mistral",
    "mixtral": "Mistral",
    "moonshot": "Kimi",
    "moss": "MOSS",
    "o1": "GPT",
    "o3": "GPT",
    "o4": "GPT",
    "phi": "Phi",
    "qvq": "Qwen",
    "qwen": "Qwen",
    "qwq": "Qwen",
    "scripted": "Scripted",
    "seed": "Doubao",
    "smollm": "SmolLM",
    "spark": "Spark",
    "step": "Step",
    "text-davinci": "GPT",
    "vicuna": "Llama",
    "wenxin": "ERNIE",
    "yi": "Yi",
}
# What follows a beginning is no letter, so that "o1" is in "o1-mini" and "yi" not in "yield".
_LONGEST_FIRST = "|".join(sorted(FAMILIES, key=len, reverse=True))
_BEGINNING = re.compile(f"(?:{_LONGEST_FIRST})(?![a-z])")


def family_of(name: str) -> str:
    """Return the family of the model called *name*; "" if it is not known.

    A provider before a slash ("openai/gpt-4o") is left out.
    """
    found = _BEGINNING.match(name.rsplit("/", 1)[-1].strip().casefold())
    return FAMILIES[found[0]] if found else ""


def family_of_any(names: Iterable[str]) -> str:
    """Return the family of the first of *names* that has a known one; "" for none."""
    return next((family for family in map(family_of, names) if family), "")


def shared_family(names: Iterable[str], others: Iterable[str]) -> str:
    """Return the family that a model called *names* and one called *others* share; "" for none."""
    family = family_of_any(names)
    return family if family and family == family_of_any(others) else ""
