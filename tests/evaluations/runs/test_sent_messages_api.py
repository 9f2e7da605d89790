"""The exact messages that were sent for a response, in the API and in the file of a search."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.urls import reverse

from evaluations.conditions import Asking, PromptSetting
from evaluations.models import Attempt, Response
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.scripted_server import ScriptedServer, script_from

pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as one:
        yield one


def test_the_api_shows_the_messages_of_each_step_as_they_were_sent(
    admin: User, lead: User, server: ScriptedServer
) -> None:
    run = planned(scripted_endpoint(server), 1, asking=Asking(setting=PromptSetting.ZERO_SHOT_COT))
    server.endpoint.faults = script_from([{"fault": "html"}])
    worked(run)
    Attempt.objects.filter(job__run=run, status="unknown").update(body="<h1>a page of a service")
    worked(run)
    response = Response.objects.get(run=run)
    address = reverse("api-response", args=[response.public_id])
    said = logged_in(admin).get(address).json()
    assert (said["id"], said["run"]) == (str(response.public_id), run.pk)
    broken, first, second = said["calls"]
    sent = [json.loads(one.body)["messages"] for one in server.requests]
    assert [one["messages"] for one in (broken, first, second)] == sent
    assert [(one["step"], one["proven"]) for one in (first, second)] == [(1, True), (2, True)]
    assert broken["body"] == "<h1>a page of a service"
    # Who may not start runs sees what models answered, not what came in its place.
    text = logged_in(lead).get(address).content.decode()
    assert "a page of a service" not in text
    assert [one["messages"] for one in json.loads(text)["calls"]] == [None, *sent[1:]]
    found = logged_in(lead).get(reverse("runs:search-export"), {"messages": "yes"})
    (line,) = [json.loads(one) for one in b"".join(found.streaming_content).splitlines()]
    assert [one["messages"] for one in line["calls"]] == sent[1:]
    plain = logged_in(lead).get(reverse("runs:search-export"))
    assert b'"calls"' not in b"".join(plain.streaming_content)


def test_there_is_no_response_with_another_key(admin: User) -> None:
    address = reverse("api-response", args=["00000000-0000-4000-8000-000000000000"])
    assert logged_in(admin).get(address).status_code == 404
