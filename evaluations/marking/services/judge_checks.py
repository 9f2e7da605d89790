"""Ask one more teacher where every judge is far from what the teachers' marks come to.

The judge is a check and never a vote, as the computer's score was in the GRE: its mark opens a slot
and enters no final mark. What it said is stored beside the response for the lead alone; the slot
that is opened is like any other, so that no teacher can tell why a response comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from evaluations.marking.rules.arbitration import Finalized
from evaluations.models import BlindAnswer, Judgement, Mark, Slot
from evaluations.models.vocabulary import RoundStatus
from evaluations.schemes import FinalRule
from gradeapp.accounts.markers import present_markers

# What one or two marks come to; after a third mark or the lead nobody is asked again.
CHECKED = (FinalRule.SINGLE, FinalRule.MEAN_OF_TWO)


def ask_one_more(answer: BlindAnswer, step: Finalized, slots: Sequence[Slot]) -> bool:
    """Note the judgement for which one more mark of the locked *answer* is asked, if there is one.

    Return whether there is. Nobody is asked twice for one response, nor in a closed round, nor
    where no teacher of the pool is left who could give the mark.
    """
    if answer.one_more_for_id is not None or step.rule not in CHECKED:
        return False
    if answer.round.status == RoundStatus.CLOSED:
        return False
    far = far_judgement(answer, step.value)
    if far is None or not _somebody_left(answer, slots):
        return False
    answer.one_more_for = far
    BlindAnswer.objects.filter(pk=answer.pk).update(one_more_for=far)
    return True


def far_judgement(answer: BlindAnswer, value: Decimal) -> Judgement | None:
    """Return the judgement nearest to *value*, the teachers' mark, if it is too far from it.

    Differences are shares of full marks; one equal to the round's threshold is not too far. Only
    totals that count and judges that are not suspended are looked at. None where the round does
    not ask, no judge has marked the response, or one of them is near.
    """
    most = answer.round.judge_check_share
    if most is None:
        return None
    judgements = Judgement.objects.counting().filter(
        response=answer.response_id, total__isnull=False, judge__suspended_at=None
    )
    share = value / answer.full_marks

    def apart(one: Judgement) -> Decimal:
        assert one.total is not None  # it was asked for
        return abs(one.total / one.full - share)

    nearest = min(judgements.order_by("judge"), key=apart, default=None)
    return nearest if nearest is not None and apart(nearest) > most else None


def _somebody_left(answer: BlindAnswer, slots: Sequence[Slot]) -> bool:
    """Return whether a teacher of the pool may mark and has no role on *answer* yet."""
    entered = Mark.objects.filter(slot__answer=answer, entered_by__isnull=False)
    taken = set(entered.values_list("entered_by", flat=True))
    taken |= {person for one in slots for person in (one.holder_id, one.entered_by_id) if person}
    pool = answer.round.pool.filter(left_at=None, teacher__in=present_markers())
    return pool.exclude(teacher__in=taken).exists()
