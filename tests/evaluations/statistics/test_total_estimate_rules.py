"""The total of a stream from a judge's marks and a stratified sample of teachers' marks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluations.statistics.gaokao_750 import STREAMS, WEIGHTS, Precision, converted
from evaluations.statistics.sample_plan import needed
from evaluations.statistics.total_estimate import (
    SampledRow,
    estimated_subjects,
    estimated_total,
    strata_of,
)
from questions.rules.vocabulary import Part, Stream, Subject

SCIENCES = STREAMS[Stream.SCIENCES]
OBJECTIVE = dict.fromkeys(SCIENCES, 0.6)


def paper(rng: np.random.Generator) -> list[SampledRow]:
    """Sixty questions in each subject, in two tasks, all marked; the judge gives a little more."""
    rows = []
    for place, subject in enumerate(SCIENCES):
        for i in range(60):
            full = float(rng.integers(4, 16))
            human = float(np.round(full * rng.beta(2, 2 + place / 3)))
            judge = float(np.clip(human + np.round(rng.normal(1, 1.5)), 0, full))
            task = f"{subject}-{i % 2}"
            rows.append(SampledRow(subject, task, len(rows), full, judge, human))
    return rows


def test_with_all_marked_it_is_the_converted_total() -> None:
    rows = paper(np.random.default_rng(1))
    rates = {(s, Part.OBJECTIVE): 0.6 for s in SCIENCES}
    for subject in SCIENCES:
        own = [row for row in rows if row.subject == subject]
        points = sum(row.human or 0 for row in own) / sum(row.full for row in own)
        rates[subject, Part.SUBJECTIVE] = points
    expected = converted(Stream.SCIENCES, rates, Precision.FULL).total
    found = estimated_total(rows, OBJECTIVE, Stream.SCIENCES, planned=100)
    for figure in (found.human_only, found.aided, found.aided_always):
        assert figure.value == pytest.approx(expected, abs=1e-9)
        assert figure.low == pytest.approx(figure.high)
    assert (found.marked, found.questions) == (360, 360)


def test_a_plan_without_a_judge_takes_points_as_spread_evenly() -> None:
    """Four questions of full marks 6 in one task: each stands for a quarter of the subject."""
    rows = [SampledRow(SCIENCES[0], "task", i, 6.0, None, None) for i in range(4)]
    (line,) = strata_of(rows)
    each = WEIGHTS[SCIENCES[0]].subjective / 4
    assert line.deviation == pytest.approx(each / 12**0.5)


def test_samples_by_plan_hold_the_total_and_the_judge_narrows_them() -> None:
    rng = np.random.default_rng(7)
    rows = paper(rng)
    unmarked = [replace(row, human=None) for row in rows]
    lines = strata_of(unmarked)
    assert len(lines) == 12
    assert sum(line.units for line in lines) == 360
    plan = needed(lines, 10.0)
    truth = estimated_total(rows, OBJECTIVE, Stream.SCIENCES, planned=100).human_only.value
    assert truth is not None
    held, width = np.zeros(2), np.zeros(2)
    for _ in range(200):
        drawn = set()
        for line, n in zip(lines, plan.drawn, strict=True):
            of_line = [r.question for r in rows if (r.subject, r.task) == (line.subject, line.task)]
            drawn |= set(rng.choice(of_line, n, replace=False).tolist())
        made = estimated_total(
            [row if row.question in drawn else replace(row, human=None) for row in rows],
            OBJECTIVE,
            Stream.SCIENCES,
            planned=plan.size,
        )
        for i, one in enumerate((made.human_only, made.aided)):
            assert one.low is not None
            assert one.high is not None
            held[i] += one.low <= truth <= one.high
            width[i] += (one.high - one.low) / 2 / 200
        assert made.aided_always.low is not None
        assert made.aided_always.low < made.aided.low  # type: ignore[operator]
    assert (held / 200 > 0.91).all()
    assert width[0] == pytest.approx(plan.half_width, rel=0.15)
    assert width[1] < 0.8 * width[0]


def test_an_essay_of_a_task_of_its_own_counts_once() -> None:
    """Chinese: an essay of 60 with full marks, and 4 of 30 questions of 5 with 5, 5, 0, 0.

    105 * (60 + 30 * 10 / 4) / 210 = 67.5 points. The other subjects have half of 314 subjective
    points, and all have 0.6 of 331 objective ones: 67.5 + 157 + 198.6.
    """
    rows = [SampledRow(Subject.CHINESE, "essay", 0, 60.0, None, 60.0)]
    for i in range(30):
        mark = 5.0 * (i % 2) if i < 4 else None
        rows.append(SampledRow(Subject.CHINESE, "reading", len(rows), 5.0, None, mark))
    for subject in SCIENCES:
        if subject != Subject.CHINESE:
            rows += [SampledRow(subject, "all", len(rows) + i, 10.0, None, 5.0) for i in range(2)]
    (found, *_others) = estimated_subjects(rows, OBJECTIVE, Stream.SCIENCES)
    assert (found.subject, found.human_only.value) == (Subject.CHINESE, pytest.approx(67.5))
    total = estimated_total(rows, OBJECTIVE, Stream.SCIENCES, planned=10).human_only
    assert total.value == pytest.approx(423.1)


def test_what_is_missing_has_its_reason() -> None:
    rows = paper(np.random.default_rng(1))
    sciences = Stream.SCIENCES
    lacking = estimated_total(rows[60:], {}, sciences, planned=9).human_only.reason
    assert lacking is not None
    assert lacking.startswith("missing:")
    unmarked = [replace(row, human=None) for row in rows]
    assert estimated_total(unmarked, OBJECTIVE, sciences, planned=9).aided.reason == "no_data"
    few = [rows[0], *unmarked[1:]]
    found = estimated_total(few, OBJECTIVE, sciences, planned=9)
    assert (found.human_only.reason, found.marked) == ("strata_not_marked", 1)
    refused = estimated_total(rows, OBJECTIVE, sciences, planned=9, refused="judge_suspended")
    assert refused.human_only.value is not None
    assert (refused.aided.reason, refused.tuning) == ("judge_suspended", 0)
    blind = estimated_total(
        [replace(r, judge=None) for r in rows[:1]] + rows[1:], OBJECTIVE, sciences, planned=9
    )
    assert blind.aided.value == pytest.approx(refused.human_only.value)
    assert sum(WEIGHTS[s].total for s in SCIENCES) == 750
