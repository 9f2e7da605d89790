"""Writes images anew: what is stored and shown was drawn by us, pixel by pixel.

An image of a dataset may hold anything beside its pixels: a place and a name in its metadata, a
page of HTML behind its end, or so many pixels that a browser or a server falls over. So its format
and size are looked at before it is decoded, it is decoded in a child process, and only the pixels
of its first frame are written to a new file of the same format. A JPEG that holds nothing but its
picture stays as it is: each new encoding would change its pixels a little, so that a bank that is
exported and imported would not be the same.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from PIL import Image, ImageCms, ImageOps

from gradeapp.common.isolated import Bounds, Exceeded, isolated
from gradeapp.common.waypoints import waypoint
from questions.importers.jsonl_images import HEAD_BYTES, MAX_IMAGE_BYTES, image_kind

MOST_PIXELS = 40_000_000
AT_A_TIME = 25
BOUNDS = Bounds(memory_bytes=2**30, cpu_seconds=20, clock_seconds=40)
# Qualities of JPEG and WebP, tried until the file is within its limit. At the first one no
# pixel of the published images changes by more than 3 of 255.
QUALITIES = (98, 92, 85, 75)
# The segments of a baseline JPEG: quantization, frame, Huffman tables, restarts, scan
_SCAN = 0xDA
_TABLES = (0xDB, 0xC0, 0xC4, 0xDD, _SCAN)
KEPT = ("transparency",)


def written_anew(sources: Sequence[Path], folder: Path) -> Iterator[tuple[Path, str]]:
    """Write each of *sources* to a new file in *folder*; yield its path, and why it was refused.

    The reason is "" or ``image_content`` (no readable PNG, JPEG or WebP), ``image_pixels``,
    ``image_too_large`` or ``image_work`` (too much memory or time). Pictures are decoded in child
    processes; where one fails, its neighbours are decoded one by one.
    """
    for start in range(0, len(sources), AT_A_TIME):
        waypoint()
        several = list(sources[start : start + AT_A_TIME])
        targets = [folder / f"{start + place}" for place in range(len(several))]
        try:
            reasons = _in_child(several, targets)
        except Exceeded:
            reasons = [_alone(*pair) for pair in zip(several, targets, strict=True)]
        yield from zip(targets, reasons, strict=True)


def _alone(source: Path, target: Path) -> str:
    waypoint()
    try:
        return _in_child([source], [target])[0]
    except Exceeded:
        return "image_work"


def _in_child(sources: Sequence[Path], targets: Sequence[Path]) -> list[str]:
    pairs = [[str(source), str(target)] for source, target in zip(sources, targets, strict=True)]
    with Path(os.devnull).open("rb") as nothing:
        reasons: list[str] = isolated(
            f"{__name__}:write_anew", nothing, pairs, bounds=BOUNDS, wait=BOUNDS.clock_seconds
        )
    return reasons


def write_anew(_source: IO[bytes], pairs: Sequence[Sequence[str]]) -> list[str]:
    """What the child process does: for each source and target "" or the reason of its refusal."""
    reasons = []
    for source, target in pairs:
        made = reencoded(Path(source).read_bytes())
        if isinstance(made, bytes):
            Path(target).write_bytes(made)
        reasons.append("" if isinstance(made, bytes) else made)
    return reasons


def reencoded(content: bytes) -> bytes | str:
    """The picture in *content* as a new file of the same format, or why not (``written_anew``)."""
    kind = image_kind(content[:HEAD_BYTES])
    if kind is None:
        return "image_content"
    Image.MAX_IMAGE_PIXELS = None  # the limit below is an error, the library's is a warning
    try:
        with Image.open(io.BytesIO(content), formats=[kind.upper()]) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                return "image_pixels"
            opened.load()
            if kind == "jpeg" and holds_only_a_picture(content):
                return content
            return _encoded(_pixels(opened), kind) or "image_too_large"
    # The decoders raise SyntaxError, struct.error and others for broken files.
    except MemoryError:
        raise
    except Exception:
        return "image_content"


def holds_only_a_picture(jpeg: bytes) -> bool:
    """Whether a JPEG is one scan with its tables: no metadata, no comment, nothing behind its end.

    Source: ISO/IEC 10918-1, annex B (markers and segments), and JFIF 1.02 (APP0).
    """
    at = 2
    while jpeg[at : at + 1] == b"\xff":
        marker, length = jpeg[at + 1], int.from_bytes(jpeg[at + 2 : at + 4], "big")
        plain_jfif = marker == 0xE0 and length == 16 and jpeg[at + 4 : at + 9] == b"JFIF\0"
        if marker not in _TABLES and not plain_jfif:
            return False
        at += 2 + length
        if marker == _SCAN:
            # In a scan 0xFF stands before 0 or the number of a restart, until the end of the image.
            marks = re.finditer(rb"\xff([^\x00\xd0-\xd7])", jpeg[at:], re.DOTALL)
            first = next(marks, None)
            return first is not None and first[1] == b"\xd9" and at + first.end() == len(jpeg)
    return False


def _pixels(opened: Image.Image) -> Image.Image:
    """The first frame upright, in the colours of a screen, without anything beside its pixels."""
    image = ImageOps.exif_transpose(opened)
    profile = image.info.get("icc_profile")
    if profile and image.mode in ("RGB", "RGBA", "CMYK"):
        mode = "RGB" if image.mode == "CMYK" else image.mode
        try:
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            srgb = ImageCms.createProfile("sRGB")
            image = ImageCms.profileToProfile(image, own, srgb, outputMode=mode) or image
        except (ImageCms.PyCMSError, OSError, ValueError):
            pass  # a broken profile: browsers show the colours as they are, too
    if image.mode == "CMYK":
        image = image.convert("RGB")
    kept = {name: image.info[name] for name in KEPT if name in image.info}
    image = image.copy()
    image.info = kept  # type: ignore[assignment]
    return image


def _encoded(image: Image.Image, kind: str) -> bytes | None:
    """The file, or None where it is too large in every quality."""
    if kind == "png":
        choices: list[dict[str, object]] = [{}, {"optimize": True}]
    elif kind == "jpeg":
        choices = [
            {"quality": one, "subsampling": 0 if one == QUALITIES[0] else 2} for one in QUALITIES
        ]
    else:
        choices = [{"lossless": True}]
        choices += [{"quality": one} for one in QUALITIES]
    for options in choices:
        out = io.BytesIO()
        image.save(out, kind.upper(), **options)
        if out.tell() <= MAX_IMAGE_BYTES:
            return out.getvalue()
    return None
