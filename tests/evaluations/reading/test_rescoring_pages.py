"""The pages of rescoring: who may start one, and what its page shows."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluations.models import ObjectiveScore, Rescoring
from evaluations.reading.services.rescoring_jobs import work_on_rescoring
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.factories import make_question, make_response

pytestmark = pytest.mark.django_db


def test_a_lead_starts_one_and_watches_it(lead: User) -> None:
    response = make_response(make_question(), text="【答案】A")
    client = logged_in(lead)
    home = reverse("scoring:rescorings")
    assert "No rescoring yet" in client.get(home).text
    started = client.post(home, {"run": response.run_id, "policy": "strict"})
    job = Rescoring.objects.get()
    assert started.url == reverse("scoring:rescoring", args=[job.pk])
    page = client.get(started.url)
    assert "waiting for a worker" in page.text
    fragment = reverse("scoring:progress", args=[job.pk])
    assert 'id="progress"' in client.get(fragment, {"state": "queued"}).text
    work_on_rescoring(job.pk)
    assert client.get(fragment, {"state": "queued"}).headers["HX-Refresh"] == "true"
    assert "1 of 1 response" in client.get(started.url).text
    assert f"Rescoring {job.pk}" in client.get(home).text


def test_scores_of_earlier_readers_are_told_and_made_anew(lead: User) -> None:
    response = make_response(make_question(), text="【答案】A")
    score_responses([response])
    client = logged_in(lead)
    home = reverse("scoring:rescorings")
    assert "Rescore all" not in client.get(home).text
    ObjectiveScore.objects.filter(policy="published").update(
        reader_version="gaokao-bench-0", scorer_version="objective-0"
    )
    page = client.get(home).text
    assert "1 response was scored with an earlier version of the extraction rules" in page
    assert "Rescore all" in page
    client.post(home, {"run": "", "policy": ""})
    work_on_rescoring(Rescoring.objects.get().pk)
    assert "Rescore all" not in client.get(home).text
    assert ObjectiveScore.objects.count() == 3


def test_a_second_one_is_refused_and_the_first_can_be_stopped(lead: User) -> None:
    make_response(make_question(), text="【答案】A")
    client = logged_in(lead)
    client.post(reverse("scoring:rescorings"), {})
    refused = client.post(reverse("scoring:rescorings"), {})
    assert (refused.status_code, Rescoring.objects.count()) == (400, 1)
    job = Rescoring.objects.get()
    client.post(reverse("scoring:stop", args=[job.pk]))
    assert "Rescoring was stopped." in client.get(reverse("scoring:rescoring", args=[job.pk])).text
    client.post(reverse("scoring:resume", args=[job.pk]))
    job.refresh_from_db()
    assert job.status == "queued"


@pytest.mark.parametrize("who", ["teacher", "curator", "outsider"])
def test_others_are_refused(who: str, request: pytest.FixtureRequest) -> None:
    client = logged_in(request.getfixturevalue(who))
    assert client.get(reverse("scoring:rescorings")).status_code == 403
