"""Read a judge's marks beside the teachers', with what calibration compares them by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from django.db.models.functions import Length
from django.utils.translation import gettext as _

from evaluations.facts.looks import in_small_cells
from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.facts.pairs import JUDGE_PAIR, TEACHER_PAIR, mark_pairs
from evaluations.facts.params import JUDGE_PREFIX, ReportParams
from evaluations.model_families import family_of_any
from evaluations.models import Judge, Judgement, Mark, RepeatedTexts, Response
from evaluations.models.vocabulary import SlotKind
from evaluations.statistics.alternative_annotator import (
    AlternativeAnnotator,
    JudgedItem,
    alternative_annotator,
)
from evaluations.statistics.calibration import (
    DEFAULT_KEY,
    KEYS,
    JudgedMark,
    calibration_report,
    judged_again,
    with_both_marks,
)
from evaluations.statistics.cluster_bootstrap import DRAWS
from evaluations.statistics.figure import Report
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.self_preference import compared, self_preference
from evaluations.statistics.tally import ALL
from gradeapp.common.casts import real
from gradeapp.common.refusals import BadInput

Asked = tuple[str, ModelCondition]
Tested = AlternativeAnnotator


class Said(NamedTuple):
    """What calibration takes of one judgement: its total, the judge's prompts, its sample."""

    total: float | None
    version: str
    sample: int


TEACHERS_MARK = (SlotKind.FIRST.value, SlotKind.SECOND.value, SlotKind.THIRD.value)
BATCH = 5000
# The intervals of a report are the same when it is asked for again.
RANDOM_SEED = 20251017
LABELS = {
    "subject": "question__subject",
    "task": "question__task__slug",
    "question_type": "question__task__question_type",
    "ability_branch": "question__label__ability_branch",
    "difficulty": "question__label__difficulty",
    "modal": "question__label__modal",
}


def calibration_of(params: ReportParams) -> Report:
    """Return the report ``calibration`` of *params* (valid), with a row for each value of ``by``.

    Draws of questions are the same each time. Raises BadInput for an unknown key.
    """
    by = params.by or DEFAULT_KEY
    if by not in KEYS:
        raise BadInput(
            _("There is no “%(value)s”; choose one of: %(known)s.")
            % {"value": by, "known": ", ".join(KEYS)}
        )
    rng = np.random.default_rng(RANDOM_SEED)
    about = replace(params, by=by).as_dict() | {"random_seed": RANDOM_SEED, "draws": DRAWS}
    marks = judged_marks(params)
    report = calibration_report(marks, by=by, rng=rng, params=about)
    tests = annotator_tests(marks, params)
    families = families_of_judges({one.judge for one in marks})
    of_judge: dict[str, list[JudgedMark]] = defaultdict(list)
    for one in marks:
        of_judge[one.judge].append(one)
    for row in report.rows:
        judge = row.key["judge"]
        if row.key["value"] == ALL:
            row.figures.update(tests[judge, row.asked].figures())
            row.figures["self_preference"] = self_preference(
                of_judge[judge], row.asked, families[judge], np.random.default_rng(RANDOM_SEED)
            )
    return report


def few_judged(params: ReportParams) -> set[int]:
    """Return the responses behind figures of ``calibration_of`` that are about too few of them."""
    marks = judged_marks(params)
    return in_small_cells(_cells(marks, KEYS[params.by or DEFAULT_KEY]))


def _cells(
    marks: Sequence[JudgedMark], value: Callable[[JudgedMark], str]
) -> Iterator[tuple[Hashable, int]]:
    """Yield what figures of rows by *value* are about: all, or part, of the responses of a row."""
    for figures in (list, with_both_marks, judged_again):
        for one in figures(marks):
            yield (figures, one.judge, one.asked, value(one)), one.response
    families = families_of_judges({one.judge for one in marks})
    for judge, asked in {(one.judge, one.asked) for one in marks}:
        own = [one for one in marks if one.judge == judge]
        for side, of_side in enumerate(compared(own, asked, families[judge])):
            for one in of_side:
                yield (side, judge, asked), one.response


def families_of_judges(names: Collection[str]) -> dict[str, str]:
    """Return the family of the model of each judge called one of *names*; "" if not known."""
    rows = Judge.objects.filter(name__in=names).order_by()
    columns = ("name", "condition", "endpoint__model", "endpoint__language_model__name")
    return {
        name: family_of_any(filter(None, (condition.get("model"), model, reported, name)))
        for name, condition, model, reported in rows.values_list(*columns)
    }


def annotator_tests(marks: Collection[JudgedMark], params: ReportParams) -> dict[Asked, Tested]:
    """Return the alternative annotator test of each judge on each model and condition."""
    groups: dict[Asked, list[JudgedMark]] = defaultdict(list)
    for one in marks:
        groups[one.judge, one.asked].append(one)
    return {
        key: alternative_annotator(judged_items(group, params)) for key, group in groups.items()
    }


def judged_marks(params: ReportParams) -> list[JudgedMark]:
    """Return the judgements of responses with a final mark, of all judges or that of *params*.

    The teachers' two marks are those of the round whose final mark counts. Without runs in which
    one text stands for many questions, until somebody has reviewed it.
    """
    pairs = mark_pairs(replace(params, marker=""))
    of_teachers = {pair.answer: (pair.x, pair.y) for pair in pairs if pair.pair == TEACHER_PAIR}
    prefix = f"{JUDGE_PAIR}{JUDGE_PREFIX}"
    judged = [
        (pair.pair.removeprefix(prefix), pair) for pair in pairs if pair.pair.startswith(prefix)
    ]
    if params.is_judge:
        judged = [(judge, pair) for judge, pair in judged if judge == params.judge]
    responses = {pair.response for _judge, pair in judged}
    left_out = runs_to_review(params.dataset)
    about = {row["pk"]: row for row in _responses(responses) if row["run"] not in left_out}
    judged = [(judge, pair) for judge, pair in judged if pair.response in about]
    judgements = _judgements(responses)
    return [
        JudgedMark(
            judge=judge,
            model=pair.model,
            condition=pair.condition,
            response=pair.response,
            question=about[pair.response]["question"],
            final=pair.x,
            points=pair.y,
            full=pair.full,
            tolerance=pair.tolerance,
            marks=of_teachers.get(pair.answer),
            length=about[pair.response]["length"],
            totals=tuple(
                total for total, *_other in judgements[judge, pair.response] if total is not None
            ),
            labels={name: _text(about[pair.response][path]) for name, path in LABELS.items()}
            | {"version": _version_that_counts(judgements[judge, pair.response])},
        )
        for judge, pair in judged
    ]


def runs_to_review(dataset: str) -> set[int]:
    """Return the runs of *dataset* with one text to many questions that nobody has reviewed."""
    waiting = RepeatedTexts.objects.filter(
        run__dataset__slug=dataset, reviewed_at=None, responses__isnull=False
    )
    return set(waiting.values_list("run", flat=True))


def judged_items(marks: Collection[JudgedMark], params: ReportParams) -> list[JudgedItem]:
    """Return *marks* of one judge with all teachers' marks of their responses, by teacher.

    First, second and third marks are all given blind; decisions of a lead are not.
    """
    given: dict[int, dict[int, float]] = defaultdict(dict)
    points = {one.response: one.points for one in marks}
    for chunk in _chunks(points):
        rows = Mark.objects.counting().filter(
            params.of_rounds("slot__answer__round"),
            slot__kind__in=TEACHERS_MARK,
            slot__answer__response__in=chunk,
        )
        rows = rows.exclude(marks_wait_for_the_lead("slot__answer__"))
        columns = ("slot__answer__response", "teacher", real("total"))
        for response, teacher, total in rows.order_by("version", "pk").values_list(*columns):
            given[response][teacher] = total
    return [JudgedItem(points[response], teachers) for response, teachers in given.items()]


def _responses(keys: Collection[int]) -> Iterator[dict[str, Any]]:
    for chunk in _chunks(keys):
        rows = Response.objects.filter(pk__in=chunk).annotate(length=Length("text")).order_by()
        yield from rows.values("pk", "run", "question", "length", *LABELS.values())


def _version_that_counts(judgements: Sequence[Said]) -> str:
    """Return the prompt version of the newest judgement of the first sample."""
    return [version for _total, version, sample in judgements if sample == 1][-1]


def _judgements(keys: Collection[int]) -> Mapping[tuple[str, int], list[Said]]:
    """Return all judgements by judge and response, oldest first."""
    found: dict[tuple[str, int], list[Said]] = defaultdict(list)
    for chunk in _chunks(keys):
        rows = Judgement.objects.filter(response__in=chunk).order_by("pk")
        columns = ("judge__name", "response", real("total"), "prompt_version", "sample")
        for judge, response, *said in rows.values_list(*columns):
            found[judge, response].append(Said(*said))
    return found


def _chunks(keys: Collection[int]) -> Iterator[list[int]]:
    """Yield *keys* in parts that a statement may name."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), BATCH):
        yield ordered[start : start + BATCH]


def _text(value: object) -> str:
    return "" if value is None else str(value)
