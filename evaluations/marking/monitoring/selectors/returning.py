"""Which marks would be marked again, and how many final marks would fall with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from evaluations.marking.rounds.selectors.round_counts import answers_of_round
from evaluations.models import BlindAnswer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import CHECK_KINDS, AnswerRole, SlotKind
from evaluations.schemes import FinalRule, Scheme
from gradeapp.accounts.models import User
from gradeapp.common.named import Named
from questions.models import Question, Rubric
from questions.selectors.rubrics import counting_versions

# So many responses of a question are listed before they are marked again.
LISTED = 50
TEACHERS = (SlotKind.FIRST.value, SlotKind.SECOND.value, SlotKind.THIRD.value)


class Reach(Named):
    """Which responses to a question are marked again under its new rubric."""

    UNMARKED = "unmarked", "Only unmarked responses", "仅未评的作答"
    UNSETTLED = "unsettled", "Also marked responses without a final mark", "含已评未定分的作答"
    ALL = "all", "Also responses with a final mark", "含已定分的作答"


@dataclass(frozen=True, slots=True)
class Fall:
    """What returning takes away: marks, final marks; ``kept`` responses stay decided."""

    slots: tuple[Slot, ...]
    finals: int
    kept: int

    @property
    def marks(self) -> int:
        """How many marks go back."""
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class OutdatedAnswer:
    """A response under an older rubric, who has marked it, and which reach takes it in.

    ``reach`` is None for one that the lead has decided.
    """

    public_id: UUID
    alias: str
    teachers: tuple[str, ...]
    reach: Reach | None


@dataclass(frozen=True, slots=True)
class OutdatedRubric:
    """A question of a round whose rubric has a newer accepted version, and its responses.

    ``first`` are ``LISTED`` of the responses at most, by alias.
    """

    question: Question
    frozen: int | None
    newest: Rubric
    unmarked: int
    unsettled: int
    final: int
    arbitrated: int
    first: tuple[OutdatedAnswer, ...]

    @property
    def responses(self) -> int:
        """All of them."""
        return self.unmarked + self.unsettled + self.final + self.arbitrated


def heard(path: str) -> Exists:
    """Whether the lead's decision counts for the blind answer that *path* leads to."""
    decisions = Mark.objects.counting().filter(
        slot__answer=OuterRef(path), slot__kind=SlotKind.ARBITRATION
    )
    return Exists(decisions)


def slots_since(
    marking_round: MarkingRound,
    teacher: User,
    since: datetime | None,
    *,
    with_arbitrated: bool,
    aliases: Collection[str] = (),
) -> list[Slot]:
    """The slots of *teacher* whose counting mark was saved at *since* or later, in a fixed order.

    With *aliases* the marks of these responses instead, whenever they were saved. A
    third mark that the final mark does not rest on stays, and, unless
    *with_arbitrated*, every mark of a response that the lead has decided.
    """
    slots = _since(marking_round, teacher, since, TEACHERS, aliases)
    if not with_arbitrated:
        slots = slots.filter(~heard("answer"))
    related = ("answer__final", "answer__question__task")
    rows = slots.select_related(*related).order_by("answer", "pk")
    return [slot for slot in rows if not _needless(slot)]


def checks_since(marking_round: MarkingRound, teacher: User, since: datetime) -> list[Slot]:
    """The seed answers and intra-rater checks that *teacher* marked at *since* or later.

    They go back with the others: whatever stayed marked would be known as a check.
    """
    return list(_since(marking_round, teacher, since, CHECK_KINDS).order_by("answer", "pk"))


def _since(
    marking_round: MarkingRound,
    teacher: User,
    since: datetime | None,
    kinds: Sequence[str],
    aliases: Collection[str] = (),
) -> QuerySet[Any]:
    counts = Q(marks__stale=False, marks__version__gt=F("void_version"))
    slots = Slot.objects.filter(
        answer__round=marking_round, holder=teacher, marked=True, kind__in=kinds
    )
    if aliases:
        return slots.filter(answer__alias__in=aliases)
    return slots.annotate(saved=Max("marks__created_at", filter=counts)).filter(saved__gte=since)


def _needless(slot: Slot) -> bool:
    final = slot.answer.final
    return bool(final and slot.kind == SlotKind.THIRD and final.rule == FinalRule.MEAN_OF_TWO)


def fall_since(
    marking_round: MarkingRound,
    teacher: User,
    since: datetime | None,
    *,
    with_arbitrated: bool,
    aliases: Collection[str] = (),
) -> Fall:
    """How much would go back, before it is done."""
    choice = {"with_arbitrated": with_arbitrated, "aliases": aliases}
    slots = slots_since(marking_round, teacher, since, **choice)  # type: ignore[arg-type]
    found = _since(marking_round, teacher, since, TEACHERS, aliases)
    decided = 0 if with_arbitrated else found.filter(heard("answer")).count()
    finals = {slot.answer_id for slot in slots if slot.answer.final_id is not None}
    return Fall(tuple(slots), len(finals), decided)


def outdated_rubrics(marking_round: MarkingRound) -> list[OutdatedRubric]:
    """Questions of the round with a newer accepted rubric than some response is marked under."""
    answers = answers_of_round(marking_round)
    asked = set(answers.order_by().values_list("question", flat=True).distinct())
    newest = counting_versions(asked)
    rows = (
        answers.annotate(touched=touched(), decided=heard("pk"))
        .exclude(rubric__in=[rubric.pk for rubric in newest.values()])
        .filter(question__in=list(newest))
    )
    counts = (
        rows.order_by("question__task__slug", "question__position", "question")
        .values("question")
        .annotate(
            frozen=Max("rubric__version"),
            unmarked=Count("pk", filter=Q(touched=False)),
            unsettled=Count("pk", filter=Q(touched=True, final=None)),
            finalized=Count("pk", filter=Q(final__isnull=False, decided=False)),
            arbitrated=Count("pk", filter=Q(final__isnull=False, decided=True)),
        )
    )
    questions = Question.objects.select_related("task").in_bulk([row["question"] for row in counts])
    return [
        OutdatedRubric(
            question=questions[row["question"]],
            frozen=row["frozen"],
            newest=newest[row["question"]],
            unmarked=row["unmarked"],
            unsettled=row["unsettled"],
            final=row["finalized"],
            arbitrated=row["arbitrated"],
            first=_first_outdated(rows.filter(question=row["question"])),
        )
        for row in counts
    ]


def _first_outdated(answers: QuerySet[Any]) -> tuple[OutdatedAnswer, ...]:
    """The first of annotated *answers* by alias, with who has marked each."""
    listed = list(answers.order_by("alias")[:LISTED])
    marks = Mark.objects.counting().filter(slot__answer__in=listed, slot__kind__in=TEACHERS)
    names: dict[int, dict[str, None]] = {answer.pk: {} for answer in listed}
    for mark in marks.select_related("slot", "teacher").order_by("slot", "version"):
        names[mark.slot.answer_id][str(mark.teacher)] = None
    return tuple(
        OutdatedAnswer(answer.public_id, answer.alias, tuple(names[answer.pk]), _reach_of(answer))
        for answer in listed
    )


def _reach_of(answer: Any) -> Reach | None:
    if answer.final_id is not None:
        return None if answer.decided else Reach.ALL
    return Reach.UNSETTLED if answer.touched else Reach.UNMARKED


def touched() -> Exists:
    """Whether somebody's mark of a blind answer counts."""
    return Exists(Mark.objects.counting().filter(slot__answer=OuterRef("pk")))


def answers_in_reach(
    marking_round: MarkingRound, newest: Rubric, reach: Reach, *, with_arbitrated: bool
) -> QuerySet[Any]:
    """The responses to the rubric's question that are marked under another version."""
    answers = answers_of_round(marking_round).filter(question=newest.question_id)
    answers = answers.exclude(rubric=newest.pk)
    if reach is Reach.UNMARKED:
        answers = answers.filter(~touched())
    if reach is not Reach.ALL:
        answers = answers.filter(final=None)
    elif not with_arbitrated:
        answers = answers.filter(~heard("pk"))
    return answers.order_by("pk")


def seeds_in_reach(
    marking_round: MarkingRound, newest: Rubric, reach: Reach
) -> QuerySet[BlindAnswer]:
    """The seed answers that move with the responses: those that look like one of them.

    Who marked a seed answer takes it for a response that is final under a scheme
    of one mark, and for one that waits for its other mark under the others.
    """
    seeds = _outdated(marking_round, newest, AnswerRole.SEED)
    if reach is Reach.ALL or (reach is Reach.UNSETTLED and not _single(marking_round)):
        return seeds
    return seeds.filter(~touched())


def seeds_left_behind(
    marking_round: MarkingRound, newest: Rubric, reach: Reach
) -> list[BlindAnswer]:
    """The seed answers that must not come to anybody else, for nothing else has the old rubric.

    With two marks a response that the partner has marked keeps it too.
    """
    if reach is Reach.ALL or not _single(marking_round):
        return []
    return list(_outdated(marking_round, newest, AnswerRole.SEED).filter(touched()))


def repeats_in_reach(
    marking_round: MarkingRound, newest: Rubric, firsts: Collection[int]
) -> list[BlindAnswer]:
    """The intra-rater checks that move: unmarked, or marked with their first in *firsts*."""
    repeats = _outdated(marking_round, newest, AnswerRole.REPEAT).annotate(marked=touched())
    return [one for one in repeats if not one.marked or one.repeat_of_id in firsts]


def _outdated(
    marking_round: MarkingRound, newest: Rubric, role: AnswerRole
) -> QuerySet[BlindAnswer]:
    answers = BlindAnswer.objects.filter(
        round=marking_round, role=role, question=newest.question_id
    )
    return answers.exclude(rubric=newest.pk).order_by("pk")


def _single(marking_round: MarkingRound) -> bool:
    return Scheme(marking_round.scheme) is Scheme.SINGLE


def roles_on(answers: Sequence[int]) -> dict[int, set[int]]:
    """Who holds or is planned for any mark of each of these blind answers."""
    taken: dict[int, set[int]] = {answer: set() for answer in answers}
    rows = Slot.objects.filter(answer__in=answers).order_by()
    for answer, holder, planned in rows.values_list("answer_id", "holder_id", "planned_id"):
        taken[answer] |= {person for person in (holder, planned) if person is not None}
    return taken
