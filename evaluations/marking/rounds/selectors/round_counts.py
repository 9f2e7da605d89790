"""What is counted and paged of a round however large it is, read as seldom as can be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.functional import cached_property

from evaluations.marking.rounds.selectors.seed_answers import seeds_without_final
from evaluations.marking.services.due import one_more
from evaluations.models import BlindAnswer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import AnswerRole, SlotKind
from questions.models import Question


class SlotGroup(NamedTuple):
    """So many slots of one kind that one teacher was planned for and one holds.

    ``finalized`` ones are of responses that have a final mark.
    """

    planned: int | None
    holder: int | None
    kind: str
    marked: bool
    finalized: bool
    number: int


def slot_groups(marking_round: MarkingRound) -> list[SlotGroup]:
    """All slots of a round, by everything that pages count them by: they are read once."""
    slots = Slot.objects.filter(answer__round=marking_round).order_by()
    columns = ("planned", "holder", "kind", "marked", "finalized")
    groups = slots.annotate(finalized=Q(answer__final__isnull=False)).values_list(*columns)
    return [SlotGroup(*row) for row in groups.annotate(number=Count("pk"))]


def answers_of_round(marking_round: MarkingRound) -> QuerySet[BlindAnswer]:
    """Return the responses of a round, without its seed answers and intra-rater checks."""
    return BlindAnswer.objects.filter(round=marking_round, role=AnswerRole.ANSWER)


def still_revisable(marking_round: MarkingRound, now: datetime) -> int:
    """Return how many responses have all planned marks, which wait only for the time to revise."""
    slots = Slot.objects.filter(answer=OuterRef("pk"))
    lacking, revisable = slots.filter(marked=False), slots.filter(revisable_until__gt=now)
    waiting = answers_of_round(marking_round).filter(Exists(revisable), final=None)
    planned = (SlotKind.FIRST, SlotKind.SECOND)
    return waiting.filter(~Exists(lacking.filter(kind__in=planned))).count()


def without_final(marking_round: MarkingRound, now: datetime) -> int:
    """Return how many responses a round that is closed now may leave without a final mark.

    Seed answers whose reference mark is gone are among them, and those whose marks can be revised.
    """
    open_ones = answers_of_round(marking_round).filter(final=None).count()
    lost = seeds_without_final(marking_round).count()
    return open_ones + lost - awaiting_one_more(marking_round, now)


def awaiting_one_more(marking_round: MarkingRound, now: datetime) -> int:
    """Return how many responses wait only for one more mark, which they do without at the end."""
    if marking_round.judge_check_share is None:
        return 0
    slots = Slot.objects.filter(answer=OuterRef("pk"))
    lacking, revisable = slots.filter(marked=False), slots.filter(revisable_until__gt=now)
    waiting = answers_of_round(marking_round).filter(Exists(lacking.filter(one_more())), final=None)
    return waiting.filter(~Exists(lacking.filter(~one_more())), ~Exists(revisable)).count()


def outdated_questions(marking_round: MarkingRound) -> int:
    """Return how many questions of a round have a newer accepted rubric, in two queries."""
    held = set(
        answers_of_round(marking_round).order_by().values_list("question", "rubric").distinct()
    )
    counting = Question.objects.filter(pk__in={question for question, _ in held})
    counts = dict(counting.exclude(rubric=None).values_list("pk", "rubric"))
    return len({one for one, rubric in held if counts.get(one, rubric) != rubric})


def newest_marks(marking_round: MarkingRound, kinds: Sequence[str]) -> QuerySet[Mark]:
    """The marks of a round on slots of *kinds*, newest first, to be read from the newest on.

    Asked by a join, a database would gather all marks of the round and sort them.
    """
    slots = Slot.objects.filter(pk=OuterRef("slot"), answer__round=marking_round, kind__in=kinds)
    return Mark.objects.filter(Exists(slots)).order_by("-pk")


def number_of(rows: QuerySet[Any]) -> Coalesce:
    """How many *rows* each row of the query around them has."""
    counted = rows.order_by().values(one=Value(1)).annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted), 0)


class AnswerPages(Paginator):  # type: ignore[type-arg]
    """Pages of responses whose number is known; those of the second half are read from the end.

    The keys of a page come first: what is passed over on the way is not looked into.
    """

    def __init__(self, rows: QuerySet[Any], per_page: int, number: int) -> None:
        super().__init__(rows, per_page)
        self.number = number

    @cached_property
    def count(self) -> int:
        """How many responses there are."""
        return self.number

    def page(self, number: int | str) -> Page[Any]:
        """The page with this *number*, from 1."""
        number = self.validate_number(number)
        start = (number - 1) * self.per_page
        end = min(start + self.per_page, self.number)
        rows: Any = self.object_list
        keys = rows.values_list("pk", flat=True)
        from_end = start > self.number - end
        part = (
            keys.reverse()[self.number - end : self.number - start] if from_end else keys[start:end]
        )
        return Page(list(rows.filter(pk__in=list(part))), number, self)
