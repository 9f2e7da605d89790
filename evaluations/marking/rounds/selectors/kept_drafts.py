"""What teachers had typed and not saved when their round was closed or paused, for its lead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from evaluations.models import Draft, MarkingRound

MOST_DRAFTS = 200


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """One draft as text; ``points`` may hold what is not a mark yet."""

    teacher: str
    answer: UUID
    alias: str
    points: tuple[str, ...]
    total: str
    comment: str
    updated_at: datetime


def kept_drafts(marking_round: MarkingRound) -> list[KeptDraft]:
    """The drafts of responses without a mark of their teacher, the newest first, 200 at most."""
    rows = Draft.objects.filter(slot__answer__round=marking_round, slot__marked=False)
    rows = rows.select_related("teacher", "slot__answer").order_by("-updated_at", "-pk")
    return [
        KeptDraft(
            teacher=str(draft.teacher),
            answer=draft.slot.answer.public_id,
            alias=draft.slot.answer.alias,
            points=tuple(draft.content.get("points", ())),
            total=draft.content.get("total", ""),
            comment=draft.content.get("comment", ""),
            updated_at=draft.updated_at,
        )
        for draft in rows[:MOST_DRAFTS]
    ]
