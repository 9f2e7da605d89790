"""One text to many questions: the notice, what calibration leaves out, and the review."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse

from evaluations.facts.judged_marks import calibration_of
from evaluations.facts.params import ReportParams
from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.judging.services.repeated_texts import look_for_repeated_texts
from evaluations.models import Look, RepeatedTexts, Run
from evaluations.statistics.tally import ALL
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.evaluations.judging.test_canaries import judge_that
from tests.evaluations.report_world import mark
from tests.evaluations.reports.test_reports_pages import words
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_response, make_run, make_task
from tests.scripted_server import ScriptedServer

CONSTANT = "Every scoring point of the rubric is met, so that this response has the full marks."
SAID = "The responses to 20 of 22 questions compared are one and the same text, or nearly."


def run_of_texts(texts: list[str]) -> Run:
    """A run with each of *texts* as the response to a question of 10 points, repeated twice."""
    task = make_task(make_dataset("exam"), question_type=QuestionType.OPEN_ENDED)
    run = make_run(task.dataset)
    for place, text in enumerate(texts):
        question = make_question(task, marks=("4", "6"), reference_answer=f"key {place}")
        for repeat in (1, 2):
            make_response(question, run=run, text=text, repeat=repeat)
    return run


@pytest.mark.django_db
def test_repeats_of_one_question_are_no_repeated_text() -> None:
    texts = [
        f"{place} is what the {place + 7} law of {place * 31} says of it" for place in range(19)
    ]
    run = run_of_texts([*texts, CONSTANT])
    assert look_for_repeated_texts(run, final=True) is None
    assert RepeatedTexts.objects.get().compared == 20
    assert calibration_of(ReportParams("exam")).rows == []


def test_a_run_of_one_text_is_left_out_until_somebody_reviewed_it(
    server: ScriptedServer, admin: User, lead: User, curator: User
) -> None:
    other = ["It falls because of gravity, as Newton's law says.", "Salt dissolves in the water."]
    run = run_of_texts([CONSTANT] * 20 + other)
    for response in run.responses.filter(repeat=1):
        mark(response, "1", "1")
    server.endpoint.faults = judge_that(lambda key, response: "【总分】9分")
    judge = ensure_judge(scripted_endpoint(server))
    judge_run = start_judge_run(run, judge, acting_user=None, canaries=0)
    assert worked(judge_run).status == "finished"
    found = RepeatedTexts.objects.get(run=run)
    assert (found.compared, found.responses.count(), found.reviewed_at) == (22, 20, None)

    assert calibration_of(ReportParams("exam")).rows == []
    client = logged_in(lead)
    address = reverse("judging:calibration", args=[judge.pk])
    assert "it gives one text to many questions" in words(client.get(address).text)
    for one in (run, judge_run):
        page = words(client.get(reverse("runs:run", args=[one.pk])).text)
        assert SAID in page
        assert "Reviewed: compare again" in page
        assert CONSTANT[:30] in page
    # It quotes them under their model.
    assert Look.objects.filter(person=lead, response__in=found.responses.all()).count() == 20
    review = reverse("runs:repeated-reviewed", args=[run.pk])
    assert logged_in(curator).post(review).status_code == 403
    assert client.post(review).status_code == 302
    found.refresh_from_db()
    assert found.reviewed_by == lead
    entry = AuditEntry.objects.get(tag="judge.repeated_texts")
    assert (entry.actor, entry.detail) == (lead, {"responses": 20})
    rows = {row.key["value"]: row.figures for row in calibration_of(ReportParams("exam")).rows}
    assert rows[ALL]["pairs"].value == 22
    assert rows[ALL]["bias"].value == pytest.approx(float(Decimal(9 - 1)))
    page = words(client.get(reverse("runs:run", args=[judge_run.pk])).text)
    assert f"Reviewed by {lead}" in page
    assert "Reviewed: compare again" not in page
    assert client.post(review).status_code == 409
    assert look_for_repeated_texts(run, final=True) is None
