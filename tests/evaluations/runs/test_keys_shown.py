"""A key that stands beside a score is the one that made it, also after a repair."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.models import Response, Run
from evaluations.reading.services.rescoring import rescore
from evaluations.reading.services.scoring import score_responses
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from questions.models import ItemProblem
from questions.rules.vocabulary import Decision
from questions.services.decisions import Repair, decide
from questions.services.reported import report_problem
from tests.conftest import logged_in
from tests.evaluations.report_world import run_of
from tests.evaluations.review_world import review_of
from tests.factories import make_question, make_response, make_task

pytestmark = pytest.mark.django_db
INSTEAD = "repaired: A instead of C"


@pytest.fixture
def repaired(curator: User) -> tuple[Run, ItemProblem]:
    """The answer C to the key C, which was repaired to A, and then C to the repaired key."""
    run = run_of("canary-alpha")
    question = make_question(make_task(run.dataset), key=("C",))
    score_responses([make_response(question, run, "【答案】C")])
    problem = report_problem(question, "the key", quarantines=False, acting_user=curator)
    repair = Repair(answer_key=("A",))
    decide(problem, Decision.REPAIR, "misprint", acting_user=curator, repair=repair)
    question.refresh_from_db()
    score_responses([make_response(question, run, "【答案】C", repeat=2)])
    rescore("strict")
    return run, problem


def words(page: str) -> str:
    """What a person reads of *page*."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def tables(client: Client, response: Response) -> tuple[str, list[str]]:
    """The fold with the key, and the row of each policy on the page of *response*."""
    page = client.get(reverse("runs:response", args=[response.public_id])).text
    fold = page[page.index("Answer key and analysis") :]
    rows = re.findall(r'<tr><td class="number">1</td>.*?</tr>', page, re.DOTALL)
    return words(fold[: fold.index("</details>")]), [words(row) for row in rows]


def test_a_response(repaired: tuple[Run, ItemProblem], lead: User, curator: User) -> None:
    run, problem = repaired
    client = logged_in(lead)
    for response in run.responses.all():
        fold, rows = tables(client, response)
        assert fold.startswith(f"Answer key and analysis A {INSTEAD}")
        assert sorted(rows) == [f"1 C A {INSTEAD} 0 / 6", "1 C C 6 / 6"]
    decide(problem, Decision.KEEP, "no, C", acting_user=curator)
    rescore("strict")
    for response in run.responses.all():
        fold, rows = tables(client, response)
        assert fold.startswith("Answer key and analysis C")
        assert "repaired" not in fold
        assert rows == ["1 C C 6 / 6"] * 2


def test_the_words_in_chinese(repaired: tuple[Run, ItemProblem], lead: User) -> None:
    client = logged_in(lead)
    address = reverse("runs:response", args=[repaired[0].responses.first().public_id])
    page = client.get(address, headers={"Accept-Language": "zh-hans"}).text
    assert "已修正：A，原为C" in page


def test_responses_side_by_side(repaired: tuple[Run, ItemProblem], lead: User) -> None:
    question = repaired[1].question
    page = logged_in(lead).get(reverse("runs:compare", args=[question.public_id])).text
    assert words(page).count(f"Points, strict 0 / 6 Key A {INSTEAD}") == 2


def test_the_comparison_of_policies_and_its_file(
    repaired: tuple[Run, ItemProblem], lead: User
) -> None:
    run, _problem = repaired
    client = logged_in(lead)
    page = words(client.get(reverse("scoring:policies", args=[run.pk])).text)
    assert page.count(f"C {INSTEAD} C") == 2
    file = client.get(reverse("scoring:policies-export", args=[run.pk])).text
    rows = list(csv.DictReader(io.StringIO(file.removeprefix("\ufeff"))))
    assert [(row["key"], row["strict_key"]) for row in rows] == [("C", "A")] * 2


@pytest.mark.parametrize("policy", Policy)
def test_the_desk_of_error_analysis(
    repaired: tuple[Run, ItemProblem], policy: Policy, teacher: User
) -> None:
    """Under published the wrong answer is A, to the repaired key and by the published one."""
    run, problem = repaired
    problem.question.refresh_from_db()
    score_responses([make_response(problem.question, run, "【答案】A", repeat=3)])
    review = review_of(run, [teacher], policy=policy)
    client = logged_in(teacher)
    desk = client.post(reverse("reviewing:next", args=[review.public_id]))["Location"]
    page = client.get(desk).text
    key = page[page.index('id="part-key"') :]
    shown = words(key[key.index(">") + 1 : key.index("</section>")])
    assert shown == ("Answer key C" if policy == "published" else f"Answer key A {INSTEAD}")
