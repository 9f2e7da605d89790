"""A .zip from the command line: an export goes back whole, a hostile one leaves nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from gradeapp.accounts.models import User
from questions.models import Dataset, ImportBatch, ImportProblem, Question
from questions.selectors.bank import by_place
from questions.services.exports import export_jsonl
from questions.services.uploads import imports_folder
from tests.conftest import logged_in
from tests.questions.upload_world import line, lines, sent, zip_of
from tests.questions.upload_world import var as var

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("var")]
GIGABYTE = 2**30


def imported(path: Path, **options: object) -> dict[str, object]:
    out = io.StringIO()
    call_command("import_questions", "jsonl", str(path), format="json", stdout=out, **options)
    return json.loads(out.getvalue())


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        call_command("import_questions", "jsonl", str(path))
    return capsys.readouterr().err


def counts(result: dict[str, object]) -> tuple[object, ...]:
    names = ("dataset", "read", "new", "same", "changed", "refused")
    return tuple(result[name] for name in names)


def two_datasets(folder: Path, **files: bytes) -> Path:
    """A .zip of two datasets, two and three questions."""
    path = folder / "exam.zip"
    stem = "An entirely different question?\nA. one\nB. two"
    other = lines(1, 3, dataset="other-exam", stem=stem)
    both = {"small-exam/a.jsonl": lines(1, 2), "other-exam/b.jsonl": other}
    path.write_bytes(zip_of(both | files))
    return path


def test_an_export_of_several_datasets_is_known_when_it_comes_back(tmp_path: Path) -> None:
    assert counts(imported(two_datasets(tmp_path))) == ("other-exam, small-exam", 5, 5, 0, 0, 0)
    back = tmp_path / "back.ZIP"
    with back.open("wb") as out:
        export_jsonl(by_place(), out, {})
    again = imported(back)
    assert counts(again) == ("other-exam, small-exam", 5, 0, 5, 0, 0)
    assert again["problems"] == [], "its manifest is part of an export"
    assert Question.objects.count() == 5
    assert list(imports_folder().iterdir()) == []
    sources = set(ImportBatch.objects.values_list("source", flat=True))
    assert all("exam.zip/" in source for source in sources), sources


def test_a_dry_run_of_a_zip_keeps_nothing(tmp_path: Path) -> None:
    result = imported(two_datasets(tmp_path), dry_run=True)
    assert (result["new"], Question.objects.count()) == (5, 0)


def test_what_is_not_read_of_a_zip_is_named(tmp_path: Path) -> None:
    beside = {"small-exam/more/c.jsonl": lines(3, 3), "more/d.json": b"{}"}
    result = imported(two_datasets(tmp_path, **beside))
    assert result["new"] == 5
    found = [(problem["file"], problem["code"]) for problem in result["problems"]]
    assert found == [("more/d.json", "not_read"), ("small-exam/more/c.jsonl", "not_read")]
    assert ImportProblem.objects.count() == 2


def test_a_broken_dataset_refuses_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "exam.zip"
    broken = line(1).encode() + b'\n{"dataset": "b'
    path.write_bytes(zip_of({"a-exam/a.jsonl": broken, "small-exam/b.jsonl": lines(2, 3)}))
    result = imported(path)
    assert counts(result) == ("small-exam", 2, 2, 0, 0, 1)
    assert [problem["file"] for problem in result["problems"]] == ["a-exam/a.jsonl"]
    assert set(Dataset.objects.values_list("slug", flat=True)) == {"small-exam"}


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"../evil.jsonl": lines(1, 1)}, "is not a plain file name"),
        ({"readme.md": b"none"}, "It contains no .json, .jsonl or .csv file."),
        ({"only/manifest.json": b"{}"}, "holds no .jsonl file"),
        ({"exam.jsonl": b" " * (3 << 20)}, "would unpack to 3 MB or more"),
    ],
)
def test_what_is_refused_leaves_nothing(
    tmp_path: Path, files: dict[str, bytes], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exam.zip"
    path.write_bytes(zip_of(files))
    assert sentence in refused(path, capsys)
    assert list(imports_folder().iterdir()) == []
    assert not Question.objects.exists()


def test_what_is_no_zip_is_said_to_be_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exam.zip"
    path.write_bytes(lines(1, 2))
    assert "The .zip file is damaged or not a .zip file." in refused(path, capsys)


def test_a_small_zip_that_claims_a_gigabyte_is_told_what_it_claims(curator: User) -> None:
    """The size of the first entry stands in its header and in the directory at the end."""
    content = zip_of({"exam.jsonl": lines(1, 1)})
    size = len(lines(1, 1)).to_bytes(4, "little")
    assert content.count(size) == 2
    claiming = content.replace(size, GIGABYTE.to_bytes(4, "little"))
    page = logged_in(curator).post(
        reverse("questions:imports"), {"files": sent("exam.zip", claiming), "source": ""}
    )
    assert page.status_code == 400
    assert "“exam.jsonl” would unpack to 1,024 MB or more" in page.text
