"""The judges of a run on its page: they go on when the run itself is over."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.models import Judge, Judgement, Run
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_response, make_task
from tests.scripted_server import ScriptedServer


@pytest.mark.django_db
def test_imported_judgements_are_a_judge_of_the_run(lead: User) -> None:
    question = make_question(make_task(question_type=QuestionType.OPEN_ENDED))
    run = make_response(question).run
    address = reverse("runs:run", args=[run.pk])
    assert "No judge model marks the subjective responses" in logged_in(lead).get(address).text
    judge = Judge.objects.create(name="gpt-x")
    second = make_response(make_question(question.task), run)
    for response, total in ((run.responses.first(), 5), (second, None)):
        status = "no_total" if total is None else "scored"
        Judgement.objects.create(
            response=response, judge=judge, full=10, total=total, status=status
        )
    page = logged_in(lead).get(address).text
    assert "2 responses marked, 1 with a valid total" in page
    assert f"{reverse('judging:judge', args=[judge.pk])}?dataset={run.dataset.slug}" in page
    assert "No judge model marks" not in page


@pytest.mark.django_db
def test_the_card_of_judges_follows_them_to_their_end(lead: User) -> None:
    with ScriptedServer() as server:
        endpoint = save_endpoint(
            name="scripted", base_url=server.base_url, model="scripted-demo", acting_user=None
        )
        dataset = make_dataset()
        make_question(make_task(dataset, question_type=QuestionType.OPEN_ENDED))
        run = start_run(endpoint=endpoint, dataset=dataset, acting_user=None)
        work_on_run(run.pk)
        judge_run = start_judge_run(run, ensure_judge(endpoint), budget=None, acting_user=None)
        address = reverse("runs:judges", args=[run.pk])
        browser = logged_in(lead)
        page = browser.get(reverse("runs:run", args=[run.pk])).text
        fragment = browser.get(address).text
        assert Run.objects.get(pk=run.pk).status == "finished", "the page itself is at rest"
        assert f'hx-get="{address}"' in fragment
        assert "0 of 1 done" in fragment
        assert fragment.strip() in page, "page and fragment are one truth"
        work_on_run(judge_run.pk)
        after = browser.get(address).text
    assert "hx-get" not in after
    assert "1 of 1 done" in after
    assert reverse("runs:run", args=[judge_run.pk]) in after


@pytest.mark.django_db
def test_a_form_that_is_sent_twice_starts_one_judge(admin: User) -> None:
    run = make_response(make_question(make_task(question_type=QuestionType.OPEN_ENDED))).run
    endpoint = save_endpoint(
        name="judge", base_url="http://127.0.0.1:8999/v1", model="scripted-demo", acting_user=None
    )
    browser, of_run = logged_in(admin), reverse("runs:judge", args=[run.pk])
    asked = {"judge": endpoint.pk, "run": run.pk, "endpoint": endpoint.pk, "again": "on"}
    for page, address in (
        (reverse("runs:run", args=[run.pk]), of_run),
        (reverse("judging:list"), reverse("judging:start")),
    ):
        before = set(run.judge_runs.values_list("pk", flat=True))
        form = re.search(r'name="key" value="([^"]+)"', browser.get(page).text)
        assert form is not None
        first, second = (browser.post(address, {**asked, "key": form[1]}) for _ in range(2))
        (started,) = set(run.judge_runs.values_list("pk", flat=True)) - before
        run_page = reverse("runs:run", args=[started])
        assert (first.url, second.url) == (run_page, run_page)  # type: ignore[attr-defined]
        other = browser.post(address, {**asked, "key": form[1], "temperature": "1"})
        assert other.status_code == 422, "another request with the key"
    assert browser.post(of_run, asked).status_code == 302, "without a key it is a further sample"
    assert run.judge_runs.count() == 3
