"""Questions of a round that have a newer rubric, and which of their responses move to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from evaluations.marking.monitoring.selectors.returning import TEACHER_KINDS, is_arbitrated
from evaluations.marking.rounds.selectors.round_counts import answers_of_round
from evaluations.models import BlindAnswer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import CHECK_KINDS, AnswerRole
from evaluations.schemes import Scheme
from gradeapp.common.named import Named
from questions.models import Question, Rubric
from questions.selectors.rubrics import counting_versions

# So many responses of a question are listed on the page.
LISTED = 50


class RemarkScope(Named):
    """Which responses to a question are marked again under its new rubric."""

    UNMARKED = "unmarked", "Only unmarked responses", "仅未评的作答"
    WITHOUT_FINAL = "unsettled", "Also marked responses without a final mark", "含已评未定分的作答"
    ALL = "all", "Also responses with a final mark", "含已定分的作答"


@dataclass(frozen=True, slots=True)
class OutdatedAnswer:
    """A response under an older rubric, who has marked it, and the narrowest scope with it."""

    public_id: UUID
    alias: str
    teachers: tuple[str, ...]
    scope: RemarkScope


@dataclass(frozen=True, slots=True)
class OutdatedRubric:
    """A question of a round with a newer accepted rubric, and its responses under older ones.

    ``frozen`` is the newest version that such a response is marked under, None for no rubric.
    ``without_final`` counts marked responses without a final mark, ``final`` those with one,
    except ``arbitrated`` ones; ``earlier`` are those of them to another text of the question than
    the present one, which the rubric was accepted for. ``first`` are at most ``LISTED`` of the
    responses, by alias.
    """

    question: Question
    frozen: int | None
    newest: Rubric
    unmarked: int
    without_final: int
    final: int
    arbitrated: int
    earlier: int
    first: tuple[OutdatedAnswer, ...]

    @property
    def responses(self) -> int:
        """All of them."""
        return self.unmarked + self.without_final + self.final + self.arbitrated


def outdated_rubrics(marking_round: MarkingRound) -> list[OutdatedRubric]:
    """Return the questions with a newer accepted rubric than some response is marked under."""
    answers = answers_of_round(marking_round)
    asked = set(answers.order_by().values_list("question", flat=True).distinct())
    newest = counting_versions(asked)
    outdated = (
        answers.annotate(marked=_has_mark(), decided=is_arbitrated("pk"))
        .exclude(rubric__in=[rubric.pk for rubric in newest.values()])
        .filter(question__in=list(newest))
    )
    rows = (
        outdated.order_by("question__task__slug", "question__position", "question")
        .values("question")
        .annotate(
            frozen=Max("rubric__version"),
            unmarked=Count("pk", filter=Q(marked=False)),
            without_final=Count("pk", filter=Q(marked=True, final=None)),
            finalized=Count("pk", filter=Q(final__isnull=False, decided=False)),
            arbitrated=Count("pk", filter=Q(final__isnull=False, decided=True)),
            earlier=Count("pk", filter=~Q(revision=F("question__current"))),
        )
    )
    questions = Question.objects.select_related("task").in_bulk([row["question"] for row in rows])
    return [
        OutdatedRubric(
            question=questions[row["question"]],
            frozen=row["frozen"],
            newest=newest[row["question"]],
            unmarked=row["unmarked"],
            without_final=row["without_final"],
            final=row["finalized"],
            arbitrated=row["arbitrated"],
            earlier=row["earlier"],
            first=_first_outdated(outdated.filter(question=row["question"])),
        )
        for row in rows
    ]


def _first_outdated(answers: QuerySet[Any]) -> tuple[OutdatedAnswer, ...]:
    """The first of *answers* by alias; they are annotated with ``marked``."""
    listed = list(answers.order_by("alias")[:LISTED])
    marks = Mark.objects.counting().filter(slot__answer__in=listed, slot__kind__in=TEACHER_KINDS)
    names: dict[int, dict[str, None]] = {answer.pk: {} for answer in listed}
    for mark in marks.select_related("slot", "teacher").order_by("slot", "version"):
        names[mark.slot.answer_id][str(mark.teacher)] = None
    return tuple(
        OutdatedAnswer(answer.public_id, answer.alias, tuple(names[answer.pk]), _scope_of(answer))
        for answer in listed
    )


def _scope_of(answer: Any) -> RemarkScope:
    if answer.final_id is not None:
        return RemarkScope.ALL
    return RemarkScope.WITHOUT_FINAL if answer.marked else RemarkScope.UNMARKED


def scopes_of(marking_round: MarkingRound) -> tuple[RemarkScope, ...]:
    """Return what the lead may choose from in the round.

    Where a response gets more than one mark, all responses to the question move: its rubric would
    tell one teacher which of them another has marked, and which of the own marks were final. Where
    checks are hidden too: those that a teacher has marked have no final mark, and would tell by
    what becomes of them.
    """
    asked_for = BlindAnswer.objects.filter(round=marking_round, one_more_for__isnull=False)
    one_more = marking_round.judge_check_share is not None or asked_for.exists()
    checks = Slot.objects.filter(answer__round=marking_round, kind__in=CHECK_KINDS)
    alone = Scheme(marking_round.scheme) is Scheme.SINGLE and not one_more and not checks.exists()
    return tuple(RemarkScope) if alone else (RemarkScope.ALL,)


def answers_in_scope(
    marking_round: MarkingRound, newest: Rubric, scope: RemarkScope
) -> QuerySet[Any]:
    """The responses of *scope* to the question of *newest* that are under another version."""
    answers = answers_of_round(marking_round).filter(question=newest.question_id)
    answers = answers.exclude(rubric=newest.pk).order_by("pk")
    if scope is RemarkScope.UNMARKED:
        return answers.filter(~_has_mark(), final=None)
    if scope is RemarkScope.WITHOUT_FINAL:
        return answers.filter(final=None)
    return answers


def outdated_checks(marking_round: MarkingRound, newest: Rubric) -> QuerySet[BlindAnswer]:
    """The seed answers and intra-rater checks of the question that are under another version."""
    answers = BlindAnswer.objects.filter(
        round=marking_round,
        role__in=(AnswerRole.SEED, AnswerRole.REPEAT),
        question=newest.question_id,
    )
    return answers.exclude(rubric=newest.pk).order_by("pk")


def _has_mark() -> Exists:
    """Whether a mark of the blind answer counts."""
    return Exists(Mark.objects.counting().filter(slot__answer=OuterRef("pk")))
