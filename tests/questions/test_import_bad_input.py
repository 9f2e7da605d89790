"""Bad input to every source: one problem with file and row, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradeapp.common.refusals import BadInput
from questions.models import Asset, Dataset, ImportProblem, Question, Task
from questions.services.imports import import_questions
from tests.questions.test_importer_agibench import ITEM as AGIBENCH
from tests.questions.test_importer_agieval import ITEM as AGIEVAL
from tests.questions.test_importer_gaokao_bench import ITEM as GAOKAO
from tests.questions.test_imports import LINE, MARKED, PNG

pytestmark = pytest.mark.django_db

MEGABYTE = 1024 * 1024
KEYWORD = "2010-2022_Biology_MCQs"
FILES = {
    "gaokao-bench": f"{KEYWORD}.json",
    "agieval": "lsat-ar.jsonl",
    "agibench": "datasets.json",
    "jsonl": "exam.jsonl",
}
GOOD: dict[str, object] = {
    "gaokao-bench": {"keywords": KEYWORD, "example": [GAOKAO]},
    "agieval": AGIEVAL,
    "agibench": [AGIBENCH],
    "jsonl": LINE,
}
SOURCES = pytest.mark.parametrize("source", list(FILES))
WITH_IMAGES = pytest.mark.parametrize("source", ["agibench", "jsonl"])


def good(source: str) -> bytes:
    return json.dumps(GOOD[source], ensure_ascii=False).encode()


def refused(source: str, folder: Path, content: bytes | None = None) -> tuple[int | None, str]:
    """Row and code of the one problem with which *folder* is refused; the bank stays empty."""
    if content is not None:
        (folder / FILES[source]).write_bytes(content)
    with pytest.raises(BadInput) as refusal:
        import_questions(source, folder)
    assert refusal.value.code == "nothing_read"
    for model in (Dataset, Task, Question, Asset):
        assert not model.objects.exists()
    (problem,) = ImportProblem.objects.all()
    assert problem.file == FILES[source]
    return problem.row, problem.code


@SOURCES
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"not JSON", "broken_json"),
        (b'{"a": ' + b"[" * 1_000_000, "too_deep"),
        (b'{"a": ' + b"9" * 1_000_000 + b"}", "number_out_of_range"),
        (b'{"a": 1e999999}', "number_out_of_range"),
        (b'{"a": "\x00"}', "broken_json"),
        (b"\x00" * 1000, "broken_json"),
    ],
    ids=["text", "deep", "digits", "exponent", "nul", "zeros"],
)
def test_what_is_no_json_is_refused(tmp_path: Path, source: str, content: bytes, code: str) -> None:
    row, found = refused(source, tmp_path, content)
    assert found == code
    assert row == (None if code == "too_deep" and FILES[source].endswith(".json") else 1)


@SOURCES
@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-16-le", "big5"])
def test_another_encoding_is_refused(tmp_path: Path, source: str, encoding: str) -> None:
    content = good(source).decode().replace("Which", "題目 Which").replace("如图", "題目")
    assert refused(source, tmp_path, content.encode(encoding, "replace"))[1] == "not_utf8"


@SOURCES
def test_200_megabytes_are_refused(tmp_path: Path, source: str) -> None:
    with (tmp_path / FILES[source]).open("wb") as stream:
        stream.truncate(200 * MEGABYTE)
    code = "file_too_large" if FILES[source].endswith(".json") else "line_too_long"
    assert refused(source, tmp_path)[1] == code


@pytest.mark.parametrize("source", ["agieval", "jsonl"])
def test_200_megabytes_of_short_lines_are_refused(tmp_path: Path, source: str) -> None:
    with (tmp_path / FILES[source]).open("wb") as stream:
        for _ in range(200):
            stream.write((b" " * 1023 + b"\n") * 1024)
    assert refused(source, tmp_path)[1] == "file_too_large"


@SOURCES
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, source: str) -> None:
    (tmp_path / "outside").write_bytes(good(source))
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / FILES[source]).symlink_to(tmp_path / "outside")
    assert refused(source, folder) == (None, "link_leads_out")


# ---- images ----


def with_image(source: str, folder: Path, name: str) -> None:
    """A good file whose second item shows the image *name*."""
    if source == "agibench":
        plain = AGIBENCH | {"Question": "题", "Option_A": "一"}
        shown = plain | {"Question": f"图![](images/{name})"}
        content = json.dumps([plain, shown]).encode()
    else:
        shown = MARKED | {"stem": f"![](image:{name})", "images": [name]}
        content = b"\n".join(json.dumps(row).encode() for row in (LINE, shown))
    (folder / FILES[source]).write_bytes(content)
    (folder / "images").mkdir()


@WITH_IMAGES
def test_a_missing_image_is_refused(tmp_path: Path, source: str) -> None:
    with_image(source, tmp_path, "gone.png")
    assert refused(source, tmp_path) == (2, "image_missing")


@WITH_IMAGES
@pytest.mark.parametrize(
    "name", ["../secret.png", "../../etc/passwd", "/etc/passwd", "..\\secret.png", "%2e%2e/x.png"]
)
def test_a_path_that_climbs_out_is_refused(tmp_path: Path, source: str, name: str) -> None:
    folder = tmp_path / "bench"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    with_image(source, folder, name)
    assert refused(source, folder) == (2, "image_name")


@WITH_IMAGES
def test_an_image_that_is_a_link_is_refused(tmp_path: Path, source: str) -> None:
    (tmp_path / "secret.png").write_bytes(PNG)
    with_image(source, tmp_path, "a.png")
    (tmp_path / "images" / "a.png").symlink_to(tmp_path / "secret.png")
    assert refused(source, tmp_path) == (2, "image_missing")


@WITH_IMAGES
@pytest.mark.parametrize(
    ("name", "code"), [("a.svg", "image_svg"), ("a.png", "image_content"), ("a.gif", "image_name")]
)
def test_an_svg_with_a_script_is_refused_under_any_name(
    tmp_path: Path, source: str, name: str, code: str
) -> None:
    with_image(source, tmp_path, name)
    svg = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><script>x()</script></svg>"
    (tmp_path / "images" / name).write_bytes(svg)
    assert refused(source, tmp_path) == (2, code)
