"""Which questions a run asks: limits, samples, and the choice by filters."""

from __future__ import annotations

import hashlib
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.db.models import Sum

from evaluations.models import Attempt, Endpoint, Job
from evaluations.runs.rules.question_choice import (
    QuestionChoice,
    drawn,
    drawn_over,
    read_choice,
    read_years,
    shares,
    spread,
)
from evaluations.runs.selectors.chosen_questions import chosen_questions, counted, trial_of
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.runs import start_run
from gradeapp.common.exact_money import amount_of, exact_sum
from gradeapp.common.refusals import BadInput
from questions.models import Dataset, Question
from questions.rules.vocabulary import QuestionType, Subject
from questions.services.imports import import_questions
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer

GROUPS = {"b": [10, 11, 12, 13], "a": [0, 1], "c": [20, 21, 22, 23, 24, 25, 26, 27]}


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, [0, 1, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 26, 27]),
        (14, [0, 1, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 26, 27]),
        (99, [0, 1, 10, 11, 12, 13, 20, 21, 22, 23, 24, 25, 26, 27]),
        # one each, from the middle: floor(1 * 2 / 2) = 1, floor(4 / 2) = 2, floor(8 / 2) = 4
        (3, [1, 12, 24]),
        # two each: of 4, floor(1 * 4 / 4) = 1 and floor(3 * 4 / 4) = 3; of 8, 2 and 6
        (6, [0, 1, 11, 13, 22, 26]),
        # a gives all it has (2), b and c share the other 6
        (8, [0, 1, 10, 12, 13, 21, 24, 26]),
        (1, [1]),
    ],
)
def test_a_limit_is_spread_evenly(limit: int | None, expected: list[int]) -> None:
    assert spread(GROUPS, limit) == expected
    assert spread(dict(reversed(GROUPS.items())), limit) == expected


def test_no_groups_give_no_items() -> None:
    assert spread({}, 5) == []


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        # Shares 1.5, 1.0 and 0.5: the whole parts give 2, and of the two halves the larger wins.
        ({"a": 3, "b": 2, "c": 1}, 3, {"a": 2, "b": 1, "c": 0}),
        # 10 * 7 / 21 = 3.33 each, three equal remainders for one place: the first by name.
        ({"b": 7, "a": 7, "c": 7}, 10, {"a": 4, "b": 3, "c": 3}),
        # 4.17, 3.33 and 2.50 of 10: the remainder .50 gets the last place.
        ({"a": 5, "b": 4, "c": 3}, 10, {"a": 4, "b": 3, "c": 3}),
        ({"a": 2, "b": 1}, 9, {"a": 2, "b": 1}),
    ],
)
def test_a_sample_is_in_proportion_to_its_strata(
    sizes: dict[str, int], n: int, expected: dict[str, int]
) -> None:
    assert shares(sizes, n) == expected


def test_a_sample_is_drawn_by_its_seed_alone() -> None:
    keys = [f"physics:{n}" for n in range(40)]
    lots = sorted(keys, key=lambda key: hashlib.sha256(f"7:{key}".encode()).digest())
    assert drawn({"": keys}, 6, 7) == set(lots[:6]) == drawn({"": keys[::-1]}, 6, 7)
    assert drawn({"": keys}, 6, 8) != set(lots[:6])
    assert drawn({"": keys}, 5, 7) < set(lots[:6]), "a larger sample contains the smaller one"


def test_years_are_read() -> None:
    assert read_years("2019-2022") == (2019, 2022) == read_years(" 2019–2022 ")
    assert (read_years("2021"), read_years("")) == ((2021, 2021), None)
    for bad in ("2022-2019", "2019-", "x", "-2019", "２０２２"):
        with pytest.raises(ValueError, match="year"):
            read_years(bad)


@pytest.fixture
def exam(db: None) -> Dataset:
    """Physics 2018 to 2023, six open questions of history of 2020, one that is excluded."""
    dataset = make_dataset()
    physics = make_task(dataset, slug="physics")
    for year in range(2018, 2024):
        make_question(physics, year=year)
    history = make_task(
        dataset, slug="history", subject=Subject.HISTORY, question_type=QuestionType.OPEN_ENDED
    )
    for _ in range(6):
        make_question(history, stem="Why?")
    Question.objects.filter(pk=make_question(physics).pk).update(status="excluded")
    return dataset


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({}, {"physics": 6, "history": 6}),
        ({"tasks": ["physics"]}, {"physics": 6}),
        ({"subjects": ["History"]}, {"history": 6}),
        ({"part": "objective"}, {"physics": 6}),
        ({"years": [2019, 2020]}, {"physics": 2, "history": 6}),
        ({"query": "q=Why%3F&sort=-year&labels=missing"}, {"history": 6}),
        ({"query": "labels=complete", "tasks": ["physics"]}, "matches this choice"),
        ({"limit": 3, "years": [2018, 2020]}, {"physics": 2, "history": 1}),
        ({"sample": 6, "stratified_by": "task"}, {"physics": 3, "history": 3}),
        ({"sample": 4, "stratified_by": "year", "tasks": ["physics"]}, {"physics": 4}),
        ({"sample": 99}, {"physics": 6, "history": 6}),
        ({"tasks": ["none"]}, "no task none. Tasks: history, physics"),
        ({"subjects": ["Chess"]}, "no subject Chess"),
        ({"part": "oral"}, "no part oral"),
        ({"query": "colour=red"}, "no parameter called colour"),
        ({"query": "labels=red"}, "no such value"),
        ({"ids": ["7"]}, "ids of questions"),
        ({"sample": 0}, "size of the sample"),
        ({"stratified_by": "colour"}, "task, subject, year"),
        ({"years": [2020, 2019]}, "first year"),
    ],
)
def test_what_a_choice_takes(exam: Dataset, choice: dict[str, Any], expected: object) -> None:
    if isinstance(expected, str):
        with pytest.raises(BadInput, match=expected):
            chosen_questions(exam, read_choice(choice))
        return
    counts = counted(chosen_questions(exam, read_choice(choice)))
    assert {one.task: one.questions for one in counts} == expected


def test_a_choice_is_frozen_with_its_run(exam: Dataset, endpoint: Endpoint) -> None:
    ids = tuple(str(one.public_id) for one in Question.objects.filter(task__slug="physics")[:5])
    choice = QuestionChoice(ids=ids, sample=3, random_seed=11, years=(2018, 2022))
    run = start_run(endpoint=endpoint, dataset=exam, acting_user=None, choice=choice)
    assert read_choice(run.run_settings["choice"]) == choice
    asked = [job.question for job in Job.objects.filter(run=run).order_by("pk")]
    assert asked == chosen_questions(exam, choice)
    assert len(asked) == 3
    assert {str(one.public_id) for one in asked} < set(ids)
    trial = chosen_questions(exam, trial_of(QuestionChoice()))
    assert [(one.task, one.questions) for one in counted(trial)] == [("history", 5), ("physics", 5)]


def test_a_trial_is_drawn_over_all_tasks_and_subjects() -> None:
    """Of 32 tasks of ten subjects each subject gives one; of twenty without subjects ten do."""
    subjects = {f"t{n}:{k}": (f"t{n}", f"s{n % 10}") for n in range(32) for k in range(30)}
    ten = drawn_over(subjects, 10, 1)
    assert len({subjects[key][1] for key in ten}) == len(ten) == 10
    assert ten == drawn_over(dict(reversed(subjects.items())), 10, 1), "in any order"
    assert ten != drawn_over(subjects, 10, 2)
    plain = {f"t{n}:{k}": (f"t{n}", "") for n in range(20) for k in range(5)}
    tasks = {plain[key][0] for key in drawn_over(plain, 10, 0)}
    assert len(tasks) == 10
    assert tasks != {f"t{n}" for n in range(10)}
    assert drawn_over(plain, 1000, 0) == set(plain)
    one_task = {str(n): ("t", f"s{n % 3}") for n in range(90)}
    shares = Counter(one_task[key][1] for key in drawn_over(one_task, 9, 5))
    assert shares == {"s0": 3, "s1": 3, "s2": 3}


@pytest.mark.django_db
def test_after_a_trial_the_estimate_of_the_sample_exam_is_within_a_quarter(
    server: ScriptedServer,
) -> None:
    """Calls, tokens and cost of the whole exam, by the ten calls of the trial."""
    import_questions("jsonl", settings.BASE_DIR / "questions" / "sample" / "gradeapp-sample")
    exam = Dataset.objects.get()
    endpoint = scripted_endpoint(server, price_input=Decimal(2), price_output=Decimal(8))
    worked(start_run(endpoint=endpoint, dataset=exam, acting_user=None, trial=True))
    made = estimate(endpoint=endpoint, dataset=exam, repeats=1).answering
    assert made.earlier_calls == 10
    run = worked(start_run(endpoint=endpoint, dataset=exam, acting_user=None))
    calls = Attempt.objects.filter(job__run=run, status="answered")
    assert made.calls == calls.count()
    sums = calls.aggregate(
        tokens=Sum("prompt_tokens") + Sum("completion_tokens"), cost=exact_sum("cost")
    )
    assert made.tokens == pytest.approx(sums["tokens"], rel=0.25)
    assert float(made.expected) == pytest.approx(float(amount_of(sums["cost"])), rel=0.25)
