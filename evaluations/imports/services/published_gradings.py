"""Keeps a judge's gradings that a benchmark released."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from evaluations.imports.rules.answer_records import Grading, Marks
from evaluations.imports.services.published_answers import StoredAnswers, StoredRow
from evaluations.judging.rules.judge_reply import JudgeReading, JudgeStatus, read_judge_reply
from evaluations.models import Judge, Judgement
from questions.importers.records import Problem

# The benchmark's own prompt for judges, without a marking criterion.
PROMPT_VERSION = "published"


def store_gradings(file: str, stored: StoredAnswers) -> int:
    """Keep the gradings of the *stored* rows; the number of judgements added.

    The total is read from the reply; the released totals are kept beside it as
    they are. A reply without a possible total, or one that says something else
    than what was released with it, is named. Runs in the caller's transaction.
    """
    graded = [(row, row.record.grading) for row in stored.rows if row.record.grading]
    added = 0
    for name, rows in _by_judge(graded).items():
        judge = Judge.objects.get_or_create(name=name)[0]
        known = _known(judge, rows)
        new: list[Judgement] = []
        for row, grading in rows:
            reading = read_judge_reply(grading.reply, row.item.full_marks)
            stored.problems += _problems(file, row, grading, reading)
            replies = known.get(row.response.pk)
            if replies is None:
                new.append(_judgement(judge, row, grading, reading))
            elif grading.reply not in replies:
                text = f"Row {row.record.row}: the bank has another reply of {name}; it stays."
                stored.problems.append(Problem(file, row.record.row, "different_reply", text))
        added += len(Judgement.objects.bulk_create(new))
    return added


Graded = list[tuple[StoredRow, Grading]]


def _by_judge(graded: Graded) -> dict[str, Graded]:
    groups: dict[str, Graded] = defaultdict(list)
    for row, grading in graded:
        groups[grading.judge].append((row, grading))
    return groups


def _known(judge: Judge, rows: Graded) -> dict[int, set[str]]:
    """The replies of *judge* that the bank has, by response."""
    replies: dict[int, set[str]] = defaultdict(set)
    stored = Judgement.objects.filter(
        judge=judge, response__in=[row.response.pk for row, _ in rows]
    )
    for response, reply in stored.values_list("response_id", "reply"):
        replies[response].add(reply)
    return dict(replies)


def _judgement(judge: Judge, row: StoredRow, grading: Grading, reading: JudgeReading) -> Judgement:
    return Judgement(
        response=row.response,
        judge=judge,
        prompt_version=PROMPT_VERSION,
        reply=grading.reply,
        total=reading.total,
        full=row.item.full_marks,
        status=reading.status,
        flags=list(reading.flags),
        released=_numbers(grading.released),
    )


def _numbers(released: Marks) -> list[float | None]:
    """Totals as the JSON of the release has them."""
    return [None if total is None else float(total) for total in released]


def _problems(
    file: str, row: StoredRow, grading: Grading, reading: JudgeReading
) -> Sequence[Problem]:
    place = f"Row {row.record.row} ({row.record.task} {row.record.external_id})"
    released = ", ".join("none" if total is None else str(total) for total in grading.released)
    if reading.status != JudgeStatus.SCORED:
        text = (
            f"{place}: the judge's reply has no possible total of {row.item.full_marks}"
            f" ({reading.status}); released: {released}."
        )
        return [Problem(file, row.record.row, str(reading.status), text)]
    if list(grading.released) != [reading.total]:
        text = f"{place}: the judge's reply says {reading.total}; released: {released}."
        return [Problem(file, row.record.row, "released_differs", text)]
    return []
