"""Conditions by name: the list with settings in words, renaming, filters, names in replies."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluations.conditions import Asking, PromptSetting, Sampling
from evaluations.facts.params import ReportParams
from evaluations.models import Attempt, Condition, Job, Run
from evaluations.models.vocabulary import AttemptStatus, RunStatus
from evaluations.reports.selectors.reports import build_report
from evaluations.runs.services.conditions import condition_for
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, chosen, run_of
from tests.factories import make_endpoint, make_question

LIST = "/runs/conditions/"


@pytest.fixture
def run(db: None) -> Run:
    """A run asked at temperature 0.3, whose replies named two models."""
    endpoint = make_endpoint("canary-asked")
    asking = Asking(setting=PromptSetting.ZERO_SHOT, sampling=Sampling(temperature=0.3))
    condition = condition_for(endpoint, asking)
    made = run_of("canary-asked", condition=condition, endpoint=endpoint, status=RunStatus.FINISHED)
    chosen(made, "A")
    for number, name in enumerate(["m-0613", "m-0613", "m-turbo"]):
        replied(made, name, number)
    chosen(run_of(ALPHA), "A")
    return made


def replied(run: Run, name: str, fence: int) -> None:
    """An answered call of *run* whose reply named *name*."""
    question = make_question()
    Attempt.objects.create(
        job=Job.objects.create(run=run, question=question, revision=question.current),
        number=1,
        fence=fence,
        status=AttemptStatus.ANSWERED,
        request_hash="h",
        sent_at=timezone.now(),
        response_model=name,
    )


def test_the_list_says_how_models_were_asked(run: Run, lead: User) -> None:
    text = logged_in(lead).get(LIST).text
    assert "zero-shot · T 0.3" in text
    assert "temperature 0.3" in text
    assert "m-0613 (2), m-turbo (1)" in text
    assert "as published" in text
    of_alpha = logged_in(lead).get(LIST, {"model": ALPHA}).context["rows"]
    assert [one.name for one, _words, _names in of_alpha] == ["as published"]
    body = logged_in(lead).get("/api/v1/conditions/", {"name": "zero-shot · T 0.3"}).json()
    (found,) = body["results"]
    assert (found["model"], found["runs"], found["responses"]) == ("canary-asked", 1, 1)
    assert found["reply_models"] == {"m-0613": 2, "m-turbo": 1}
    assert found["settings"]["sampling"]["temperature"] == 0.3


def test_reports_note_replies_that_named_another_model(run: Run, lead: User) -> None:
    elsewhere = run_of(
        "canary-asked", "other", condition=run.condition, endpoint=run.endpoint, status=run.status
    )
    replied(elsewhere, "m-elsewhere", 9)
    made = build_report("rates", ReportParams("exam"))
    assert made.params["reply_models"] == {
        "canary-asked · zero-shot · T 0.3": {"m-0613": 2, "m-turbo": 1}
    }
    assert "m-0613 (2), m-turbo (1)" in logged_in(lead).get("/reports/").text
    assert "reply_models" not in build_report("rates", ReportParams("exam", (ALPHA,))).params
    assert "reply_models" not in build_report("rates", ReportParams("other")).params


def test_a_name_is_unique_for_the_model_and_its_change_is_recorded(run: Run, admin: User) -> None:
    condition, client = run.condition, logged_in(admin)
    assert condition is not None
    address = reverse("runs:condition-rename", args=[condition.public_id])
    assert client.post(address, {"name": " GPT-4,  few-shot CoT "}).status_code == 302
    condition.refresh_from_db()
    assert condition.name == "GPT-4, few-shot CoT"
    entry = AuditEntry.objects.get(tag="condition.renamed")
    assert entry.detail == {"before": "zero-shot · T 0.3", "name": "GPT-4, few-shot CoT"}
    other = Condition.objects.create(
        name="other", language_model=condition.language_model, origin="imported", fingerprint="f"
    )
    taken = reverse("runs:condition-rename", args=[other.public_id])
    for name in (condition.name, condition.name.lower().replace("gpt", "ｇｐｔ")):
        assert client.post(taken, {"name": name}).status_code == 409
    for name in ("  ", "n" * 101, f"{condition.name}\u200b", "GPT-4, f\u0435w-shot CoT"):
        assert client.post(taken, {"name": name}).status_code == 400
    other.refresh_from_db()
    assert other.name == "other"
    assert AuditEntry.objects.filter(tag="condition.renamed").count() == 1


def test_runs_are_listed_by_condition(run: Run, lead: User) -> None:
    client = logged_in(lead)
    listed = client.get("/runs/", {"condition": "as published"}).context["page"].object_list
    assert [one.language_model.name for one in listed] == [ALPHA]
    body = client.get("/api/v1/runs/", {"condition": "zero-shot · T 0.3"}).json()
    assert [one["id"] for one in body["results"]] == [run.pk]
    responses = client.get(f"/api/v1/runs/{run.pk}/responses/", {"condition": "as published"})
    assert responses.json()["count"] == 0
    assert "zero-shot · T 0.3" in client.get(f"/runs/{run.pk}/").text
