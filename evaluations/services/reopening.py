"""Taking marks back, so that they are given again: every version stays and no longer counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Q

from evaluations.models import BlindAnswer, Mark, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.services.settling import put_back

BATCH = 200
TWO = (SlotKind.FIRST.value, SlotKind.SECOND.value)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The keys of the marks and final marks that no longer count."""

    marks: tuple[int, ...]
    finals: tuple[int, ...]


def batches(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    """*keys* in pieces that every database takes in one query."""
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]


def hold(answers: Sequence[int]) -> None:
    """Hold blind answers against everybody else until the transaction ends.

    In the order of their keys: two who hold several never wait for each other,
    and a save, which holds one, never for both.
    """
    for some in batches(sorted(answers)):
        rows = BlindAnswer.objects.select_for_update().filter(pk__in=some).order_by("pk")
        list(rows.values_list("pk", flat=True))


def take_back(
    slots: Sequence[Slot], planned: Mapping[int, int | None], *, now: datetime
) -> TakenBack:
    """Reopen marked *slots* of held answers, each for whom it is *planned* (by slot) from now on.

    Their final marks are taken back; a decision of the lead falls with them. What
    was opened only because of those marks is withdrawn, unless a teacher has it
    at hand. Runs in the caller's transaction.
    """
    answers = sorted({slot.answer_id for slot in slots})
    slots = [*slots, *_decisions(answers)]
    marks: list[int] = []
    for some in batches([slot.pk for slot in slots]):
        counting = Mark.objects.counting().filter(slot__in=some)
        marks += counting.order_by("pk").values_list("pk", flat=True)
    newest = _newest_versions([slot.pk for slot in slots])
    for slot in slots:
        slot.void_version = newest[slot.pk]
        if slot.kind != SlotKind.ARBITRATION:  # stays with its lead; reopened only when needed
            slot.marked, slot.holder, slot.planned_id = False, None, planned[slot.pk]
            slot.lease_until = slot.skipped_at = None
    columns = ["void_version", "marked", "holder", "planned", "lease_until", "skipped_at"]
    Slot.objects.bulk_update(slots, columns, batch_size=BATCH)
    finals: list[int] = []
    for some in batches(answers):
        fallen = BlindAnswer.objects.filter(pk__in=some, final__isnull=False).order_by("pk")
        finals += [final for final in fallen.values_list("final_id", flat=True) if final]
        fallen.update(final=None)
        _withdraw(some, now)
    return TakenBack(tuple(marks), tuple(finals))


def _decisions(answers: Sequence[int]) -> list[Slot]:
    found: list[Slot] = []
    for some in batches(answers):
        decided = Slot.objects.filter(answer__in=some, kind=SlotKind.ARBITRATION, marked=True)
        found += decided.filter(pk__in=Mark.objects.counting().values("slot"))
    return found


def _newest_versions(slots: Sequence[int]) -> dict[int, int]:
    newest: dict[int, int] = {}
    for some in batches(slots):
        rows = Mark.objects.filter(slot__in=some, stale=False).order_by()
        newest |= dict(rows.values_list("slot").annotate(newest=Max("version")))
    return newest


def _withdraw(answers: Sequence[int], now: datetime) -> None:
    """Third slots without two marks before them, and decisions that nobody waits for any more.

    A slot with marks that were sent back stays with them; the queue passes over it.
    """
    waiting = Slot.objects.filter(answer__in=answers, marked=False, void_version=0)
    lacking = Slot.objects.filter(answer__in=answers, kind__in=TWO, marked=False).values("answer")
    at_hand = Q(holder__isnull=False, lease_until__gt=now)
    waiting.filter(kind=SlotKind.THIRD, answer__in=lacking).exclude(at_hand).delete()
    waiting.filter(kind=SlotKind.ARBITRATION).delete()
    again = Slot.objects.filter(answer__in=answers, marked=False, void_version__gt=0)
    for decision in again.filter(kind=SlotKind.ARBITRATION):
        put_back(decision)
