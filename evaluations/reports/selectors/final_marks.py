"""How the final marks of teachers in a report came about: by which rule, in which round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from evaluations.facts.params import ReportParams
from evaluations.models import BlindAnswer, FinalMark
from evaluations.models.vocabulary import LIVE
from evaluations.schemes import FinalRule
from questions.rules.vocabulary import Part


@dataclass(frozen=True, slots=True)
class FinalsNote:
    """How many of ``n`` final marks no teachers' rule made, and what they stand in place of.

    A lead ``decided`` some, of which ``changed`` came after another final mark of the same round;
    ``references`` are reference marks of seed answers, ``of_open`` from rounds that are not closed.
    ``replaced`` final marks of earlier rounds are not among the ``n``. ``earlier_rubric`` counts
    those under an earlier version of the rubric than the one that counts now, or under none, of
    questions whose final marks were given under several.
    """

    n: int
    decided: int
    changed: int
    references: int
    of_open: int
    replaced: int
    earlier_rubric: int

    @property
    def says_something(self) -> bool:
        """Whether any number but ``n`` is not 0."""
        several = self.earlier_rubric
        return bool(self.decided or self.references or self.of_open or self.replaced or several)


@dataclass(frozen=True, slots=True)
class FinalFacts:
    """The final mark of a row: its round, its rule and the final mark before it in that round."""

    round_name: str
    round_id: UUID
    answer_id: UUID
    rule: str
    before: Decimal | None
    is_open: bool


def finals_note(params: ReportParams) -> FinalsNote:
    """Return how the final marks that count under *params* came about; two queries."""
    finals = _finals(params).filter(
        params.of_runs("answer__response__run__"), answer__question__part=Part.SUBJECTIVE
    )
    if params.year is not None:
        finals = finals.filter(answer__question__year=params.year)
    newer = BlindAnswer.objects.filter(
        params.of_rounds("round"),
        response=OuterRef("answer__response"),
        final__gt=OuterRef("pk"),
    )
    counts = Q(is_replaced=False)
    decided = counts & Q(rule=FinalRule.ARBITRATION)
    rows = finals.order_by().alias(is_replaced=Exists(newer))
    numbers = rows.aggregate(
        n=Count("pk", filter=counts),
        decided=Count("pk", filter=decided),
        changed=Count("pk", filter=decided & Q(number__gt=1)),
        references=Count("pk", filter=counts & Q(rule=FinalRule.REFERENCE)),
        of_open=Count("pk", filter=counts & Q(answer__round__status__in=LIVE)),
        replaced=Count("pk", filter=Q(is_replaced=True)),
    )
    return FinalsNote(**numbers, earlier_rubric=_under_earlier_rubrics(rows.filter(counts)))


def _under_earlier_rubrics(finals: QuerySet[FinalMark]) -> int:
    """How many were given under an earlier version, where those of one question had several.

    A final mark has the rubric of the marks that it was made from, of which the first is read; a
    reference mark was made from none.
    """
    now = "answer__question__rubric__version"
    rows = (
        finals.filter(sources__place=1, **{f"{now}__isnull": False})
        .values_list("answer__question", now, "sources__mark__rubric__version")
        .annotate(n=Count("pk"))
    )
    versions: dict[int, dict[int, int]] = defaultdict(dict)
    newest: dict[int, int] = {}
    for question, newest[question], under, n in rows:
        versions[question][under or 0] = n
    return sum(
        n
        for question, numbers in versions.items()
        for under, n in numbers.items()
        if len(numbers) > 1 and under < newest[question]
    )


def final_facts(params: ReportParams, responses: Sequence[int]) -> dict[int, FinalFacts]:
    """Return by response how its final mark under *params* came about; two queries."""
    rows = (
        _finals(params)
        .filter(answer__response__in=responses)
        .select_related("answer__round")
        .order_by("pk")
    )
    newest = {final.answer.response_id: final for final in rows}
    answers = [final.answer_id for final in newest.values()]
    earlier = FinalMark.objects.filter(answer__in=answers, number__lt=F("answer__final__number"))
    before = dict(earlier.order_by("number").values_list("answer", "value"))
    return {
        response: FinalFacts(
            round_name=final.answer.round.name,
            round_id=final.answer.round.public_id,
            answer_id=final.answer.public_id,
            rule=final.rule,
            before=before.get(final.answer_id),
            is_open=final.answer.round.status in LIVE,
        )
        for response, final in newest.items()
    }


def _finals(params: ReportParams) -> QuerySet[FinalMark]:
    return FinalMark.objects.counting().filter(params.of_rounds("answer__round"))
