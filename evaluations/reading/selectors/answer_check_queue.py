"""The readings that wait for a check: for whom, why, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluations.models import AnswerCheck, CheckSample, Response, Run
from evaluations.models.vocabulary import CheckSource
from evaluations.reading.rules.extraction.reading import majority
from evaluations.reading.selectors.answer_checks import newest_checks, said_in
from evaluations.statistics.outcomes import ReadingOutcome
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import ROLE_CAPABILITIES, Capability
from gradeapp.waiting import Waiting
from questions.rules.spread import beginning

# Below it the wordings are weak: a letter in brackets, or one that a text begins with.
LOW_CONFIDENCE = 0.65
MOST_COUNTED = 1000
# The sources of unchecked readings; the other two sources are about checks.
FIRST = (
    *(CheckSource.MODEL, CheckSource.AMBIGUOUS, CheckSource.LOW, CheckSource.SAMPLE),
    CheckSource.UNREAD,
)
NOTHING_READ = (ReadingOutcome.NO_ANSWER, ReadingOutcome.REFUSED, ReadingOutcome.TRUNCATED)


@dataclass(frozen=True, slots=True)
class QueueChoice:
    """Which readings come: for one reason or (None) for any of ``FIRST``, of one run or of all."""

    source: CheckSource | None = None
    run: Run | None = None


def waiting(user: User, choice: QueueChoice) -> QuerySet[Response]:
    """Return the responses that wait for *user*, in order."""
    # Only answers have readings: without a join to their runs the first ones are found at once.
    found = Response.objects.all()
    if choice.run is not None:
        found = found.filter(run=choice.run)
    if choice.source is CheckSource.SECOND:
        return found.filter(pk__in=_checked_once(user)).order_by("pk")
    if choice.source is CheckSource.DIFFER:
        return found.filter(
            pk__in=[
                response
                for response, checks in differences(choice.run).items()
                if user.pk not in {check.checker_id for check in checks}
            ]
        ).order_by("pk")
    sources = FIRST if choice.source is None else (choice.source,)
    wanted = Q()
    for source in sources:
        wanted |= _because(source)
    checked = AnswerCheck.objects.filter(response=OuterRef("pk"))
    return found.filter(wanted, ~Exists(checked)).order_by("pk")


def _because(source: CheckSource) -> Q:
    """Return the condition on unchecked responses for *source*."""
    match source:
        case CheckSource.MODEL:
            return Q(model_reading__isnull=False)
        case CheckSource.AMBIGUOUS:
            wanted = Q(rule_reading__outcome=ReadingOutcome.AMBIGUOUS)
        case CheckSource.LOW:
            wanted = Q(
                rule_reading__outcome=ReadingOutcome.READ,
                rule_reading__confidence__lt=LOW_CONFIDENCE,
            )
        case CheckSource.SAMPLE:
            return Q(pk__in=CheckSample.responses.through.objects.values("response"))
        case _:
            wanted = Q(rule_reading__outcome__in=NOTHING_READ) & ~Q(text="")
    return wanted & Q(model_reading=None)


def _checked_once(user: User) -> QuerySet[Any, Any]:
    """Return the responses that exactly one other person has checked."""
    counting = AnswerCheck.objects.filter(followed_by__isnull=True).order_by().values("response")
    people = counting.annotate(n=Count("pk"), mine=Count("pk", filter=Q(checker=user)))
    return people.filter(n=1, mine=0).values("response")


def differences(run: Run | None = None) -> dict[int, list[AnswerCheck]]:
    """Return the differing checks by response, of *run* or of all, if no answer has a majority."""
    present = AnswerCheck.objects.filter(followed_by__isnull=True)
    if run is not None:
        present = present.filter(response__run=run)
    counting = present.order_by().values("response")
    several = counting.annotate(n=Count("pk")).filter(n__gt=1).values_list("response", flat=True)
    checks = newest_checks(list(several))
    return {
        key: rows for key, rows in checks.items() if majority([said_in(r) for r in rows]) is None
    }


def source_of(response: Response, choice: QueueChoice) -> CheckSource:
    """Return why *response* is shown under *choice*."""
    if choice.source is not None:
        return choice.source
    for source in FIRST:
        if Response.objects.filter(_because(source), pk=response.pk).exists():
            return source
    return CheckSource.SECOND


def counts(user: User, run: Run | None = None) -> Counter[CheckSource]:
    """Count the responses that wait for *user* by reason."""
    return Counter(
        {source: waiting(user, QueueChoice(source, run)).count() for source in CheckSource}
    )


def next_waiting(queue: QuerySet[Response], after: int) -> Response | None:
    """Return the next response of *queue* after the id *after*, else the first one."""
    return queue.filter(pk__gt=after).first() or queue.first()


def begins_after(queue: QuerySet[Response], user: User) -> int:
    """Return the id after which *user* begins, 0 for the start; it differs between checkers."""
    roles = [role for role, may in ROLE_CAPABILITIES.items() if Capability.CHECK_ANSWERS in may]
    people = User.objects.filter(is_active=True, groups__name__in=roles).distinct()
    share = beginning(people.filter(pk__lt=user.pk).count())
    keys = queue.values_list("pk", flat=True)
    first, last = keys.first(), keys.last()
    # By keys, not by places: to count a long queue takes as long as to read it.
    return first + int((last - first) * share) if share and first and last else 0


def left(queue: QuerySet[Response]) -> tuple[int, bool]:
    """Return the length of *queue*, at most ``MOST_COUNTED``, and whether there are more."""
    n = queue[: MOST_COUNTED + 1].count()
    return min(n, MOST_COUNTED), n > MOST_COUNTED


def own_last(user: User, before: Response | None = None) -> AnswerCheck | None:
    """Return the newest check of *user*, or the newest one before that of *before*."""
    own = AnswerCheck.objects.filter(checker=user, followed_by__isnull=True).order_by("pk")
    if before is not None and (here := own.filter(response=before).first()):
        own = own.filter(pk__lt=here.pk)
    return own.last()


def own_check(response: Response, user: User) -> AnswerCheck | None:
    """Return the present check of *response* by *user*, None without one."""
    rows = response.answer_checks.filter(checker=user, followed_by__isnull=True)
    return rows.order_by("pk").last()


def checks_waiting(user: User) -> Iterator[Waiting]:
    """Yield the readings that wait for a check by *user*."""
    if user.may(Capability.CHECK_ANSWERS):
        unread, _more = left(waiting(user, QueueChoice()))
        yield Waiting(_("Extracted answers to check"), unread, reverse("checks:overview"))
