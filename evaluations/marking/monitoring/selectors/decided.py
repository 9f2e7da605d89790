"""Which responses came to the lead, told from those whose final mark the lead only corrected."""

from __future__ import annotations

from django.db.models import CharField, Exists, OuterRef, Value
from django.db.models.functions import Cast, Concat

from evaluations.models import Mark, MarkingRound
from evaluations.models.vocabulary import SlotKind
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag


def decided_answers(marking_round: MarkingRound) -> set[int]:
    """Blind answers that waited for the lead and were decided, whether corrected later or not.

    Without those whose first counting mark of the lead corrected a final mark: nobody had called
    the lead. Both are marks of one kind, and only the audit trail says which a mark was.
    """
    target = Concat(Value("mark:"), Cast(OuterRef("pk"), CharField()))
    corrections = AuditEntry.objects.filter(tag=Tag.FINAL_CORRECTED, target=target)
    marks = Mark.objects.counting().filter(
        slot__answer__round=marking_round, slot__kind=SlotKind.ARBITRATION
    )
    first: dict[int, bool] = {}
    rows = marks.annotate(corrects=Exists(corrections)).order_by("version")
    for answer, corrects in rows.values_list("slot__answer_id", "corrects"):
        first.setdefault(answer, corrects)
    return {answer for answer, corrects in first.items() if not corrects}
