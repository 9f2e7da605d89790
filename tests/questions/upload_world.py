"""Small uploads for tests: what a browser sends, and the lines of an exam."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

SAMPLE = Path(__file__).resolve().parents[2] / "questions" / "sample" / "gradeapp-sample"


def line(number: int, **changed: object) -> str:
    """One question of our own format."""
    row = {
        "dataset": "small-exam",
        "task": "Physics_MCQs",
        "id": f"p-{number}",
        "subject": "Physics",
        "type": "single_choice",
        "language": "en",
        "stem": f"Which is number {number}?\nA. one\nB. two",
        "letters": "AB",
        "answer": ["A"],
        "sub_marks": [4],
    }
    return json.dumps(row | changed, ensure_ascii=False)


def lines(first: int, last: int, **changed: object) -> bytes:
    """Questions from *first* to *last* as a file."""
    return "\n".join(line(n, **changed) for n in range(first, last + 1)).encode()


def sent(name: str, content: bytes) -> SimpleUploadedFile:
    """A file as a browser sends it."""
    return SimpleUploadedFile(name, content)


def zip_of(files: dict[str, bytes]) -> bytes:
    """A .zip of *files*."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def sample_zip() -> bytes:
    """The sample exam as somebody would zip its folder."""
    folder = SAMPLE
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return zip_of({f"exam/{file.relative_to(folder)}": file.read_bytes() for file in files})


@pytest.fixture
def var(tmp_path: Path, settings: object) -> Path:
    """A VAR_DIR of the test's own."""
    folder = tmp_path / "var"
    folder.mkdir()
    settings.VAR_DIR = folder  # type: ignore[attr-defined]
    return folder
