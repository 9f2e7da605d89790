"""An upload's life: checked, imported when a person says so, stopped, gone on with, discarded."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from questions.importers.records import SourceFile
from questions.models import Asset, Dataset, ImportBatch, ImportProblem, ItemProblem, Question
from questions.models.imports import ImportFile
from questions.services import import_jobs, imports, uploads
from questions.services.import_log import UploadLog
from questions.services.imports import import_questions
from tests.questions.upload_world import SAMPLE, lines, sample_zip, sent, zip_of
from tests.questions.upload_world import var as var

GAOKAO = {"index": 0, "year": "2023", "category": "（全国甲卷）", "score": 6}
GAOKAO |= {"question": "哪个？\nA. 甲\nB. 乙\nC. 丙\nD. 丁", "answer": ["A"], "analysis": ""}
pytestmark = pytest.mark.django_db(transaction=True)


def taken(user: User, *files: tuple[str, bytes], source: str = "") -> ImportBatch:
    return uploads.take_upload([sent(*file) for file in files], source, acting_user=user)


def worked(batch: ImportBatch) -> ImportBatch:
    assert import_jobs.work_on_import(batch.pk)
    batch.refresh_from_db()
    return batch


def left_in(var: Path) -> list[str]:
    return [str(entry) for entry in (var / "imports").rglob("*")]


def test_the_sample_folder_as_a_zip(curator: User, var: Path) -> None:
    batch = worked(taken(curator, ("exam.zip", sample_zip())))
    assert (batch.status, batch.reader, batch.files_done, batch.files_total) == (
        "checked",
        "jsonl",
        10,
        10,
    )
    assert not Question.objects.exists(), "a check writes nothing"
    assert not Asset.objects.exists()
    assert sum(ImportFile.objects.values_list("new", flat=True)) == 90
    import_jobs.confirm_import(batch, acting_user=curator)
    batch = worked(batch)
    assert batch.status == "done"
    assert batch.counts == {"read": 90, "new": 90, "same": 0, "changed": 0, "quarantined": 0}
    assert Question.objects.count() == 90
    assert Asset.objects.count() == 3
    assert batch.dataset is not None
    assert batch.dataset.slug == "sample-exam"
    assert left_in(var) == [], "the uploaded files are deleted"
    tags = list(AuditEntry.objects.filter(target=f"importbatch:{batch.pk}").values_list("tag"))
    assert sorted(tag for (tag,) in tags) == ["questions.imported", "questions.uploaded"]
    again = worked(taken(curator, ("exam.zip", sample_zip())))
    assert set(again.files.values_list("new", "changed")) == {(0, 0)}
    assert sum(again.files.values_list("same", flat=True)) == 90


def test_what_is_new_the_same_changed_and_refused_is_told_before(curator: User, var: Path) -> None:
    first = worked(taken(curator, ("a.jsonl", lines(1, 4))))
    import_jobs.confirm_import(first, acting_user=curator)
    worked(first)
    changed = lines(1, 1, analysis="better") + b"\n" + lines(2, 6)
    broken = lines(7, 8) + b"\n{broken\n"
    batch = worked(taken(curator, ("a.jsonl", changed), ("b.jsonl", broken)))
    found = {row.name: (row.new, row.same, row.changed, row.refused) for row in batch.files.all()}
    assert found == {"a.jsonl": (2, 3, 1, False), "b.jsonl": (0, 0, 0, True)}
    changes, problem = ImportProblem.objects.filter(batch=batch)
    assert (problem.file, problem.row, problem.code) == ("b.jsonl", 3, "broken_json")
    assert problem.fatal
    assert "not JSON" in problem.text
    assert (changes.file, changes.code, changes.fatal) == ("a.jsonl", "changed_item", False)
    assert "analysis" in changes.text
    assert Question.objects.count() == 4
    import_jobs.confirm_import(batch, acting_user=curator)
    batch = worked(batch)
    assert (batch.counts["new"], batch.counts["changed"], batch.counts["same"]) == (2, 1, 3)
    assert Question.objects.count() == 6
    assert batch.problems.count() == 2, "the import finds the same, and it stands once"


def test_images_go_beside_their_questions(curator: User, var: Path) -> None:
    image = (SAMPLE / "images" / "circuit.png").read_bytes()
    stem = "See ![it](image:circuit.png)\nA. a\nB. b"
    exam = lines(1, 1, stem=stem, images=["circuit.png"])
    batch = worked(taken(curator, ("exam.jsonl", exam), ("circuit.png", image)))
    assert [row.new for row in batch.files.all()] == [1]
    missing = worked(taken(curator, ("exam.jsonl", exam)))
    assert [problem.code for problem in missing.problems.all()] == ["image_missing"]


def test_an_svg_that_calls_itself_png_is_refused_with_its_row(curator: User, var: Path) -> None:
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    exam = lines(1, 1, stem="![it](image:x.png)", images=["x.png"])
    batch = worked(taken(curator, ("exam.jsonl", exam), ("x.png", svg)))
    problem = batch.problems.get()
    assert (problem.file, problem.row, problem.code) == ("exam.jsonl", 1, "image_content")


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ([("x.svg", b"<svg/>")], "wrong_kind"),
        ([("x.pkl", b"\x80")], "wrong_kind"),
        ([("circuit.png", b"png")], "nothing_to_import"),
        ([("a.zip", b"no zip")], "broken_zip"),
        ([("a.zip", zip_of({"a.jsonl": b"{}"})), ("b.jsonl", b"{}")], "zip_alone"),
        ([("a.jsonl", zip_of({"a.jsonl": b"{}"}))], "wrong_kind"),
        ([("a.jsonl", b"{}"), ("a.jsonl", b"{}")], "name_twice"),
        ([("con.jsonl", b"{}")], "unsafe_name"),
        ([("a\u202elnosj.jsonl", b"{}")], "invisible_name"),
        ([("a\u200b.zip", zip_of({"a.jsonl": lines(1, 1)}))], "invisible_name"),
        ([("a.zip", zip_of({"a\u2066.jsonl": lines(1, 1)}))], "invisible_name"),
        ([("a.jsonl", b"{}")], "not_recognised"),
        ([("a.zip", zip_of({"../../a.jsonl": lines(1, 1)}))], "unsafe_name"),
        ([], "bad_input"),
    ],
)
def test_what_is_not_taken_leaves_nothing(
    curator: User, var: Path, files: list[tuple[str, bytes]], code: str
) -> None:
    with pytest.raises(BadInput) as refused:
        taken(curator, *files)
    assert refused.value.code == code
    assert str(refused.value).endswith(".")
    assert left_in(var) == []
    assert not ImportBatch.objects.exists()


def test_a_chosen_source_is_not_doubted(curator: User, var: Path) -> None:
    batch = worked(taken(curator, ("a.jsonl", b"{}"), source="jsonl"))
    assert (batch.status, batch.reader) == ("checked", "jsonl")
    assert [problem.code for problem in batch.problems.all()] == ["missing_key"]


@pytest.mark.parametrize(
    ("name", "source", "ending"),
    [
        ("a.json", "jsonl", ".jsonl"),
        ("a.csv", "jsonl", ".jsonl"),
        ("a.csv", "agieval", ".jsonl"),
        ("a.jsonl", "gaokao-bench", ".json"),
        ("a.json", "agibench", "datasets.json"),
    ],
)
def test_what_the_chosen_source_never_reads_is_refused_by_its_name(
    curator: User, var: Path, name: str, source: str, ending: str
) -> None:
    with pytest.raises(BadInput) as refused:
        taken(curator, (name, lines(1, 1)), source=source)
    assert refused.value.code == "nothing_for_source"
    assert f"“{name}”" in str(refused.value)
    assert str(refused.value).endswith(f" {ending}.")
    assert left_in(var) == []
    assert not ImportBatch.objects.exists()


def test_a_reader_that_finds_no_file_names_what_was_uploaded(curator: User, var: Path) -> None:
    """Not the folder of the server where it lies."""
    content = zip_of({"deep/down/a.jsonl": lines(1, 1), "more/b.csv": b"a,b"})
    batch = worked(taken(curator, ("exam.zip", content), source="agieval"))
    found = {problem.file: problem.code for problem in batch.problems.all()}
    assert found.pop("exam.zip") == "no_files"
    assert found == {"deep/down/a.jsonl": "not_read", "more/b.csv": "not_read"}
    assert [file.name for file in batch.files.all()] == ["exam.zip"]


BIOLOGY = b'{"keywords": "2023_Biology_MCQs", "example": [%s]}' % json.dumps(GAOKAO).encode()
PHYSICS = BIOLOGY.replace(b"Biology", b"Physics")


@pytest.mark.parametrize(
    ("files", "read", "named"),
    [
        ({"exam/a.jsonl": 1, "exam/more/b.jsonl": 2}, 1, ["exam/more/b.jsonl"]),
        (
            {"a.jsonl": 1, "b-exam/b.jsonl": 2, "c-exam/b.jsonl": 3, "manifest.json": b"{}"},
            *(1, ["b-exam/b.jsonl", "c-exam/b.jsonl"]),
        ),
        ({"one/b.jsonl": 1, "gk/physics.json": PHYSICS}, 1, ["gk/physics.json"]),
        ({"Data/x.JSON": BIOLOGY, "y.json": PHYSICS, "z.csv": b"a"}, 1, ["y.json", "z.csv"]),
        ({"Data/x.json": BIOLOGY, "Data/y/x.json": PHYSICS, "x.json": b"{}"}, 2, ["x.json"]),
        ({"a.jsonl": 1, "images/a.png": b"", "b.png": b"", "images/c/d.png": b""},
            1, ["b.png", "images/c/d.png"]),
        ({"a.jsonl": 1, "T.JSONL": 2}, 2, []),
    ],
)  # fmt: skip
def test_what_is_unpacked_and_not_read_is_named(
    files: dict[str, Any], read: int, named: list[str], curator: User, var: Path
) -> None:
    made = {name: lines(c, c) if isinstance(c, int) else c for name, c in files.items()}
    batch = worked(taken(curator, ("exam.zip", zip_of(made))))
    assert (batch.files_total, sum(row.new for row in batch.files.all())) == (read, read)
    import_jobs.confirm_import(batch, acting_user=curator)
    batch = worked(batch)
    assert (batch.status, batch.counts["new"]) == ("done", read)
    found = batch.problems.filter(code="not_read", fatal=False).values_list("file", flat=True)
    assert sorted(found) == named, "each once"


def test_a_picture_for_a_source_without_pictures_is_named(curator: User, var: Path) -> None:
    batch = worked(taken(curator, ("a.json", BIOLOGY), ("a.png", b"")))
    assert batch.problems.get().file == "images/a.png"


def test_a_stop_leaves_whole_files_and_goes_on_later(
    curator: User, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [(f"{n}.jsonl", lines(10 * n, 10 * n + 4)) for n in range(1, 6)]
    batch = worked(taken(curator, *files))
    import_jobs.confirm_import(batch, acting_user=curator)
    goes_on = UploadLog.goes_on

    def stopped_in_the_second(log: UploadLog, file: SourceFile, counts: dict[str, int]) -> bool:
        if file.name == "2.jsonl":
            import_jobs.stop_import(batch, acting_user=curator)
        return goes_on(log, file, counts)

    monkeypatch.setattr(UploadLog, "goes_on", stopped_in_the_second)
    batch = worked(batch)
    assert (batch.status, batch.files_done, Question.objects.count()) == ("stopped", 2, 10)
    assert batch.counts["new"] == 10
    monkeypatch.undo()
    uploads.settings.VAR_DIR = var
    import_jobs.resume_import(batch, acting_user=curator)
    batch = worked(batch)
    assert (batch.status, Question.objects.count()) == ("done", 25)
    assert batch.counts["new"] == 25, "what was written before the stop is counted once"
    assert batch.counts["same"] == 0


def test_two_workers_cannot_have_one_upload(curator: User, var: Path) -> None:
    batch = taken(curator, ("a.jsonl", lines(1, 2)))
    assert import_jobs.claim(batch.pk, timezone.now()) is not None
    assert import_jobs.claim(batch.pk, timezone.now()) is None
    assert not import_jobs.work_on_import(batch.pk)


def test_a_silent_worker_is_found_and_a_late_one_changes_nothing(curator: User, var: Path) -> None:
    batch = taken(curator, ("a.jsonl", lines(1, 2)), ("b.jsonl", lines(3, 4)))
    late = import_jobs.claim(batch.pk, timezone.now())
    assert late is not None
    import_jobs.look_for_imports()
    batch.refresh_from_db()
    assert batch.status == "working", "it was heard of just now"
    much_later = timezone.now() + timedelta(minutes=5)
    assert import_jobs.look_for_imports(lambda: much_later) == []
    batch.refresh_from_db()
    assert (batch.status, batch.error) == ("interrupted", "worker_lost")
    import_jobs.resume_import(batch, acting_user=curator)
    assert import_jobs.look_for_imports() == [batch.pk]
    assert worked(batch).status == "checked"
    log = UploadLog(late, prefix="", sizes={}, clock=timezone.now)
    assert not log.goes_on(SourceFile("c.jsonl", (), ()), {}), "it was taken over"
    batch.refresh_from_db()
    assert (batch.status, batch.files_done) == ("checked", 2)


def test_nothing_is_imported_twice_or_unasked(curator: User, var: Path) -> None:
    batch = taken(curator, ("a.jsonl", lines(1, 2)))
    with pytest.raises(Conflict):
        import_jobs.confirm_import(batch, acting_user=curator)
    worked(batch)
    import_jobs.confirm_import(batch, acting_user=curator)
    with pytest.raises(Conflict):
        import_jobs.confirm_import(batch, acting_user=curator)
    with pytest.raises(Conflict):
        import_jobs.discard_import(batch, acting_user=curator)
    worked(batch)
    for deed in (import_jobs.stop_import, import_jobs.resume_import, import_jobs.discard_import):
        with pytest.raises(Conflict):
            deed(batch, acting_user=curator)


def test_a_worker_is_heard_of_within_one_file_and_stops_in_it(
    curator: User, var: Path, settings: Any
) -> None:
    """A file that took longer than the lease counted as lost, and stopping waited for its end."""
    settings.IMPORT_LEASE_SECONDS = 1
    batch = taken(curator, ("a.jsonl", lines(1, 20_000)))
    heard: list[datetime] = []

    def clock() -> datetime:
        heard.append(timezone.now())
        if len(heard) == 3:
            ImportBatch.objects.filter(pk=batch.pk).update(stop_asked=True)
        return heard[-1]

    assert import_jobs.work_on_import(batch.pk, clock=clock)
    batch.refresh_from_db()
    assert (batch.status, batch.files_done) == ("stopped", 0)
    assert len(heard) >= 3
    import_jobs.discard_import(batch, acting_user=curator)
    assert left_in(var) == []


def test_discarding_deletes_the_files(curator: User, var: Path) -> None:
    batch = worked(taken(curator, ("a.jsonl", lines(1, 2))))
    import_jobs.discard_import(batch, acting_user=curator)
    batch.refresh_from_db()
    assert (batch.status, batch.folder) == ("discarded", "")
    assert left_in(var) == []


def test_uploads_without_a_decision_go_after_a_day(curator: User, var: Path) -> None:
    batch = worked(taken(curator, ("a.jsonl", lines(1, 2))))
    stray = deep = var / "imports" / "stray"
    stray.mkdir()
    for _level in range(sys.getrecursionlimit() + 100):  # Nothing may call itself for each.
        deep = deep / "a"
        os.mkdir(deep)
    (var / "imports" / "dangling").symlink_to("nothing")
    waiting = taken(curator, ("b.jsonl", lines(3, 4)))
    tomorrow = timezone.now() + timedelta(hours=25)
    import_jobs.look_for_imports()
    assert stray.exists()
    assert import_jobs.look_for_imports(lambda: tomorrow) == [waiting.pk]
    batch.refresh_from_db()
    assert batch.status == "discarded"
    assert not stray.exists()
    assert [entry.name for entry in (var / "imports").iterdir()] == [waiting.folder]


def test_a_failure_says_so_and_can_be_tried_again(
    curator: User, var: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    batch = taken(curator, ("a.jsonl", lines(1, 2)))

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(import_jobs, "import_questions", broken)
    batch = worked(batch)
    assert (batch.status, batch.error) == ("failed", "unexpected")
    assert "a defect" in caplog.text
    monkeypatch.setattr(import_jobs, "import_questions", import_questions)
    import_jobs.resume_import(batch, acting_user=curator)
    assert worked(batch).status == "checked"


def test_datasets_side_by_side_are_imported_one_after_the_other(curator: User, var: Path) -> None:
    other = lines(1, 2, dataset="other-exam")
    archive = zip_of({"one/t.jsonl": lines(1, 3), "other/t.jsonl": other})
    batch = worked(taken(curator, ("export.zip", archive)))
    assert {row.name: row.new for row in batch.files.all()} == {
        "one/t.jsonl": 3,
        "other/t.jsonl": 2,
    }
    assert (batch.files_done, batch.files_total) == (2, 2)


class Killed(BaseException):
    """Stands for ``kill -9`` between the last file and the comparison."""


@pytest.mark.parametrize("resumed", [True, False])
def test_a_resumed_import_compares_what_was_written_before(
    curator: User, var: Path, monkeypatch: pytest.MonkeyPatch, resumed: bool
) -> None:
    """Without a person, the clock compares it."""

    def killed() -> int:
        raise Killed

    batch = worked(
        taken(curator, ("one.jsonl", lines(1, 2)), ("two.jsonl", lines(1, 2, task="two")))
    )
    import_jobs.confirm_import(batch, acting_user=curator)
    with monkeypatch.context() as patch:
        patch.setattr(imports, "compare_uncompared", killed)
        with pytest.raises(Killed):
            import_jobs.work_on_import(batch.pk)
    ImportBatch.objects.update(heartbeat=timezone.now() - timedelta(hours=1))
    assert not ItemProblem.objects.exists()
    import_jobs.look_for_imports()
    import_jobs.compare_left_over()
    assert not ItemProblem.objects.exists(), "an import by the command may be at work"
    if resumed:
        import_jobs.resume_import(batch, acting_user=curator)
        assert worked(batch).status == "done"
    else:
        import_jobs.compare_left_over(lambda: timezone.now() + timedelta(minutes=2))
    assert ItemProblem.objects.filter(code="exact_duplicate").count() == 4
    assert not Dataset.objects.filter(uncompared=True).exists()
