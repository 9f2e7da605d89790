"""Store the gradings of a judge that a benchmark released."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from evaluations.facts.answer_facts import record_judgements
from evaluations.imports.rules.answer_records import Grading
from evaluations.imports.services.published_answers import StoredAnswers, StoredRow
from evaluations.judging.rules.judge_reply import JudgeReading, read_judge_reply
from evaluations.judging.services.judges import hold_judges
from evaluations.models import Judge, Judgement
from evaluations.statistics.outcomes import JudgeStatus
from questions.importers.records import Problem

# The benchmark's own prompt for judges, without a marking criterion.
PROMPT_VERSION = "published"


def store_gradings(file: str, stored: StoredAnswers) -> int:
    """Store the gradings of the *stored* rows; return the number of judgements added.

    The total is read from the reply; the released totals are stored beside it. A reply without a
    possible total, or with another total than the released one, is reported. Runs in the caller's
    transaction.
    """
    by_judge: dict[str, list[tuple[StoredRow, Grading]]] = defaultdict(list)
    for row in stored.rows:
        if row.record.grading:
            by_judge[row.record.grading.judge].append((row, row.record.grading))
    added: list[Judgement] = []
    for name, rows in by_judge.items():
        judge = Judge.objects.get_or_create(name=name)[0]
        known: dict[int, set[str]] = defaultdict(set)
        of_judge = Judgement.objects.filter(judge=judge)
        earlier = of_judge.filter(response__in=[row.response.pk for row, _ in rows])
        for response, reply in earlier.values_list("response_id", "reply"):
            known[response].add(reply)
        new: list[Judgement] = []
        for row, grading in rows:
            reading = read_judge_reply(grading.reply, row.item.full_marks)
            stored.problems += _problems(file, row, grading, reading)
            if row.response.pk not in known:
                new.append(
                    Judgement(
                        response=row.response,
                        judge=judge,
                        prompt_version=PROMPT_VERSION,
                        reply=grading.reply,
                        total=reading.total,
                        full=row.item.full_marks,
                        status=reading.status,
                        flags=list(reading.flags),
                        details=reading.details,
                        released=[None if t is None else float(t) for t in grading.released],
                    )
                )
            elif grading.reply not in known[row.response.pk]:
                text = f"Row {row.record.row}: the bank has another reply of {name}; it stays."
                stored.problems.append(Problem(file, row.record.row, "different_reply", text))
        added += Judgement.objects.bulk_create(new)
    hold_judges(one.judge_id for one in added)
    record_judgements(one.response_id for one in added)
    return len(added)


def _problems(
    file: str, row: StoredRow, grading: Grading, reading: JudgeReading
) -> Sequence[Problem]:
    """Return a problem if *reading* has no total, or another one than was released."""
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
