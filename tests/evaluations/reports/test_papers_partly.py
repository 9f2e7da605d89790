"""Cells of papers that are rebuilt from answers to only some of their questions say so."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command

from evaluations.conditions import ConditionOrigin, PromptSetting
from evaluations.models import Condition, LanguageModel, Response, Run
from evaluations.reading.services.scoring import score_responses
from evaluations.reports.rules import paper_agibench
from evaluations.reports.rules.paper_cells import Loaded, PartFigure, StandIns
from evaluations.reports.rules.paper_sums import exact_by_task, gaps_by, rates_by
from evaluations.reports.rules.published_tables import CellName, Paper, published_paper
from evaluations.statistics.rows import ModelCondition
from gradeapp.accounts.models import User
from questions.models import HumanRate, LabelRevision, Question, Task
from questions.rules.vocabulary import Part, Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import chosen, judged, mark, run_of, written
from tests.factories import make_question, make_response, make_task

PAGE = "/reports/papers/"
GPT = "gpt-4-0314"
Cells = dict[tuple[str, str, str], dict[str, Any]]


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def asked_as(model: str, name: str, dataset: str, setting: str = "") -> Run:
    language_model = LanguageModel.objects.get_or_create(name=model)[0]
    condition = Condition.objects.create(
        name=name,
        language_model=language_model,
        setting=setting,
        origin=ConditionOrigin.IMPORTED,
        fingerprint=f"{model} {name}",
    )
    return run_of(model, dataset, condition=condition)


def output(paper: str, **options: str) -> str:
    out = io.StringIO()
    call_command("report", "paper-tables", paper=paper, stdout=out, **options)
    return out.getvalue()


def cells_of(paper: str, **options: str) -> Cells:
    rows = json.loads(output(paper, format="json", **options))["rows"]
    return {(r["key"]["table"], r["key"]["row"], r["key"]["column"]): r["figures"] for r in rows}


def part(cells: Cells, table: str, row: str, column: str) -> tuple[float, int] | None:
    """How many of how many questions a cell has; None if it has all."""
    figures = cells[table, row, column]
    assert figures["ours"]["value"] is not None, (table, row, column)
    assert (figures["ours"]["reason"] == "partly_answered") == ("answered" in figures)
    answered = figures.get("answered")
    return (answered["value"], answered["n"]) if answered else None


def gaokao() -> None:
    """Four choices and two written answers in each subject, and two questions without answers."""
    run = run_of(GPT, "gaokao-bench")
    for place, subject in enumerate(Subject):
        chosen(run, "A", "A", "B", "C", subject=subject)
        for total in (str(place), "5"):
            mark(answer := written(run, subject), total, total)
            judged(answer, total)
    slugs = list(published_paper(Paper.GAOKAO_BENCH).table("table-8").rows)
    for task, slug in zip(Task.objects.order_by("pk"), slugs, strict=False):
        Task.objects.filter(pk=task.pk).update(slug=slug)
    physics = Question.objects.filter(subject=Subject.PHYSICS)
    for kind in Part:
        make_question(physics.filter(part=kind).first().task)  # type: ignore[union-attr]
    Question.objects.update(year=2020)


@pytest.mark.django_db
def test_totals_and_coefficients_of_gaokao_bench_say_how_much_is_missing(admin: User) -> None:
    gaokao()
    cells = cells_of("gaokao-bench")
    assert part(cells, "table-1", GPT.upper(), "Physics") == (4, 5)
    assert part(cells, "table-1", GPT.upper(), "English") is None
    assert part(cells, "table-2", GPT.upper(), "Physics") == (2, 3)
    whole, lacking = (36, 38), None
    for table, row in (("table-4", GPT.upper()), ("figure-3", f"{GPT.upper()}/2020")):
        marker = "human" if table == "table-4" else "teachers"
        assert part(cells, table, row, f"sciences:{marker}") == whole
        assert part(cells, table, row, f"humanities:{marker}") is lacking
    assert part(cells, "released-totals", GPT.upper(), "sciences") == whole
    assert part(cells, "released-totals", GPT.upper(), "humanities") is None
    assert part(cells, "table-6", "without/spearman", GPT.upper()) == (20, 21)
    client = logged_in(admin)
    for language, words, unit in (
        ("zh-hans", "n = 4 （共5）", "个百分点"),
        ("en", "n = 4 of 5", " pp"),
    ):
        page = client.get(PAGE, {"paper": "gaokao-bench"}, headers={"Accept-Language": language})
        (table,) = re.findall(r'<section[^>]*id="table-1".*?</section>', page.text, re.S)
        # Ours, how much it is of, and the printed one, which differs for that reason.
        assert f"50.0 % {words} * 55.5 % −5.5{unit} 50.0 % 44.4 % +5.6{unit} †" in text_of(table)
        assert re.search(r"· 1 ?(row |行)", text_of(table))
        (table,) = re.findall(r'<section[^>]*id="figure-3".*?</section>', page.text, re.S)
        assert re.search(r"n = 36\D+38", text_of(table)), "also where nothing is printed"
    lines = output("gaokao-bench").splitlines()
    (line,) = [one for one in lines if re.match(r"table-1 +GPT-4-0314 +Physics ", one)]
    assert "50 % n=4, 4 of 5 questions (partly_answered)" in line
    assert "some of the questions have no answer with points" in line
    # The n of a printed cell would be ours.
    (line,) = [one for one in lines if re.match(r"table-1 +LLaMA-7b +Physics ", one)]
    assert line.count("n=") == 1
    file = client.get("/reports/export/paper-tables.csv", {"paper": "gaokao-bench"})
    rows = csv.DictReader(io.StringIO(file.content.decode("utf-8-sig")))
    cell = ("table-1", GPT.upper(), "Physics")
    (row,) = [one for one in rows if (one["table"], one["row"], one["column"]) == cell]
    assert (row["ours_reason"], row["answered"], row["answered_n"]) == ("partly_answered", "4", "5")


@pytest.mark.django_db
def test_repeats_of_agibench_say_how_much_is_missing(admin: User) -> None:
    run = asked_as("GPT-4", "agibench:answer", "agibench")
    first = chosen(run, "A", "A")
    others = []
    for repeat in (2, 3):
        for response in first:
            other = Response(run=run, question=response.question, revision=response.revision)
            other.text, other.repeat, other.finish_reason = "【答案】A <eoa>", repeat, "stop"
            other.save()
            others.append(other)
    score_responses(others)
    assert part(cells_of("agibench", policy="strict"), "figure-6", "GPT-4/answer", "worst") is None
    make_question(first[0].question.task)
    cells = cells_of("agibench", policy="strict")
    assert part(cells, "figure-5", "GPT-4/answer", "all_same") == (2, 3)
    assert part(cells, "figure-6", "GPT-4/answer", "average") == (2, 3)
    page = logged_in(admin).get(PAGE, {"paper": "agibench", "policy": "strict"})
    drawn = [chart.data["series"] for _one, chart, _heads in page.context["tables"] if chart]
    assert {one["name"] for series in drawn for one in series} == {
        "GPT-4 · asked for the answer (n = 2/3)"
    }


@pytest.mark.django_db
def test_rates_and_gains_of_agieval_say_how_much_is_missing() -> None:
    runs = [
        asked_as("GPT-4", setting, "agieval", setting)
        for setting in (PromptSetting.ZERO_SHOT, PromptSetting.FEW_SHOT)
    ]
    task = make_task(runs[0].dataset, slug="lsat-ar")
    questions = [make_question(task) for _ in range(3)]
    score_responses([make_response(one, runs[0], "【答案】A <eoa>") for one in questions])
    score_responses([make_response(one, runs[1], "【答案】A <eoa>") for one in questions[:2]])
    cells = cells_of("agieval", policy="strict")
    assert part(cells, "table-2", "lsat-ar", "zero-shot:GPT-4") is None
    assert part(cells, "table-3", "lsat-ar", "few-shot:GPT-4") == (2, 3)
    # A difference has the questions of the side that is answered least, and the smaller n.
    assert part(cells, "gains", "lsat-ar", "few-shot-gain:GPT-4") == (2, 3)
    assert cells["gains", "lsat-ar", "few-shot-gain:GPT-4"]["ours"]["n"] == 2


def test_pooled_conditions_and_exact_answers_count_questions() -> None:
    """Question 2 is asked under one of two conditions only; no condition has question 3."""
    names = ["model", "condition", "question", "task", "n", "points", "full", "units", "reason"]
    rows = [("m", "a", 1, "t", 1, 1.0, 1.0, 1, ""), ("m", "a", 2, "t", 1, 1.0, 1.0, 1, "")]
    rows.append(("m", "b", 1, "t", 1, 0.0, 1.0, 1, ""))
    answers = pd.DataFrame(rows, columns=names)
    answers = answers.assign(exact_n=1, exact_sum=answers["points"], f1_sum=answers["points"])
    questions = pd.DataFrame({"question": [1, 2, 3], "task": ["t"] * 3})
    found = rates_by(answers, questions, "task")["t"]
    assert isinstance(found, PartFigure)
    assert (found.answered, found.questions, found.reason) == (3, 6, "partly_answered")
    assert found.value == pytest.approx(200 / 3)
    one = answers[answers["condition"] == "a"]
    exact = exact_by_task(one, questions)["t"]["f1"]
    assert isinstance(exact, PartFigure)
    assert (exact.answered, exact.questions, exact.reason) == (2, 3, "partly_answered")
    whole = exact_by_task(one, questions.head(2))["t"]["f1"]
    assert whole.reason is None


@pytest.mark.django_db
def test_the_page_names_the_model_that_a_lead_is_over(admin: User) -> None:
    worse = asked_as("worse", "agibench:answer", "agibench")
    first, second = (one.question for one in chosen(worse, "B", "B"))
    right = asked_as("right", "agibench:answer", "agibench")
    score_responses([make_response(first, right, "【答案】A <eoa>")])
    for question, level, rate in ((first, 1, "0.9"), (second, 2, "0.7")):
        question.label = LabelRevision.objects.create(question=question, difficulty=level)
        question.save(update_fields=["label"])
        HumanRate.objects.create(question=question, value=Decimal(rate), source="people")
    client = logged_in(admin)
    for language, words, unit in (
        ("en", "over {}", " pp"),
        ("zh-hans", "相对于{}", "个百分点"),
    ):
        asked = {"paper": "agibench", "policy": "strict"}
        page = client.get(PAGE, asked, headers={"Accept-Language": language})
        (table,) = re.findall(r'<section[^>]*id="figure-4".*?</section>', page.text, re.S)
        # People 90 and 70 %: 10 below the one that is right, 70 over the one that is not.
        # One question under one of the three prompts of the paper.
        n = "n = 1 of 1 × 3 *" if language == "en" else "n = 1 （共1 × 3） *"
        assert f"−10.00{unit} {words.format('right')} {n} +31.67{unit}" in text_of(table)
        assert f"+70.00{unit} {words.format('worse')} {n} +16.68{unit}" in text_of(table)
        assert "questions × prompts" in text_of(table) or language != "en"


def answers_of(model: str, condition: str, points: dict[int, float | None]) -> list[dict[str, Any]]:
    """A row for each question of *points*; None is an answer without points."""
    return [
        {
            **{"model": model, "condition": condition, "question": question},
            **{"n": int(given is not None), "units": int(given is not None)},
            **{"points": given or 0.0, "full": float(given is not None)},
            "reason": "no_key" if given is None else "",
        }
        for question, given in points.items()
    ]


def test_a_gap_to_people_is_over_the_questions_that_were_answered() -> None:
    """Question 1 is answered twice, 2 once; of 3 no rate of people is known, 4 has no answer."""
    questions = pd.DataFrame({"question": [1, 2, 3, 4], "human": [0.9, 0.5, None, 0.1], "by": "x"})
    rows = answers_of("m", "a", {1: 1.0, 2: 1.0, 3: 0.0}) + answers_of("m", "b", {1: 0.0})
    answers = pd.DataFrame(rows).merge(questions, on="question")
    gap = gaps_by(answers, questions, "by")["x"]
    # 2 of 3 right; people (0.9 + 0.9 + 0.5) / 3.
    assert gap.value == pytest.approx(-10)
    assert isinstance(gap, PartFigure)
    assert (gap.n, gap.answered, gap.questions, gap.reason) == (2, 3, 6, "partly_answered")
    unknown = gaps_by(answers[answers["question"] == 3], questions, "by")
    assert unknown == {}


def agibench_of(points: dict[str, dict[int, float | None]]) -> paper_agibench.Cells:
    """Levels 1 to 4: three, two, one and one questions; level 1 common sense, others reasoning."""
    columns = ["question", "difficulty", "ability_branch", "human"]
    rows = [(1, 1, "common_sense", 0.9), (2, 1, "common_sense", 0.5), (3, 1, "common_sense", 0.1)]
    rows += [(4, 2, "reasoning", 0.6), (5, 2, "reasoning", 0.4), (6, 3, "reasoning", 0.3)]
    questions = pd.DataFrame([*rows, (7, 4, "reasoning", 0.2)], columns=columns)
    questions = questions.assign(knowledge="", subclass="", modal="text", characters=10)
    loaded = [Loaded(ModelCondition(name, "agibench:answer"), imported=True) for name in points]
    given = [
        row for name, own in points.items() for row in answers_of(name, "agibench:answer", own)
    ]
    return paper_agibench.rebuilt(
        paper_agibench.AgibenchMaterial(
            paper=published_paper(Paper.AGIBENCH),
            stand_ins=StandIns({name: name for name in points}, loaded),
            questions=questions,
            answers=pd.DataFrame(given).merge(questions, on="question"),
            repeats=pd.DataFrame(columns=["model", "condition", "question", "repeat", "reason"]),
            patterns={},
        )
    )


def test_the_lead_of_people_is_over_a_model_that_answered_all_of_the_level() -> None:
    cells = agibench_of(
        {
            "GPT-4": {1: 1.0, 2: 0.0, 4: 1.0, 6: None},
            "whole": {1: 1.0, 2: 0.0, 3: 0.0},
        }
    )
    leads = {cell.row: one for cell, one in cells.items() if cell.column == "lead"}
    # Level 1: GPT-4 has 1 of the 2 that it answered, the other model 1 of all 3.
    lead = leads.pop("1")
    # All three questions, under one of three prompts.
    assert (lead.model, lead.figure.n, lead.figure.reason) == ("whole", 3, "partly_answered")
    assert isinstance(lead.figure, PartFigure)
    assert (lead.figure.answered, lead.figure.questions) == (3, 9)
    assert lead.figure.value == pytest.approx(50 - 100 / 3)
    assert {level: (one.figure.value, one.figure.reason) for level, one in leads.items()} == {
        "2": (None, "partly_answered"),
        "3": (None, "no_key"),
        "4": (None, "not_answered"),
        "5": (None, "no_questions"),
    }
    assert cells[CellName("figure-4", "1", "Human")].figure.value == pytest.approx(50)
    assert cells[CellName("figure-4", "4", "GPT-4")].figure.reason == "not_answered"
    assert cells[CellName("table-6", "Understanding/Avg", "GPT-4")].figure.reason == "no_questions"
    table = "table-1", "multi-granularity/observation/2"
    common = cells[CellName(*table, "common sense, GPT-4 minus human")].figure
    reasoning = cells[CellName(*table, "reasoning, human minus GPT-4")].figure
    # People: 0.9 and 0.5 of questions 1 and 2; 0.6 of question 4.
    for figure, value, n, answered, asked in (
        (common, 50 - 70, 2, 2, 9),
        (reasoning, 60 - 100, 1, 1, 12),
    ):
        assert isinstance(figure, PartFigure)
        assert figure.value == pytest.approx(value)
        assert (figure.n, figure.answered, figure.questions) == (n, answered, asked)
        assert figure.reason == "partly_answered"
