"""A dataset that nobody answered, and answers that cannot count: every interface says which it is.

Pages say what is loaded and what to do next; API, files and commands give a reason, not rows.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from evaluations.conditions import Asking
from evaluations.facts.words import reason_words
from evaluations.models import Judge, Judgement
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.rules.paper_sums import minus, plain_mean
from evaluations.reports.selectors.reports import EVERY_REPORT
from evaluations.runs.services.conditions import condition_for
from evaluations.schemes import Scheme
from evaluations.statistics.figure import Figure, missing
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.marking_world import answers_of, give, small_round
from tests.evaluations.report_world import ALPHA, chosen, run_of, written
from tests.factories import (
    make_dataset,
    make_endpoint,
    make_question,
    make_response,
    make_run,
    make_task,
)

pytestmark = pytest.mark.django_db
UNANSWERED = "agibench"
PAGES = ("", "cuts/", "years/", "settings/")
OF_DATASETS = [name for name in EVERY_REPORT if name != "paper-tables"]


def a_dataset_without_answers() -> None:
    """AGIBench with three questions, beside an exam that a model answered."""
    task = make_task(make_dataset(UNANSWERED))
    for _ in range(3):
        make_question(task)
    chosen(run_of(), "A")


def printed(name: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("report", name, stdout=out, **options)
    return out.getvalue()


@pytest.mark.parametrize("place", PAGES)
def test_the_pages_of_reports_say_that_nobody_answered(place: str, admin: User) -> None:
    a_dataset_without_answers()
    page = logged_in(admin).get(f"/reports/{place}", {"dataset": UNANSWERED})
    assert page.status_code == 200
    for words in ("No responses to agibench yet", "3 questions are loaded", "import_answers"):
        assert words in page.text, words
    assert f"/reports/papers/?dataset={UNANSWERED}" in page.text
    assert '<a href="/reports/?dataset=exam">' in page.text, "where there is something to see"
    tab = f'href="/reports/{place}?dataset={UNANSWERED}'
    assert tab in page.text, "the tabs stay with the dataset"


def test_the_next_step_is_a_run_of_the_same_dataset(admin: User) -> None:
    a_dataset_without_answers()
    make_endpoint("one")
    client = logged_in(admin)
    link = f"/runs/new/?dataset={UNANSWERED}"
    assert f'href="{link}"' in client.get("/reports/", {"dataset": UNANSWERED}).text
    assert f'<option value="{UNANSWERED}" selected>' in client.get(link).text


def test_before_any_answer_the_page_names_the_dataset_asked_for(admin: User) -> None:
    make_question(make_task(make_dataset(UNANSWERED)))
    page = logged_in(admin).get("/reports/", {"dataset": UNANSWERED})
    assert "1 question is loaded, but no model has answered it." in page.text
    assert "Datasets with responses" not in page.text
    page = logged_in(admin).get("/reports/")
    assert "No responses to report yet" in page.text


def test_a_name_that_no_dataset_has_is_refused_as_before(admin: User) -> None:
    a_dataset_without_answers()
    assert logged_in(admin).get("/reports/", {"dataset": "nosuch"}).status_code == 400


@pytest.mark.parametrize("name", OF_DATASETS)
def test_a_report_without_rows_has_a_reason(name: str, admin: User) -> None:
    a_dataset_without_answers()
    client = logged_in(admin)
    query = {"dataset": UNANSWERED} | ({"by": "task"} if name == "cuts" else {})
    made = json.loads(client.get(f"/api/v1/reports/{name}/", query).content)
    assert made["rows"] == []
    assert made["params"]["reason"] == "no_responses"
    file = client.get(f"/reports/export/{name}.csv", query).content.decode("utf-8-sig")
    (line,) = csv.DictReader(io.StringIO(file))
    assert (line["dataset"], line["reason"]) == (UNANSWERED, "no_responses")
    text = printed(name, **query)
    assert "No rows: no model has answered questions of this dataset yet." in text


def test_other_reports_without_rows_say_what_they_lack(admin: User) -> None:
    run = run_of(ALPHA, "exam")
    chosen(run, "A", "B")
    written(run)
    make_question(make_task(run.dataset), year=2019)
    lacking = {
        "agreement": "no_mark_pairs",
        "calibration": "no_judged_pairs",
        "gains": "no_two_settings",
    }
    for name, reason in lacking.items():
        made = json.loads(printed(name, dataset="exam", format="json"))
        assert (made["rows"], made["params"]["reason"]) == ([], reason)
        assert "_" not in reason_words(reason)
    made = json.loads(printed("rates", dataset="exam", year=2019, format="json"))
    assert made["params"]["reason"] == "none_chosen"
    made = json.loads(printed("rates", dataset="exam", format="json"))
    assert made["rows"]
    assert "reason" not in made["params"]


def test_reports_that_lack_a_suspended_judge_say_so(teacher: User) -> None:
    """They said that no response has two marks to compare, though each had."""
    made = small_round([teacher], 1, scheme=Scheme.SINGLE)
    (answer,) = answers_of(made)
    give(answer, teacher, ("3", "3", "6"))
    judge = Judge.objects.create(name="strict", suspended_at=timezone.now())
    Judgement.objects.create(
        response=answer.response, judge=judge, total=12, full=12, status="scored"
    )
    for name in ("agreement", "calibration"):
        asked = {"dataset": made.dataset.slug, "format": "json"}
        assert json.loads(printed(name, **asked))["params"]["reason"] == "judge_suspended"
        asked["marker"] = "judge:strict"
        assert json.loads(printed(name, **asked))["params"]["reason"] == "judge_suspended"


def test_the_manifest_of_a_table_without_rows_says_why(admin: User, tmp_path: Any) -> None:
    a_dataset_without_answers()
    file = tmp_path / "scores.csv"
    call_command("export", "scores", dataset=UNANSWERED, output=file, stdout=io.StringIO())
    about = json.loads((tmp_path / "scores.csv.manifest.json").read_text("utf-8"))
    assert (about["rows"], about["parameters"]["reason"]) == (0, "no_responses")


# ---- answers that are loaded, and have no points under the published rules ----


def asked_by_own_prompts(dataset: str, subject: Subject, model: str, task: str) -> None:
    """One right answer of *model* to our own prompt, which the published rules do not score."""
    endpoint = make_endpoint(f"for {dataset}")
    run = make_run(make_dataset(dataset), model, condition=condition_for(endpoint, Asking()))
    question = make_question(make_task(run.dataset, slug=task, subject=subject), key=("A",))
    score_responses([make_response(question, run, "【答案】A <eoa>")])


def why(paper: str) -> dict[tuple[str, str, str], str | None]:
    rows = json.loads(printed("paper-tables", paper=paper, format="json"))["rows"]
    return {
        (row["key"]["table"], row["key"]["row"], row["key"]["column"]): row["figures"]["ours"][
            "reason"
        ]
        for row in rows
        if row["figures"]["ours"]["value"] is None
    }


def test_a_paper_says_that_loaded_answers_were_asked_by_other_prompts() -> None:
    asked_by_own_prompts("gaokao-bench", Subject.PHYSICS, "GPT-4-0314", "2010-2022_Physics_MCQs")
    reasons = why("gaokao-bench")
    assert reasons["table-1", "GPT-4-0314", "Physics"] == "not_published_prompts"
    assert reasons["table-1", "GPT-4-0314", "Overall"] == "not_published_prompts"
    assert reasons["table-1", "GPT-4-0314", "History"] == "no_objective_answers"
    assert reasons["table-1", "LLaMA-7b", "Physics"] == "not_loaded"
    assert reasons["table-2", "GPT-4-0314", "Physics"] == "no_teacher_marks"
    assert reasons["table-5", "GPT-4-0314", "GAOKAO-Bench"] == "not_published_prompts"
    text = printed("paper-tables", paper="gaokao-bench")
    assert "not asked by the benchmark’s published prompts" in text


def test_the_other_papers_say_it_too() -> None:
    asked_by_own_prompts("agieval", Subject.ENGLISH, "GPT-4", "sat-math")
    asked_by_own_prompts("agibench", Subject.PHYSICS, "GPT-4", "agibench")
    agieval = why("agieval")
    assert agieval["table-2", "sat-math", "zero-shot:GPT-4"] == "not_published_prompts"
    assert agieval["table-2", "Average", "zero-shot:GPT-4"] == "not_published_prompts"
    assert agieval["table-2", "math", "zero-shot:GPT-4"] == "no_data"
    agibench = why("agibench")
    own_prompt = {
        reason
        for (table, row, _column), reason in agibench.items()
        if table in ("figure-5", "figure-6") and row.startswith("GPT-4/") and row.count("zero-shot")
    }
    assert own_prompt == {"not_published_prompts"}


def test_a_mean_of_figures_without_a_value_has_their_reason() -> None:
    without = {"a": missing("not_published_prompts"), "b": missing("not_published_prompts")}
    assert plain_mean(without, ["a", "b"], "tasks_missing").reason == "not_published_prompts"
    mixed = without | {"b": Figure(50.0, 2)}
    assert plain_mean(mixed, ["a", "b"], "tasks_missing").reason == "tasks_missing"
    assert minus(mixed["a"], mixed["b"], "no_data").reason == "not_published_prompts"
    assert minus(None, mixed["b"], "no_data").reason == "no_data"
