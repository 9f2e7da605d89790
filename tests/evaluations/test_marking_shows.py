"""A round over published answers, marked by four scripted teachers through the real pages.

The final marks are those of a table made by hand, under each of the four schemes.
With ``GRADEAPP_FULL=yes`` every round has 60 responses; else only that of the default
scheme does.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from bench.browsing import form_in
from evaluations.models import BlindAnswer, MarkingRound, Run, Slot
from evaluations.models.vocabulary import AnswerRole, SlotKind
from evaluations.rules.marking.arbitration import Rule
from evaluations.rules.marking.scheme import Scheme
from evaluations.selectors.round_choice import ResponseChoice
from evaluations.services.answer_imports import import_answers
from evaluations.services.rounds import open_round
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.services.imports import import_questions
from tests.conftest import logged_in
from tests.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.shareddata]
FULL = os.environ.get("GRADEAPP_FULL") == "yes"
HTMX = {"HX-Request": "true"}
BIOLOGY = "2010-2022_Biology_Open-ended_Questions.json"
TWO, SINGLE, LEAD = Rule.MEAN_OF_TWO, Rule.SINGLE, Rule.ARBITRATION


@dataclass(frozen=True)
class Script:
    """What is given to a response, in the order of its marks, and what it comes to."""

    teachers: str
    final: str
    rule: Rule
    lead: str = ""

    def given(self, kind: str) -> str:
        """The mark of a slot of this *kind*; a self-repeat gets what comes to hand."""
        marks = self.teachers.split()
        places = {SlotKind.SECOND.value: 1, SlotKind.THIRD.value: 2}
        return marks[places.get(kind, 0)]


# By hand, with a tolerance of 1 point. Every item has 6 points or more.
TABLE = {
    Scheme.SINGLE: [
        Script("3.5", "3.5", SINGLE),
        Script("0", "0", SINGLE),
        Script("6", "6", SINGLE),
    ],
    Scheme.MEAN: [
        Script("4 5", "4.5", TWO),
        Script("0 6", "3", TWO),  # whatever the difference
        Script("2.5 3", "2.75", TWO),  # quarter points
    ],
    Scheme.TWO_AND_LEAD: [
        Script("4 5", "4.5", TWO),  # the difference equals the tolerance
        Script("4.5 4", "4.25", TWO),
        Script("4 5.5", "5", LEAD, lead="5"),
        Script("6 0", "3.5", LEAD, lead="3.5"),
    ],
    Scheme.THREE_AND_LEAD: [
        Script("4 5", "4.5", TWO),  # the difference equals the tolerance
        Script("4 4.5", "4.25", TWO),  # quarter points
        Script("4 6 5", "5", Rule.THIRD_MIDWAY),
        Script("3 6 4.5", "5.5", LEAD, lead="5.5"),  # equally near to both, and too far
        Script("0 5 2", "2.5", LEAD, lead="2.5"),  # near to none
        Script("2 5.5 5", "5.25", Rule.CLOSEST_2_3),
        Script("6 3 5.5", "5.75", Rule.CLOSEST_1_3),
        Script("4 5.5 5", "5.25", Rule.CLOSEST_2_3),  # passes with both, nearer to one
    ],
}


@pytest.fixture
def run(shared_data: Path, tmp_path: Path) -> Run:
    """The answers of gpt-4-0314 to the open biology questions, as they were published."""
    bench = shared_data / "gaokao-bench"
    for folder, name in [
        (Path("Data") / "Subjective_Questions", BIOLOGY),
        (Path("Results") / "gpt_4_0314_sub", f"gpt-4-0314_{BIOLOGY}"),
    ]:
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(bench / folder / name, tmp_path / folder / name)
    import_questions("gaokao-bench", tmp_path)
    import_answers("gaokao-bench", tmp_path / "Results")
    return Run.objects.get()


def opened(run: Run, scheme: Scheme, teachers: list[User]) -> MarkingRound:
    size = 60 if FULL or scheme is Scheme.THREE_AND_LEAD else 2 * len(TABLE[scheme])
    return open_round(
        name="Biology",
        responses=ResponseChoice(runs=(run.pk,), per_task=size),
        teachers=teachers,
        scheme=scheme,
        tolerance_points=Decimal(1),
        tolerance_share=Decimal(0),
        random_seed=11,
        acting_user=None,
    )


def scripts(made: MarkingRound) -> dict[int, Script]:
    """The line of the table for each response, turn by turn; a repeat has that of its first."""
    lines = cycle(TABLE[Scheme(made.scheme)])
    answers = made.answers.filter(role=AnswerRole.ANSWER).order_by("alias")
    return {answer.pk: script for answer, script in zip(answers, lines, strict=False)}


class Desk:
    """One teacher at the desk, who gives what the script of each response says."""

    def __init__(self, person: User, made: MarkingRound, script: dict[int, Script]) -> None:
        self.person, self.script = person, script
        self.client = logged_in(person)
        self.next = reverse("marking:next", args=[made.public_id])
        self.page = ""

    def mark_one(self) -> bool:
        """Save one mark and see the next response; False when there is none to mark."""
        if 'id="marks"' not in self.page:
            self.page = self.client.post(self.next, headers=HTMX).text
        if 'id="marks"' not in self.page:
            return False
        form = form_in(self.page, "/save/")
        slot = Slot.objects.select_related("answer").get(
            answer__public_id=form.fields["answer"], holder=self.person
        )
        script = self.script[slot.answer.repeat_of_id or slot.answer_id]
        sent = form.fields | {"total": script.given(slot.kind), "seconds": "30"}
        saved = self.client.post(form.action, sent, headers=HTMX)
        assert saved.status_code == 200, saved.text
        self.page = saved.text
        return True


def decided(client: Client, made: MarkingRound, script: dict[int, Script]) -> int:
    """How many responses the lead's page asked for a decision, each given by its script."""
    queue, number = reverse("rounds:arbitration", args=[made.public_id]), 0
    while (shown := client.get(queue)).status_code == 302:
        page = client.get(shown.headers["Location"]).text
        form = page[page.index('id="decision"') :]
        sent = dict(re.findall(r'name="(answer|key|seen)" value="([^"]*)"', form))
        answer = BlindAnswer.objects.get(public_id=sent["answer"])
        sent |= {"decision": "own", "reason": "slip", "total": script[answer.pk].lead}
        assert client.post(shown.headers["Location"], sent | {"comment": ""}).status_code == 302
        number += 1
    return number


def finals(made: MarkingRound) -> Iterator[tuple[int, tuple[Decimal, str]]]:
    for answer in made.answers.filter(role=AnswerRole.ANSWER).select_related("final"):
        assert answer.final, f"{answer} has no final mark"
        yield answer.pk, (answer.final.value, answer.final.rule)


@pytest.mark.parametrize("scheme", list(Scheme), ids=str)
def test_a_round_comes_out_as_the_table_says(scheme: Scheme, run: Run, lead: User) -> None:
    teachers = [make_user(Role.TEACHER) for _ in range(4)]
    made = opened(run, scheme, teachers)
    script = scripts(made)
    desks = [Desk(person, made, script) for person in teachers]
    while sum(desk.mark_one() for desk in desks):  # in turn, until nobody gets anything
        pass
    arbitrated = decided(logged_in(lead), made, script)
    expected = {key: (Decimal(one.final), one.rule.value) for key, one in script.items()}
    assert dict(finals(made)) == expected
    assert arbitrated == sum(one.rule is LEAD for one in script.values())
    kinds = Slot.objects.filter(answer__round=made, kind=SlotKind.THIRD, marked=True)
    assert kinds.count() == sum(len(one.teachers.split()) == 3 for one in script.values())
