"""The seed answers of a round for its lead: where each comes from, and its reference mark."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from evaluations.marking.desk.selectors.desk import blind_item
from evaluations.marking.rules.blinding import BlindItem
from evaluations.models import BlindAnswer, FinalMark, MarkingRound, SeedAnswer
from evaluations.models.vocabulary import AnswerRole
from gradeapp.common.plain_number import plain
from questions.selectors.bank import image_addresses


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One seed answer; ``reference`` is None until the lead has marked it.

    ``source`` is the round that the reference was taken from, empty for one that
    the lead gives; ``author`` who gave it.
    """

    public_id: UUID
    alias: str
    subject: str
    question: str
    full: Decimal
    reference: Decimal | None
    source: str
    author: str


@dataclass(frozen=True, slots=True)
class SeedCase:
    """A seed answer to be marked by the lead, with what was given before, as text."""

    item: BlindItem
    images: dict[str, str]
    language: str
    points: tuple[str, ...]
    total: str
    comment: str


def seeds_of(marking_round: MarkingRound) -> list[SeedRow]:
    """All seed answers by alias."""
    answers = _seeds(marking_round).select_related(
        "question", "seed_answer__author", "seed_answer__taken_from__answer__round"
    )
    return [_row(answer) for answer in answers.order_by("alias")]


def waiting_seeds(marking_round: MarkingRound) -> QuerySet[BlindAnswer]:
    """Seed answers without a reference mark, question by question."""
    waiting = _seeds(marking_round).filter(seed_answer=None)
    return waiting.order_by("question__task", "question__position", "alias")


def seeds_without_final(marking_round: MarkingRound) -> QuerySet[BlindAnswer]:
    """Seed answers that get no final mark when the round closes: a new rubric took their reference.

    Where another round has a final mark of the response, that one still counts.
    """
    finals = FinalMark.objects.official().filter(answer__response=OuterRef("response"))
    return _seeds(marking_round).filter(~Exists(finals), seed_answer=None)


def seed_called(marking_round: MarkingRound, public_id: UUID) -> BlindAnswer | None:
    """A seed answer of this round whose reference the lead gives, with what its page needs."""
    rows = _seeds(marking_round).select_related(
        *("round__dataset", "question", "revision", "rubric", "response", "seed_answer")
    )
    return rows.filter(public_id=public_id, seed_answer__taken_from=None).first()


def seed_case(answer: BlindAnswer) -> SeedCase:
    """One seed answer for the lead who marks it; a mark that was given before fills the form."""
    item = blind_item(answer)
    given: SeedAnswer | None = getattr(answer, "seed_answer", None)
    points = tuple(given.points) if given else ()
    total = plain(given.total) if given and not points else ""
    return SeedCase(
        item=item,
        images=image_addresses(answer.round.dataset, answer.revision.images),
        language=answer.revision.language,
        points=points
        if len(points) == len(item.scoring_points)
        else ("",) * len(item.scoring_points),
        total=total,
        comment=given.comment if given else "",
    )


def _seeds(marking_round: MarkingRound) -> QuerySet[BlindAnswer]:
    return marking_round.answers.filter(role=AnswerRole.SEED)


def _row(answer: BlindAnswer) -> SeedRow:
    given: SeedAnswer | None = getattr(answer, "seed_answer", None)
    taken = given.taken_from if given else None
    return SeedRow(
        public_id=answer.public_id,
        alias=answer.alias,
        subject=answer.question.subject,
        question=answer.question.external_id,
        full=answer.full_marks,
        reference=given.total if given else None,
        source=taken.answer.round.name if taken else "",
        author=str(given.author) if given and given.author else "",
    )
