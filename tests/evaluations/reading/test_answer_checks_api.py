"""The API of reading: a model that reads, who read what, checks, samples, corrections."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from evaluations.models import AnswerCheck, Job, Response, Run
from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.check_world import (
    BRACKETED,
    MEANT,
    SEVERAL,
    TAGGED,
    WORDLESS,
    answers,
    check,
    read_by_model,
)

pytestmark = pytest.mark.django_db
API = "/api/v1"
CHECKS = f"{API}/answer-checks/"


def post(client: Client, address: str, **sent: Any) -> Any:
    return client.post(address, sent, content_type="application/json")


def test_a_model_is_set_to_read(admin: User) -> None:
    endpoint = save_endpoint(
        name="reader", base_url="http://127.0.0.1:8099/v1", model="m", acting_user=None
    )
    run = answers(TAGGED, MEANT, SEVERAL)[0].run
    address, client = f"{API}/runs/{run.pk}/read/", logged_in(admin)
    made = post(client, address, endpoint=endpoint.name, limit=1, idempotency_key="k")
    assert made.status_code == 201
    told = made.json()
    assert (told["purpose"], told["judged_run"], told["planned"]) == ("read", run.pk, 1)
    assert (
        post(client, address, endpoint=endpoint.name, limit=1, idempotency_key="k").json()["id"]
        == (told["id"])
    )
    assert Run.objects.filter(purpose="read").count() == Job.objects.count() == 1
    assert post(client, address, endpoint=endpoint.name, limits=1).status_code == 400
    assert post(client, address, endpoint="no").status_code == 400
    assert post(client, f"{API}/runs/999999/read/", endpoint=endpoint.name).status_code == 404


def test_who_read_is_told_with_counts_and_shares(curator: User, lead: User) -> None:
    plain, meant, *_others = answers(TAGGED, MEANT, SEVERAL, WORDLESS)
    read_by_model(meant)
    check(plain, lead, "B")
    (row,) = logged_in(curator).get(f"{API}/reading-labour/").json()["results"]
    assert row == {
        "run": plain.run_id,
        "model": "canary-gpt-7f3a",
        "dataset": "exam",
        "total": 4,
        "readers": {
            "pattern": {"n": 0, "share": 0.0},
            "mined": {"n": 0, "share": 0.0},
            "model": {"n": 1, "share": 0.25},
            "person": {"n": 1, "share": 0.25},
            "unread": {"n": 2, "share": 0.5},
        },
        "checked": 1,
        "corrected": 1,
    }


def test_what_waits_is_told_without_key_and_model(curator: User) -> None:
    (one,) = answers(BRACKETED, analysis="the secret analysis")
    answer = logged_in(curator).get(f"{CHECKS}waiting/?source=low")
    (row,) = answer.json()["results"]
    assert (row["response"], row["answers"], row["outcome"]) == (str(one.public_id), ["C"], "read")
    start, end = row["spans"][0]
    assert "C" in one.text[start:end]
    assert "canary" not in answer.text
    assert "secret" not in answer.text
    assert logged_in(curator).get(f"{CHECKS}waiting/?source=no").status_code == 404
    assert logged_in(curator).get(f"{CHECKS}waiting/?source=second").json()["results"] == []


def test_a_check_is_saved_once_and_followed(curator: User, lead: User) -> None:
    (one,) = answers(SEVERAL)
    client = logged_in(curator)
    (row,) = client.get(f"{CHECKS}waiting/").json()["results"]
    sent = {
        "response": row["response"],
        "seen": row["seen"],
        "answers": ["B"],
        "outcome": "read",
        "key": str(uuid.uuid4()),
    }
    made = post(client, CHECKS, **sent)
    assert made.status_code == 201
    assert (made.json()["source"], made.json()["confirmed"]) == ("ambiguous", False)
    assert post(client, CHECKS, **sent).json()["id"] == made.json()["id"]
    again = {**sent, "key": str(uuid.uuid4()), "answers": ["C"]}
    assert post(client, CHECKS, **again).status_code == 409
    newer = post(client, CHECKS, **again, based_on=1).json()
    assert (newer["number"], newer["follows"]) == (2, made.json()["id"])
    for wrong in ({"answers": ["E"]}, {"seen": "e0"}, {"outcome": "maybe"}, {"seems": 1}):
        given = {**again, "key": str(uuid.uuid4()), "based_on": 2, **wrong}
        assert post(client, CHECKS, **given).status_code == 400
    assert AnswerCheck.objects.count() == 2
    assert [found["number"] for found in client.get(CHECKS).json()["results"]] == [2, 1]
    assert logged_in(lead).get(CHECKS).json()["results"] == [], "own ones only"
    assert Response.objects.get(pk=one.pk).text == SEVERAL


def test_samples_and_corrections(curator: User) -> None:
    made = answers(*[TAGGED] * 4)
    client = logged_in(curator)
    address = f"{CHECKS}samples/"
    asked = {"run": made[0].run_id, "size": 2, "random_seed": 3, "idempotency_key": "once"}
    drawn = post(client, address, **asked)
    assert drawn.status_code == 201
    assert post(client, address, **asked).json() == drawn.json(), "sent again"
    assert (drawn.json()["size"], drawn.json()["among"], drawn.json()["rate"]) == (2, 4, None)
    chosen = Response.objects.filter(check_samples__isnull=False).earliest("pk")
    check(chosen, curator, "B")
    (row,) = client.get(address).json()
    assert (row["random_seed"], row["checked"], row["wrong"], row["rate"]) == (3, 1, 1, 1.0)
    assert post(client, address, run=made[0].run_id, size=0).status_code == 400
    assert post(client, address, run=999_999, size=1).status_code == 404
    found = client.get(f"{CHECKS}corrections/").json()
    assert (found["total"], found["right"]) == (1, 0)
    assert found["cases"][0]["expect"] == {"answer": ["B"]}
