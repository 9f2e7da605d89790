"""Questions whose answer key teachers called wrong, for those who keep the questions.

Only marks of responses with a final mark count, so that nothing is told of what goes on. A
corrected key is a new revision of the question: what was said of the old one counts no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluations.models import Mark
from evaluations.models.vocabulary import ArbitrationReason, Flag
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting


def key_marks() -> QuerySet[Mark]:
    """Return the newest counting marks that say that the key of a current revision is wrong."""
    newer = Mark.objects.counting().filter(slot=OuterRef("slot"), version__gt=OuterRef("version"))
    flagged = Q(as_text__contains=f'"{Flag.KEY_LOOKS_WRONG.value}"')
    decided = Q(reason=ArbitrationReason.KEY_WRONG.value)
    return (
        Mark.objects.counting()
        .alias(as_text=Cast("flags", TextField()))
        .filter(flagged | decided, ~Exists(newer))
        .filter(
            slot__answer__final__isnull=False,
            slot__answer__round__practice=False,
            slot__answer__revision=F("slot__answer__question__current"),
        )
    )


def flagged_questions() -> QuerySet[Any, Any]:
    """Return a row for each such question, the one with the most flagged responses first.

    ``responses`` counts responses, ``teachers`` the people who said so.
    """
    rows = key_marks().values("slot__answer__question")
    return rows.annotate(
        question=F("slot__answer__question"),
        responses=Count("slot__answer__response", distinct=True),
        teachers=Count("teacher", distinct=True),
    ).order_by("-responses", "slot__answer__question")


def keys_waiting(user: User) -> Iterator[Waiting]:
    """Yield the number of such questions for who may look at them; one query."""
    if user.may(Capability.CHECK_ANSWERS) and user.may(Capability.EDIT_QUESTIONS):
        n = key_marks().aggregate(n=Count("slot__answer__question", distinct=True))["n"]
        yield Waiting(_("Answer keys that look wrong"), n, reverse("monitoring:key-flags"))
