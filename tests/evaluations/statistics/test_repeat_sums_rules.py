"""The report on repeats from counts of equal answers is that of the single answers."""

from __future__ import annotations

from collections import defaultdict

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluations.statistics.figure import Report
from evaluations.statistics.repeat_sums import repeats_of
from evaluations.statistics.repeats import repeats
from evaluations.statistics.rows import ScoredAnswer
from tests.evaluations.statistics.statistics_rows import answered, marked

# What a repeat answers, and its share of the full marks; None: no points.
ANSWERS = (("A", 1.0), ("B", 0.0), ("A -", 0.5), ("", 0.0), (None, 1.0), ("A", None), ("A", 0.5))
ITEMS = st.lists(
    st.tuples(
        st.sampled_from(("m", "n")),
        st.sampled_from(("Biology", "Chinese", "")),
        st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=4),
    ),
    max_size=8,
)


def grouped(rows: list[ScoredAnswer]) -> pd.DataFrame:
    groups: dict[tuple[object, ...], list[ScoredAnswer]] = defaultdict(list)
    for row in rows:
        about = (row.model, row.condition, row.subject, row.part, row.question, row.full)
        groups[about].append(row)
    names = ("model", "condition", "subject", "part", "question", "full_each")
    return pd.DataFrame(
        [
            dict(zip(names, key, strict=True))
            | {
                "answers": tuple((row.answer, row.points) for row in own),
                "n": len(own),
                "scored": sum(row.points is not None for row in own),
                "points": sum(row.points or 0.0 for row in own),
                "right": sum(row.points is not None and row.points >= row.full for row in own),
            }
            for key, own in groups.items()
        ],
        columns=[*names, "answers", "n", "scored", "points", "right"],
    )


def figures(report: Report) -> list[object]:
    return [
        (row.key, name, None if one.value is None else round(one.value, 9), one.n, one.reason)
        for row in report.rows
        for name, one in sorted(row.figures.items())
    ]


@given(ITEMS)
@settings(max_examples=60, deadline=None)
def test_counts_of_equal_answers_give_what_single_answers_give(
    items: list[tuple[str, str, list[tuple[str | None, float | None]]]],
) -> None:
    rows = [marked(question=0)] + [
        answered(
            question=question,
            model=model,
            subject=subject,
            repeat=repeat,
            answer=answer,
            full=float(1 + question % 2),
            points=None if share is None else share * (1 + question % 2),
        )
        for question, (model, subject, given) in enumerate(items, 1)
        for repeat, (answer, share) in enumerate(given, 1)
    ]
    assert figures(repeats_of(grouped(rows))) == figures(repeats(rows))
