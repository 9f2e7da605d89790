"""What gradeapp says of failed calls is read in Chinese; what an endpoint says stays."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.utils import translation

import evaluations.llm
from evaluations.llm.classify import failure_of
from evaluations.llm.client import ChatFailure
from evaluations.llm.replies import read_reply
from evaluations.runs.selectors.endpoint_sentences import PATTERNS, VALUES, endpoint_sentence
from evaluations.runs.selectors.run_words import batch_error

CHINESE = re.compile("[\u4e00-\u9fff]")
SAYING = (
    *Path(evaluations.llm.__path__[0]).glob("*.py"),
    Path(evaluations.llm.__path__[0]).parent / "runs/services/batch_work.py",
)


def said_of(status: int, body: str) -> str:
    return failure_of(status, {}, body, now=datetime(2026, 1, 1, tzinfo=UTC)).text


def test_our_sentences_are_said_in_chinese() -> None:
    texts = [said_of(500, ""), said_of(500, "<html>"), said_of(500, "busy"), said_of(302, "")]
    for body in (b"{", b"", b"\xff", b"[]", b"{}"):
        with pytest.raises(ChatFailure) as failed:
            read_reply(body)
        texts.append(failed.value.text)
    texts += ["the call passed its deadline", "the reply broke off before its end"]
    with translation.override("zh-hans"):
        assert [text for text in texts if not CHINESE.search(endpoint_sentence(text))] == []
        assert endpoint_sentence("the body is not JSON: JSONDecodeError") == (
            "响应内容不是 JSON：JSONDecodeError"
        )
        assert batch_error(said_of(500, "")) == "接口未返回格式可识别的错误信息：内容为空"
    assert [text for text in texts if endpoint_sentence(text) != text] == []


@pytest.mark.parametrize(
    "text",
    ["Rate limit reached for 3 %(n)s", "the call passed its deadline, says X", "", "100% used"],
)
def test_the_words_of_an_endpoint_stay(text: str) -> None:
    with translation.override("zh-hans"):
        assert endpoint_sentence(text) == text


def test_no_pattern_outlives_its_sentence() -> None:
    source = " ".join(file.read_text() for file in SAYING)
    for text in (*PATTERNS, *VALUES):
        assert text.split("%")[0].rstrip(": ") in source, text
