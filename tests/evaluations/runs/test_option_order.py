"""Options in another order: who chooses by letter, and who by content."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from django.test import Client

from evaluations.conditions import Asking, OptionOrder
from evaluations.facts.params import ReportParams
from evaluations.models import Response, Run
from evaluations.reading.selectors.ablation import ablation
from evaluations.reports.selectors.reports import build_report
from evaluations.runs.rules.option_order import (
    as_printed,
    as_shown,
    can_reorder,
    reordered,
    shown_order,
)
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.roles import Role
from questions.models import Question, QuestionRevision
from tests.evaluations.run_world import scripted_endpoint, worked
from tests.factories import make_dataset, make_question, make_task, make_user
from tests.scripted_server import Fault, ScriptedServer, saying

FOUR = ["one", "two", "three", "four"]
ROTATED, SHUFFLED = OptionOrder.ROTATED, OptionOrder.SHUFFLED


def order(how: OptionOrder, repeat: int, question: str = "task/1", seed: int = 7) -> str:
    return shown_order("ABCD", FOUR, order=how, question=question, repeat=repeat, random_seed=seed)


def test_orders_are_rotated_by_the_repeat_or_drawn_from_the_seed() -> None:
    assert [order(ROTATED, repeat) for repeat in range(1, 6)] == ["", "BCDA", "CDAB", "DABC", ""]
    assert order(OptionOrder.PRINTED, 2) == ""
    drawn = Counter(order(SHUFFLED, 1, f"task/{number}") for number in range(2400))
    assert len(drawn) == 24, "every permutation comes"
    assert 50 < min(drawn.values()) <= max(drawn.values()) < 150, "each about 100 times"
    assert order(SHUFFLED, 3) == order(SHUFFLED, 3)
    assert len({order(SHUFFLED, 1, seed=seed) for seed in range(20)}) > 10


def test_letters_are_mapped_there_and_back() -> None:
    assert reordered(FOUR, "ABCD", "CDAB") == ["three", "four", "one", "two"]
    # At the shown A stands the printed C.
    assert as_printed(["A", "BD", None, "F"], "ABCD", "CDAB") == ("C", "BD", None, "F")
    assert as_shown(["C", "AB"], "ABCD", "CDAB") == ("A", "CD")
    assert as_printed(["A", None], "ABCD", "") == ("A", None)


@pytest.mark.parametrize(
    ("options", "may"),
    [
        (FOUR, True),
        (["氧气", "氢气", "氮气", "氦气"], True),
        ([], False),
        (FOUR[:3], False),
        ([*FOUR[:3], "以上都不对"], False),
        ([*FOUR[:3], "all of the above"], False),
        ([*FOUR[:3], "both A and C"], False),
        ([*FOUR[:3], "A、B 都对"], False),
        (["vitamin A and sugar", *FOUR[1:]], True),
    ],
)
def test_options_that_name_others_keep_their_places(options: list[str], may: bool) -> None:
    assert can_reorder("ABCD", options) is may


def by_letter(_prompt: str) -> Fault:
    return saying("【答案】A<eoa>")


def by_content(prompt: str) -> Fault:
    """The option that says "right", wherever it stands."""
    found = re.search(r"^([A-D])\. right$", prompt, re.MULTILINE)
    return saying(f"【答案】{found[1] if found else 'A'}<eoa>")


def exam() -> list[Question]:
    """Eight questions with their options apart, two for each letter of the key; one without."""
    task = make_task(make_dataset("moved"))
    made = []
    for number in range(8):
        key = "ABCD"[number % 4]
        question = make_question(task, key=(key,), stem=f"Which one? ({number})")
        options = [f"wrong {letter}" if letter != key else "right" for letter in "ABCD"]
        QuestionRevision.objects.filter(question=question).update(options=options)
        made.append(question)
    return [*made, make_question(task, key=("A",))]


def asked(server: ScriptedServer, name: str) -> Run:
    run = start_run(
        endpoint=scripted_endpoint(server, name=name, language_model=name),
        dataset=make_dataset("moved"),
        acting_user=None,
        asking=Asking(option_order=ROTATED),
        repeats=4,
    )
    return worked(run)


@pytest.mark.django_db
def test_a_model_that_chooses_by_letter_gets_its_chance_share(
    server: ScriptedServer, client: Client
) -> None:
    questions = exam()
    server.endpoint.faults = by_letter
    run = asked(server, "by letter")
    server.endpoint.faults = by_content
    asked(server, "by content")
    assert run.run_settings["options_as_printed"] == 1

    rows = build_report("repeats", ReportParams("moved")).rows
    found = {row.key["model"]: row.figures for row in rows if row.key["subject"] == "ALL"}
    # Of the eight each option stands at A in one of four repeats; the ninth has A as its key.
    letter, content = found["by letter"], found["by content"]
    assert letter["average"].value == pytest.approx((8 / 4 + 1) / 9)
    assert letter["consistency"].value == pytest.approx(1 / 9)
    assert letter["all_same"].value == pytest.approx(1 / 9)
    assert (content["average"].value, content["consistency"].value) == (1, 1)
    assert (content["consistency"].n, content["majority_paper"].value) == (9, 1)

    second = Response.objects.get(run=run, question=questions[1], repeat=2)
    assert second.option_order == second.attempt.option_order == "BCDA"
    assert second.strict_score is not None
    assert second.strict_score.extraction.answers == ["A"], "as it stands in the reply"
    assert second.strict_score.outcome == "correct", "the key is B, which stood at A"
    client.force_login(make_user(Role.ADMIN))
    page = client.get(f"/runs/responses/{second.public_id}/").content.decode()
    assert "A. right" in page
    assert "A = B, B = C, C = D, D = A" in page
    assert "A → B" in page
    compared = {one.response: one.strict for one in ablation(run).items}
    assert compared[second.pk].answers == ("B",), "the letter of the bank, beside the key"
    assert (
        "as printed, because its options cannot change places"
        in client.get(f"/runs/{run.pk}/").content.decode()
    )
