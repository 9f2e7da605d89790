"""Keeps the images of imported items; an image never changes under a revision."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from questions.importers.jsonl_images import HEAD_BYTES, image_kind
from questions.importers.records import QuestionRecord
from questions.models import Asset, Dataset


def changed_images(records: Sequence[QuestionRecord], images: Mapping[str, Path]) -> list[str]:
    """The images that the bank holds under the same name with another content.

    An image must not change under a revision that was answered or marked.
    """
    used = {(record.dataset, name) for record in records for name in record.images}
    stored = Asset.objects.filter(dataset__slug__in={slug for slug, _ in used})
    return [
        name
        for slug, name, sha256 in stored.values_list("dataset__slug", "name", "sha256")
        if (slug, name) in used and _sha256(images[name].read_bytes()) != sha256
    ]


def store_images(
    dataset: Dataset, records: Sequence[QuestionRecord], images: Mapping[str, Path]
) -> None:
    """Keep the images of *records* that *dataset* does not have yet."""
    names = {name for record in records for name in record.images}
    known = Asset.objects.filter(dataset=dataset, name__in=names).values_list("name", flat=True)
    Asset.objects.bulk_create(
        _asset(dataset, name, images[name].read_bytes()) for name in sorted(names - set(known))
    )


def _asset(dataset: Dataset, name: str, content: bytes) -> Asset:
    return Asset(
        dataset=dataset,
        name=name,
        media_type=f"image/{image_kind(content[:HEAD_BYTES])}",
        sha256=_sha256(content),
        content=content,
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
