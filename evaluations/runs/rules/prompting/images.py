"""Images in messages: data URLs at their places in the text, or a word that one is missing.

Texts refer to an image of the bank as ``![alt](image:name)``. The content of a message with images
is a list of parts in the order of the text, as OpenAI's chat completions take it: ``{"type":
"text"}`` and ``{"type": "image_url"}``. A message without images keeps its string.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from questions.rules.vocabulary import Language

# The most that the images of one request may have together, before base64 adds a third.
MOST_BYTES = 12 * 1024 * 1024

MISSING = {
    Language.CHINESE: "（此处有一幅图，未提供）",
    Language.ENGLISH: "(There is an image here, which is not provided.)",
}
_REFERENCE = re.compile(r"!\[[^\]\n]*\]\(image:([^)\s]*)\)")

ChatMessage = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SentImage:
    """An image as it is sent: the file with its media type, and its size in pixels."""

    media_type: str
    content: bytes
    width: int
    height: int

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def url(self) -> str:
        """The image as a data URL."""
        return f"data:{self.media_type};base64,{b64encode(self.content).decode()}"


@dataclass(frozen=True, slots=True)
class Pictured:
    """Messages with their images: those that are sent, once each, and the names of the others."""

    messages: list[ChatMessage]
    sent: tuple[SentImage, ...] = ()
    omitted: tuple[str, ...] = ()


def image_names(*texts: str) -> list[str]:
    """Return the names of the images that *texts* refer to, once each, in order."""
    return list(dict.fromkeys(name for text in texts for name in _REFERENCE.findall(text)))


def with_images(
    messages: Sequence[Mapping[str, Any]],
    names: Collection[str],
    images: Mapping[str, SentImage],
    language: Language,
    *,
    data_begins: str = "",
) -> Pictured:
    """Return *messages* with the references to *names* replaced.

    *names* are the images of the question; a reference to another name is text. An image that is
    not among *images*, or with which the request has more than ``MOST_BYTES``, is omitted, and the
    text says so in *language*. From *data_begins* on (a line such as a fence) a message is data
    that a model wrote, and stays as it is.
    """
    allowed = _within_bounds(messages, names, images, data_begins)
    sent: dict[str, SentImage] = {}
    omitted: dict[str, None] = {}

    def parts_of(text: str) -> Iterator[dict[str, Any]]:
        at = 0
        for found in _REFERENCE.finditer(text):
            name = found[1]
            if name not in names:
                continue
            yield {"type": "text", "text": text[at : found.start()]}
            at = found.end()
            if name in allowed:
                sent[name] = allowed[name]
                yield {"type": "image_url", "image_url": {"url": allowed[name].url}}
            else:
                omitted[name] = None
                yield {"type": "text", "text": MISSING[language]}
        yield {"type": "text", "text": text[at:]}

    changed = []
    for message in messages:
        own, data = _apart(message["content"], data_begins)
        parts = _joined([*parts_of(own), {"type": "text", "text": data}])
        plain = all(part["type"] == "text" for part in parts)
        content = "".join(part["text"] for part in parts) if plain else parts
        changed.append({**message, "content": content})
    return Pictured(changed, tuple(sent.values()), tuple(omitted))


def without_pixels(messages: Sequence[Mapping[str, Any]], sent: Sequence[SentImage]) -> Any:
    """Return *messages* with the SHA-256 of each of the images *sent* in place of its data URL."""
    digests = {image.url: f"sha256:{image.sha256}" for image in sent}
    return [
        {**message, "content": [_digest_of(part, digests) for part in message["content"]]}
        if isinstance(message["content"], list)
        else dict(message)
        for message in messages
    ]


def _digest_of(part: Mapping[str, Any], digests: Mapping[str, str]) -> Mapping[str, Any]:
    if part["type"] != "image_url":
        return part
    return {"type": "image_url", "image_url": {"url": digests[part["image_url"]["url"]]}}


def _within_bounds(
    messages: Sequence[Mapping[str, Any]],
    names: Collection[str],
    images: Mapping[str, SentImage],
    data_begins: str,
) -> dict[str, SentImage]:
    """The images that fit into one request, taken in the order of the text, each time they stand.

    An image that stands twice is sent twice, so it counts twice.
    """
    texts = [_apart(message["content"], data_begins)[0] for message in messages]
    standing = [name for text in texts for name in _REFERENCE.findall(text) if name in names]
    allowed: dict[str, SentImage] = {}
    total = 0
    for name in dict.fromkeys(standing):
        if name in images:
            size = len(images[name].content) * standing.count(name)
            if total + size <= MOST_BYTES:
                total += size
                allowed[name] = images[name]
    return allowed


def _apart(text: str, data_begins: str) -> tuple[str, str]:
    """The text of the prompt, and the data after it."""
    own, mark, data = text.partition(data_begins) if data_begins else (text, "", "")
    return own, mark + data


def _joined(parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts without empty texts, and with neighbouring texts as one."""
    joined: list[dict[str, Any]] = []
    for part in parts:
        if part["type"] != "text":
            joined.append(part)
        elif part["text"]:
            if joined and joined[-1]["type"] == "text":
                joined[-1] = {"type": "text", "text": joined[-1]["text"] + part["text"]}
            else:
                joined.append(part)
    return joined
