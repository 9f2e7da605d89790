"""Check of the keys: every key in the forms in which models write it must get full marks."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from evaluations.reading.rules.extraction.blanks import read_exact_answer
from evaluations.reading.rules.extraction.cascade import read_answer
from evaluations.reading.rules.extraction.reading import Extraction
from evaluations.reading.rules.extraction.surface_forms import surface_forms
from evaluations.reading.rules.scoring.objective import (
    default_partial_credit,
    has_key,
    score_objective,
)
from evaluations.reading.selectors.gold_checks import SCORER
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import NotFound
from questions.models import Dataset, Question, QuestionRevision
from questions.rules.gate import Detail
from questions.rules.vocabulary import SEVERAL_ANSWERS, Part, ProblemCode, QuestionType
from questions.services.gate import keep_findings

NO_KEY = "no key"


@dataclass(frozen=True, slots=True)
class FailedGold:
    """An item whose own key, written in ``form``, does not get full marks.

    ``answers`` and ``outcome`` are what was read. An item without a key that can be
    scored has the form ``no key``.
    """

    dataset: str
    task: str
    question: str
    key: list[str]
    form: str
    answers: list[str | None]
    outcome: str


@dataclass(frozen=True, slots=True)
class DatasetGolds:
    """One dataset: its items, in how many forms they were written, and what failed."""

    dataset: str
    items: int
    written: int
    passed: int
    failed_items: int
    quarantined: int
    failed: tuple[FailedGold, ...]


@dataclass(frozen=True, slots=True)
class GoldReport:
    """The check of one or all datasets by the present scorer."""

    scorer: str
    datasets: tuple[DatasetGolds, ...]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of the command."""
        return asdict(self)


def check_golds(slug: str | None = None, *, acting_user: User | None = None) -> GoldReport:
    """Write the keys of the dataset *slug*, or of all, in their surface forms and score them.

    What does not get full marks by the strict scorer goes to the gate, where it
    leaves quarantine by a person's decision or by a later check that it passes.
    Each check is noted in the audit trail with the version of the scorer: reports say
    where it is missing. Raises NotFound for a dataset that there is not.
    """
    started = time.perf_counter()
    datasets = Dataset.objects.order_by("slug")
    if slug is not None:
        datasets = datasets.filter(slug=slug)
        if not datasets:
            known = ", ".join(Dataset.objects.order_by("slug").values_list("slug", flat=True))
            raise NotFound(
                _("There is no dataset “%(name)s”. Available: %(known)s.")
                % {"name": slug, "known": known or _("none")}
            )
    found = tuple(_check(dataset, acting_user) for dataset in datasets)
    return GoldReport(SCORER, found, round(time.perf_counter() - started, 3))


def _check(dataset: Dataset, acting_user: User | None) -> DatasetGolds:
    questions = Question.objects.filter(
        task__dataset=dataset, part=Part.OBJECTIVE, current__isnull=False
    )
    questions = questions.select_related("current", "task__dataset")
    checked: dict[int, int] = {}
    unread: dict[int, Detail] = {}
    failed: list[FailedGold] = []
    written = passed = 0
    for question in questions.order_by("task__slug", "position").iterator():
        revision = question.current
        assert revision is not None  # an imported question has one
        checked[question.pk] = revision.pk
        own, forms = _failures(question, revision)
        failed += own
        written, passed = written + forms, passed + forms - len(own)
        if own:
            unread[question.pk] = {"forms": [one.form for one in own]}
    quarantined = keep_findings(ProblemCode.GOLD_UNREAD, unread, checked)
    record(
        Tag.GOLDS_CHECKED,
        dataset,
        actor=acting_user,
        scorer=SCORER,
        items=len(checked),
        written=written,
        failed=len(unread),
    )
    return DatasetGolds(
        dataset.slug, len(checked), written, passed, len(unread), quarantined, tuple(failed)
    )


def _failures(question: Question, revision: QuestionRevision) -> tuple[list[FailedGold], int]:
    """Return the failures of one item, and the number of its forms."""
    key, marks = list(revision.answer_key), revision.decimal_sub_marks
    several = len(key) > 1 and revision.question_type not in SEVERAL_ANSWERS
    if not has_key(key) or len(key) != len(marks) or several:
        return [_failed(question, key, NO_KEY, [None] * len(key), "no_answer")], 1
    forms = surface_forms(key, revision.question_type)
    failed = [
        _failed(question, key, form.name, list(reading.answers), reading.outcome)
        for form in forms
        if not _full_marks(question, revision, reading := _read(form.output, revision))
    ]
    return failed, len(forms)


def _failed(
    question: Question, key: list[str], form: str, answers: list[str | None], outcome: str
) -> FailedGold:
    task = question.task
    names = (task.dataset.slug, task.slug, question.external_id)
    return FailedGold(*names, key, form, answers, str(outcome))


def _read(output: str, revision: QuestionRevision) -> Extraction:
    parts = len(revision.answer_key)
    if revision.question_type == QuestionType.EXACT_ANSWER:
        return read_exact_answer(output, parts)
    return read_answer(output, revision.question_type, revision.letters, parts)


def _full_marks(question: Question, revision: QuestionRevision, reading: Extraction) -> bool:
    dataset = question.task.dataset.slug
    result = score_objective(
        answers=reading.answers,
        key=revision.answer_key,
        sub_marks=revision.decimal_sub_marks,
        question_type=revision.question_type,
        outcome=reading.outcome,
        policy=Policy.STRICT,
        partial_credit=default_partial_credit(revision.question_type, dataset),
    )
    return result.points == result.full > Decimal(0)
