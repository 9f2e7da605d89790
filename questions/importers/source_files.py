"""Where the files of a published folder lie; a link out of the folder is none of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from questions.importers.records import Problem, SourceFile


def files_below(folder: Path, pattern: str) -> list[Path]:
    """The files of *folder* and its subfolders that fit *pattern*, in one fixed order."""
    found = (file for file in folder.rglob(pattern) if not file.name.startswith("."))
    return sorted(found, key=lambda file: file.parts)


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
