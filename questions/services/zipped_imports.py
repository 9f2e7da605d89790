"""Imports a .zip from the command line, by the same unpacking as the page of imports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gradeapp.accounts.models import User
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput
from questions.importers.archive import ArchiveRefusal, unpack_isolated
from questions.importers.recognise import NOT_READ, data_files, passed_over, pictures, roots
from questions.services.import_log import ImportLog
from questions.services.imports import ImportReport, import_questions
from questions.services.uploads import imports_folder, refused_archive


def import_zip(
    source: str,
    archive: Path,
    *,
    dry_run: bool = False,
    allow_shifted: bool = False,
    acting_user: User | None = None,
) -> ImportReport:
    """Bring the questions of *archive* into the bank, as ``import_questions`` does of a folder.

    An export of several datasets is imported one dataset after the other, and
    the report is their sum. Raises BadInput for an archive that is not taken, and
    where no question at all could be read; then nothing is left of it.
    """
    with TemporaryDirectory(dir=imports_folder()) as name:
        try:
            with archive.open("rb") as stream:
                unpack_isolated(stream, Path(name))
        except ArchiveRefusal as refusal:
            raise refused_archive(refusal) from None
        found = roots(Path(name), source)
        read = [file for root in found for file in data_files(root, source)]
        read += [image for root in found for image in pictures(root, source)]
        beside = passed_over(Path(name), read)
        reports: list[ImportReport] = []
        refusals: list[BadInput] = []
        for root in found:
            inside = f"{archive}/{root.name}" if len(found) > 1 else str(archive)
            log = ImportLog("questions", f"{source} {inside}", Tag.QUESTIONS_IMPORTED, acting_user)
            log.note(beside if root is found[0] else ())
            try:
                report = import_questions(
                    source,
                    root,
                    dry_run=dry_run,
                    allow_shifted=allow_shifted,
                    acting_user=acting_user,
                    log=log,
                )
            except BadInput as refusal:
                if refusal.code != "nothing_read":
                    raise
                refusals.append(refusal)
                report = _unread(log)
            reports.append(_of_folder(report, root) if len(found) > 1 else report)
    if len(refusals) == len(reports):
        raise refusals[0]
    return _sum(reports)


def _unread(log: ImportLog) -> ImportReport:
    """A dataset of which every file was refused; its neighbours count all the same."""
    refused = {problem.file for problem in log.problems if problem.fatal}
    return ImportReport("", 0, 0, 0, 0, 0, len(refused), tuple(log.problems), 0.0)


def _of_folder(report: ImportReport, root: Path) -> ImportReport:
    named = (
        problem
        if problem.code == NOT_READ  # named by its path already
        else replace(problem, file=f"{root.name}/{problem.file}")
        for problem in report.problems
    )
    return replace(report, problems=tuple(named))


def _sum(reports: Sequence[ImportReport]) -> ImportReport:
    return ImportReport(
        dataset=", ".join(report.dataset for report in reports if report.dataset),
        read=sum(report.read for report in reports),
        new=sum(report.new for report in reports),
        same=sum(report.same for report in reports),
        changed=sum(report.changed for report in reports),
        quarantined=sum(report.quarantined for report in reports),
        refused=sum(report.refused for report in reports),
        problems=tuple(problem for report in reports for problem in report.problems),
        seconds=round(sum(report.seconds for report in reports), 3),
    )
