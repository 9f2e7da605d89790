"""The page from published to strict: who may look, what it adds up to, and its file."""

from __future__ import annotations

import csv
import io

import pytest
from django.urls import reverse

from evaluations.models import ObjectiveScore, Response, Run
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.models import Question
from questions.rules.vocabulary import ItemStatus
from tests.conftest import logged_in
from tests.factories import make_question, make_response, make_run, make_task


@pytest.fixture
def run(db: None) -> Run:
    """A right answer, one that the published rule reads in the reasoning, one left out."""
    run = make_run()
    task = make_task(run.dataset)
    texts = ("【答案】A", "【答案】B、A", "【答案】A")
    made = [make_response(make_question(task), run, text) for text in texts]
    score_responses(made)
    Question.objects.filter(pk=made[2].question_id).update(status=ItemStatus.QUARANTINED)
    return run


def test_both_rates_and_the_reasons_between_them(lead: User, run: Run) -> None:
    response = logged_in(lead).get(reverse("scoring:policies", args=[run.pk]))
    made = response.context["made"]
    # Published: 18 of 18 (the last letter counts). Strict: 6 of 12, one is left out.
    assert (made.published, made.strict) == ((18, 18), (6, 12))
    assert [(one.items, one.points) for one in made.movements if one.items] == [(1, -6), (1, -6)]
    assert "100.000 %" in response.text
    assert "50.000 %" in response.text
    assert "−50.000" in response.text
    assert "B、A" in response.text


def test_a_programs_message_leaves_with_its_full_marks(lead: User, run: Run) -> None:
    message = make_response(make_question(make_task(run.dataset)), run, "Internal Server Error")
    Response.objects.filter(pk=message.pk).update(is_error_text=True)
    page = reverse("scoring:policies", args=[run.pk])
    earlier = ObjectiveScore.objects.filter(response__run=run).exclude(response=message)
    score_responses([message])
    assert "earlier version of the extraction rules" in logged_in(lead).get(page).text
    score_responses([Response.objects.get(pk=message.pk)])
    response = logged_in(lead).get(page)
    made = response.context["made"]
    # Published: 18 of 24, strict as before: 6 of 12.
    assert (made.published, made.strict) == ((18, 24), (6, 12))
    step = made.movements[1]
    assert (step.items, step.points, step.full) == (1, 0, -6)
    assert "earlier version of the extraction rules" not in response.text
    earlier.update(reader_version="strict-0")
    text = logged_in(lead).get(page).text
    assert "3 responses were scored with an earlier version of the extraction rules" in text


def test_what_counts_under_neither_policy_is_named(lead: User, run: Run) -> None:
    page = reverse("scoring:policies", args=[run.pk])
    assert "under neither policy" not in logged_in(lead).get(page).text
    task = make_task(run.dataset)
    made = [make_response(make_question(task), run, "【答案】A") for _ in range(4)]
    score_responses(made[:3])
    # The published rules say nothing of a quarantined one here; the last one has no score.
    Response.objects.filter(pk=made[0].pk).update(published_score=None)
    for one, status in zip(made, (ItemStatus.QUARANTINED, ItemStatus.EXCLUDED), strict=False):
        Question.objects.filter(pk=one.question_id).update(status=status)
    response = logged_in(lead).get(page)
    compared = response.context["made"]
    assert (compared.responses, compared.left_out, compared.uncounted) == (7, 2, 1)
    # As before with the third new one: 24 of 24 published, 12 of 18 strict.
    assert (compared.published, compared.strict) == ((24, 24), (12, 18))
    assert "7 objective responses" in response.text
    assert "2 responses to quarantined or excluded questions count under neither" in response.text
    assert "1 response without a score, or with an error message" in response.text


def test_one_reason_alone(lead: User, run: Run) -> None:
    page = reverse("scoring:policies", args=[run.pk])
    assert len(logged_in(lead).get(page, {"reason": "reading"}).context["lines"]) == 1
    assert (
        "No response changed for this reason." in logged_in(lead).get(page, {"reason": "key"}).text
    )
    assert logged_in(lead).get(page, {"reason": "mood"}).status_code == 400


def test_a_run_without_scores_says_so(lead: User, db: None) -> None:
    page = logged_in(lead).get(reverse("scoring:policies", args=[make_run().pk]))
    assert "No objective response of this run has a score yet." in page.text


def test_the_file_has_a_column_a_reason_and_is_noted(lead: User, run: Run) -> None:
    response = logged_in(lead).get(reverse("scoring:policies-export", args=[run.pk]))
    rows = list(csv.DictReader(io.StringIO(response.text.removeprefix("\ufeff"))))
    assert len(rows) == 2
    assert [(row["change_reading"], row["change_left_out"]) for row in rows] == [
        ("-6", ""),
        ("", "-6"),
    ]
    entry = AuditEntry.objects.get(tag="report.exported")
    assert (entry.actor, entry.detail["rows"]) == (lead, 2)


@pytest.mark.parametrize("who", ["teacher", "curator", "outsider"])
def test_who_may_not_look(who: str, run: Run, request: pytest.FixtureRequest) -> None:
    client = logged_in(request.getfixturevalue(who))
    assert client.get(reverse("scoring:policies", args=[run.pk])).status_code == 403
    assert client.get(reverse("scoring:policies-export", args=[run.pk])).status_code == 403
