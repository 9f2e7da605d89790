"""The report says which final marks a lead gave, and which are of earlier or open rounds."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse

from evaluations.models import FinalMark, MarkingRound, Response
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.report_world import judged, mark, run_of, written
from tests.factories import final_mark

pytestmark = pytest.mark.django_db
ROWS = {"dataset": "exam", "subject": "physics", "part": "subjective"}


@pytest.fixture
def answers(db: None) -> list[Response]:
    """Six answers that two teachers agree on: 4 points each."""
    responses = [written(run_of()) for _one in range(6)]
    for response in responses:
        mark(response, "4", "4")
    return responses


def finals(lead: User, **query: str) -> str:
    page = logged_in(lead).get("/reports/", {"dataset": "exam", "marker": "teachers", **query})
    assert page.status_code == 200
    return " ".join(page.text.partition('id="finals"')[2].partition("</ul>")[0].split())


def decided(response: Response, value: str, rule: str = "arbitration") -> FinalMark:
    """A lead's final mark after that of the teachers."""
    answer = response.blind_answers.get()
    number = answer.finals.count() + 1
    fields = {"value": Decimal(value), "full": answer.full_marks, "rule": rule, "number": number}
    return final_mark(answer, **fields)


def test_what_a_lead_decided_is_counted_and_named_on_the_row(
    answers: list[Response], lead: User, curator: User
) -> None:
    assert finals(lead) == "", "two teachers made all of them"
    decided(answers[0], "9.5")
    said = finals(lead)
    assert "6 final marks count as those of teachers." in said
    assert "1 was decided by a lead. 1 of them corrects or follows an earlier final mark" in said
    rows = logged_in(lead).get(reverse("reports:rows"), {"dataset": "exam", "part": "subjective"})
    assert "Arbitration (before: 4)" in rows.text
    answer = answers[0].blind_answers.get()
    marks = reverse("rounds:response", args=[answer.round.public_id, answer.public_id])
    assert f'<a href="{marks}">{answer.round.name}</a>' in rows.text
    of_curator = logged_in(curator).get(reverse("reports:rows"), ROWS | {"subject": ""})
    assert ("Arbitration" in of_curator.text, marks in of_curator.text) == (True, False)


def test_reference_marks_later_rounds_and_open_ones_are_counted(
    answers: list[Response], lead: User
) -> None:
    MarkingRound.objects.filter(answers__response=answers[1]).update(status=RoundStatus.OPEN)
    decided(answers[2], "10", rule="reference mark")
    mark(answers[3], "9", "9")
    said = finals(lead)
    assert "6 final marks count as those of teachers." in said
    assert "1 is the reference mark of a seed answer, given by a lead." in said
    assert "1 final mark of an earlier round is replaced by that of a later round." in said
    assert "1 is from a round that is still open and may change." in said
    first = str(MarkingRound.objects.get(answers__response=answers[0]).public_id)
    assert finals(lead, round=first) == "", "of the chosen round alone"
    judged(answers[0], "3")
    assert finals(lead, marker="judge:canary-judge") == ""


def test_rows_link_to_what_the_reader_may_open(answers: list[Response], curator: User) -> None:
    """A curator sees no responses of runs; they get to the question."""
    client = logged_in(curator)
    page = client.get(reverse("reports:rows"), {"dataset": "exam", "part": "subjective"})
    question = reverse("questions:question", args=[answers[0].question.public_id])
    assert (question in page.text, "/runs/responses/" in page.text) == (True, False)
    assert client.get(question).status_code == 200
