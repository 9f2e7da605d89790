"""What the readers of published sources share: their files, and the values of a JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradeapp.common.strict_json import JsonRefusal
from questions.importers.records import Problem, SourceFile


def files_in(folder: Path, suffix: str) -> list[Path]:
    """The files of *folder* with *suffix* in any case, in one fixed order."""
    return sorted(file for file in folder.glob("*") if _has_suffix(file, suffix))


def files_below(folder: Path, suffix: str) -> list[Path]:
    """Those of *folder* and its subfolders; no hidden ones."""
    found = (file for file in folder.rglob("*") if _has_suffix(file, suffix))
    return sorted(file for file in found if not file.name.startswith("."))


def _has_suffix(file: Path, suffix: str) -> bool:
    return file.suffix.lower() == suffix and not file.is_dir()


def leads_out(folder: Path, file: Path) -> bool:
    """Whether *file*, met below *folder*, is a link to somewhere else."""
    return folder.is_dir() and not file.resolve().is_relative_to(folder.resolve())


def refused(name: str, row: int | None, code: str, text: str) -> SourceFile:
    """A file that gives nothing, with the one reason."""
    return SourceFile(name, (), (Problem(name, row, code, text, fatal=True),))


def refused_links(folder: Path, files: list[Path]) -> Iterator[SourceFile]:
    """Each of *files* that leads out of *folder*, refused; nothing of it is read."""
    for file in files:
        if leads_out(folder, file):
            text = f"{file.name!r} is a link that leads out of the folder."
            yield refused(file.name, None, "link_leads_out", text)


def unreadable(file: Path, error: OSError) -> SourceFile:
    """The refusal of a file that the system does not give out."""
    reason = error.strerror or "unknown reason"
    return refused(file.name, None, "unreadable", f"{file.name!r} cannot be read: {reason}.")


def wrong_type(key: str, wanted: str) -> JsonRefusal:
    """The refusal of a value that is not *wanted*, such as "a text"."""
    return JsonRefusal("wrong_type", f"The value of {key!r} must be {wanted}.")


def text_of(row: dict[str, Any], key: str, longest: int | None = None) -> str:
    """The text under *key*; "" where it is left out."""
    value = row.get(key, "")
    if not isinstance(value, str):
        raise wrong_type(key, "a text")
    if longest is not None and len(value) > longest:
        raise JsonRefusal("too_long", f"{key!r} is longer than {longest} characters.")
    return value


def whole_of(row: dict[str, Any], key: str, low: int, high: int) -> int | None:
    """The whole number from *low* to *high* under *key*; None where it is left out or null."""
    value = row.get(key)
    if value is None:
        return None
    if type(value) is not int:  # a bool is an int
        raise wrong_type(key, "a whole number")
    if not low <= value <= high:
        raise JsonRefusal("bad_value", f"{key!r} must lie between {low} and {high}.")
    return value
