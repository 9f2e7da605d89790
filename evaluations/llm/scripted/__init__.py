"""A scripted model behind an OpenAI-compatible HTTP server on loopback, for the demo.

It reads no answer key; its name says that it is scripted.

    python -m evaluations.llm.scripted --port 8099 [--latency 0.05]
"""

from __future__ import annotations

import json
from typing import Any

from evaluations.llm.scripted.answers import answer

MODEL_NAME = "scripted-demo"


def completion_of(prompt: str, number: int) -> dict[str, Any]:
    """Return a chat completion in the form of OpenAI's API, with half the characters as tokens."""
    text = answer(prompt)
    read, written = len(prompt) // 2 + 1, len(text) // 2 + 1
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-scripted-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL_NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def error_of(message: str, code: str) -> dict[str, Any]:
    """Return an error in the form of OpenAI's API."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def prompt_of(body: bytes) -> str | None:
    """Return the text of all messages; None if the body is not a chat request."""
    try:
        return "\n".join(_text(message["content"]) for message in json.loads(body)["messages"])
    except (ValueError, KeyError, TypeError):
        return None


def _text(content: object) -> str:
    """Return the text of a message; images are left out."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return str(content)
