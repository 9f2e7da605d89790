"""The pages on which a model is let to suggest, for the whole cast."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from evaluations.facts.params import ReportParams
from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.marking.rounds.selectors.round_choice import (
    ResponseChoice,
    chosen_responses,
    markable_runs,
)
from evaluations.models import Endpoint, Run
from evaluations.models.vocabulary import Asks
from evaluations.reading.services.rescoring import rescore
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.scored_answers import scored_answers
from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput
from questions.models import Question, Task
from questions.rules.vocabulary import QuestionType, Subject
from tests.conftest import logged_in
from tests.evaluations.suggest_world import LABELS, POINTS, answered
from tests.factories import make_dataset, make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db
SUGGEST = reverse("runs:suggest")


@pytest.fixture
def endpoint(db: None) -> Endpoint:
    return save_endpoint(
        name="scripted",
        base_url="http://127.0.0.1:8099/v1",
        model="scripted-demo",
        acting_user=None,
        price_input=Decimal(4),
        price_output=Decimal(12),
    )


@pytest.fixture
def task(db: None) -> Task:
    task = make_task(make_dataset())
    for _ in range(3):
        make_question(task)
    return task


@pytest.fixture
def essays(db: None) -> list[Question]:
    task = make_task(make_dataset(), question_type=QuestionType.OPEN_ENDED)
    return [make_question(task, marks=("4", "6")) for _ in range(2)]


def said(endpoint: Endpoint, **changes: Any) -> dict[str, Any]:
    form = {"endpoint": endpoint.pk, "asks": "labels", "dataset": "exam", "limit": 100}
    return {**form, **changes}


def facts(text: str) -> str:
    """What stands in the column beside the form."""
    found = re.search(r'<aside.*?id="estimate".*?</aside>', text, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


# ---- the form ----


def test_a_link_from_the_bank_brings_its_filters(
    admin: User, endpoint: Endpoint, task: Task
) -> None:
    make_dataset("other")
    client = logged_in(admin)
    found = client.get(SUGGEST, {"dataset": "exam", "subject": "Physics", "asks": "rubric"}).text
    assert '<option value="exam" selected>' in found
    assert '<option value="Physics" selected>' in found
    assert '<option value="rubric" selected>' in found
    assert "field-error" not in found


def test_what_it_will_cost(admin: User, endpoint: Endpoint, task: Task) -> None:
    other = make_task(task.dataset, subject=Subject.HISTORY)
    make_question(other)
    client = logged_in(admin)
    assert "Questions 4 Calls 4" in facts(client.get(SUGGEST, said(endpoint)).text)
    one = facts(client.get(SUGGEST, said(endpoint, subject="History")).text)
    assert "Questions 1 Subject History Calls 1" in one
    assert "At most ¥" in one
    none = facts(client.get(SUGGEST, said(endpoint, asks="rubric")).text)
    assert "without a rubric" in none
    wrong = facts(client.get(SUGGEST, said(endpoint, subject="Alchemy")).text)
    assert "There is no such filter or value: subject." in wrong
    assert not Run.objects.exists()


def test_it_starts_and_is_written_down(admin: User, endpoint: Endpoint, task: Task) -> None:
    form = said(endpoint, subject="Physics", limit=2, budget="1.5")
    response = logged_in(admin).post(SUGGEST, form)
    run = Run.objects.get()
    assert response["Location"] == reverse("runs:run", args=[run.pk])
    assert (run.purpose, run.budget, run.created_by) == ("suggest", Decimal("1.5"), admin)
    assert run.jobs.count() == 2
    assert run.run_settings["query"] == "subject=Physics"
    detail = AuditEntry.objects.get(tag="run.started").detail
    assert detail == {"planned": 2, "budget": "1.5", "asks": "labels"}


def test_it_never_starts_with_another_number_than_was_shown(
    admin: User, endpoint: Endpoint, task: Task
) -> None:
    client = logged_in(admin)
    shown = client.get(SUGGEST, said(endpoint)).text
    assert '<input type="hidden" name="shown" value="3">' in shown
    key = "6a6f9d6e-6b52-4a3f-9d8b-0f6c8f5f3c11"
    refused = client.post(SUGGEST, said(endpoint, limit=2, shown=3, key=key))
    assert refused.status_code == 400
    assert "The page showed 3 calls, but there would be 2" in refused.text
    assert "Calls 2" in facts(refused.text)
    assert not Run.objects.exists()
    started = client.post(SUGGEST, said(endpoint, limit=2, shown=2, key=key))
    assert Run.objects.get().jobs.count() == 2
    # Sent twice: the second time those two are no longer to be asked, and the run is the same.
    assert client.post(SUGGEST, said(endpoint, limit=2, shown=2, key=key)).url == started.url


def test_the_note_of_the_endpoint_stands_beside_the_cost(
    admin: User, endpoint: Endpoint, task: Task
) -> None:
    Endpoint.objects.update(note="minutes over a long prompt")
    assert "minutes over a long prompt" in facts(logged_in(admin).get(SUGGEST, said(endpoint)).text)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"limit": 0}, "greater than or equal to 1"),
        ({"limit": 5001}, "less than or equal to 5000"),
        ({"asks": "marks"}, "Select a valid choice"),
        ({"dataset": "none"}, "Select a valid choice"),
        ({"task": "none"}, "There is no such filter or value: task."),
        ({"asks": "rubric"}, "without a rubric"),
    ],
)
def test_what_is_refused(
    admin: User, endpoint: Endpoint, task: Task, changes: dict[str, Any], sentence: str
) -> None:
    response = logged_in(admin).post(SUGGEST, said(endpoint, **changes))
    assert response.status_code == 400
    assert sentence in response.text
    assert not Run.objects.exists()


def test_only_those_who_start_runs_find_the_way(
    admin: User, curator: User, lead: User, endpoint: Endpoint, essays: list[Question]
) -> None:
    rooms = ["list", "labelling", "labelling-suggestions", "rubric-bank"]
    for user in (admin, curator, lead):
        for room in rooms:
            text = logged_in(user).get(reverse(f"questions:{room}")).text
            assert (SUGGEST in text) == (user == admin), room
    listed = logged_in(admin).get(reverse("questions:list"), {"subject": "Physics"}).text
    assert f'href="{SUGGEST}?subject=Physics"' in listed
    assert SUGGEST not in logged_in(lead).get(reverse("runs:list")).text


# ---- the run ----


def test_the_run_says_what_was_kept_and_why_not_the_rest(
    lead: User, admin: User, endpoint: Endpoint, task: Task
) -> None:
    unknown = LABELS.replace("logical-judgment", "phlogiston")
    run = answered(endpoint, admin, [LABELS, "Level 3, I think.", unknown])
    client = logged_in(lead)
    text = client.get(reverse("runs:run", args=[run.pk])).text
    assert "suggests labels" in text
    assert "Stored as suggestions</dt><dd>1" in text
    assert "Could not be read</dt><dd>2" in text
    assert "The reply does not contain the requested JSON." in text
    assert "“phlogiston” is not a value of “Knowledge”." in text
    assert "Judges" not in text, "there is nothing to judge"
    assert "33 %" in text
    listed = client.get(reverse("runs:responses", args=[run.pk])).text
    assert "Reasoning · Logical Judgment · Level 3" in listed
    assert "“phlogiston” is not a value of “Knowledge”." in listed
    assert "for teachers or a judge model" not in listed
    for response in run.responses.all():
        page = client.get(reverse("runs:response", args=[response.public_id])).text
        assert "Suggested" in page
    queue = logged_in(admin).get(reverse("questions:labelling-suggestions")).text
    assert "scripted-demo" in queue


def test_drafts_wait_for_a_person(admin: User, endpoint: Endpoint, essays: list[Question]) -> None:
    negative = POINTS.replace('"points": 4', '"points": -4')
    run = answered(endpoint, admin, [POINTS, negative], Asks.RUBRIC)
    client = logged_in(admin)
    text = client.get(reverse("runs:run", args=[run.pk])).text
    assert "suggests rubrics" in text
    assert "Scoring point 1 needs points above 0, at most 300, with two decimals." in text
    assert "2 scoring points" in client.get(reverse("runs:responses", args=[run.pk])).text
    kept = run.responses.get(question=essays[0])
    page = client.get(reverse("runs:response", args=[kept.public_id])).text
    assert "the law" in page
    assert reverse("questions:rubrics", args=[essays[0].public_id]) in page
    assert "proposed by scripted-demo" in client.get(reverse("questions:rubric-bank")).text


# ---- and nowhere else ----


def test_suggestions_are_no_answers(
    admin: User, endpoint: Endpoint, task: Task, essays: list[Question]
) -> None:
    run = answered(endpoint, admin, ["A", "B", LABELS, LABELS, LABELS])
    run.jobs.filter(question=essays[0]).update(status="failed")
    run.responses.get(question=essays[0]).suggestion.delete()
    run.responses.get(question=essays[0]).delete()
    assert choices().dataset == "", "no report knows of it"
    assert scored_answers(ReportParams("exam")) == []
    assert rescore("strict").scored == 0
    assert not markable_runs().exists()
    assert chosen_responses(ResponseChoice(runs=(run.pk,)), 1) == []
    with pytest.raises(BadInput, match="judge model marks the responses"):
        start_judge_run(run, ensure_judge(endpoint), acting_user=admin)
    make_response(essays[0], make_run(task.dataset, model="scripted-demo"))
    (model,) = choices().models
    assert model.answers == 1, "the same model's answers are counted without its suggestions"
    assert len(scored_answers(ReportParams("exam"))) == 1
