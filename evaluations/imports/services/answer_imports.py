"""Import published answers with their marks and gradings, each file whole or not at all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.conditions import PromptSetting
from evaluations.facts.looks import IMPORTED, record_runs
from evaluations.imports.rules.answer_records import AnswerFile
from evaluations.imports.rules.csv_answers import read_csv_answers
from evaluations.imports.rules.jsonl_answers import MAX_REPEAT, read_jsonl_answers
from evaluations.imports.rules.model_outputs import MAX_MODEL_NAME, read_model_outputs
from evaluations.imports.services.published_answers import (
    StoredAnswers,
    runs_named_in,
    store_answers,
)
from evaluations.imports.services.published_gradings import store_gradings
from evaluations.imports.services.published_marks import store_marks
from evaluations.imports.services.report_looks import keep_imported_runs
from evaluations.imports.services.similar_names import Asked, name_problems, names_in
from evaluations.reading.services.scoring import score_responses
from evaluations.runs.services.conditions import NAME_LENGTH
from gradeapp.accounts.models import User
from gradeapp.audit.tags import Tag
from gradeapp.common.name_checks import check_name_is_plain
from gradeapp.common.refusals import BadInput
from questions.importers.gaokao_files import DATASET
from questions.importers.records import Problem
from questions.models import Question
from questions.rules.vocabulary import Part
from questions.services.import_log import ImportLog

SOURCES = ("gaokao-bench", "jsonl", "csv")
# The counts of rows that an import adds.
ADDED = ("responses", "marks", "judgements")


@dataclass(frozen=True, slots=True)
class AnswerImportReport:
    """What an import added.

    ``unmatched`` counts rows whose question is not in the bank, ``skipped`` files without answers.
    """

    responses: int
    marks: int
    judgements: int
    unmatched: int
    skipped: int
    problems: tuple[Problem, ...]
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """Return the report as JSON."""
        counts = ("responses", "marks", "judgements", "unmatched", "skipped")
        return {
            **{name: getattr(self, name) for name in counts},
            "problems": [problem.as_dict() for problem in self.problems],
            "seconds": self.seconds,
        }


@dataclass(slots=True)
class DryRun:
    """A check of several files that stores nothing; it notes which answers it would add."""

    seen: set[tuple[object, ...]] = field(default_factory=set)
    names: set[Asked] = field(default_factory=set)

    def new_ones(self, stored: StoredAnswers) -> int:
        """Return how many of the *stored* answers no earlier file of the check would add."""
        added = {row.record.identity for row in stored.rows if row.response.pk in stored.fresh}
        new = len(added - self.seen)
        self.seen |= added
        return new


@dataclass(slots=True)
class _Import:
    """An import in progress."""

    log: ImportLog
    dry_run: DryRun | None = None
    acting_user: User | None = None
    counts: Counter[str] = field(default_factory=Counter)
    read: int = 0

    def take(self, file: AnswerFile) -> bool:
        """Store *file* and add it to the log; return whether the import is to go on."""
        counts = Counter(skipped=int(file.skipped))
        problems = list(file.problems)
        if file.answers and not file.refused:
            problems += name_problems(file, self.dry_run.names if self.dry_run else ())
            with transaction.atomic():
                stored, counts = _store(file)
                if self.dry_run:
                    transaction.set_rollback(True)
                    again = counts["responses"] - self.dry_run.new_ones(stored)
                    counts.update(responses=-again, same=again)
                elif any(counts[name] for name in ADDED):
                    self.log.wrote(stored.dataset, counts, file.name)
                if not self.dry_run:
                    self._note_looks(file)
            if self.dry_run:
                self.dry_run.names |= names_in(file)
                self._note_looks(file)
            # In transactions of its own: scoring takes longer than storing, and SQLite has one
            # writer at a time. After a kill, the next import or ``score`` scores the rest.
            if not self.dry_run:
                score_responses(row.response for row in stored.rows if row.part == Part.OBJECTIVE)
            problems += stored.problems
            if not stored.refused:
                self.read += len(file.answers)
        self.log.problems += problems
        self.counts += counts
        return self.log.goes_on(replace(file, problems=tuple(problems)), counts)

    def _note_looks(self, file: AnswerFile) -> None:
        """Keep looks at the runs of *file*: also a check tells which of its texts are stored."""
        runs = runs_named_in(file)
        record_runs(runs, acting_user=self.acting_user, page=IMPORTED)
        if self.log.batch is not None:
            keep_imported_runs(self.log.batch, runs)


def import_answers(
    source: str,
    path: Path,
    *,
    model: str | None = None,
    repeat: int = 1,
    setting: str = "",
    condition: str = "",
    acting_user: User | None = None,
    dry_run: DryRun | None = None,
    log: ImportLog | None = None,
) -> AnswerImportReport:
    """Import the published answers at *path*; a second import of them adds nothing.

    Objective answers are scored under both policies after their file was stored; teachers' marks
    become a published marking round, a judge's gradings become judgements. A row without a
    question, a repeated row and a row with an impossible mark are reported and left out. A dry run
    does everything except scoring, and stores nothing. *log* is called for each file and may end
    the import.

    *setting* and *condition* say how the model was asked, for rows that do not say it: answers of
    two conditions are kept apart.

    Raises BadInput for an unknown source or setting, a missing path, and if no answer could be
    read.

    """
    check_asked(setting, condition)
    files = _files(source, path, model, repeat)
    started = time.perf_counter()
    log = log or ImportLog("answers", f"{source} {path}", Tag.ANSWERS_IMPORTED, acting_user)
    work = _Import(log, dry_run, acting_user)
    for file in files:
        if not work.take(_asked(file, setting, condition)):
            break
    if not dry_run:
        log.finish()
    if not work.read:
        first = next((problem for problem in log.problems if problem.fatal), log.problems[0])
        place = first.file if first.row is None else f"{first.file}:{first.row}"
        raise BadInput(f"{place}: {first.text}", code="nothing_read")
    return AnswerImportReport(
        responses=work.counts["responses"],
        marks=work.counts["marks"],
        judgements=work.counts["judgements"],
        unmatched=work.counts["unmatched"],
        skipped=work.counts["skipped"],
        problems=tuple(log.problems),
        seconds=round(time.perf_counter() - started, 3),
    )


def check_asked(setting: str, condition: str) -> None:
    """Raise BadInput for an unknown setting, or a name that no condition may have."""
    if setting and setting not in list(PromptSetting):
        raise BadInput(
            _("There is no setting “%(name)s”; choose one of: %(known)s.")
            % {"name": setting, "known": ", ".join(PromptSetting)}
        )
    check_name_is_plain(condition)
    if len(condition) > NAME_LENGTH or not condition.isprintable():
        raise BadInput(_("A name must have 1 to 100 characters."))


def check_model(model: str) -> None:
    """Raise BadInput for a name that no model may have."""
    check_name_is_plain(model)
    if not 1 <= len(model.strip()) <= MAX_MODEL_NAME or not model.isprintable():
        raise BadInput(_("A model name must have 1 to 100 characters."))


def _asked(file: AnswerFile, setting: str, condition: str) -> AnswerFile:
    """Return *file* with *setting* and *condition* in the rows that do not say theirs."""
    if not setting and not condition:
        return file
    answers = (
        replace(one, setting=one.setting or setting, condition=one.condition or condition)
        for one in file.answers
    )
    return replace(file, answers=tuple(answers))


def _files(source: str, path: Path, model: str | None, repeat: int) -> Iterator[AnswerFile]:
    """Return the files of *source*. Raises BadInput for invalid arguments."""
    if source not in SOURCES:
        raise BadInput(
            _("There is no source called “%(source)s”; choose one of: %(known)s.")
            % {"source": source, "known": ", ".join(SOURCES)}
        )
    if not path.exists():
        raise BadInput(_("There is no file or folder “%(path)s”.") % {"path": path})
    if not 1 <= repeat <= MAX_REPEAT:
        raise BadInput(
            _("A repeat must be a whole number from 1, not %(repeat)s.") % {"repeat": repeat}
        )
    if model is not None:
        check_model(model)
    if source == "jsonl":
        return read_jsonl_answers(path)
    if source == "csv":
        return read_csv_answers(path, model=model and model.strip(), repeat=repeat)
    if not Question.objects.filter(task__dataset__slug=DATASET).exists():
        raise BadInput(
            _("The question bank has no questions of %(dataset)s yet. Import them first.")
            % {"dataset": DATASET}
        )
    return read_model_outputs(path, model=model, repeat=repeat)


def _store(file: AnswerFile) -> tuple[StoredAnswers, Counter[str]]:
    """Store everything of one file except scores, in the caller's transaction; count it."""
    stored = store_answers(file)
    added = Counter(
        same=len(stored.rows) - stored.added,
        unmatched=stored.unmatched,
        responses=stored.added,
        marks=store_marks(file.name, stored),
        judgements=store_gradings(file.name, stored),
    )
    added.update(stored.tokens)
    return stored, added
