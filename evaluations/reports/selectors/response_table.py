"""The table of responses: one row each, with everything that led to its points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from django.db.models import OuterRef, Subquery

from evaluations.facts.params import ReportParams
from evaluations.facts.points import SUSPENDED, judge_points
from evaluations.models import FinalMark, FinalMarkSource, Job, Judge, Judgement, Mark, Response
from evaluations.models.vocabulary import SlotKind
from evaluations.reports.selectors.scored_answers import scored_pages
from evaluations.statistics.rows import ScoredAnswer
from gradeapp.common.casts import json_text, real
from gradeapp.common.csv_cells import Cell
from gradeapp.common.plain_number import plain
from gradeapp.common.table_files import LongTable, Row
from questions.models import Question

# The marks that lead to the final mark, in the order in which they are given.
KINDS = (SlotKind.FIRST, SlotKind.SECOND, SlotKind.THIRD, SlotKind.ARBITRATION)
LABELS = ("ability_branch", "knowledge", "subclass", "difficulty", "modal")
ASKED = (
    *("dataset", "model", "condition", "run", "repeat", "response", "finish_reason", "task"),
    *("id", "revision", "subject", "part", "type", "language", "year", *LABELS),
)
SCORED = ("policy", "marker", "outcome", "reason", "answer", "points", "full", "sub_answers")
MARKED = (
    *("round", "scheme", "tolerance"),
    *(name for kind in KINDS for name in (kind.value, f"{kind}_by", f"{kind}_entered_by")),
    *("final", "rule"),
)
LAST = "rubric_version"
NUMBERS: dict[str, type] = {
    **dict.fromkeys(("run", "repeat", "revision", "year", "difficulty", "sub_answers", LAST), int),
    **dict.fromkeys(("points", "full", "tolerance", "final", *map(str, KINDS)), float),
}


def response_table(params: ReportParams) -> LongTable:
    """Return a row for each response to the dataset, and for each call that failed finally.

    ``points`` are those of the policy and marker of *params*. Beside them stand the final mark of
    the teachers, the marks that led to it with who gave and who entered them, and the points and
    status of each judge (``judge:NAME``, ``judge:NAME status``), and at last the version of the
    rubric that the final mark was given under. The marks of a response without a final mark are
    not shown.
    """
    judges = _judges(params.dataset)
    columns = (*ASKED, *SCORED, *MARKED)
    types = {name: NUMBERS.get(name, str) for name in columns}
    for judge in judges:
        types |= {f"judge:{judge}": float, f"judge:{judge} status": str}
    types[LAST] = NUMBERS[LAST]
    return LongTable(types, _pages(params, tuple(types)))


def _judges(dataset: str) -> list[str]:
    """Return the names of the judges that judged answers to *dataset*."""
    judges = Judge.objects.filter(judgements__response__run__dataset__slug=dataset)
    return list(judges.order_by("name").distinct().values_list("name", flat=True))


def _pages(params: ReportParams, columns: Sequence[str]) -> Iterator[list[Row]]:
    questions = _questions(params.dataset)
    for page in scored_pages(params):
        known = _known(params, [row.response for row in page])
        for row in page:
            known[row.response] |= questions[row.question] | _scored(row)
        yield [[known[row.response].get(name) for name in columns] for row in page]


def _scored(row: ScoredAnswer) -> dict[str, Cell]:
    return {
        **{name: getattr(row, name) for name in ("dataset", "model", "condition", "task")},
        **{name: getattr(row, name) for name in ("subject", "part", "year", "repeat", "policy")},
        **{name: getattr(row, name) for name in ("marker", "outcome", "reason", "answer")},
        "points": row.points,
        "full": row.full,
        "sub_answers": row.subs,
    }


def _questions(dataset: str) -> dict[int, dict[str, Cell]]:
    """Return by question its name in the source and its labels."""
    rows = Question.objects.filter(task__dataset__slug=dataset).values_list(
        *("pk", "external_id", "label__ability_branch", "label__knowledge__slug"),
        *("label__knowledge__parent__slug", "label__difficulty", "label__modal"),
    )
    return {
        pk: {
            "id": name,
            "ability_branch": branch or None,
            # A category is its own knowledge; a subclass names its category as the knowledge.
            "knowledge": parent or slug,
            "subclass": slug if parent else None,
            "difficulty": difficulty,
            "modal": modal or None,
        }
        for pk, name, branch, slug, parent, difficulty, modal in rows
    }


# By response, with the negative key of its job for a failed call.
Cells = defaultdict[int, dict[str, Cell]]


def _known(params: ReportParams, rows: Sequence[int]) -> Cells:
    """Return what is known of each of *rows*, by column."""
    responses, cells = [pk for pk in rows if pk > 0], Cells(dict)
    _read_responses(cells, responses)
    _read_jobs(cells, [-pk for pk in rows if pk < 0])
    _read_marks(cells, params, responses)
    _read_judgements(cells, params, responses)
    return cells


def _read_responses(cells: Cells, responses: Sequence[int]) -> None:
    columns = (
        *("pk", "run_id", "public_id", "finish_reason", "revision__number"),
        *("revision__question_type", "revision__language"),
    )
    found = Response.objects.filter(pk__in=responses).order_by()
    for pk, run, public_id, reason, revision, kind, language in found.values_list(*columns):
        cells[pk] |= {
            "run": run,
            "response": str(public_id),
            "finish_reason": reason or None,
            "revision": revision,
            "type": kind,
            "language": language,
        }


def _read_jobs(cells: Cells, jobs: Sequence[int]) -> None:
    columns = ("pk", "run_id", "revision__number", "revision__question_type")
    found = Job.objects.filter(pk__in=jobs).order_by() if jobs else Job.objects.none()
    for pk, run, number, kind, language in found.values_list(*columns, "revision__language"):
        cells[-pk] |= {"run": run, "revision": number, "type": kind, "language": language}


def _read_marks(cells: Cells, params: ReportParams, responses: Sequence[int]) -> None:
    """Read the final marks that count, the newest of each response, and their marks."""
    sources = FinalMarkSource.objects.filter(final=OuterRef("pk")).order_by("place")
    finals = (
        FinalMark.objects.counting()
        .filter(params.of_rounds("answer__round"), answer__response__in=responses)
        .annotate(under=Subquery(sources.values("mark__rubric__version")[:1]))
        .order_by("pk")
    )
    columns = (
        *("answer", "answer__response", "answer__round__name", "answer__round__scheme"),
        *("answer__tolerance", "value", "rule", "under"),
    )
    answers = {row[1]: row for row in finals.values_list(*columns)}
    for _answer, response, name, scheme, tolerance, value, rule, under in answers.values():
        cells[response] |= {
            "round": name,
            "scheme": scheme,
            "tolerance": _plain(tolerance),
            "final": _plain(value),
            "rule": rule,
            LAST: under,
        }
    response_of = {row[0]: response for response, row in answers.items()}
    marks = Mark.objects.counting().filter(slot__answer__in=list(response_of), slot__kind__in=KINDS)
    found = marks.order_by("version", "pk").values_list(
        "slot__answer", "slot__kind", "total", "teacher__username", "entered_by__username"
    )
    for answer, kind, total, teacher, by in found:
        cells[response_of[answer]] |= {
            kind: _plain(total),
            f"{kind}_by": teacher,
            f"{kind}_entered_by": by or teacher,
        }


def _read_judgements(cells: Cells, params: ReportParams, responses: Sequence[int]) -> None:
    found = Judgement.objects.counting().filter(response__in=responses)
    columns = (real("total"), "status", json_text("released"), "judge__suspended_at")
    for response, judge, total, status, released, suspended in found.order_by("pk").values_list(
        "response", "judge__name", *columns
    ):
        points = judge_points(total, status, released, params.policy, suspended)
        cells[response][f"judge:{judge}"] = points.points
        cells[response][f"judge:{judge} status"] = SUSPENDED if suspended else status


def _plain(value: Decimal) -> Decimal:
    """The same on every database: one writes 6.7500 where the other writes 6.75."""
    return Decimal(plain(value))
