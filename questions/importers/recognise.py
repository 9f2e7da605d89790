"""Tells what an uploaded folder is: which benchmark, or our own format, and where it begins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from gradeapp.common.strict_json import check_depth

HEAD_BYTES = 1 << 16
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


def roots(folder: Path) -> list[Path]:
    """What to import one after the other: the folder, or the datasets of an export side by side."""
    root = source_root(folder)
    if any(root.glob("*.jsonl")):
        return [root]
    inside = [child for child in sorted(root.iterdir()) if child.is_dir()]
    exported = [child for child in inside if _is_own_folder(child)]
    return exported or [root]


def recognised(folder: Path) -> str:
    """``gaokao-bench``, ``agieval``, ``agibench`` or ``jsonl``; empty where nothing fits.

    What a file holds decides, not what it is called: files are renamed, and a
    wrapping folder has any name.
    """
    if (folder / "datasets.json").is_file():
        return "agibench"
    for file in _files(folder, "*.jsonl"):
        keys = _first_keys(file)
        if keys >= OWN_KEYS:
            return "jsonl"
        if keys >= AGIEVAL_KEYS:
            return "agieval"
    if any(_names_keyword(file) for file in _files(folder, "*.json")):
        return "gaokao-bench"
    return ""


def data_files(folder: Path, source: str) -> list[Path]:
    """The files that the reader of *source* will go through, as far as names tell."""
    if source == "jsonl":
        return sorted(folder.glob("*.jsonl"))
    if source == "agibench":
        return sorted(folder.glob("datasets.json"))
    if source == "agieval":
        tasks = _files(folder, "*.jsonl")
        return tasks + _files(folder, "*.csv") if tasks else []
    data = folder / "Data"
    return sorted((data if data.is_dir() else folder).rglob("*.json"))


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.rglob(pattern), key=lambda file: (len(file.parts), file))


def _is_own_folder(folder: Path) -> bool:
    return any(_first_keys(file) >= OWN_KEYS for file in sorted(folder.glob("*.jsonl"))[:1])


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


def sizes(files: list[Path]) -> Iterator[tuple[str, int]]:
    """Name and size in bytes of each of *files*."""
    for file in files:
        yield file.name, file.stat().st_size
