"""Unpacks an uploaded .zip: plain names inside one folder, and never more than was agreed.

Nothing in the archive is believed: names are checked before anything is written,
and bytes are counted as they come, not as the headers say. Whatever is not a
file that an import reads (a licence, a README) is passed over.
"""

from __future__ import annotations

import errno
import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from gradeapp.common.hidden_text import with_code_points
from gradeapp.common.isolated import Bounds, Exceeded, Why, isolated
from gradeapp.common.names import name_problem

DATA_SUFFIXES = frozenset({".json", ".jsonl", ".csv"})
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp"})
ARCHIVE_SUFFIXES = frozenset({".zip", ".7z", ".rar", ".gz", ".tar", ".xz", ".bz2", ".tgz"})
ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
CHUNK = 1 << 16
# Of a path. File systems take names of 255 bytes, and what walks folders may call itself for each.
MOST_PARTS = 12
MOST_PATH_BYTES = 1000
MOST_NAME_BYTES = 255
# What zipfile and the libraries below it raise, ValueError for a name that is no UTF-8.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError),
    *(struct.error, ValueError),
)
BOUNDS = Bounds(memory_bytes=256 * 2**20, cpu_seconds=60, clock_seconds=120)

_END = b"PK\x05\x06"
_ZIP64_LOCATOR = b"PK\x06\x07"
_LARGEST_COMMENT = 65_535
_DIRECTORY_ENTRY = 46  # the least bytes of one entry in the directory of a zip
_PART = re.compile(r"(?!\.)[^\x00-\x1f\x7f\ud800-\udfff/\\:*?\"<>|]{1,120}(?<![. ])")
_RESERVED = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


class ArchiveRefusal(ValueError):
    """An upload that is not taken: a stable *code*, and the *name* in the archive it is about.

    *size* is how many bytes it has, or says it has, where that is the reason.
    """

    def __init__(self, code: str, name: str = "", size: int = 0) -> None:
        super().__init__(f"{code}: {name}")
        self.code = code
        self.name = name[:120]
        self.size = size


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an archive may unpack to, of which each file and each folder takes time.

    ``ratio`` counts once a file is over 1 MB.
    """

    entries: int = 20_000
    folders: int = 1000
    total_bytes: int = 500 * 2**20
    file_bytes: int = 100 * 2**20
    ratio: int = 100


def plain_path(name: str) -> PurePosixPath:
    """*name* as a relative path of plain parts; raises ArchiveRefusal for any other.

    Absolute names, ``..``, drives, backslashes, control and invisible characters, hidden files
    and the device names of Windows are refused, and what lies too deep or has too long a name.
    """
    parts = name.removesuffix("/").split("/")
    if not all(_PART.fullmatch(part) and not _RESERVED.fullmatch(part) for part in parts):
        raise ArchiveRefusal("unsafe_name", name)
    check_visible(name)
    longest = max(len(part.encode()) for part in parts)
    if len(parts) > MOST_PARTS or longest > MOST_NAME_BYTES or len(name.encode()) > MOST_PATH_BYTES:
        raise ArchiveRefusal("deep_name", name)
    return PurePosixPath(*parts)


def check_visible(name: str) -> None:
    """Raise ArchiveRefusal for a *name* with characters that nobody sees."""
    if name_problem(name) == "invisible":
        raise ArchiveRefusal("invisible_name", with_code_points(name))


def unpack(archive: BinaryIO, folder: Path, limits: Limits | None = None) -> int:
    """Write the files of *archive* that an import reads into *folder*; how many there were.

    Raises ArchiveRefusal; what was written until then is for the caller to delete.
    """
    limits = limits or Limits()
    _check_directory(archive, limits)
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = list(_checked_entries(opened.infolist(), limits))
            budget = limits.total_bytes
            made: set[PurePosixPath] = set()
            for info, path in entries:
                if path.parent not in made:
                    _make_folder(folder, path.parent, info.filename)
                    made.add(path.parent)
                most = min(budget, limits.file_bytes)
                budget -= _write(opened, info, folder / path, most, limits)
    except ArchiveRefusal:
        raise
    except DAMAGED:
        raise ArchiveRefusal("broken_zip") from None
    except OSError as error:
        # bz2 raises one without a number, a place before the file EINVAL; not so a full disk.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise ArchiveRefusal("broken_zip") from None
    return len(entries)


def _make_folder(folder: Path, parent: PurePosixPath, name: str) -> None:
    """Make *parent* below *folder*, for the entry *name*."""
    target = folder / parent
    if not target.resolve().is_relative_to(folder.resolve()):
        raise ArchiveRefusal("unsafe_name", name)
    target.mkdir(mode=0o700, parents=True, exist_ok=True)


def unpack_isolated(archive: BinaryIO, folder: Path) -> int:
    """Unpack the open file *archive* in a child process; otherwise as ``unpack``.

    ArchiveRefusal also with ``too_much_work``, where it takes too much memory or time, and
    ``busy``, where others are read meanwhile.
    """
    try:
        answer = isolated(f"{__name__}:unpack_in_child", archive, str(folder), bounds=BOUNDS)
    except Exceeded as error:
        code = "busy" if error.why in (Why.BUSY, Why.CLOCK) else "too_much_work"
        raise ArchiveRefusal(code) from None
    if "refused" in answer:
        raise ArchiveRefusal(*answer["refused"])
    files: int = answer["files"]
    return files


def unpack_in_child(archive: BinaryIO, folder: str) -> dict[str, Any]:
    """What the child process of ``unpack_isolated`` answers."""
    try:
        return {"files": unpack(archive, Path(folder))}
    except ArchiveRefusal as refusal:
        return {"refused": [refusal.code, refusal.name, refusal.size]}


def _check_directory(archive: BinaryIO, limits: Limits) -> None:
    """Look at the end record alone: reading a directory of a million names takes too long."""
    size = archive.seek(0, 2)
    start = max(0, size - _LARGEST_COMMENT - 22)
    archive.seek(start)
    tail = archive.read()
    archive.seek(0)
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        raise ArchiveRefusal("broken_zip")
    count, directory_bytes = struct.unpack("<HI", tail[at + 10 : at + 16])
    zip64 = tail[max(0, at - 20) : at].startswith(_ZIP64_LOCATOR)
    longest = limits.entries * (_DIRECTORY_ENTRY + 400)
    if zip64 or count > limits.entries or directory_bytes > longest:
        raise ArchiveRefusal("too_many_files")


def _checked_entries(
    entries: list[zipfile.ZipInfo], limits: Limits
) -> Iterator[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """The entries to be written, once every name of the archive has passed."""
    if len(entries) > limits.entries:
        raise ArchiveRefusal("too_many_files")
    wanted: list[tuple[zipfile.ZipInfo, PurePosixPath]] = []
    seen: set[str] = set()
    for info in entries:
        if _is_of_the_finder(info.filename) and "\0" not in info.orig_filename:
            continue
        path = plain_path(info.orig_filename)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ArchiveRefusal("link", info.filename)
        if info.flag_bits & 1:
            raise ArchiveRefusal("encrypted", info.filename)
        if info.is_dir():
            continue
        _check_ratio(info, info.file_size, limits)
        folded = str(path).casefold()
        if folded in seen:
            raise ArchiveRefusal("name_twice", info.filename)
        seen.add(folded)
        if path.suffix.lower() in ARCHIVE_SUFFIXES:
            raise ArchiveRefusal("nested_archive", info.filename)
        if path.suffix.lower() in DATA_SUFFIXES | IMAGE_SUFFIXES:
            wanted.append((info, path))
    if not wanted:
        raise ArchiveRefusal("nothing_to_import")
    files = {str(path).casefold() for _info, path in wanted}
    folders = {str(folder) for _info, path in wanted for folder in path.parents}
    if len(folders) > limits.folders:
        raise ArchiveRefusal("too_many_files")
    for folder in sorted(folders):
        if folder.casefold() in files:
            raise ArchiveRefusal("name_twice", folder)
    yield from wanted


def _is_of_the_finder(name: str) -> bool:
    """What macOS adds to every archive, and version control to every folder."""
    parts = name.split("/")
    return ".." not in parts and (parts[0] == "__MACOSX" or any(_is_hidden(p) for p in parts))


def _is_hidden(part: str) -> bool:
    return part.startswith(".") and len(part) > 1 and not part.startswith("..")


def _write(
    opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, most: int, limits: Limits
) -> int:
    """Write one entry and count its real bytes."""
    written = 0
    with opened.open(info) as source, target.open("xb") as out:
        while chunk := source.read(CHUNK):
            if not written and chunk.startswith(ZIP_SIGNATURES):
                raise ArchiveRefusal("nested_archive", info.filename)
            written += len(chunk)
            if written > most:
                raise ArchiveRefusal("too_large_unpacked", info.filename)
            _check_ratio(info, written, limits)
            out.write(chunk)
    return written


def _check_ratio(info: zipfile.ZipInfo, size: int, limits: Limits) -> None:
    if size > 2**20 and size > limits.ratio * max(info.compress_size, 1):
        raise ArchiveRefusal("ratio", info.filename, size)
