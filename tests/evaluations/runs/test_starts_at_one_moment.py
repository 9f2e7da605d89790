"""What comes at the same moment: the same start twice, or two new things with one name."""

from __future__ import annotations

from time import sleep
from typing import Any

import pytest
from django.db import connection

from evaluations.conditions import Asking, PromptSetting
from evaluations.judging.services import ensure_judge
from evaluations.models import Condition, Endpoint, ProviderAccount, Run, Study
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.services.accounts import save_account
from evaluations.runs.services.conditions import imported_condition
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.prompt_sets import OWN_SET, stored_prompts
from evaluations.runs.services.runs import start_run
from evaluations.runs.services.sampling import sampling_for
from evaluations.runs.services.studies import start_study
from gradeapp.common import locking
from questions.models import Dataset
from tests.factories import make_dataset, make_question, make_task
from tests.waiting import after

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def exam(db: None) -> Dataset:
    task = make_task(make_dataset())
    for _ in range(3):
        make_question(task)
    stored_prompts(OWN_SET)  # what is new is the condition
    return task.dataset


def impatient() -> None:
    """Let the connection wait for a lock for a fifth of a second only, as the site does for 10."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 200")


def usual_wait() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        wait: str = cursor.fetchone()[0]
    return wait


def study_of(endpoint: Endpoint, exam: Dataset) -> Study:
    """Start a study of two new conditions with the same key as each time."""
    pairs = [
        (endpoint, Asking(sampling=sampling_for(endpoint, {"temperature": warm})))
        for warm in ("0.1", "0.2")
    ]
    return start_study(
        name="Twice",
        dataset=exam,
        choice=QuestionChoice(),
        pairs=pairs,
        acting_user=None,
        idempotency_key="twice",
    )


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("what", ["study", "run"])
def test_what_is_sent_twice_waits_for_the_first_however_long_it_takes(
    endpoint: Endpoint, exam: Dataset, what: str
) -> None:
    def start() -> Any:
        if what == "study":
            return study_of(endpoint, exam)
        return start_run(endpoint=endpoint, dataset=exam, acting_user=None, idempotency_key="twice")

    def again() -> Any:
        impatient()
        made = start()
        return made, usual_wait()

    second, wait = after(start, again, meanwhile=lambda: sleep(1))
    assert second == {"study": Study, "run": Run}[what].objects.get()
    assert Run.objects.count() == (2 if what == "study" else 1)
    assert wait == "200ms", "the longer wait is for the key alone"


@pytest.mark.usefixtures("postgresql")
def test_who_has_waited_too_long_is_told_that_it_is_being_started(
    endpoint: Endpoint, exam: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "LONGEST_WAIT", "200ms")
    refused = after(
        lambda: study_of(endpoint, exam),
        lambda: study_of(endpoint, exam),
        meanwhile=lambda: sleep(1),
    )
    assert (refused.code, refused.status) == ("still_working", 409)
    assert "still being worked on" in str(refused)
    assert study_of(endpoint, exam) == Study.objects.get()


@pytest.mark.usefixtures("postgresql")
def test_two_runs_that_make_the_same_condition_at_one_moment_share_it(
    endpoint: Endpoint, exam: Dataset
) -> None:
    def start(repeats: int) -> Run:
        return start_run(endpoint=endpoint, dataset=exam, acting_user=None, repeats=repeats)

    second = after(lambda: start(1), lambda: start(2))
    assert second.condition == Condition.objects.get()
    assert Run.objects.count() == 2


@pytest.mark.usefixtures("postgresql")
def test_two_runs_whose_new_conditions_would_have_one_name_both_start(
    endpoint: Endpoint, exam: Dataset
) -> None:
    def start(seed: str) -> Run:
        asking = Asking(sampling=sampling_for(endpoint, {"seed": seed}))
        return start_run(endpoint=endpoint, dataset=exam, acting_user=None, asking=asking)

    second = after(lambda: start("1"), lambda: start("2"))
    assert second.condition.name == "zero-shot (2)"
    assert Condition.objects.count() == Run.objects.count() == 2


@pytest.mark.usefixtures("postgresql")
def test_imported_conditions_of_one_name_at_one_moment_are_two(endpoint: Endpoint) -> None:
    model = endpoint.language_model
    second = after(
        lambda: imported_condition(model, name="x"),
        lambda: imported_condition(model, PromptSetting.ZERO_SHOT, name="x"),
    )
    assert (second.name, second.setting) == ("x (2)", PromptSetting.ZERO_SHOT)


@pytest.mark.usefixtures("postgresql")
def test_a_judge_and_an_account_that_are_sent_twice_are_one(endpoint: Endpoint) -> None:
    def account() -> ProviderAccount:
        limits = {"requests_per_minute": 60, "tokens_per_minute": None}
        return save_account(name="shared", max_in_flight=8, acting_user=None, **limits)

    for make in (lambda: ensure_judge(endpoint), account):
        first: list[object] = []
        second = after(lambda made=first, one=make: made.append(one()), make)
        assert [second] == first


@pytest.mark.usefixtures("postgresql")
@pytest.mark.parametrize("renamed", [False, True])
def test_of_two_endpoints_of_one_name_the_second_is_refused(renamed: bool) -> None:
    fields = {"base_url": "http://127.0.0.1:8000/v1", "model": "m", "acting_user": None}
    other = save_endpoint(name="other", **fields)
    refused = after(
        lambda: save_endpoint(name="one", **fields),
        lambda: save_endpoint(name="one", endpoint=other if renamed else None, **fields),
    )
    assert (refused.status, str(refused)) == (400, "There is already an endpoint called one.")
    assert sorted(Endpoint.objects.values_list("name", flat=True)) == ["one", "other"]
