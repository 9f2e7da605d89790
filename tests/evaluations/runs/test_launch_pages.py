"""The pages of a new run and of studies: short path, counts, dry run, trial, change, a study."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.urls import reverse

from evaluations.conditions import Asking, Sampling
from evaluations.models import Endpoint, Job, Run, Study
from evaluations.runs.forms.launch import NewRunForm, initial_of
from evaluations.runs.rules.question_choice import QuestionChoice, read_choice
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from questions.models import Dataset, Question
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def exam(db: None) -> Dataset:
    """Forty questions of physics and forty of history, half of them of 2021."""
    dataset = make_dataset()
    for slug, subject in (("physics", Subject.PHYSICS), ("history", Subject.HISTORY)):
        task = make_task(dataset, slug=slug, subject=subject)
        for n in range(40):
            make_question(task, year=2020 + n % 2)
    return dataset


def page(user: User, name: str, /, *args: object, **query: object) -> str:
    response = logged_in(user).get(reverse(f"runs:{name}", args=args), query)
    assert response.status_code == 200
    return response.text


def test_the_form_counts_the_choice_and_shows_the_messages(
    admin: User, exam: Dataset, endpoint: Endpoint
) -> None:
    short = page(admin, "new")
    assert '<details class="fold" id="more">' in short, "the short path is two fields"
    query = {"endpoint": endpoint.pk, "dataset": exam.slug, "repeats": 2, "years": "2021"}
    query |= {"sample": 9, "stratified_by": "task", "images": "omit", "temperature": "0.3"}
    text = page(admin, "new", **query)
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", text))
    assert (facts["Questions"], facts["Calls"]) == ("9", "18")
    assert facts["Tokens"].startswith("about ")
    counts = re.findall(r'<td class="number">(\d+)</td></tr>', text)
    assert sorted(counts) == ["4", "5"]
    shown = page(admin, "preview", **query)
    assert shown.count("<h3>") == 6, "three questions of each task"
    assert "Which one is right?\nA. one" in shown
    assert "temperature 0.3" in shown
    assert not Run.objects.exists()
    bad = page(admin, "new", **{**query, "years": "2021-2019"})
    assert "Write years as" in bad
    assert "No question of exam matches" in page(admin, "new", **{**query, "years": "1999"})


def test_a_trial_goes_on_and_a_run_is_repeated_with_a_change(
    admin: User, exam: Dataset, endpoint: Endpoint
) -> None:
    form = {"endpoint": endpoint.pk, "dataset": exam.slug, "repeats": 1, "trial": "1"}
    form |= {"tasks": ["physics"], "years": "2020-2021", "sample": 12, "random_seed": 3}
    form |= {"temperature": "0.3", "key": str(uuid.uuid4())}
    client = logged_in(admin)
    assert client.post(reverse("runs:new"), form).status_code == 302
    run = Run.objects.get()
    assert run.jobs.count() == 10
    worked(run)
    assert "Go on with all questions" in page(admin, "run", run.pk)
    assert client.post(reverse("runs:extend", args=[run.pk])).status_code == 302
    assert run.jobs.count() == 12
    again = page(admin, "new", again=run.pk)
    assert '<details class="fold" id="more" open>' in again
    for words in ('value="2020-2021"', 'value="0.3"', 'value="12"', 'value="physics" selected'):
        assert words in again


def test_a_study_runs_to_its_end_from_the_page(
    admin: User, lead: User, exam: Dataset, server: ScriptedServer, endpoint: Endpoint
) -> None:
    """Two endpoints, three conditions, two repeats, a stratified sample of sixty."""
    with ScriptedServer() as second:
        other = scripted_endpoint(second, name="second", model="other", max_in_flight=64)
        Endpoint.objects.filter(pk=endpoint.pk).update(max_in_flight=64)
        form: dict[str, Any] = {
            "name": "Temperature",
            "dataset": exam.slug,
            "endpoints": [endpoint.pk, other.pk],
            "repeats": 2,
            "sample": 60,
            "stratified_by": "subject",
            "budget": "1000",
            "key": str(uuid.uuid4()),
        }
        for n, temperature in enumerate(("", "0.3", "half"), start=1):
            form |= {f"c{n}-setting": "zero-shot", f"c{n}-temperature": temperature}
        estimated = page(admin, "study-new", **form)
        facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", estimated))
        assert (facts["Runs"], facts["Calls"]) == ("6", "720")
        client = logged_in(admin)
        first, double = (client.post(reverse("runs:study-new"), form) for _ in range(2))
        study = Study.objects.get()
        address = reverse("runs:study", args=[study.pk])
        assert first["Location"] == double["Location"] == address
        assert "Stop all" in page(admin, "study", study.pk)
        assert "Stop all" not in page(lead, "study", study.pk)
        while waiting := look_for_work():
            for pk in waiting:
                work_on_run(pk)
    runs = list(study.runs.order_by("pk"))
    assert [run.status for run in runs] == ["finished"] * 6
    assert len({run.condition_id for run in runs}) == 6
    asked = [set(Job.objects.filter(run=run).values_list("question", "repeat")) for run in runs]
    assert all(one == asked[0] for one in asked)
    assert len(asked[0]) == 120
    subjects = Job.objects.filter(run=runs[0], repeat=1).values_list("question__subject", flat=True)
    assert sorted(subjects).count("Physics") == 30
    text = page(lead, "study", study.pk)
    assert "Finished" in text
    assert "hx-get" not in text.split('id="study-rows"')[1].split(">")[0]
    state = {"state": "an-older-one"}
    rows = logged_in(lead).get(reverse("runs:study-rows", args=[study.pk]), state)
    assert rows["HX-Refresh"] == "true"
    assert client.post(reverse("runs:study-stop", args=[study.pk])).status_code == 409
    assert "Temperature" in page(lead, "studies")
    bad = client.post(reverse("runs:study-new"), {**form, "endpoints": [], "key": ""})
    assert bad.status_code == 400


def test_a_change_keeps_what_a_run_was_asked(exam: Dataset, endpoint: Endpoint) -> None:
    query = "q=Which&labels=missing"
    ids = tuple(str(one.public_id) for one in Question.objects.filter(year=2020))
    choice = QuestionChoice(ids=ids, tasks=("history",), years=(2020, 2020), query=query, limit=4)
    asking = Asking(sampling=Sampling(temperature=0.5, stop=("\n\n",), extra={"top_k": 20}))
    run = start_run(endpoint=endpoint, dataset=exam, acting_user=None, choice=choice, asking=asking)
    form = NewRunForm(initial_of(run))
    assert form.is_valid(), form.errors
    wanted = form.wanted()
    assert wanted["choice"] == choice == read_choice(run.run_settings["choice"])
    assert wanted["asking"].sampling.request_params() == {
        **asking.sampling.request_params(),
        "max_tokens": 2048,
    }
