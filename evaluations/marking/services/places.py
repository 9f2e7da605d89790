"""Places in the queues of teachers for slots that were not in their plan."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from django.db.models import Max, Min

from evaluations.marking.rules.queue_places import drawn_place
from evaluations.models import BlindAnswer, MarkingRound, Slot

BATCH = 200
Extent = dict[Hashable, tuple[int, int]]


def draw_places(slots: Sequence[Slot], planned: Mapping[int, int | None]) -> dict[int, int]:
    """Draw a place for each of *slots* (by key) that *planned* gives to another teacher.

    It stands among those to the same question in the queue of that teacher, and follows from the
    hidden seed of the round, the teacher and the response: first, second and third marks are
    alike, whoever they were planned for. What stays with its teacher keeps its place.
    """
    moved = {
        slot.pk: (slot.answer_id, teacher)
        for slot in slots
        if (teacher := planned[slot.pk]) not in (None, slot.planned_id)
    }
    answers: dict[int, tuple[int, int]] = {}
    keys = sorted({answer for answer, _teacher in moved.values()})
    for start in range(0, len(keys), BATCH):
        rows = BlindAnswer.objects.filter(pk__in=keys[start : start + BATCH])
        answers |= {pk: (made, block) for pk, made, block in rows.values_list(*_OF_ANSWER)}
    rounds = MarkingRound.objects.in_bulk({made for made, _block in answers.values()})
    blocks = {made: _blocks(one) for made, one in rounds.items()}
    own: dict[tuple[int, int | None], Extent] = {}
    places = {}
    for slot, (answer, teacher) in moved.items():
        made, block = answers[answer]
        if (made, teacher) not in own:
            own[made, teacher] = _own_places(rounds[made], teacher)
        queue, seed = own[made, teacher], rounds[made].lots_seed
        places[slot] = drawn_place(block, blocks[made], queue, seed, teacher or 0, answer)
    return places


_OF_ANSWER = ("pk", "round", "question")


def _blocks(marking_round: MarkingRound) -> list[int]:
    """The questions of the round, in the order of every queue."""
    order = ("question__task", "question__position", "response_id")
    questions = marking_round.answers.order_by(*order).values_list("question", flat=True)
    return list(dict.fromkeys(questions))


def _own_places(marking_round: MarkingRound, teacher: int | None) -> Extent:
    """The first and last place of each question in the queue of *teacher*."""
    own = Slot.objects.filter(answer__round=marking_round, planned=teacher, order__gt=0)
    rows = own.order_by().values_list("answer__question").annotate(Min("order"), Max("order"))
    return {block: (first, last) for block, first, last in rows}
