"""The judging pages: what judges did, one judgement beside the teachers' mark, starting one."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluations.models import Endpoint, Judge, LanguageModel, MarkingRound, RoundTeacher, Run
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import JUDGE, judged, mark, run_of, written
from tests.evaluations.reports.test_reports_pages import words

RUBRIC = (("names the law", "4"), ("solves it", "6"))


@pytest.fixture
def judgements(db: None) -> Judge:
    """Five judged answers: three that teachers marked too, two without a total."""
    run = run_of()
    for total, first in (("8", "7"), ("5", "5"), ("2", "3")):
        response = written(run, rubric=RUBRIC)
        judged(response, total, reply=f"Step 1 is right. <script>x</script> 【总分】{total}分")
        mark(response, first, first)
    judged(written(run, Subject.HISTORY), None, "no_total", reply="A fine essay.")
    judged(written(run, Subject.HISTORY), None, "over_full_marks", released=[12.0, None])
    return Judge.objects.get(name=JUDGE)


def addresses(judge: Judge) -> list[str]:
    response = judge.judgements.earliest("pk").response
    return [
        reverse("judging:list"),
        reverse("judging:judge", args=[judge.pk]),
        reverse("judging:judgement", args=[judge.pk, response.public_id]),
        reverse("judging:calibration", args=[judge.pk]),
    ]


def test_a_lead_who_marks_in_an_open_round_waits(lead: User, judgements: Judge) -> None:
    marking = MarkingRound.objects.create(
        name="now", dataset=Run.objects.earliest("pk").dataset, scheme="1", random_seed=1
    )
    RoundTeacher.objects.create(round=marking, teacher=lead)
    for address in addresses(judgements):
        assert logged_in(lead).get(address).status_code == 403


def test_without_judgements_the_page_says_what_to_do(admin: User, lead: User) -> None:
    assert "No judgements yet" in logged_in(admin).get("/judging/").text
    assert "Run judge" in logged_in(admin).get("/judging/").text
    assert "Run judge" not in logged_in(lead).get("/judging/").text


def test_a_judge_is_counted_and_compared(lead: User, judgements: Judge) -> None:
    text = words(logged_in(lead).get("/judging/").text)
    # 3 of 5 read; judge 8 5 2 and teachers 7 5 3 rank alike; differences +1 0 -1 of tolerance 1
    assert "5 3 1 × the reply gives no total · 1 × the total is above the full marks" in text
    assert "3 1.000 100.0 % 0.00" in text


def test_the_newest_reply_counts(lead: User, judgements: Judge) -> None:
    again = judgements.judgements.get(status="no_total")
    judged(again.response, "6", number=2)
    (line,) = logged_in(lead).get("/judging/").context["lines"]
    assert (line.judged, line.scored, line.unscored) == (5, 4, {"over_full_marks": 1})
    page = logged_in(lead).get(
        reverse("judging:judgement", args=[judgements.pk, again.response.public_id])
    )
    text = words(page.text)
    assert "Reply 1, before a retry" in text
    assert text.index("【总分】6分") < text.index("A fine essay.")


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({}, 5),
        ({"status": "over_full_marks"}, 1),
        ({"subject": "History"}, 2),
        ({"subject": "History", "status": "scored"}, 0),
        ({"dataset": "exam"}, 5),
        ({"status": "no such status"}, 5),
    ],
)
def test_judgements_are_filtered(
    query: dict[str, str], number: int, lead: User, judgements: Judge
) -> None:
    page = logged_in(lead).get(reverse("judging:judge", args=[judgements.pk]), query)
    assert page.context["page"].paginator.count == number
    if query.get("status") == "no such status":
        assert "a value that does not exist" in page.text
    if number == 0:
        assert "No judgement matches these filters" in page.text


def test_a_list_names_totals_reasons_and_teachers(lead: User, judgements: Judge) -> None:
    text = words(logged_in(lead).get(reverse("judging:judge", args=[judgements.pk])).text)
    assert "total extracted 8 7 10" in text
    assert "the total is above the full marks – – 10" in text


def test_one_judgement_shows_everything_and_inert(lead: User, judgements: Judge) -> None:
    page = logged_in(lead).get(addresses(judgements)[2])
    text = words(page.text)
    assert "8 " in text
    assert "+1.00" in text, "judge 8, teachers 7"
    assert "Mean of two 7 / 10" in text
    assert "names the law" in text
    assert "not given to the judge" in text, "the rubric is shown, but this judge had none"
    assert '<span class="math inline">v=gt</span>' in page.text
    assert "<script>x" not in page.text


def test_an_unscored_judgement_says_why_and_what_was_released(
    lead: User, judgements: Judge
) -> None:
    response = judgements.judgements.get(status="over_full_marks").response
    page = logged_in(lead).get(
        reverse("judging:judgement", args=[judgements.pk, response.public_id])
    )
    text = words(page.text)
    assert "– the total is above the full marks" in text
    assert "Published with the reply 12.0, –" in text
    assert "This response has no final mark from teachers." in text


def test_a_response_that_was_not_judged_is_not_found(lead: User, judgements: Judge) -> None:
    other = written(run_of())
    address = reverse("judging:judgement", args=[judgements.pk, other.public_id])
    assert logged_in(lead).get(address).status_code == 404
    assert logged_in(lead).get(reverse("judging:judge", args=[999])).status_code == 404


@pytest.fixture
def endpoint(db: None) -> Endpoint:
    return Endpoint.objects.create(
        name="local",
        base_url="http://127.0.0.1:8099/v1",
        model="m",
        language_model=LanguageModel.objects.create(name="new-judge"),
    )


def test_an_admin_lets_a_model_judge_a_run(admin: User, endpoint: Endpoint) -> None:
    response = written(run_of())
    form = {"run": response.run_id, "endpoint": endpoint.pk}
    answer = logged_in(admin).post(reverse("judging:start"), form)
    assert answer.status_code == 302, words(answer.text)
    judge_run = Run.objects.get(purpose="judge")
    assert answer["Location"] == reverse("runs:run", args=[judge_run.pk])
    assert judge_run.judged_run == response.run
    assert judge_run.judge is not None
    assert judge_run.judge.name == "new-judge"
    assert judge_run.jobs.get(canary=None).response == response
    twice = logged_in(admin).post(reverse("judging:start"), form)
    assert twice.status_code == 409
    assert "is already marking this run" in twice.text


def test_a_run_without_subjective_answers_cannot_be_chosen(admin: User, endpoint: Endpoint) -> None:
    run = run_of()
    form = {"run": run.pk, "endpoint": endpoint.pk}
    answer = logged_in(admin).post(reverse("judging:start"), form)
    assert answer.status_code == 400
    assert "Select a valid choice" in answer.text
    assert not Run.objects.filter(purpose="judge").exists()
