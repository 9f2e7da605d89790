"""What teachers had typed and not saved when their round was closed or paused, for its lead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from evaluations.models import Draft, Mark, MarkingRound

MOST_DRAFTS = 200


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """One draft as text, of a first mark or of a ``change`` to a saved one.

    ``points`` may hold what is not a mark yet.
    """

    teacher: str
    answer: UUID
    alias: str
    points: tuple[str, ...]
    total: str
    comment: str
    updated_at: datetime
    change: bool


def kept_drafts(marking_round: MarkingRound) -> list[KeptDraft]:
    """The newest drafts, 200 at most: of responses without a mark, and of changes to a mark.

    Left out are those of a mark that has another version, or another teacher, by now.
    """
    newest = Mark.objects.counting().filter(slot=OuterRef("slot")).order_by("-version")
    rows = Draft.objects.filter(slot__answer__round=marking_round)
    rows = rows.annotate(version=Subquery(newest.values("version")[:1]))
    rows = rows.select_related("teacher", "slot__answer").order_by("-updated_at", "-pk")
    shown = (draft for draft in rows.iterator() if not draft.slot.marked or _is_change(draft))
    return [
        KeptDraft(
            teacher=str(draft.teacher),
            answer=draft.slot.answer.public_id,
            alias=draft.slot.answer.alias,
            points=tuple(draft.content.get("points", ())),
            total=draft.content.get("total", ""),
            comment=draft.content.get("comment", ""),
            updated_at=draft.updated_at,
            change=draft.slot.marked,
        )
        for draft in islice(shown, MOST_DRAFTS)
    ]


def _is_change(draft: Any) -> bool:
    """Whether *draft*, with the ``version`` of the mark, changes the mark that its teacher has."""
    slot = draft.slot
    own = (draft.version or slot.void_version) - slot.void_version
    is_own: bool = slot.holder_id == draft.teacher_id
    return is_own and draft.content.get("version", 0) == own
