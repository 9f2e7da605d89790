"""Search over the texts of responses, and the responses to one question side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from evaluations.models import Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.runs.rules.differences import Sentence, around, differing
from evaluations.runs.rules.option_order import as_printed
from evaluations.runs.selectors.responses import SHOWN, Keys, keys_of, response_list
from evaluations.statistics.policies import Policy
from gradeapp.common.refusals import NotFound
from questions.models import Question

PAGE = 50
# One search looks at so many responses, the newest first; the next one goes on with earlier ones.
MOST_SEARCHED = 50_000
# So many of the runs that have a response to a question are offered, and so many shown.
MOST_OFFERED = 60
MOST_BESIDE = 8
USUAL_BESIDE = 4
# A file has at most so many rows.
MOST_EXPORTED = 100_000
BATCH = 500


@dataclass(frozen=True)
class Found:
    """A page of a search.

    ``before`` is the key at which the next page goes on, None at the end. ``all_searched`` is
    whether every response that the filters leave was looked at.
    """

    rows: Sequence[Response]
    before: int | None
    all_searched: bool


def searchable() -> QuerySet[Response]:
    """Return the responses of runs that answer, with what a list shows of them."""
    return _rows().filter(run__purpose=RunPurpose.ANSWER)


def _rows() -> QuerySet[Response]:
    return response_list().select_related("run__condition", "run__dataset")


def found_response(public_id: UUID) -> Response | None:
    """Return the response of any run with what a list shows of it; None if there is none."""
    return _rows().filter(public_id=public_id).first()


def search(
    among: QuerySet[Response], words: str, *, before: int | None = None, page: int = PAGE
) -> Found:
    """Return the newest of the responses *among* whose text contains *words*, in any case.

    At most ``MOST_SEARCHED`` texts are looked at; *before* is that of the page before.
    """
    rows = among.order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    last = rows.values_list("pk", flat=True)[MOST_SEARCHED - 1 : MOST_SEARCHED].first()
    if last is not None:
        rows = rows.filter(pk__gte=last)
    if words:
        rows = rows.filter(text__icontains=words)
    found = list(rows[: page + 1])
    if len(found) > page:
        return Found(found[:page], found[page - 1].pk, all_searched=False)
    return Found(found, last, all_searched=last is None)


def all_found(among: QuerySet[Response], words: str) -> Iterator[Response]:
    """Yield up to ``MOST_EXPORTED`` responses of a search, the newest first, batch by batch."""
    before: int | None = None
    left = MOST_EXPORTED
    while left > 0:
        found = search(among, words, before=before, page=min(BATCH, left))
        yield from found.rows
        left -= len(found.rows)
        if found.before is None:
            return
        before = found.before


def exported(response: Response) -> dict[str, Any]:
    """Return *response* as a line of the export."""
    condition = response.run.condition
    return {
        "id": str(response.public_id),
        "dataset": response.question.task.dataset.slug,
        "task": response.question.task.slug,
        "question": response.question.external_id,
        "run": response.run_id,
        "model": response.run.language_model.name,
        "setting": condition.setting if condition else "",
        "condition": condition.name if condition else "",
        "repeat": response.repeat,
        "text": response.text,
        "finish_reason": response.finish_reason,
        "outcome": response.outcome,  # type: ignore[attr-defined]
        "points": _text(response.points),  # type: ignore[attr-defined]
        "full_marks": _text(response.revision.full_marks),
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def excerpts(found: Found, words: str) -> list[tuple[Response, tuple[str, str, str]]]:
    """Return each response with its text around the first place of *words*."""
    return [(one, around(one.text, words)) for one in found.rows]


# ---- side by side ----


@dataclass(frozen=True)
class Beside:
    """One of the responses side by side.

    ``pieces`` tell what the first response does not have; ``omitted`` characters are left out at
    the end. ``read`` are the answers that were read under ``strict``, in the printed letters, None
    where nothing is read by rule. ``keys`` are those of ``keys_of``, none without a score.
    """

    response: Response
    pieces: Sequence[Sentence]
    omitted: int
    read: Sequence[str | None] | None
    keys: Sequence[Keys]


def question_asked(public_id: UUID) -> Question:
    """Return a question with its current revision. Raises NotFound."""
    rows = Question.objects.select_related("task__dataset", "current")
    found = rows.filter(public_id=public_id).first()
    if found is None or found.current is None:
        raise NotFound(_("There is no such question."))
    return found


def runs_with(question: Question) -> list[Run]:
    """Return the newest runs with responses to *question*; ``n`` is their number."""
    rows = Run.objects.filter(purpose=RunPurpose.ANSWER, responses__question=question)
    named = rows.select_related("language_model", "condition")
    return list(named.annotate(n=Count("responses")).order_by("-pk")[:MOST_OFFERED])


def side_by_side(question: Question, runs: Sequence[int], repeat: int | None) -> list[Beside]:
    """Return up to ``MOST_BESIDE`` responses to *question* of *runs*, in the order of the runs.

    Without *runs* they are those of the newest; *repeat* None stands for all repeats.
    """
    rows = (
        searchable()
        .filter(question=question)
        .select_related("strict_score__extraction", "strict_score__key_revision")
    )
    if repeat is not None:
        rows = rows.filter(repeat=repeat)
    if runs:
        found = list(rows.filter(run__in=runs).order_by("run", "repeat")[: MOST_BESIDE * 4])
        found.sort(key=lambda one: (runs.index(one.run_id), one.repeat))
        found = found[:MOST_BESIDE]
    else:
        found = list(rows.order_by("-run", "repeat")[:USUAL_BESIDE])
    first = found[0].text if found else ""
    return [_beside(one, first) for one in found]


def _beside(response: Response, first: str) -> Beside:
    shown = response.text[: 2 * SHOWN]
    read, keys = None, list[Keys]()
    if response.strict_score is not None:
        keys = keys_of(response, response.strict_score, Policy.STRICT)
        letters = response.revision.letters
        answers = response.strict_score.extraction.answers
        read = as_printed(answers, letters, response.option_order)
    return Beside(response, differing(shown, first), len(response.text) - len(shown), read, keys)
