"""A person accepts a pattern, from when on answers are read by it, or retires it."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.models import MinedPattern, PatternDecision, PatternSearch
from evaluations.models.vocabulary import PatternVerdict
from evaluations.reading.selectors.reading_patterns import ACCEPTED
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict

LONGEST_NOTE = 200


@transaction.atomic
def accept_pattern(
    pattern: MinedPattern, *, acting_user: User, note: str = "", seen: int | None = None
) -> PatternDecision:
    """Let answers be read by *pattern*; what was scored before keeps its score beside the new.

    *seen* is the key of the decision that the page showed: 0 for none, None without a page.
    Raises Conflict where it counts already, where a later version replaced it, where another
    pattern of the same expression counts for the same question type, or after another decision
    than the one that was *seen*.
    """
    _lock()
    _check_seen(pattern, seen)
    if MinedPattern.objects.filter(replaces=pattern).exists():
        raise Conflict(_("A later version has replaced this pattern. Accept the later version."))
    accepted = MinedPattern.objects.filter(ACCEPTED)
    if accepted.filter(pk=pattern.pk).exists():
        raise Conflict(_("This pattern is already accepted."))
    same = accepted.filter(
        question_type=pattern.question_type, expression=pattern.expression
    ).first()
    if same:
        raise Conflict(
            _("The same pattern is already accepted under the name %(name)s.") % {"name": same.name}
        )
    return _decide(pattern, PatternVerdict.ACCEPTED, acting_user, note)


@transaction.atomic
def retire_pattern(
    pattern: MinedPattern, *, acting_user: User, note: str = "", seen: int | None = None
) -> PatternDecision:
    """Read no answer by *pattern* any more; *seen* as for ``accept_pattern``.

    Raises Conflict where it does not count, or after another decision than the one that was *seen*.
    """
    _lock()
    _check_seen(pattern, seen)
    if not MinedPattern.objects.filter(ACCEPTED, pk=pattern.pk).exists():
        raise Conflict(_("This pattern is not accepted and cannot be retired."))
    return _decide(pattern, PatternVerdict.RETIRED, acting_user, note)


def _lock() -> None:
    """Let two who decide at once, about whichever pattern, wait for each other."""
    PatternSearch.objects.select_for_update().order_by("pk").first()


def _check_seen(pattern: MinedPattern, seen: int | None) -> None:
    now = MinedPattern.objects.values_list("decision", flat=True).get(pk=pattern.pk)
    if seen not in (None, now or 0):
        raise Conflict(
            _("Somebody has decided about this pattern since this page was opened. Load it again."),
            code="decided_meanwhile",
        )


def _decide(
    pattern: MinedPattern, verdict: PatternVerdict, acting_user: User, note: str
) -> PatternDecision:
    if len(note) > LONGEST_NOTE:
        raise BadInput(_("The note is too long."))
    decision = PatternDecision.objects.create(
        pattern=pattern, verdict=verdict, note=note, author=acting_user
    )
    MinedPattern.objects.filter(pk=pattern.pk).update(decision=decision)
    tag = Tag.PATTERN_ACCEPTED if verdict == PatternVerdict.ACCEPTED else Tag.PATTERN_RETIRED
    record(tag, pattern, actor=acting_user, name=pattern.name, expression=pattern.expression)
    return decision
