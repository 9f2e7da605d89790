"""What was returned and given to somebody else looks as if nobody had marked it before."""

from __future__ import annotations

import re
import uuid

import pytest
from django.urls import reverse

from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.models import FinalMark, FinalMarkSource, Mark, PointMark, Slot
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    later,
    planned_pair,
    small_round,
)

pytestmark = pytest.mark.django_db
KEY = uuid.UUID(int=7)
TOKEN = re.compile(r'(csrfmiddlewaretoken" value="|csrf-?token": "|csrfToken":\s*")[^"]+', re.I)
# The print of the page is made with the moment of the save.
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\"<]*|\d\d:\d\d:\d\d|data-digest=\"[0-9a-f]+")


def test_nobody_can_tell_that_somebody_else_marked_it_before(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """The whole desk, before and after saving, and the API."""
    pool = [teacher, other_teacher, third_teacher]
    made = small_round(pool, scheme=Scheme.THREE_AND_LEAD)
    answer = answers_of(made)[0]
    one, other = planned_pair(answer)
    for who in (one, other):
        give(answer, who, ("3", "3", "0"))
    free = next(person for person in pool if person not in (one, other))
    past = NOW.replace(year=2000)
    return_marks(made, one, ReturnChoice(past), to_others=True, acting_user=lead, now=later(5))
    slot = claimed(free, made, later(6))
    desk, api = reverse("marking:desk", args=[answer.public_id]), reverse("api-marks")
    client = logged_in(free)

    def seen() -> list[str]:
        pages = [TOKEN.sub("", client.get(look).text) for look in (desk, api)]
        form = {"answer": str(answer.public_id), "key": str(KEY), "version": "0", "seconds": "5"}
        form |= {f"point-{number}": "3" for number in (1, 2, 3)}
        assert client.post(f"{desk}save/", form).status_code == 302
        return pages + [
            MOMENT.sub("", TOKEN.sub("", client.get(look).text)) for look in (desk, api)
        ]

    with_a_past = seen()
    assert '"version":1' in with_a_past[3]
    assert Mark.objects.get(slot=slot, teacher=free).version == 2
    FinalMarkSource.objects.filter(final__answer=answer).delete()
    PointMark.objects.filter(mark__slot=slot).delete()
    answer.slots.filter(kind="third").delete()
    Mark.objects.filter(slot=slot).delete()
    Slot.objects.filter(pk=slot.pk).update(void_version=0, marked=False, lease_until=later(40))
    type(answer).objects.filter(pk=answer.pk).update(final=None)
    FinalMark.objects.filter(answer=answer).delete()
    assert seen() == with_a_past
