"""The pictures beside an exam file: plain names in one folder, never paths.

A name in a question is a key into the list of what really lies in ``images/``;
it is never joined to a path, so no spelling of ``..`` can leave the folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

MAX_IMAGE_BYTES = 5 * 1024 * 1024
HEAD_BYTES = 32

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}\.(?:png|jpg|jpeg|webp)")


def images_beside(source: Path) -> dict[str, Path]:
    """The files in the ``images`` folder of *source* (a .jsonl file or its folder), by name.

    Links are left out: they could lead anywhere.
    """
    folder = (source if source.is_dir() else source.parent) / "images"
    if not folder.is_dir():
        return {}
    return {
        entry.name: entry
        for entry in sorted(folder.iterdir())
        if entry.is_file() and not entry.is_symlink()
    }


def image_problem(name: str, available: Mapping[str, Path]) -> tuple[str, str] | None:
    """Why *name* cannot be taken as an image (code, sentence), or None where it can."""
    if name.lower().endswith(".svg"):
        return "image_svg", f"The image {name!r} is an SVG, which can carry scripts."
    if not _PLAIN_NAME.fullmatch(name):
        return "image_name", f"{name!r} is not a plain PNG, JPEG or WebP file name."
    if name not in available:
        return "image_missing", f"The image {name!r} is not in the images folder."
    if available[name].stat().st_size > MAX_IMAGE_BYTES:
        return "image_too_large", f"The image {name!r} is larger than 5 MB."
    with available[name].open("rb") as file:
        kind = image_kind(file.read(HEAD_BYTES))
    if kind is None:
        return "image_content", f"The image {name!r} does not hold a PNG, JPEG or WebP picture."
    if kind != name.rsplit(".", 1)[1].replace("jpg", "jpeg"):
        return "image_content", f"The image {name!r} holds a {kind.upper()} picture."
    return None


def image_kind(head: bytes) -> str | None:
    """``png``, ``jpeg`` or ``webp`` by the first bytes of a file; None for anything else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    return None
