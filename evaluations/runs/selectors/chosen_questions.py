"""The questions of a dataset that a run asks, and how many of each task and subject."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.runs.rules.question_choice import (
    STRATA,
    QuestionChoice,
    drawn,
    drawn_over,
    spread,
)
from gradeapp.common.parameters import check_values, refuse_unknown
from gradeapp.common.refusals import BadInput
from questions.forms.filters import QuestionFilter
from questions.models import Dataset, Question, Task
from questions.rules.vocabulary import ItemStatus, Part, Subject
from questions.selectors.bank import by_place

# A trial asks so many of the chosen questions, and so many at most.
TRIAL, MOST_TRIAL = 10, 100


@dataclass(frozen=True)
class ChosenCount:
    """How many questions of one task a run asks."""

    task: str
    subject: str
    part: str
    questions: int


def chosen_questions(dataset: Dataset, choice: QuestionChoice) -> list[Question]:
    """Return the *choice* of the questions of *dataset*, by task and place.

    Excluded questions are never asked. Quarantined ones are, because the policy ``published``
    counts them, and a curator may release them later. A sample that is larger than what there is
    takes all. Raises BadInput for a choice that names what does not exist, and for an empty one.
    """
    _check_numbers(choice)
    found = filtered(dataset, choice)
    if choice.sample is not None:
        found = _sampled(found, choice)
    if choice.limit is not None:
        by_task: dict[str, list[Question]] = {}
        for question in found:
            by_task.setdefault(question.task.slug, []).append(question)
        found = spread(by_task, choice.limit)
    if choice.trial is not None:
        places = {_key(one): (one.task.slug, one.subject) for one in found}
        taken = drawn_over(places, choice.trial, choice.random_seed)
        found = [one for one in found if _key(one) in taken]
    return found


def filtered(dataset: Dataset, choice: QuestionChoice) -> list[Question]:
    """Return what the filters of *choice* leave, before a sample and a limit.

    Raises BadInput as ``chosen_questions``.
    """
    askable = by_place().filter(task__dataset=dataset).exclude(status=ItemStatus.EXCLUDED)
    if not askable.exists():
        raise BadInput(
            _("%(dataset)s has no questions that can be asked.") % {"dataset": dataset.name}
        )
    rows = _by_filters(askable, choice.query).filter(task__dataset=dataset)
    if choice.tasks:
        slugs = Task.objects.filter(dataset=dataset).values_list("slug", flat=True)
        _check_known(_("There is no task %(names)s. Tasks: %(known)s."), choice.tasks, list(slugs))
        rows = rows.filter(task__slug__in=choice.tasks)
    if choice.subjects:
        words = _("There is no subject %(names)s. Subjects: %(known)s.")
        _check_known(words, choice.subjects, list(Subject))
        rows = rows.filter(subject__in=choice.subjects)
    if choice.part:
        _check_known(_("There is no part %(names)s. Parts: %(known)s."), [choice.part], list(Part))
        rows = rows.filter(part=choice.part)
    if choice.years:
        rows = rows.filter(year__range=choice.years)
    if choice.ids:
        rows = rows.filter(public_id__in=_public_ids(choice.ids))
    found = list(
        rows.select_related("task__dataset", "current").order_by("task__slug", "position", "pk")
    )
    if not found:
        raise BadInput(
            _("No question of %(dataset)s matches this choice.") % {"dataset": dataset.name}
        )
    return found


def counted(questions: Sequence[Question]) -> list[ChosenCount]:
    """Return how many of *questions* each task and subject has, by the name of the task."""
    counts = Counter((one.task.slug, one.subject, one.part) for one in questions)
    return [ChosenCount(*place, n) for place, n in sorted(counts.items())]


def trial_of(choice: QuestionChoice) -> QuestionChoice:
    """Return the choice of a trial: ten of the chosen questions, drawn over tasks and subjects."""
    return choice if choice.trial is not None else replace(choice, trial=TRIAL)


def whole_of(choice: QuestionChoice) -> QuestionChoice:
    """Return *choice* without its trial: all the questions of which the trial asks some."""
    return replace(choice, trial=None)


def _sampled(found: Sequence[Question], choice: QuestionChoice) -> list[Question]:
    """Return the random sample of *found*; a question is known by its task and id in the source."""
    keys = {_key(one): one for one in found}
    strata: dict[str, list[str]] = {}
    for key, one in keys.items():
        stratum = {"task": one.task.slug, "subject": one.subject, "year": str(one.year or "")}
        strata.setdefault(stratum.get(choice.stratified_by, ""), []).append(key)
    taken = drawn(strata, choice.sample or 0, choice.random_seed)
    return [one for key, one in keys.items() if key in taken]


def _key(question: Question) -> str:
    return f"{question.task.slug}:{question.external_id}"


def _by_filters(rows: QuerySet[Question], query: str) -> QuerySet[Question]:
    """Return those of *rows* that the filters of the bank in *query* choose."""
    if not query:
        return rows
    data = dict(parse_qsl(query))
    data.pop("sort", None)  # a saved view may have an order; a run has its own
    refuse_unknown(data, QuestionFilter)
    filters = QuestionFilter(data, queryset=rows)
    check_values(filters)
    chosen: QuerySet[Question] = filters.qs
    return chosen


def _public_ids(ids: Sequence[str]) -> list[uuid.UUID]:
    try:
        return [uuid.UUID(one) for one in ids]
    except ValueError:
        raise BadInput(_("The ids of questions are those of their pages and exports.")) from None


def _check_numbers(choice: QuestionChoice) -> None:
    if choice.limit is not None and choice.limit < 1:
        raise BadInput(
            _("The limit must be a whole number above zero, or empty for all questions.")
        )
    if choice.sample is not None and choice.sample < 1:
        raise BadInput(_("The size of the sample must be a whole number above zero."))
    if choice.trial is not None and not 1 <= choice.trial <= MOST_TRIAL:
        raise BadInput(
            _("A trial asks a whole number of questions, from 1 to %(most)s.")
            % {"most": MOST_TRIAL}
        )
    if choice.stratified_by not in ("", *STRATA):
        words = _("A sample is stratified by one of: %(known)s.")
        raise BadInput(words % {"known": ", ".join(STRATA)})
    if choice.years and choice.years[0] > choice.years[1]:
        raise BadInput(_("The first year must not be after the last."))


def _check_known(words: str | Promise, given: Sequence[str], known: Sequence[str]) -> None:
    """Raise BadInput with *words* for what is not *known*; it lists what is."""
    if unknown := sorted(set(given) - set(known)):
        listed = ", ".join(sorted(known)[:60])
        raise BadInput(words % {"names": ", ".join(unknown), "known": listed})
