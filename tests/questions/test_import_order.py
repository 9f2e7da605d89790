"""A file that is out of step with the bank: texts at another place, and what is left out."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput
from questions.models import Question
from questions.services.import_jobs import confirm_import, work_on_import
from questions.services.imports import import_questions
from questions.services.labels import set_labels
from questions.services.uploads import take_upload
from tests.conftest import logged_in
from tests.questions.upload_world import line, sent
from tests.questions.upload_world import var as var

pytestmark = pytest.mark.django_db

WARNING = (
    "4 of 4 changed questions of Physics_MCQs get the text of another question, "
    "p-1 that of p-2: the file seems shifted."
)
LEFT_OUT = (
    "Questions of Physics_MCQs that the bank has and the file lacks: 1 (p-5). "
    "They stay as they are."
)


def exam(*numbers: int) -> bytes:
    """Questions with these texts, one after the other; the place is the id."""
    rows = enumerate(numbers, start=1)
    return "\n".join(line(place, stem=f"Text {n}\nA. a\nB. b") for place, n in rows).encode()


def write(folder: Path, *numbers: int, name: str = "exam.jsonl") -> Path:
    (folder / name).write_bytes(exam(*numbers))
    return folder


def texts() -> list[int]:
    rows = Question.objects.order_by("pk").select_related("current")
    return [int(row.current.stem.split()[1]) for row in rows if row.current]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bank of five questions, and the same file with its first line removed."""
    import_questions("jsonl", write(tmp_path, 1, 2, 3, 4, 5))
    return write(tmp_path, 2, 3, 4, 5)


def said(report: Any) -> list[tuple[str, str]]:
    found = report.problems
    return [(problem.code, problem.text) for problem in found if problem.code != "changed_item"]


def test_the_check_names_a_file_that_seems_shifted(folder: Path) -> None:
    report = import_questions("jsonl", folder, dry_run=True)
    assert said(report) == [("shifted", WARNING), ("missing_items", LEFT_OUT)]
    assert (report.changed, report.refused) == (4, 0)


def test_it_is_imported_only_where_that_is_allowed(folder: Path, curator: User) -> None:
    question = Question.objects.get(external_id="p-3")
    set_labels(question, {"difficulty": 5}, acting_user=curator)
    with pytest.raises(BadInput, match="only if shifted files are allowed"):
        import_questions("jsonl", folder)
    assert texts() == [1, 2, 3, 4, 5]
    with pytest.raises(SystemExit, match="1"):
        call_command("import_questions", "jsonl", str(folder))
    out = StringIO()
    command = ("import_questions", "jsonl", str(folder), "--allow-shifted")
    call_command(*command, format="json", stdout=out)
    assert json.loads(out.getvalue())["changed"] == 4
    assert texts() == [2, 3, 4, 5, 5]


def test_its_neighbours_are_imported(folder: Path) -> None:
    rows = [line(1, task="Other"), line(2, task="Other")]
    (folder / "other.jsonl").write_text("\n".join(rows), encoding="utf-8")
    report = import_questions("jsonl", folder)
    assert (report.new, report.changed, report.refused) == (2, 0, 1)


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ((1, 2, 3, 4, 5), []),
        ((1, 2, 3, 4, 6), []),
        ((1, 2, 3, 4, 5, 6), []),
        ((1, 2, 4, 3, 5), ["shifted"]),
        ((5, 4, 3, 2, 1), ["shifted"]),
        ((9, 1, 2, 3, 4, 5), ["shifted"]),
        ((1, 2, 3), ["missing_items"]),
    ],
)
def test_what_seems_shifted(folder: Path, numbers: tuple[int, ...], found: list[str]) -> None:
    report = import_questions("jsonl", write(folder, *numbers), dry_run=True)
    assert [code for code, _text in said(report)] == found


def test_a_task_in_several_files_lacks_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join((line(1), line(2))), encoding="utf-8")
    import_questions("jsonl", tmp_path)
    (tmp_path / "b.jsonl").write_text(line(3), encoding="utf-8")
    assert said(import_questions("jsonl", tmp_path)) == []
    assert said(import_questions("jsonl", tmp_path)) == []
    assert said(import_questions("jsonl", tmp_path / "b.jsonl"))[0][0] == "missing_items"
    (tmp_path / "c.jsonl").write_text(line(4), encoding="utf-8")
    assert said(import_questions("jsonl", tmp_path / "c.jsonl")) == [], "new ones alone"


def test_whoever_imports_an_upload_has_to_confirm_it(
    folder: Path, var: Path, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("questions.views.imports.ask_for_import", lambda pk: None)
    batch = take_upload([sent("exam.jsonl", exam(2, 3, 4, 5))], "jsonl", acting_user=curator)
    work_on_import(batch.pk)
    client, address = logged_in(curator), f"/questions/imports/{batch.pk}/"
    page = client.get(address).text
    assert 'name="allow_shifted"' in page
    assert "the file seems shifted, as when a line was removed or added" in page
    assert "1 (p-5)" in page
    assert client.post(f"{address}import/").status_code == 400
    api = f"/api/v1/imports/{batch.pk}/confirm/"
    assert client.post(api, {}, content_type="application/json").json()["code"] == "shifted"
    batch.refresh_from_db()
    assert batch.confirmed_at is None
    assert client.post(f"{address}import/", {"allow_shifted": "yes"}).status_code == 302
    entry = AuditEntry.objects.filter(tag="questions.imported").latest("pk")
    assert entry.detail["allow_shifted"] is True
    work_on_import(batch.pk)
    assert texts() == [2, 3, 4, 5, 5]


def test_a_bank_that_changed_since_the_check_is_not_shifted(
    folder: Path, var: Path, curator: User
) -> None:
    import_questions("jsonl", write(folder, 6, 7, 8, 9, 10))
    batch = take_upload([sent("exam.jsonl", exam(2, 3, 4, 5, 6))], "jsonl", acting_user=curator)
    import_questions("jsonl", write(folder, 16, 17, 18, 19, 20))
    work_on_import(batch.pk)
    import_questions("jsonl", write(folder, 1, 2, 3, 4, 5))
    assert not confirm_import(batch, acting_user=curator)
    work_on_import(batch.pk)
    assert texts() == [1, 2, 3, 4, 5]
    batch.refresh_from_db()
    assert batch.problems.filter(code="shifted").exists()
    with pytest.raises(BadInput) as refused:
        confirm_import(batch, acting_user=curator)
    assert refused.value.code == "shifted"


def test_a_file_refused_as_shifted_at_its_import_waits_to_be_allowed(
    var: Path, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two uploads are checked while the dataset is empty; the second is the first shifted."""
    monkeypatch.setattr("questions.views.imports.ask_for_import", lambda pk: None)
    rows = (line(n, task="Other", stem=f"Text {n}\nA. a\nB. b") for n in (11, 12))
    first = take_upload([sent("exam.jsonl", exam(1, 2, 3, 4, 5))], "", acting_user=curator)
    files = [sent("exam.jsonl", exam(2, 3, 4, 5)), sent("other.jsonl", "\n".join(rows).encode())]
    second = take_upload(files, "", acting_user=curator)
    for _time in ("checked", "imported"):
        for batch in (first, second):
            work_on_import(batch.pk)
            batch.refresh_from_db()
            if batch.status == "checked" and batch.confirmed_at is None:
                confirm_import(batch, acting_user=curator)
    assert (first.status, second.status) == ("done", "checked")
    assert (second.counts["new"], texts()[:5]) == (2, [1, 2, 3, 4, 5])
    client, address = logged_in(curator), f"/questions/imports/{second.pk}/"
    page = client.get(address).text
    assert 'name="allow_shifted"' in page
    assert "The bank has changed since the check" in page
    assert "--allow-shifted" not in page
    assert "Nothing has been imported yet" not in page
    assert client.post(f"{address}import/").status_code == 400
    assert client.post(f"{address}import/", {"allow_shifted": "yes"}).status_code == 302
    work_on_import(second.pk)
    second.refresh_from_db()
    assert (second.status, second.folder, second.counts["changed"]) == ("done", "", 4)
    assert texts()[:5] == [2, 3, 4, 5, 5]
    assert 'name="allow_shifted"' not in client.get(address).text
