"""Corrections as cases: the present readers are tested on what people corrected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.models import AnswerCheck, ModelReading, Response
from evaluations.reading.rules.extraction.reading import Statement, majority
from evaluations.reading.selectors.answer_checks import batches, looked_at, newest_checks, said_in
from evaluations.reading.selectors.model_reading import asked_of
from evaluations.reading.services.case_check import CaseReport, FailedCase, failures
from evaluations.statistics.outcomes import ReadingOutcome
from gradeapp.accounts.models import User
from gradeapp.audit.reads import record_export
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput
from questions.rules.vocabulary import CHOICE_TYPES

Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CorrectionReport:
    """The corrections, and those that the present reader reads differently."""

    cases: tuple[Case, ...]
    failed: tuple[FailedCase, ...]

    @property
    def total(self) -> int:
        """Return the number of corrections."""
        return len(self.cases)

    @property
    def right(self) -> int:
        """Return how many of them the present readers read like the checkers."""
        return len(self.cases) - len(self.failed)


def corrections() -> Iterator[Case]:
    """Yield a case for each response whose checks agree and differ from a reading.

    In the shape of ``check_cases``, in the order of the responses; they hold the
    response, and neither its model nor who checked it. Choice items only.
    """
    corrected = AnswerCheck.objects.filter(confirmed=False, followed_by__isnull=True)
    keys = corrected.order_by().values_list("response", flat=True)
    for some in batches(list(keys)):
        rows = Response.objects.filter(
            pk__in=some, revision__question_type__in=CHOICE_TYPES
        ).select_related("revision")
        checks = newest_checks(some)
        for response in rows.order_by("pk"):
            said = majority([said_in(check) for check in checks[response.pk]])
            if said is not None and (before := _read_before(checks[response.pk], said)):
                yield _case(response, said, before)


def _read_before(checks: list[AnswerCheck], said: Statement) -> str:
    """Describe the reading that was corrected; "" if all readings agree with the checks."""
    for row in map(looked_at, checks):
        was = said_in(row)
        if was != said:
            read = was.outcome == ReadingOutcome.READ
            answers = " ".join(one or "-" for one in was.answers) if read else was.outcome
            version = row.version if isinstance(row, ModelReading) else row.reader_version
            return f"{answers} by {version}"
    return ""


def _case(response: Response, said: Statement, before: str) -> Case:
    asked = asked_of(response.revision)
    read = said.outcome == ReadingOutcome.READ
    case: Case = {
        "kind": asked.question_type,
        "letters": asked.letters,
        "parts": asked.parts,
        "output": response.text,
        "expect": {"answer": list(said.answers)} if read else {"outcome": said.outcome},
        "note": f"response {response.public_id}, was read as {before}",
    }
    return case | ({"truncated": True} if response.finish_reason == "length" else {})


def check_corrections() -> CorrectionReport:
    """Compare every correction with the present readers."""
    cases = tuple(corrections())
    return CorrectionReport(cases, tuple(failures(cases)))


@transaction.atomic
def take_checked_corrections(*, acting_user: User) -> CorrectionReport:
    """``check_corrections`` for a program, recorded in the audit trail as a file is."""
    report = check_corrections()
    _note(report.total, acting_user)
    return report


def case_report() -> CaseReport:
    """Return the corrections like a file of ``check_cases``; raise BadInput if there are none."""
    report = check_corrections()
    if not report.total:
        raise BadInput(_("No extraction has been corrected yet."))
    return CaseReport(report.total, report.failed)


def cases_text(cases: list[Case]) -> str:
    """Return *cases* as the text of a file for ``check_cases``: a JSON list, UTF-8."""
    return json.dumps(cases, ensure_ascii=False, indent=1) + "\n"


@transaction.atomic
def write_corrections(path: Path, *, acting_user: User | None) -> int:
    """Write every correction to *path*; how many. Raises BadInput where it cannot be written."""
    cases = list(corrections())
    if not cases:
        raise BadInput(_("No extraction has been corrected yet."))
    try:
        path.write_text(cases_text(cases), encoding="utf-8")
    except OSError as error:
        raise BadInput(
            _("Cannot write “%(path)s”: %(reason)s.") % {"path": path, "reason": error.strerror}
        ) from error
    _note(len(cases), acting_user)
    return len(cases)


@transaction.atomic
def take_corrections(*, acting_user: User) -> str:
    """Return the text of the file for a download and record it in the audit trail."""
    cases = list(corrections())
    _note(len(cases), acting_user)
    return cases_text(cases)


def _note(n: int, acting_user: User | None) -> None:
    newest = AnswerCheck.objects.filter(confirmed=False).order_by("pk").last()
    if newest is not None:
        record_export(Tag.CORRECTIONS_EXPORTED, newest, actor=acting_user, rows=n)
