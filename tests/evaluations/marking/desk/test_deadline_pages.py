"""A teacher sees until when a round is to be marked: on the home page and at the desk."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from evaluations.models import MarkingRound
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round

pytestmark = pytest.mark.django_db
DEADLINE = datetime(2031, 5, 6, 7, 8, tzinfo=UTC)  # 15:08 in Shanghai


@pytest.mark.parametrize(("deadline", "times"), [(DEADLINE, 1), (None, 0)])
def test_home_round_and_desk_say_the_deadline(
    deadline: datetime | None, times: int, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 2)
    MarkingRound.objects.update(deadline=deadline)
    client = logged_in(teacher)
    pages = [
        client.get(reverse("marking:home")),
        client.get(reverse("marking:round", args=[made.public_id])),
        client.post(reverse("marking:next", args=[made.public_id]), follow=True),
    ]
    for page in pages:
        assert page.text.count("deadline") == times
        assert page.text.count(">2031-05-06 15:08</time>") == times
