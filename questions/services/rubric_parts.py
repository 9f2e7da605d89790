"""Accepting the rubrics of many items of a task at once, after a person has looked at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.locking import locked
from gradeapp.common.refusals import BadInput
from questions.models import Question, Rubric, Task
from questions.rules.rubric import RubricLines, ScoringPoint
from questions.rules.vocabulary import RubricSource
from questions.selectors.rubric_parts import UnratedItem, with_parts, without_accepted
from questions.selectors.rubrics import what_is_wrong
from questions.services.rubric_rows import Origin, add_versions
from questions.services.rubric_words import in_words


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person accepts of one item: its draft of *version*, or *points* for its parts.

    *seen* is the key of the revision that the page showed.
    """

    seen: int | None
    version: int | None = None
    points: tuple[Decimal | None, ...] = ()


class RefusedWishes(BadInput):
    """Nothing was accepted; *sentences* say why, by item."""

    def __init__(self, sentences: Mapping[UUID, str]) -> None:
        super().__init__(_("Nothing was accepted. See the notes at the questions."), code="wishes")
        self.sentences = dict(sentences)


@transaction.atomic
def accept_rubrics(
    task: Task, wishes: Mapping[UUID, Wish], *, acting_user: User, now: datetime
) -> int:
    """Accept the wished rubrics of *task*, all or none; returns how many.

    A draft becomes accepted as it is; for an item without one, its sub-questions with the
    given points become an accepted rubric. Raises BadInput where nothing is chosen, and
    RefusedWishes with a sentence for each item that cannot be accepted.
    """
    if not wishes:
        raise BadInput(_("Select at least one question."), code="nothing_chosen")
    chosen = without_accepted().filter(task=task, public_id__in=wishes).order_by("pk")
    items = {item.question.public_id: item for item in with_parts(locked(chosen))}
    refused: dict[UUID, str] = {
        key: _("It already has an accepted rubric, or is not part of this task.")
        for key in wishes
        if key not in items
    }
    drafts: list[Rubric] = []
    made: dict[int, RubricLines] = {}
    for key, item in items.items():
        lines, sentence = _looked_at(item, wishes[key])
        if sentence:
            refused[key] = sentence
        elif item.draft is not None:
            drafts.append(item.draft)
        else:
            made[item.question.pk] = lines
    if refused:
        raise RefusedWishes(refused)
    who = {"accepted": True, "accepted_by": acting_user, "accepted_at": now}
    Rubric.objects.filter(pk__in=[draft.pk for draft in drafts]).update(**who)
    moved = [Question(pk=draft.question_id, rubric=draft) for draft in drafts]
    Question.objects.bulk_update(moved, ["rubric"], batch_size=100)
    add_versions(
        made, Origin(RubricSource.PROPOSAL, acting_user.pk, acting_user.pk, now, accepted=True)
    )
    accepted = sorted(item.question.external_id for item in items.values())
    record(Tag.RUBRICS_ACCEPTED, task, actor=acting_user, items=accepted)
    return len(accepted)


def _looked_at(item: UnratedItem, wish: Wish) -> tuple[RubricLines, str]:
    """The rubric that *wish* means, and why it cannot be accepted ("" where it can)."""
    if item.draft is not None or wish.version is not None:
        version = item.draft.version if item.draft else None
        if version != wish.version:
            return item.lines, _("Its draft has changed in the meantime. Review it again.")
    if item.question.current_id != wish.seen:
        return item.lines, _("The question has changed in the meantime. Review it again.")
    if item.draft is not None:
        return item.lines, in_words(item.wrong[0]) if item.wrong else ""
    lines = _lines_with(item, wish.points)
    if lines is None:
        return RubricLines(), _("Enter the points of every part.")
    assert item.question.current is not None  # the query asks for one
    wrong = what_is_wrong(item.question.current, lines)
    return lines, in_words(wrong[0]) if wrong else ""


def _lines_with(item: UnratedItem, points: Sequence[Decimal | None]) -> RubricLines | None:
    """The parts of *item* with these *points*; None where a part has none."""
    if len(points) != len(item.parts.parts):
        return None
    parts = [replace(part, marks=own) for part, own in zip(item.parts.parts, points, strict=True)]
    lines = [ScoringPoint(part.wording, part.marks) for part in parts if part.marks is not None]
    return RubricLines(tuple(lines)) if lines and len(lines) == len(parts) else None
