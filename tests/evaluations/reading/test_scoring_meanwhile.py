"""A person's check of a reading counts, whoever else scores the response at the same time."""

from __future__ import annotations

import pytest

from evaluations.models import Rescoring, Response
from evaluations.reading.services.rescoring_jobs import start_rescoring
from evaluations.reading.services.scoring import score_responses
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.common.refusals import Conflict
from tests.evaluations.check_world import SEVERAL, answers, check
from tests.waiting import after

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_check_that_is_saved_while_others_score_counts(curator: User) -> None:
    (response,) = answers(SEVERAL)
    by_rules = Response.objects.get(pk=response.pk).strict_score
    assert by_rules is not None
    after(
        lambda: check(response, curator, "A"),
        lambda: score_responses([response], policies=[Policy.STRICT]),
    )
    counting = Response.objects.get(pk=response.pk).strict_score
    assert counting is not None
    assert counting.answer_check is not None
    assert (by_rules.answer_check, counting.pk != by_rules.pk) == (None, True)


def test_of_two_rescorings_at_once_one_is_refused(lead: User) -> None:
    answers(SEVERAL)

    def start() -> Rescoring:
        return start_rescoring(None, None, acting_user=lead)

    refused = after(start, start)
    assert isinstance(refused, Conflict)
    assert Rescoring.objects.filter(status="queued").count() == 1
