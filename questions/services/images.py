"""Writes the images that a bank already has anew, as an import does with new ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import transaction

from questions.importers.image_files import AT_A_TIME, written_anew
from questions.models import Asset
from questions.services.import_checks import IMAGE_SENTENCES, sha256_of


@dataclass(frozen=True, slots=True)
class LeftImage:
    """An image that could not be written anew and stays as it is."""

    dataset: str
    name: str
    text: str


def write_images_anew() -> tuple[int, list[LeftImage]]:
    """Write every image anew that was not yet; how many, and those that stay as they are.

    Name and address stay, so that every question still finds its images; the digest follows the
    content, and that of the file that came stays, so that a second import knows it.
    """
    done, left = 0, list[LeftImage]()
    waiting = Asset.objects.filter(reencoded=False).select_related("dataset").order_by("pk")
    keys = list(waiting.values_list("pk", flat=True))
    for start in range(0, len(keys), AT_A_TIME):
        assets = list(waiting.filter(pk__in=keys[start : start + AT_A_TIME]))
        with TemporaryDirectory(prefix="images-") as folder, transaction.atomic():
            for asset, (path, reason) in _written(assets, Path(folder)):
                if reason:
                    text = IMAGE_SENTENCES[reason].format(name=repr(asset.name))
                    left.append(LeftImage(asset.dataset.slug, asset.name, text))
                    continue
                asset.content = path.read_bytes()
                asset.sha256, asset.reencoded = sha256_of(asset.content), True
                asset.save(update_fields=["content", "sha256", "reencoded"])
                done += 1
    return done, left


def _written(assets: list[Asset], folder: Path) -> Iterator[tuple[Asset, tuple[Path, str]]]:
    sources = [folder / f"source-{asset.pk}" for asset in assets]
    for asset, source in zip(assets, sources, strict=True):
        source.write_bytes(bytes(asset.content))
    yield from zip(assets, written_anew(sources, folder), strict=True)
