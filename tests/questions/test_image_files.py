"""Images are written anew: pixels only, within limits, and no bomb reaches the worker."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import call_command
from PIL import Image, ImageChops, PngImagePlugin

from questions.importers.image_files import reencoded, written_anew
from questions.models import Asset
from tests.factories import make_dataset
from tests.questions.image_world import png

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "agibench" / "images"


def file_of(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def dressed_png() -> bytes:
    """A picture with a text, a place and a page of HTML behind its end."""
    told = PngImagePlugin.PngInfo()
    told.add_text("Comment", "secret words")
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    image = Image.new("RGB", (4, 2), "navy")
    return file_of(image, "PNG", pnginfo=told, exif=exif) + b"<script>secret()</script>"


def test_nothing_is_kept_but_the_pixels() -> None:
    assert b"secret" in dressed_png()
    assert reencoded(dressed_png()) == png()
    assert reencoded(png()) == png()


def test_a_photograph_stays_upright_without_its_metadata() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by a quarter
    exif[0x010E] = "secret place"
    made = reencoded(file_of(Image.new("RGB", (40, 20), "red"), "JPEG", exif=exif))
    assert isinstance(made, bytes)
    assert b"secret" not in made
    assert Image.open(io.BytesIO(made)).size == (20, 40)
    assert not Image.open(io.BytesIO(made)).getexif()


def test_of_an_animation_the_first_frame_is_kept() -> None:
    frames = [Image.new("RGB", (4, 2), colour) for colour in ("red", "blue")]
    moving = file_of(frames[0], "PNG", save_all=True, append_images=frames[1:])
    made = reencoded(moving)
    assert isinstance(made, bytes)
    with Image.open(io.BytesIO(made)) as still:
        assert getattr(still, "n_frames", 1) == 1
        assert still.convert("RGB").getpixel((0, 0)) == (255, 0, 0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (lambda: file_of(Image.new("1", (30_000, 30_000)), "PNG"), "image_pixels"),
        (lambda: file_of(Image.new("RGB", (90, 90)), "JPEG")[:400], "image_content"),
        (lambda: png()[:40], "image_content"),
        (lambda: file_of(Image.new("RGB", (4, 2)), "GIF") + b"/*<script>*/", "image_content"),
        (lambda: file_of(Image.new("RGB", (4, 2)), "TIFF"), "image_content"),
        (lambda: b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image_content"),
    ],
    ids=["bomb", "truncated", "half", "gif", "tiff", "svg"],
)
def test_what_is_no_picture_is_refused_with_a_reason(
    content: Callable[[], bytes], reason: str
) -> None:
    assert reencoded(content()) == reason


def test_one_bad_picture_does_not_harm_its_neighbours(tmp_path: Path) -> None:
    sources = [tmp_path / name for name in ("good", "bad", "also")]
    for source, content in zip(sources, (png(), png()[:40], png("red")), strict=True):
        source.write_bytes(content)
    (tmp_path / "out").mkdir()
    made = list(written_anew(sources, tmp_path / "out"))
    assert [reason for _, reason in made] == ["", "image_content", ""]
    assert made[2][0].read_bytes() == png("red")


@pytest.mark.shareddata
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published benchmarks are not here")
def test_published_images_look_the_same(tmp_path: Path) -> None:
    sources = sorted(PUBLISHED.iterdir())
    for source, (path, reason) in zip(sources, written_anew(sources, tmp_path), strict=True):
        assert not reason
        with Image.open(source) as before, Image.open(path) as after:
            assert (before.format, before.size) == (after.format, after.size)
            difference = ImageChops.difference(before.convert("RGBA"), after.convert("RGBA"))
            largest = max(high for _, high in difference.getextrema())
            assert largest <= (0 if before.format == "PNG" else 3)


@pytest.mark.django_db
def test_the_bank_writes_its_images_anew(capsys: pytest.CaptureFixture[str]) -> None:
    dataset = make_dataset("exam")
    old = {"dataset": dataset, "media_type": "image/png", "sha256": "a", "source_sha256": "a"}
    good = Asset.objects.create(name="a.png", content=dressed_png(), **old)
    bad = Asset.objects.create(name="b.png", content=b"\x89PNG\r\n\x1a\n", **old)
    for _ in range(2):
        with pytest.raises(SystemExit):
            call_command("reencode_images")
    good.refresh_from_db()
    bad.refresh_from_db()
    assert bytes(good.content) == png()
    assert good.sha256 != "a"
    assert good.source_sha256 == "a"
    assert bytes(bad.content) == b"\x89PNG\r\n\x1a\n"
    assert "exam/b.png" in capsys.readouterr().out
