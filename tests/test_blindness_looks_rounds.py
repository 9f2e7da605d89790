"""Looks at pages of a round count in every other over the same questions, whatever its state.

A lead who may mark too reads a page of one round, another lead plans the next one with them, and
is refused. Rounds are planned, started and returned over HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from evaluations.facts.looks import PLAN
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import Look, MarkingRound, Response
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability as C
from gradeapp.accounts.roles import Role
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    responses_to,
    round_over,
    subjective_question,
)
from tests.factories import make_response
from tests.test_authorization import NOBODY, ROUTES, TABLE
from tests.test_blindness_oracles import GPT, QWEN
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(third_teacher: User) -> User:
    """A lead who may mark too."""
    return also(third_teacher, [Role.LEAD])


def sent(
    lead: User, chosen: Sequence[Response], people: Sequence[User], **fields: Any
) -> tuple[int, dict[str, Any]]:
    """Status and answer when *lead* plans a round of *people* over the runs of *chosen*."""
    body = {"name": "Soon", "random_seed": 7, "scheme": "mean", "repeat_share": "0"}
    body |= {"runs": sorted({one.run_id for one in chosen}), "window_minutes": 0}
    body |= {"teachers": [one.username for one in people]} | fields
    answer = logged_in(lead).post("/api/v1/rounds/", body, content_type="application/json")
    return answer.status_code, json.loads(answer.content)


def planned(lead: User, chosen: Sequence[Response], people: Sequence[User], **fields: Any) -> str:
    """The page of a round that *lead* has planned."""
    status, made = sent(lead, chosen, people, **fields)
    assert status == 201, made
    return f"/rounds/{made['id']}/"


def started(lead: User, chosen: Sequence[Response], people: Sequence[User], **fields: Any) -> str:
    """The page of a round that *lead* has planned and started."""
    page = planned(lead, chosen, people, **fields)
    assert logged_in(lead).post(f"/api/v1{page}start/").status_code == 200
    return page


def test_who_marks_reads_of_no_teacher_when_they_start_the_round(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Neither before nor in the answer to the start: it counts the checks of each apart."""
    person, question = also(teacher, [Role.LEAD]), subjective_question()
    chosen = [*responses_to(question, 2), *responses_to(question, 2, "another-model")]
    page = planned(lead, chosen, [person, other_teacher])
    assert logged_in(lead).get(f"/api/v1{page}").json()["teachers"]
    client = logged_in(person)
    assert client.get(f"/api/v1{page}").json()["teachers"] == []
    begun = client.post(f"/api/v1{page}start/").json()
    assert (begun["status"], begun["teachers"]) == ("open", [])
    assert logged_in(lead).get(f"/api/v1{page}").json()["teachers"]


def may_mark(lead: User, chosen: Sequence[Response], people: Sequence[User]) -> bool:
    """Whether *lead* can plan a round of *people* over *chosen*; it is not kept."""
    before = transaction.savepoint()
    status, answer = sent(lead, chosen, people)
    transaction.savepoint_rollback(before)
    assert status == 201 or answer["code"] == "looked", answer
    return status == 201


def round_at(page: str) -> MarkingRound:
    """The round that has this page."""
    return MarkingRound.objects.get(public_id=page.split("/")[2])


def marked(made: MarkingRound, people: Sequence[User]) -> None:
    """Give the same mark of each of *people* to all of a round."""
    for answer in answers_of(made):
        for person in people:
            give(answer, person, ["3", "3", "3"])


@pytest.mark.parametrize("practice", [False, True])
def test_references_of_seed_answers_tell_final_marks(
    practice: bool, teacher: User, other_teacher: User, reader: User, lead: User
) -> None:
    """The round has no mark yet, and those that its page shows are of another one."""
    question, pair = subjective_question(), [teacher, other_teacher]
    theirs, own = responses_to(question, 1, QWEN), responses_to(question, 1)
    past = round_over(theirs, pair, name="The past one")
    marked(past, pair)
    close_round(past, acting_user=None, now=timezone.now())
    page = planned(lead, own, pair, seeds_taken=1, practice=practice)
    assert may_mark(lead, theirs, [reader, other_teacher])
    assert "The past one" in logged_in(reader).get(f"{page}seeds/").text
    assert not may_mark(lead, theirs, [reader, other_teacher])
    assert may_mark(lead, theirs, pair)


def test_pages_of_a_round_without_a_mark_name_its_models(
    teacher: User, other_teacher: User, reader: User, lead: User
) -> None:
    """Over one model, which is that of each text; its plan tells the same."""
    question, pair = subjective_question(), [teacher, other_teacher]
    own, theirs = responses_to(question, 1), responses_to(question, 1, QWEN)
    page = started(lead, own, pair)
    (answer,) = answers_of(round_at(page))
    for shown in (page, f"{page}responses/{answer.public_id}/", f"{page}monitoring/"):
        before = transaction.savepoint()
        assert may_mark(lead, [*own, *theirs], [reader, other_teacher])
        assert logged_in(reader).get(shown).status_code == 200
        assert not may_mark(lead, [*own, *theirs], [reader, other_teacher]), shown
        transaction.savepoint_rollback(before)
    assert logged_in(reader).get("/rounds/").status_code == 200
    assert may_mark(lead, [*own, *theirs], [reader, other_teacher]), "a list of rounds is no look"
    assert logged_in(teacher).get(f"/marking{page}").status_code == 200
    close_round(round_at(page), acting_user=None, now=timezone.now())
    assert may_mark(lead, [*own, *theirs], pair), "nor is one's own desk"


def test_the_plan_tells_the_model_of_a_question_that_one_alone_answered(
    teacher: User, other_teacher: User, reader: User, lead: User
) -> None:
    """Its page names two models, and the page of a run the tasks that its model has answered."""
    both, alone = subjective_question(), subjective_question(stem="How far does it fall?")
    chosen = [*responses_to(both, 1), *responses_to(both, 1, QWEN)]
    make_response(alone, chosen[0].run, "$s = 1$")
    page = planned(lead, chosen, [teacher, other_teacher])
    later = {one: responses_to(one, 1, "canary-third") for one in (both, alone)}
    people = [reader, other_teacher]
    assert [may_mark(lead, later[one], people) for one in (both, alone)] == [True, True]
    assert logged_in(reader).get(page).status_code == 200
    assert [may_mark(lead, later[one], people) for one in (both, alone)] == [True, False]


def test_pages_of_a_practice_round_are_looks_as_those_of_others(
    teacher: User, other_teacher: User, reader: User, lead: User
) -> None:
    """They tell what judges opened, references, marks of colleagues; its file the models too."""
    question, pair = subjective_question(), [teacher, other_teacher]
    chosen = [*responses_to(question, 1), *responses_to(question, 1, QWEN)]
    page = started(lead, chosen, pair, practice=True)
    marked(round_at(page), pair)
    assert logged_in(teacher).get(f"/marking{page}").status_code == 200
    close_round(round_at(page), acting_user=None, now=timezone.now())
    for shown in (page, f"/api/v1{page}", f"{page}marks.csv"):
        before = transaction.savepoint()
        assert may_mark(lead, chosen, [reader, other_teacher])
        seen = logged_in(reader).get(shown)
        assert seen.status_code == 200
        assert not may_mark(lead, chosen, [reader, other_teacher]), shown
        assert may_mark(lead, chosen, pair), "who practised marks in earnest"
        transaction.savepoint_rollback(before)


def test_marks_that_were_returned_have_been_seen(
    teacher: User, other_teacher: User, reader: User, lead: User
) -> None:
    question, pair = subjective_question(), [teacher, other_teacher]
    chosen = [*responses_to(question, 1), *responses_to(question, 1, QWEN)]
    page = started(lead, chosen, pair)
    marked(round_at(page), pair)
    assert logged_in(reader).get(page).status_code == 200
    for person in pair:
        back = f"{page}monitoring/{person.public_id}/send-back/"
        form = {"since": "2020-01-01T00:00", "to": "same"}
        assert logged_in(lead).post(back, form).status_code == 302
    assert not round_at(page).answers.filter(slots__marked=True).exists()
    assert not may_mark(lead, chosen, [reader, other_teacher])


def test_who_knows_the_runs_of_two_rounds_marks_in_one_of_them(
    reader: User, teacher: User, other_teacher: User, lead: User
) -> None:
    """A text that stands in both is of the model that both have; every other one of the other.

    One is a practice round, or both are not; who planned them or saw their plans is refused, by the
    plan, the start and the addition, and who knows one of them is not.
    """
    question = subjective_question()
    gpt, qwen, glm = (responses_to(question, 1, model)[0] for model in (GPT, QWEN, "canary-glm"))
    fourth = responses_to(question, 1, "canary-yi")[0]
    people = [reader, teacher]
    first = planned(reader, [gpt, qwen], people)
    both = planned(reader, [gpt, glm], people, practice=True)
    same = planned(reader, [gpt, qwen], people, practice=True)
    more = planned(reader, [gpt, qwen, glm, fourth], people)
    trial = planned(reader, [gpt, qwen], people, practice=True)
    seen, unseen = (planned(lead, [qwen, glm], [teacher, other_teacher]) for _ in range(2))
    assert logged_in(reader).get(seen).status_code == 200
    by_lead = logged_in(lead)
    for page, said in ((first, 302), (both, 400), (same, 302), (more, 302), (trial, 302)):
        assert by_lead.post(f"{page}start/").status_code == said, page
    for page, said in ((seen, 400), (unseen, 302)):
        answer = by_lead.post(f"{page}teachers/", {"teachers": [reader.pk]})
        assert answer.status_code == said, answer.text
    status, _made = sent(lead, [qwen, glm], people, practice=True)
    assert status == 201, "a lead's plan that the teacher has not seen"


def test_whatever_a_lead_asks_of_a_round_is_a_look(
    teacher: User, other_teacher: User, reader: User, lead: User
) -> None:
    """Also by a POST, and where it is refused or finds nothing: that tells of a response too.

    What changes the round is answered by a message on the next page, whichever that is.
    """
    question, pair = subjective_question(), [teacher, other_teacher]
    chosen = [*responses_to(question, 1), *responses_to(question, 1, QWEN)]
    made = round_at(started(lead, chosen, pair))
    marked(made, pair)
    known = {
        "round_id": made.public_id,
        "answer_id": answers_of(made)[0].public_id,
        "teacher_id": teacher.public_id,
    }
    client, free = logged_in(reader), set()
    for name, arguments in ROUTES.items():
        row = TABLE.get(name)
        if "round_id" not in arguments or row in (C.MARK, NOBODY):
            continue
        address = reverse(name, kwargs={key: known.get(key, arguments[key]) for key in arguments})
        for method in ("GET", "POST"):
            before = transaction.savepoint()
            status = client.generic(method, address).status_code
            looks = Look.objects.filter(person=reader, round=made).exclude(page=PLAN)
            free |= set() if status == 405 or looks.exists() else {name}
            transaction.savepoint_rollback(before)
    notes = {"rounds:marking-notes", "api-round-marking-notes"}
    assert free == notes, "which every teacher reads at the desk"
