"""Read the marks that two markers gave to the same responses, for the agreement report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count, Max, Q, QuerySet, Sum
from numpy.typing import NDArray

from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.facts.params import JUDGE_PREFIX, TEACHERS, ReportParams
from evaluations.facts.points import judge_points, left_out
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    Judge,
    Judgement,
    Mark,
    MarkChange,
    MarkingRound,
    Run,
    Slot,
)
from evaluations.models.vocabulary import SlotKind
from evaluations.statistics.agreement import COLUMNS, MarkPair, pairs_of
from gradeapp.common.casts import json_text, real

if TYPE_CHECKING:
    import pandas as pd

# Rows that are Python objects at the same time.
CHUNK = 5_000
Kinds = Mapping[str, type]
TEACHER_PAIR = "teacher-teacher"
JUDGE_PAIR = "teachers-"


def mark_pairs(params: ReportParams) -> list[MarkPair]:
    """Return the rows of ``mark_pair_frame``."""
    return pairs_of(mark_pair_frame(params))


def mark_pair_frame(params: ReportParams) -> pd.DataFrame:
    """Return pairs of first and second marks, and of final marks with the marks of each judge.

    One row a pair, with ``agreement.COLUMNS``. ``marker`` selects one kind of pair: ``teachers`` or
    ``judge:NAME``; without it all are returned. First and second marks are paired also if a third
    mark or the lead decided, because the report is about agreement before correction.
    """
    import pandas as pd

    answers = _answers(params)
    found = []
    if params.marker in ("", TEACHERS):
        found.append(_teacher_pairs(params, answers))
    if params.marker != TEACHERS:
        found.append(_judge_pairs(params, answers))
    return pd.concat(found, ignore_index=True)[[*COLUMNS]]


def pairs_state(params: ReportParams) -> tuple[object, ...]:
    """Return numbers that change with the frame of *params*, beside the version of the facts.

    Judgements, runs and questions are not in them: those who write them raise that version, or are
    in the digest of the bank. Marks are added and never changed, and what is changed past the
    services is counted in ``MarkChange``; their number tells of one that was committed late.
    """
    rounds = MarkingRound.objects.filter(dataset__slug=params.dataset).order_by("pk")
    answers = BlindAnswer.objects.filter(round__dataset__slug=params.dataset)
    numbers = (Count("pk"), Count("final"), Sum("final"), Sum("tolerance"), Sum("full_marks"))
    return (
        *(model.objects.aggregate(n=Count("pk"), last=Max("pk")) for model in (Mark, MarkChange)),
        Slot.objects.aggregate(n=Count("pk"), void=Sum("void_version")),
        answers.aggregate(*numbers),
        list(rounds.values_list("pk", "status", "arbiter_marks_first", "practice", "public_id")),
    )


def _wanted(params: ReportParams, path: str = "") -> Q:
    """Return the filter of *params* on blind answers at *path*, without items that do not count."""
    wanted = params.of_rounds(f"{path}round")
    wanted &= params.of_runs(f"{path}response__run__")
    wanted &= ~Q(**{f"{path}question__status__in": left_out(params.policy)})
    if params.year is not None:
        wanted &= Q(**{f"{path}question__year": params.year})
    if params.without_blind:
        wanted &= Q(**{f"{path}response__images_omitted": 0})
    return wanted


def _answers(params: ReportParams) -> pd.DataFrame:
    """Return what both marks of a blind answer have in common, by its key."""
    columns = ("pk", "response_id", "response__run_id", "question__subject")
    rows = BlindAnswer.objects.filter(_wanted(params)).order_by()
    kinds: Kinds = {
        **dict.fromkeys(("answer", "response", "run"), np.int64),
        "subject": object,
        **dict.fromkeys(("full", "tolerance"), np.float64),
    }
    found = rows.values_list(*columns, real("full_marks"), real("tolerance"))
    frame = _frame(found, kinds).set_index("answer")
    runs = Run.objects.filter(params.of_runs())
    asked = runs.values_list("pk", "language_model__name", "condition__name")
    for place, name in enumerate(("model", "condition"), 1):
        of_run = {run[0]: run[place] for run in asked}
        frame[name] = frame["run"].map(of_run).astype(object)
    return frame


def _teacher_pairs(params: ReportParams, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the newest versions of the first and second mark of each answer that has both."""
    import pandas as pd

    kinds = (SlotKind.FIRST.value, SlotKind.SECOND.value)
    marks = Mark.objects.counting().filter(_wanted(params, "slot__answer__"), slot__kind__in=kinds)
    marks = marks.exclude(marks_wait_for_the_lead("slot__answer__"))
    rows = marks.order_by("version", "pk").values_list(
        "slot__answer_id", "slot__kind", real("total")
    )
    given = _frame(rows, {"answer": np.int64, "kind": object, "total": np.float64})
    newest = given.drop_duplicates(["answer", "kind"], keep="last")
    x, y = (newest[newest["kind"] == kind].set_index("answer")["total"] for kind in kinds)
    both = pd.DataFrame({"x": x, "y": y}).dropna()
    found = both.join(answers, how="inner").assign(pair=TEACHER_PAIR)
    return found.reset_index(names="answer")


def _judge_pairs(params: ReportParams, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the newest final mark of each response with the judgement of each judge."""
    newest = FinalMark.objects.counting().filter(_wanted(params, "answer__")).order_by("pk")
    finals = _frame(
        newest.values_list("answer_id", real("value")), {"answer": np.int64, "x": np.float64}
    )
    of_response = finals.join(answers, on="answer", how="inner").drop_duplicates(
        "response", keep="last"
    )
    return _judgements(params).merge(of_response, on="response", how="inner")


def _judgements(params: ReportParams) -> pd.DataFrame:
    """Return ``pair, response, y`` of the judgements with points, the newest of each judge."""
    judges = Judge.objects.filter(name=params.judge) if params.is_judge else Judge.objects.all()
    known = {
        judge.pk: (f"{JUDGE_PAIR}{JUDGE_PREFIX}{judge.name}", judge.suspended_at)
        for judge in judges
    }
    judgements = Judgement.objects.counting().filter(params.of_runs("response__run__"))
    if params.is_judge:  # a list of all judges would be read judge by judge, for each part anew
        judgements = judgements.filter(judge__in=list(known))
    rows = judgements.order_by("pk").values_list(
        *("judge", "response", real("total"), "status", json_text("released"))
    )
    given = (
        (
            known[judge][0],
            response,
            judge_points(total, status, released, params.policy, known[judge][1]).points,
        )
        for judge, response, total, status, released in rows.iterator(chunk_size=CHUNK)
    )
    kinds: Kinds = {"pair": object, "response": np.int64, "y": np.float64}
    found = _frame_of_rows(given, kinds).drop_duplicates(["pair", "response"], keep="last")
    return found[found["y"].notna()]


def _frame(rows: QuerySet[Any, Any], kinds: Kinds) -> pd.DataFrame:
    """Return the rows of a query as a frame with columns of the *kinds*."""
    return _frame_of_rows(rows.iterator(chunk_size=CHUNK), kinds)


def _frame_of_rows(rows: Iterator[tuple[Any, ...]], kinds: Kinds) -> pd.DataFrame:
    """Return *rows* as a frame; few of them are Python objects at the same time.

    Texts that are equal are one object.
    """
    import pandas as pd

    parts: dict[str, list[NDArray[Any]]] = {
        name: [np.empty(0, kind)] for name, kind in kinds.items()
    }
    texts: dict[object, object] = {}
    while chunk := list(islice(rows, CHUNK)):
        for (name, kind), values in zip(kinds.items(), zip(*chunk, strict=True), strict=True):
            if kind is object:
                values = tuple(texts.setdefault(one, one) for one in values)
            parts[name].append(np.array(values, dtype=kind))
    return pd.DataFrame(
        {
            name: pd.Series(np.concatenate(arrays), dtype=kinds[name])
            for name, arrays in parts.items()
        }
    )
