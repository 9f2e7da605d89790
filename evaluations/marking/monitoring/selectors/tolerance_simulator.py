"""The marks of a round as the tolerance simulator takes them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.marking.monitoring.rules.tolerance_simulator import MarkedTwice
from evaluations.marking.monitoring.selectors.decided import decided_answers
from evaluations.models import BlindAnswer, Mark, MarkingRound
from evaluations.models.vocabulary import AnswerRole, SlotKind

KINDS = (
    *(SlotKind.FIRST.value, SlotKind.SECOND.value),
    *(SlotKind.THIRD.value, SlotKind.ARBITRATION.value),
)


@dataclass(frozen=True, slots=True)
class AnswerName:
    """How a page names and reaches a response of a round."""

    public_id: UUID
    alias: str
    question: str


def marked_twice(marking_round: MarkingRound, task: str = "") -> list[MarkedTwice]:
    """Every response of the round, or of one task, with both marks; in three queries."""
    decided = decided_answers(marking_round)
    totals: dict[int, dict[str, Decimal]] = defaultdict(dict)
    marks = Mark.objects.counting().filter(slot__answer__round=marking_round, slot__kind__in=KINDS)
    marks = marks.exclude(marks_wait_for_the_lead("slot__answer__"))
    if task:
        marks = marks.filter(slot__answer__question__task__slug=task)
    for answer, kind, total in marks.order_by("version", "pk").values_list(
        "slot__answer_id", "slot__kind", "total"
    ):
        totals[answer][kind] = total
    return [
        MarkedTwice(
            answer=pk,
            task=slug,
            first=totals[pk][SlotKind.FIRST],
            second=totals[pk][SlotKind.SECOND],
            full=full,
            tolerance=tolerance,
            third=totals[pk].get(SlotKind.THIRD),
            lead=totals[pk].get(SlotKind.ARBITRATION),
            final=final,
            one_more=one_more is not None,
            corrected=SlotKind.ARBITRATION in totals[pk] and pk not in decided,
        )
        for pk, slug, full, tolerance, final, one_more in _answers(marking_round)
        if {SlotKind.FIRST.value, SlotKind.SECOND.value} <= totals.get(pk, {}).keys()
    ]


def _answers(
    marking_round: MarkingRound,
) -> list[tuple[int, str, Decimal, Decimal, Decimal | None, int | None]]:
    rows = BlindAnswer.objects.filter(round=marking_round, role=AnswerRole.ANSWER)
    points = ("full_marks", "tolerance", "final__value")
    columns = ("pk", "question__task__slug", *points, "one_more_for_id")
    return list(rows.order_by("pk").values_list(*columns))


def tasks_of(marking_round: MarkingRound) -> list[str]:
    """The tasks of the round's responses, by name."""
    rows = BlindAnswer.objects.filter(round=marking_round, role=AnswerRole.ANSWER)
    slugs = rows.order_by("question__task__slug").values_list("question__task__slug", flat=True)
    return list(slugs.distinct())


def names_of(answers: list[int]) -> dict[int, AnswerName]:
    """Aliases and addresses of some responses."""
    rows = BlindAnswer.objects.filter(pk__in=answers).order_by()
    columns = ("pk", "public_id", "alias", "question__external_id")
    return {pk: AnswerName(*rest) for pk, *rest in rows.values_list(*columns)}
