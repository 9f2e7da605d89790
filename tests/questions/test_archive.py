"""An uploaded .zip is not believed: each trick is refused, and nothing is left of it."""

from __future__ import annotations

import io
import resource
import stat
import struct
import time
import zipfile
from pathlib import Path

import pytest

from questions.importers.archive import (
    ArchiveRefusal,
    Limits,
    plain_path,
    unpack,
    unpack_isolated,
)


def zipped(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    made.seek(0)
    return made


def refusal(archive: io.BytesIO, folder: Path, limits: Limits | None = None) -> str:
    with pytest.raises(ArchiveRefusal) as refused:
        unpack(archive, folder, limits)
    return refused.value.code


def test_a_published_folder_is_unpacked_as_it_is(tmp_path: Path) -> None:
    archive = zipped(
        {
            "exam/physics.jsonl": b"{}",
            "exam/images/a-1.png": b"png",
            "exam/LICENSE": b"free",
            "__MACOSX/exam/._physics.jsonl": b"junk",
            "exam/.DS_Store": b"junk",
        }
    )
    assert unpack(archive, tmp_path) == 2
    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert found == {"exam/physics.jsonl", "exam/images/a-1.png"}
    assert (tmp_path / "exam/physics.jsonl").read_bytes() == b"{}"


@pytest.mark.parametrize(
    "name", ["a/" * 1800 + "x.json", "卷" * 90 + ".json", f"{'a' * 100}/" * 10 + "x.json"]
)
def test_paths_too_deep_or_too_long_refuse_the_whole_archive(tmp_path: Path, name: str) -> None:
    assert plain_path("a/" * 11 + "x.json")
    assert refusal(zipped({"good.json": b"{}", name: b"{}"}), tmp_path) == "deep_name"


@pytest.mark.parametrize(
    "name",
    [
        *("../evil.json", "a/../../evil.json", "/etc/evil.json", "a//b.json", "./a.json"),
        *("C:/evil.json", "a\\..\\evil.json", "..\\evil.json", "con.json", "a/NUL.jsonl"),
        *(
            "a.json.",
            "b .json /x.json",
            "tab\t.json",
            "line\n.json",
            "..a.json",
            "x" * 121 + ".json",
        ),
    ],
)
def test_names_that_are_no_plain_path_refuse_the_whole_archive(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    assert refusal(zipped({"good.json": b"{}", name: b"{}"}), folder) == "unsafe_name"
    assert [file.name for file in tmp_path.rglob("*")] == ["in"]


def test_nul_in_a_name_is_not_cut_off() -> None:
    with pytest.raises(ArchiveRefusal):
        plain_path("a.json\0.txt")


def test_names_of_the_published_files_are_plain() -> None:
    for name in (
        "2010-2022_Math_I_Fill-in-the-Blank.json",
        "images/img_line_114.png",
        "试卷/一.jsonl",
    ):
        assert str(plain_path(name)) == name


def test_links_are_refused(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo("a.json")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert refusal(made, tmp_path) == "link"
    assert list(tmp_path.iterdir()) == []


def test_two_names_that_are_one_on_other_machines_are_refused(tmp_path: Path) -> None:
    assert refusal(zipped({"A.json": b"1", "a.json": b"2"}), tmp_path) == "name_twice"


@pytest.mark.parametrize("names", [("a.json", "A.json/b.json"), ("x/a.csv/b/c.json", "x/a.csv")])
def test_a_file_and_a_folder_of_one_name_are_refused(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    with pytest.raises(ArchiveRefusal) as refused:
        unpack(zipped(dict.fromkeys(names, b"{}")), tmp_path)
    assert refused.value.code == "name_twice"
    assert refused.value.name.lower() in ("a.json", "x/a.csv")
    assert list(tmp_path.iterdir()) == []


def test_archives_in_archives_are_refused_by_name_and_by_what_they_hold(tmp_path: Path) -> None:
    inner = zipped({"a.json": b"{}"}).getvalue()
    assert refusal(zipped({"a.json": b"{}", "inner.zip": inner}), tmp_path) == "nested_archive"
    assert refusal(zipped({"inner.json": inner}), tmp_path) == "nested_archive"


def test_what_is_locked_is_refused(tmp_path: Path) -> None:
    content = bytearray(zipped({"a.json": b"{}"}).getvalue())
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + at] |= 1
    assert refusal(io.BytesIO(bytes(content)), tmp_path) == "encrypted"


def test_a_bomb_is_stopped_by_its_real_bytes(tmp_path: Path) -> None:
    bomb = zipped({"a.json": b"0" * (300 << 20)})
    assert len(bomb.getvalue()) < 1 << 20
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert refusal(bomb, tmp_path) == "ratio"
    assert time.process_time() - started < 5
    assert list(tmp_path.iterdir()) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_a_header_that_lies_about_the_size_does_not_help(tmp_path: Path) -> None:
    content = bytearray(zipped({"a.json": b"0" * (50 << 20)}).getvalue())
    directory = content.index(b"PK\x01\x02")
    struct.pack_into("<I", content, directory + 24, 10)  # "uncompressed size: 10"
    assert refusal(io.BytesIO(bytes(content)), tmp_path) in ("ratio", "broken_zip")
    assert sum(file.stat().st_size for file in tmp_path.rglob("*")) < 8 << 20


def test_the_sum_and_each_file_have_their_most(tmp_path: Path) -> None:
    three = {f"{n}.json": bytes(range(256)) * 8 for n in range(3)}
    limits = Limits(total_bytes=5000)
    assert refusal(zipped(three), tmp_path / "sum", limits) == "too_large_unpacked"
    assert refusal(zipped(three), tmp_path / "one", Limits(file_bytes=2000)) == "too_large_unpacked"
    assert unpack(zipped(three), tmp_path / "all", Limits(total_bytes=3 * 2048)) == 3


def test_too_many_files_are_refused_before_their_names_are_read(tmp_path: Path) -> None:
    many = zipped({f"{n}.json": b"" for n in range(101)})
    assert refusal(many, tmp_path, Limits(entries=100)) == "too_many_files"
    deep = zipped({f"d{n}/e/{n}.json": b"[]" for n in range(500)})
    assert refusal(deep, tmp_path) == "too_many_files", "with the folder above, 1,001 folders"
    content = bytearray(zipped({"a.json": b"{}"}).getvalue())
    struct.pack_into("<I", content, content.rindex(b"PK\x05\x06") + 12, 200 << 20)
    assert refusal(io.BytesIO(bytes(content)), tmp_path) == "too_many_files"


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut off", b"PK\x05\x06"])
def test_what_is_no_zip_is_refused(tmp_path: Path, content: bytes) -> None:
    assert refusal(io.BytesIO(content), tmp_path) == "broken_zip"


def test_a_zip_cut_in_the_middle_or_with_a_wrong_sum_is_refused(tmp_path: Path) -> None:
    whole = zipped({"a.json": bytes(range(256)) * 40}, zipfile.ZIP_STORED).getvalue()
    assert refusal(io.BytesIO(whole[: len(whole) // 2]), tmp_path) == "broken_zip"
    changed = bytearray(whole)
    changed[2000] ^= 1
    assert refusal(io.BytesIO(bytes(changed)), tmp_path / "sum") == "broken_zip"


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("where", ["data", "name", "place"])
def test_a_damaged_zip_is_said_to_be_damaged(tmp_path: Path, compression: int, where: str) -> None:
    """Not to take too much memory or time, as where the child process has crashed."""
    content = bytearray(zipped({"卷.json": bytes(range(256)) * 40}, compression).getvalue())
    directory = content.index(b"PK\x01\x02")
    if where == "data":
        middle = directory // 2
        content[middle : middle + 20] = bytes(20)
    elif where == "name":
        content[directory + 46] = 0xFF
    else:  # of the first file: before the beginning
        struct.pack_into("<I", content, content.rindex(b"PK\x05\x06") + 16, directory + 1)
    file = tmp_path / "damaged.zip"
    file.write_bytes(content)
    with file.open("rb") as archive, pytest.raises(ArchiveRefusal) as refused:
        unpack_isolated(archive, tmp_path / "out")
    assert refused.value.code == "broken_zip"


def test_an_archive_without_data_is_refused(tmp_path: Path) -> None:
    assert refusal(zipped({"README.md": b"hello"}), tmp_path) == "nothing_to_import"
