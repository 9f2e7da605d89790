"""The pages of a new run and of studies: short path, counts, dry run, trial, change, a study."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from evaluations.conditions import Asking, OptionOrder, PromptSetting, Sampling
from evaluations.models import Endpoint, Job, Run, Study
from evaluations.runs.forms.launch import NewRunForm, initial_of
from evaluations.runs.rules.question_choice import QuestionChoice, read_choice
from evaluations.runs.selectors.chosen_questions import chosen_questions
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Dataset, FewShotExample, Question, SavedView
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_task, make_user
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
    assert read_choice(run.run_settings["choice"]).trial == 10
    worked(run)
    text = page(admin, "run", run.pk)
    assert "Go on with all questions" in text
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", text))
    assert facts["Random sample"] == "12 questions · random seed 3"
    assert facts["Trial"].endswith("drawn over all tasks and subjects · random seed 3")
    assert facts["Years"] == "2020–2021"
    again = page(admin, "new", again=run.pk)
    assert "was a trial: the new run asks the same questions" in again
    same, whole = NewRunForm(initial_of(run)), NewRunForm(initial_of(run, all_questions=True))
    assert same.is_valid()
    assert whole.is_valid()
    ten = {one.pk for one in chosen_questions(exam, same.wanted()["choice"])}
    assert ten == set(run.jobs.values_list("question", flat=True))
    assert len(chosen_questions(exam, whole.wanted()["choice"])) == 12
    assert 'value="10"' not in page(admin, "new", again=run.pk, all=1)
    repeated = start_run(**same.wanted(), acting_user=None)
    assert "trial_of" in repeated.run_settings, "it can go on with all as well"
    Run.objects.filter(pk=repeated.pk).update(status="stopped")
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
        form |= {"c3-top_p": "0.9", "c3-stop": "\\n\\n", "c3-extra": '{"top_k": 20}'}
        refused = page(admin, "study-new", **{**form, "c2-seed": "-1"})
        assert "Condition 2 at scripted: The seed must be" in unescape(refused)
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
    sent = runs[2].condition.settings["sampling"]
    assert (sent["top_p"], sent["stop"], sent["extra"]) == (0.9, ["\n\n"], {"top_k": 20})
    asked = [set(Job.objects.filter(run=run).values_list("question", "repeat")) for run in runs]
    assert all(one == asked[0] for one in asked)
    assert len(asked[0]) == 120
    subjects = Job.objects.filter(run=runs[0], repeat=1).values_list("question__subject", flat=True)
    assert sorted(subjects).count("Physics") == 30
    text = page(lead, "study", study.pk)
    assert "Finished" in text
    assert "60 questions · random seed 0 · stratified by subject" in text
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
    asking = Asking(
        sampling=Sampling(temperature=0.5, stop=("\n\n",), extra={"top_k": 20}),
        option_order=OptionOrder.SHUFFLED,
        random_seed=7,
        largest_side=512,
    )
    run = start_run(endpoint=endpoint, dataset=exam, acting_user=None, choice=choice, asking=asking)
    form = NewRunForm(initial_of(run))
    assert form.is_valid(), form.errors
    wanted = form.wanted()
    assert wanted["choice"] == choice == read_choice(run.run_settings["choice"])
    assert wanted["asking"].sampling.request_params() == {
        **asking.sampling.request_params(),
        "max_tokens": 2048,
    }
    assert replace(wanted["asking"], sampling=asking.sampling) == asking


def test_a_few_shot_run_says_how_many_examples_it_used(
    admin: User, exam: Dataset, endpoint: Endpoint
) -> None:
    """The third example of physics is too long; history has one."""
    long = " ".join(["word"] * 3000)
    for slug, answers in (("physics", ("A", "B", long)), ("history", ("A",))):
        for number, answer in enumerate(answers, start=1):
            FewShotExample.objects.create(
                task=exam.tasks.get(slug=slug),
                number=number,
                stem="E?",
                options=["x", "y"],
                letters="AB",
                answer_key=[answer],
            )
    few_shot = Asking(setting=PromptSetting.FEW_SHOT)
    given = {"endpoint": endpoint, "dataset": exam, "acting_user": None, "asking": few_shot}
    run = start_run(**given, choice=QuestionChoice(limit=4))
    assert "Worked examples" not in page(admin, "run", run.pk)
    worked(run)
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page(admin, "run", run.pk)))
    assert facts["Worked examples"].startswith("1 to 2 in a prompt · 2 of 4 prompts have fewer")


def test_a_saved_view_chooses_and_is_named(admin: User, exam: Dataset, endpoint: Endpoint) -> None:
    query = f"sort=-year&dataset={exam.slug}&subject=Physics&year=2021"
    view = SavedView.objects.create(owner=admin, name="Physics of 2021", query=query)
    SavedView.objects.create(owner=make_user(Role.CURATOR), name="View of a curator", query=query)
    form = {"endpoint": endpoint.pk, "dataset": exam.slug, "repeats": 1, "view": view.pk}
    assert "View of a curator" not in page(admin, "new", **form)
    assert logged_in(admin).post(reverse("runs:new"), form).status_code == 302
    run = Run.objects.get()
    assert run.jobs.count() == 20
    text = page(admin, "run", run.pk)
    for row in (("Saved view", "Physics of 2021"), ("Subject", "Physics"), ("Year", "2021")):
        assert "<dt>{}</dt><dd>{}</dd>".format(*row) in text
