"""What waits for those who look after the bank, as counts for the home page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting
from questions.models import Question
from questions.rules.vocabulary import ImportStatus, ItemStatus, ProblemCode
from questions.selectors.bank import open_problems
from questions.selectors.imports import imports
from questions.selectors.opinions import open_differences
from questions.selectors.rubrics import waiting_drafts


def bank_waiting(user: User) -> Iterator[Waiting]:
    """Items, conflicts, labels, rubrics and imports that wait for *user*; at most six queries."""
    if user.may(Capability.EDIT_QUESTIONS):
        problems = reverse("questions:problems")
        quarantined = Question.objects.filter(status=ItemStatus.QUARANTINED).count()
        yield Waiting(_("Quarantined questions"), quarantined, f"{problems}?quarantines=yes")
        conflicts = open_problems().filter(code=ProblemCode.CONFLICTING_KEY).count()
        where = f"{problems}?code={ProblemCode.CONFLICTING_KEY.value}"
        yield Waiting(_("Conflicting answer keys"), conflicts, where)
        unread = open_problems().filter(code=ProblemCode.GOLD_UNREAD).count()
        where = f"{problems}?code={ProblemCode.GOLD_UNREAD.value}"
        yield Waiting(_("Answer keys that do not score as correct"), unread, where)
        where = reverse("questions:labelling-differences")
        yield Waiting(_("Label differences to resolve"), len(open_differences()), where)
        checked = imports().filter(status=ImportStatus.CHECKED).exclude(folder="").count()
        yield Waiting(_("Imports of questions to confirm"), checked, reverse("questions:imports"))
    if user.may(Capability.ACCEPT_RUBRICS):
        drafts = waiting_drafts().count()
        yield Waiting(_("Rubric drafts"), drafts, reverse("questions:rubric-bank"))


def question_addresses(keys: Sequence[int]) -> dict[int, str]:
    """Return the address of the page of each question of *keys*."""
    found = Question.objects.filter(pk__in=keys).values_list("pk", "public_id")
    return {key: reverse("questions:question", args=[public_id]) for key, public_id in found}
