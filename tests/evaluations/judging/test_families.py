"""Judges and models of one family: the warning before, beside and after, and the figure."""

from __future__ import annotations

import numpy as np
import pytest
from django.urls import reverse

from evaluations.facts.judged_marks import calibration_of
from evaluations.facts.params import ReportParams
from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.models import Judge
from evaluations.statistics.calibration import JudgedMark
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.self_preference import self_preference
from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.evaluations.report_world import JUDGE, judged, mark, run_of, written
from tests.evaluations.reports.test_reports_pages import words
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_dataset, make_question, make_response, make_run, make_task
from tests.scripted_server import ScriptedServer

OWN, OTHER, UNKNOWN = "gpt-3.5-turbo", "qwen-7b", "our-model"


def row(model: str, question: int, points: float, condition: str = "c") -> JudgedMark:
    return JudgedMark(
        judge="gpt-4",
        model=model,
        condition=condition,
        response=question,
        question=question,
        final=4.0,
        points=points,
        full=10.0,
        tolerance=1.0,
        marks=None,
        length=10,
        totals=(points,),
        labels={},
    )


def test_self_preference_is_a_difference_of_differences_by_question() -> None:
    rng = np.random.default_rng(1)
    marks = [row(OWN, q, 6 + q % 2) for q in range(10)]
    marks += [row(OTHER, q, 5) for q in range(8)] + [row("glm-4", 0, 9)]
    marks += [row(UNKNOWN, q, 10) for q in range(10)]  # in no comparison
    marks += [row(OTHER, q, 0, "another condition") for q in range(10)]
    found = self_preference(marks, ModelCondition(OWN, "c"), "GPT", rng)
    # On question 0: 0.2 less the mean of 0.1 and 0.5; on 1 to 7: 0.3 or 0.2 less 0.1.
    apart = [0.2 - 0.3, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2]
    assert found.value == pytest.approx(np.mean(apart), abs=1e-9)
    assert found.n == 8
    assert found.low is not None
    assert found.high is not None
    assert found.low < np.mean(apart) < found.high
    few = self_preference([row(OWN, 1, 6), row(OTHER, 1, 5)], ModelCondition(OWN, "c"), "GPT", rng)
    assert (few.value, few.n, few.low) == (pytest.approx(0.1), 1, None)


@pytest.mark.parametrize(
    ("model", "family", "reason"),
    [
        (OTHER, "GPT", "other_family"),
        (UNKNOWN, "GPT", "family_unknown"),
        (OWN, "", "family_unknown"),
        (OWN, "GPT", "no_other_family"),
    ],
)
def test_self_preference_is_missing_with_a_reason(model: str, family: str, reason: str) -> None:
    asked = ModelCondition(model, "c")
    found = self_preference([row(model, 1, 6)], asked, family, np.random.default_rng(1))
    assert (found.value, found.reason) == (None, reason)


@pytest.mark.django_db
def test_reports_and_calibration_name_the_relatives_of_a_judge(lead: User) -> None:
    runs = {name: run_of(name) for name in (OWN, OTHER)}
    first = written(runs[OWN])
    second = make_response(first.question, runs[OTHER], "因为")
    for response, total in ((first, "8"), (second, "5")):
        mark(response, "4", "6")
        judged(response, total)
    Judge.objects.filter(name=JUDGE).update(name="gpt-4-preview")
    client = logged_in(lead)
    address = "/reports/?dataset=exam&marker=judge:gpt-4-preview"
    said = "The judge model is of the same family as"
    assert f"{said} {OWN} and may favour it" in words(client.get(address).text)
    assert said not in client.get(f"{address}&model={OTHER}").text
    assert said not in client.get("/reports/?dataset=exam&marker=teachers").text
    rows = calibration_of(ReportParams("exam")).rows
    figures = {one.key["model"]: one.figures for one in rows if one.key["value"] == "ALL"}
    assert figures[OWN]["self_preference"].value == pytest.approx(0.3)
    assert figures[OTHER]["self_preference"].reason == "other_family"
    judge = Judge.objects.get()
    page = words(client.get(reverse("judging:calibration", args=[judge.pk])).text)
    assert "Self-preference" in page
    assert "1 question that models of other families answered too" in page


@pytest.mark.django_db
def test_the_pages_of_a_run_warn_before_and_after(server: ScriptedServer, admin: User) -> None:
    question = make_question(make_task(make_dataset(), question_type=QuestionType.OPEN_ENDED))
    run = make_run(question.task.dataset, OWN)
    make_response(question, run=run, text="because")
    near, far = (scripted_endpoint(server, name=name, model=name) for name in ("gpt-4", "qwen-72b"))
    client = logged_in(admin)
    page = words(client.get(reverse("runs:run", args=[run.pk])).text)
    assert "Of the same family as the model of this run, which they may favour: gpt-4." in page
    said = f"The judge model is of the same family as {OWN} (GPT)"
    for endpoint, warned in ((near, True), (far, False)):
        judging = start_judge_run(run, ensure_judge(endpoint), acting_user=None, canaries=0)
        page = words(client.get(reverse("runs:run", args=[judging.pk])).text)
        assert (said in page) is warned
    given = {"dataset": run.dataset.slug, "repeats": 1, "judge": near.pk, "random_seed": 0}
    said = "are of the same family (GPT): it may favour it"
    for endpoint, warned in ((near, True), (far, False)):
        page = words(client.get(reverse("runs:new"), given | {"endpoint": endpoint.pk}).text)
        assert "Calls to the judge model" in page
        assert (said in page) is warned
