"""Reopen slots so that their marks are given again: every version stays and no longer counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, Subquery

from evaluations.facts.answer_facts import record_finals
from evaluations.marking.services.finalizing import leave_with_lead
from evaluations.marking.services.holding import hold_rounds
from evaluations.marking.services.places import draw_places
from evaluations.models import BlindAnswer, Draft, FinalMarkSource, Mark, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import FinalRule
from gradeapp.common.leases import SLOT

NOT_PASSED = dict.fromkeys(("passed_at", "passed_with", "passed_by"))
BATCH = 200
TWO = (SlotKind.FIRST.value, SlotKind.SECOND.value)


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The keys of the marks and final marks that no longer count.

    ``marks`` has every version, and those of decisions of the lead; ``returned`` marks are given
    again.
    """

    marks: tuple[int, ...]
    finals: tuple[int, ...]
    returned: int


def batches(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    """*keys* in pieces that every database takes in one query."""
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]


def lock_answers(answers: Sequence[int]) -> frozenset[int]:
    """Lock the rows of blind answers until the transaction ends; return their keys.

    Their rounds stay as they are as long (``hold_rounds``).
    Rows that are read afterwards may be of other answers: the caller leaves out those whose
    answer is not among the keys. The rows are locked in the order of their keys, so that two
    transactions that lock several never wait for each other.
    """
    hold_rounds(answers)
    for some in batches(sorted(answers)):
        rows = BlindAnswer.objects.select_for_update().filter(pk__in=some).order_by("pk")
        list(rows.values_list("pk", flat=True))
    return frozenset(answers)


def reopen_slots(
    slots: Sequence[Slot],
    planned: Mapping[int, int | None],
    *,
    with_decisions: bool = False,
    now: datetime,
) -> Withdrawn:
    """Reopen marked *slots* of locked answers, each for the teacher in *planned* (by slot).

    The final marks that were made from their marks are withdrawn; *with_decisions*, those that
    the lead decided too. What a teacher sees of the own marks is the same in either case. A third
    slot or an arbitration that was opened only because of those marks is withdrawn, unless a
    teacher is marking it. Runs in the caller's transaction.
    """
    standing = finals_that_stay(slots, with_decisions=with_decisions)
    answers = sorted({slot.answer_id for slot in slots} - standing)
    returned = len(slots)
    slots = [*slots, *(_decisions(answers) if with_decisions else ())]
    marks: list[int] = []
    for some in batches([slot.pk for slot in slots]):
        counting = Mark.objects.counting().filter(slot__in=some)
        marks += counting.order_by("pk").values_list("pk", flat=True)
    _void(slots, planned, now)
    finals: list[int] = []
    for some in batches(answers):
        with_final = BlindAnswer.objects.filter(pk__in=some, final__isnull=False).order_by("pk")
        finals += [final for final in with_final.values_list("final_id", flat=True) if final]
        withdrawn = set(with_final.values_list("response_id", flat=True))
        with_final.update(final=None)
        record_finals(withdrawn)
        _withdraw(some)
    return Withdrawn(tuple(marks), tuple(finals), returned)


def finals_that_stay(slots: Sequence[Slot], *, with_decisions: bool) -> set[int]:
    """The answers of *slots* whose final mark stays when these are reopened.

    The lead decided it, or it is the mean of two other marks, and no third one was asked for as
    the judges are far off: that chooses with the others which two count.
    """
    rules = Q(final__rule=FinalRule.MEAN_OF_TWO, one_more_for=None)
    if not with_decisions:
        rules |= Q(final__rule=FinalRule.ARBITRATION)
    found: set[int] = set()
    made_of_them: set[int] = set()
    for some in batches([slot.pk for slot in slots]):
        finals = BlindAnswer.objects.filter(rules, slots__in=some)
        sources = FinalMarkSource.objects.filter(final=OuterRef("final"), mark__slot__in=some)
        found |= set(finals.values_list("pk", flat=True))
        made_of_them |= set(finals.filter(Exists(sources)).values_list("pk", flat=True))
    return found - made_of_them


def _decisions(answers: Sequence[int]) -> list[Slot]:
    found: list[Slot] = []
    for some in batches(answers):
        decided = Slot.objects.filter(answer__in=some, kind=SlotKind.ARBITRATION, marked=True)
        found += decided.filter(Exists(Mark.objects.counting().filter(slot=OuterRef("pk"))))
    return found


def _void(slots: Sequence[Slot], planned: Mapping[int, int | None], now: datetime) -> None:
    """No version so far counts any more; a decision stays with its lead until it is needed.

    What was not in the plan of its teacher, by helping out or as a third mark, gets a drawn place.
    """
    newest = Mark.objects.filter(slot=OuterRef("pk"), stale=False).order_by("-version")
    void = {"void_version": Subquery(newest.values("version")[:1])}
    never = {**NOT_PASSED, "skipped_at": None, "revisable_until": None}
    free = {**SLOT.released(), **never, "marked": False}
    groups: dict[int | None, list[int]] = defaultdict(list)
    decisions: list[int] = []
    again = [slot for slot in slots if slot.kind != SlotKind.ARBITRATION]
    places = draw_places(again, planned)
    for slot in slots:
        decided = slot.kind == SlotKind.ARBITRATION
        (decisions if decided else groups[planned[slot.pk]]).append(slot.pk)
    for some in batches(decisions):
        Slot.objects.filter(pk__in=some).update(**void)
    leave_plans([slot.pk for slot in slots], now)
    for teacher, keys in groups.items():
        for some in batches(keys):
            Slot.objects.filter(pk__in=some).update(**void, **free, planned=teacher)
            _hand_on_drafts(some)
    moved = [Slot(pk=key, order=place) for key, place in places.items()]
    Slot.objects.bulk_update(moved, ["order"], batch_size=BATCH)


def _hand_on_drafts(slots: Sequence[int]) -> None:
    """What teachers had typed for marks that they give again is shown with their next mark."""
    for draft in Draft.objects.filter(slot__in=slots, teacher=F("slot__planned")):
        unmoved = Draft.objects.filter(pk=draft.pk, sequence=draft.sequence)
        unmoved.update(content={**draft.content, "version": 0})


def leave_plans(taken: Sequence[int], now: datetime) -> None:
    """Take from everybody's plan what was passed by who took the slots *taken*.

    These go into the plan of who took them, so that they leave that of their teacher. What is not
    lost yet stays with its teacher, who may see it and claim it.
    """
    for some in batches(taken):
        gone = Slot.objects.filter(passed_with__in=some, marked=False)
        gone.filter(passed_at__gt=now).update(**NOT_PASSED)
        by_them = Q(passed_by=None) | Q(passed_by=F("passed_with__holder"))
        # Whoever took back what was passed with it keeps both in their plan.
        gone.filter(by_them).exclude(planned=F("passed_with__holder")).update(planned=None)


def _withdraw(answers: Sequence[int]) -> None:
    """Third slots without two marks before them, and decisions that nobody waits for any more.

    A slot with marks that were returned for re-marking stays with them; the queue passes over it.
    So does one that is planned for a teacher, who had it at hand when the rubric changed, and one
    that a teacher holds, although the lease has ended: nothing else would vanish under their hands.
    """
    waiting = Slot.objects.filter(answer__in=answers, marked=False, void_version=0, planned=None)
    lacking = Slot.objects.filter(answer__in=answers, kind__in=TWO, marked=False).values("answer")
    waiting.filter(kind=SlotKind.THIRD, answer__in=lacking, holder=None).delete()
    waiting.filter(kind=SlotKind.ARBITRATION).delete()
    again = Slot.objects.filter(answer__in=answers, marked=False, void_version__gt=0)
    for decision in again.filter(kind=SlotKind.ARBITRATION):
        leave_with_lead(decision)
