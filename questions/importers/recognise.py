"""Tells what an uploaded folder is: which benchmark, or our own format, and where it begins."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from gradeapp.common.strict_json import check_depth
from questions.importers import agibench, agieval, gaokao_bench
from questions.importers.jsonl_images import images_beside
from questions.importers.records import Problem
from questions.importers.source_files import files_below, files_in

HEAD_BYTES = 1 << 16
# What the check says of a file that was unpacked and that nobody reads.
NOT_READ = "not_read"
MANIFEST = "manifest.json"
# Folders of the published benchmarks whose parent is what a reader is given.
INNER_FOLDERS = frozenset({"Data", "v1", "images"})
AGIEVAL_KEYS = {"question", "options", "label"}
OWN_KEYS = {"dataset", "task"}
# How the names of the files end that each reader needs.
FILE_NAMES = {
    "gaokao-bench": ".json",
    "agieval": ".jsonl",
    "agibench": "datasets.json",
    "jsonl": ".jsonl",
}


def source_root(folder: Path) -> Path:
    """The folder that holds the published files, past the wrapping folders of an archive."""
    while True:
        children = sorted(folder.iterdir())
        folders = [child for child in children if child.is_dir()]
        if len(folders) != 1 or len(children) != 1 or folders[0].name in INNER_FOLDERS:
            return folder
        folder = folders[0]


def roots(folder: Path, reader: str) -> list[Path]:
    """What to import one after the other: the folder, or the datasets of an export side by side."""
    root = source_root(folder)
    if reader != "jsonl" or files_in(root, ".jsonl"):
        return [root]
    inside = [child for child in sorted(root.iterdir()) if child.is_dir()]
    exported = [child for child in inside if _is_own_folder(child)]
    return exported or [root]


def recognised(folder: Path) -> str:
    """``gaokao-bench``, ``agieval``, ``agibench`` or ``jsonl``; empty where nothing fits.

    What a file holds decides, not what it is called: files are renamed, and a
    wrapping folder has any name.
    """
    if agibench.question_file(folder):
        return "agibench"
    for file in _nearest_first(folder, ".jsonl"):
        keys = _first_keys(file)
        if keys >= OWN_KEYS:
            return "jsonl"
        if keys >= AGIEVAL_KEYS:
            return "agieval"
    if any(_names_keyword(file) for file in _nearest_first(folder, ".json")):
        return "gaokao-bench"
    return ""


def data_files(folder: Path, source: str) -> list[Path]:
    """The files that the reader of *source* goes through."""
    if source == "jsonl":
        return files_in(folder, ".jsonl")
    if source == "agibench":
        file = agibench.question_file(folder)
        return [file] if file else []
    if source == "agieval":
        tasks, examples = agieval.files_of_folder(folder)
        return tasks + examples
    return gaokao_bench.question_files(folder)


def pictures(folder: Path, source: str) -> list[Path]:
    """The pictures that questions read by *source* may show."""
    return list(images_beside(folder).values()) if source in ("jsonl", "agibench") else []


def passed_over(folder: Path, read: Iterable[Path]) -> list[Problem]:
    """A problem for each file unpacked into *folder* that is not among *read*, named by its path.

    The manifest that an export brings is none of them: it holds nothing to read.
    """
    known = {*read, source_root(folder) / MANIFEST}
    left = (file for file in folder.rglob("*") if file.is_file() and file not in known)
    text = "This source does not read files of this kind or in this folder; it was passed over."
    names = sorted(file.relative_to(folder).as_posix() for file in left)
    return [Problem(name, None, NOT_READ, text) for name in names]


def _nearest_first(folder: Path, suffix: str) -> list[Path]:
    return sorted(files_below(folder, suffix), key=lambda file: (len(file.parts), file))


def _is_own_folder(folder: Path) -> bool:
    return any(_first_keys(file) >= OWN_KEYS for file in files_in(folder, ".jsonl")[:1])


def _first_keys(file: Path) -> set[str]:
    """The keys of the first line, however broken the rest is."""
    for line in _head(file).splitlines()[:1]:
        try:
            check_depth(line, "text")
            row = json.loads(line)
        except ValueError:
            return _loose_keys(line)
        return set(row) if isinstance(row, dict) else set()
    return set()


def _loose_keys(line: str) -> set[str]:
    """Keys of a line that is broken or longer than its head: what the reader says of it counts."""
    return {key for key in AGIEVAL_KEYS | OWN_KEYS if f'"{key}"' in line}


def _names_keyword(file: Path) -> bool:
    head = _head(file)
    return '"example"' in head and ('"keyword"' in head or '"keywords"' in head)


def _head(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(HEAD_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
