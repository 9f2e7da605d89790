"""The judges of a run on its page: they go on when the run itself is over."""

from __future__ import annotations

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
