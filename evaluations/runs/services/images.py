"""The images of a bank as they are sent to models: scaled down, the same bytes each time."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from PIL import Image

from evaluations.conditions import ImagePolicy
from evaluations.llm.budget import most_image_tokens
from evaluations.models import Endpoint, Job, Run
from evaluations.runs.rules.prompting.images import Pictured, SentImage, image_names, with_images
from evaluations.runs.services.calls import fence_for
from questions.models import Asset, Dataset, QuestionRevision
from questions.rules.vocabulary import Language

# The most that one image may have, before base64 adds a third.
MOST_IMAGE_BYTES = 4 * 1024 * 1024
# Images of the bank have at most as many pixels (``questions.importers.image_files``).
MOST_PIXELS = 40_000_000
FORMATS = ("PNG", "JPEG", "WEBP")
QUALITIES = (90, 80, 65)


def asked_images(revision: QuestionRevision) -> list[str]:
    """Return the names of the images in what is asked: passage, stem and options, in order."""
    return image_names(revision.passage, revision.stem, *map(str, revision.options))


def pictured(
    messages: Sequence[Mapping[str, Any]],
    revision: QuestionRevision,
    dataset: Dataset | int,
    *,
    settings: Mapping[str, Any],
    names: Sequence[str] | None = None,
    data_begins: str = "",
) -> Pictured:
    """Return *messages* with the images of *revision* sent, or with words that they are missing.

    ``images`` and ``largest_side`` of *settings* (those of a run) decide. *names* are the images
    that may stand in the messages; without them those of the revision. See ``with_images``.
    """
    wanted = list(revision.images) if names is None else list(names)
    images: Mapping[str, SentImage] = {}
    if wanted and settings.get("images") == ImagePolicy.SEND:
        images = sent_images(dataset, wanted, int(settings["largest_side"]))
    language = Language(revision.language)
    return with_images(messages, wanted, images, language, data_begins=data_begins)


def images_for(endpoint: Endpoint) -> ImagePolicy:
    """Return what a run that judges or reads with *endpoint* does with images."""
    return ImagePolicy.SEND if endpoint.takes_images else ImagePolicy.OMIT


def with_question_images(run: Run, job: Job, messages: Sequence[Mapping[str, Any]]) -> Pictured:
    """Return *messages* about the response of *job* with the images of its question.

    The response itself, which stands between fences, stays text.
    """
    assert job.response  # the jobs of runs that judge or read have one
    fence = fence_for(run, job.response.pk, job.response.text)
    return pictured(
        *(messages, job.revision, job.question.task.dataset_id),
        settings=run.run_settings,
        data_begins=f"\n<{fence}>\n",
    )


def sent_images(
    dataset: Dataset | int, names: Sequence[str], largest_side: int
) -> dict[str, SentImage]:
    """Return the images of *dataset* in *names* that can be sent, by name.

    Left out are images that the bank has not, those that were not written anew by us (nothing
    decodes them here), and those that stay above ``MOST_IMAGE_BYTES``.
    """
    assets = Asset.objects.filter(dataset=dataset, name__in=names, reencoded=True)
    found = {}
    for name, sha256 in assets.values_list("name", "sha256"):
        image = _sent(sha256, largest_side)
        if image is not None:
            found[name] = image
    return found


def most_tokens_of_images(
    dataset: Dataset, revisions: Sequence[QuestionRevision], largest_side: int
) -> int:
    """Return an upper bound of the tokens of the images in *revisions*, each scaled down."""
    named = Counter(name for revision in revisions for name in asked_images(revision))
    rows = Asset.objects.filter(dataset=dataset, name__in=named).values_list("name", "sha256")
    total = 0
    for name, sha256 in rows:
        width, height = _size(sha256)
        scale = min(1.0, largest_side / max(width, height))
        total += named[name] * most_image_tokens(round(width * scale), round(height * scale))
    return total


@lru_cache(maxsize=4096)
def _size(sha256: str) -> tuple[int, int]:
    """The size of an image of the bank in pixels, from the head of its file."""
    content = Asset.objects.filter(sha256=sha256).values_list("content", flat=True)[:1].get()
    with Image.open(io.BytesIO(bytes(content)), formats=FORMATS) as image:
        return image.size


@lru_cache(maxsize=32)
def _sent(sha256: str, largest_side: int) -> SentImage | None:
    asset = Asset.objects.filter(sha256=sha256, reencoded=True).order_by("pk").first()
    return None if asset is None else as_sent(bytes(asset.content), asset.media_type, largest_side)


def as_sent(content: bytes, media_type: str, largest_side: int) -> SentImage | None:
    """Return the image in *content* as it is sent; None if it is too large in every form.

    One whose longer side has at most *largest_side* pixels is sent byte for byte. Another one is
    scaled down to it and written in its format; where that is too large, as JPEG. The same image
    and limit give the same bytes, as long as Pillow stays the same.
    """
    with Image.open(io.BytesIO(content), formats=FORMATS) as image:
        width, height = image.size
        if width * height > MOST_PIXELS:
            return None
        if max(width, height) <= largest_side and len(content) <= MOST_IMAGE_BYTES:
            return _image(content, media_type, image)
        kind = image.format or "PNG"
        image.load()
        scaled = image.convert("RGBA" if image.has_transparency_data else "RGB")
    scaled.thumbnail((largest_side, largest_side), Image.Resampling.LANCZOS)
    choices: list[tuple[str, dict[str, Any]]] = [(kind, {"quality": QUALITIES[0]})]
    choices += [("JPEG", {"quality": quality}) for quality in QUALITIES]
    for format_name, options in choices:
        out = io.BytesIO()
        drawn = _on_white(scaled) if format_name == "JPEG" else scaled
        drawn.save(out, format_name, **options)
        if out.tell() <= MOST_IMAGE_BYTES:
            return _image(out.getvalue(), f"image/{format_name.lower()}", drawn)
    return None


def _on_white(image: Image.Image) -> Image.Image:
    """JPEG has no transparency: what shines through is the paper."""
    if image.mode == "RGB":
        return image
    paper = Image.new("RGB", image.size, "white")
    paper.paste(image, mask=image.getchannel("A"))
    return paper


def _image(content: bytes, media_type: str, image: Image.Image) -> SentImage:
    return SentImage(media_type, content, *image.size)
