"""What the replies of a run are apart from their text: cut off, filtered, of another model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.facts.looks import in_small_cells
from evaluations.models import Attempt, Run
from evaluations.models.vocabulary import AttemptStatus, UsageState
from evaluations.statistics.outcomes import ReplyEnding

# So many names of other models are listed.
MOST_NAMES = 5
# So many replies that are not complete are looked at for states that few have.
MOST_ODD = 1000


@dataclass(frozen=True)
class ReplyState:
    """What *n* replies of a run are, in words."""

    words: str
    n: int


def reply_states(run: Run) -> list[ReplyState]:
    """Return what the replies of *run* are that are not simply complete, the most frequent first.

    A reply may be counted twice: as cut off, and as one of another model.
    """
    answered = Attempt.objects.filter(job__run=run, status=AttemptStatus.ANSWERED).order_by()
    rows = answered.values_list("ending", "usage", "other_model").annotate(
        n=Count("pk"), several=Count("pk", filter=Q(choices__gt=1))
    )
    language = get_language() or "en"
    counts: Counter[str] = Counter()
    others = 0
    for ending, usage, other_model, n, several in rows:
        if ending and ending != ReplyEnding.COMPLETE:
            counts[ReplyEnding(ending).label(language)] += n
        if usage and usage != UsageState.COMPLETE:
            counts[UsageState(usage).label(language)] += n
        if several:
            counts[_("Several choices; the first one was used")] += several
        others += n if other_model else 0
    if others:
        named = answered.filter(other_model=True).values_list("response_model", flat=True)
        names = ", ".join(sorted(named.distinct())[:MOST_NAMES])
        counts[_("Another model than was asked: %(names)s") % {"names": names}] += others
    return [ReplyState(words, n) for words, n in counts.most_common()]


def few_of_a_state(run: Run) -> set[int]:
    """Return the jobs with a reply that is not simply complete, where few of *run* are so.

    How many there are tells which of few responses it is.
    """
    answered = Attempt.objects.filter(job__run=run, status=AttemptStatus.ANSWERED).order_by()
    complete = Q(ending__in=("", ReplyEnding.COMPLETE), usage__in=("", UsageState.COMPLETE))
    single = Q(choices__lte=1) | Q(choices=None)
    odd = answered.exclude(complete & single, other_model=False)
    rows = odd.values_list("job", "ending", "usage", "other_model", "choices")[:MOST_ODD]
    cells = (((name, value), job) for job, *found in rows for name, value in enumerate(found))
    return in_small_cells(cells)


def states_of(attempt: Attempt) -> Sequence[str]:
    """Return what the reply of *attempt* is, in words; nothing for a complete one."""
    language = get_language() or "en"
    words = []
    if attempt.ending and attempt.ending != ReplyEnding.COMPLETE:
        words.append(ReplyEnding(attempt.ending).label(language))
    if attempt.other_model:
        words.append(_("Another model than was asked"))
    if attempt.choices is not None and attempt.choices > 1:
        words.append(_("%(n)d choices; the first one was used") % {"n": attempt.choices})
    return words
