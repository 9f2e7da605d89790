"""Small pictures, made as the bank stores them."""

from __future__ import annotations

import io

from PIL import Image


def png(colour: str = "navy", size: tuple[int, int] = (4, 2)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()
