"""The API of rounds: a lead plans, starts, steers and closes one; nobody else may."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse
from django.test import Client

from evaluations.models import MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from tests.conftest import logged_in
from tests.evaluations.marking_world import responses_to, small_round, subjective_question
from tests.factories import make_dataset, make_task

pytestmark = pytest.mark.django_db
ROUNDS = "/api/v1/rounds/"


def post(client: Client, path: str, body: dict[str, Any] | None = None) -> HttpResponse:
    return client.post(path, body or {}, content_type="application/json")  # type: ignore[return-value]


def plan_for(people: list[User], responses: int = 3, **fields: Any) -> dict[str, Any]:
    """The body that plans a round over so many responses to one question."""
    question = subjective_question()
    runs = [response.run_id for response in responses_to(question, responses)]
    names = [person.username for person in people]
    own = {question.task.slug: "2"}
    return {
        "name": "By machine",
        "runs": runs,
        "teachers": names,
        "scheme": "2+1",
        "task_tolerances": own,
        "random_seed": 7,
    } | fields


PLACES = (ROUNDS, "/rounds/")


def keys() -> list[int]:
    return list(MarkingRound.objects.values_list("pk", flat=True))


def test_aliases_follow_from_no_number_that_somebody_chose_or_can_read(
    lead: User, admin: User, teacher: User, other_teacher: User
) -> None:
    """The seed of another round over the same runs told the aliases of this one."""
    client = logged_in(lead)
    body = plan_for([teacher, other_teacher]) | {"random_seed": 42}
    first, second = (post(client, ROUNDS, body | {"name": name}).json() for name in ("A", "B"))
    post(client, f"{ROUNDS}{first['id']}/start/")
    post(client, f"{ROUNDS}{first['id']}/close/")
    hidden = list(MarkingRound.objects.order_by("pk").values_list("hidden_seed", flat=True))
    assert len({42, *hidden}) == 3
    User.objects.filter(pk=admin.pk).update(is_staff=True, is_superuser=True)
    read = [
        *(client.get(f"{where}{one['id']}/") for one in (first, second) for where in PLACES),
        *(logged_in(admin).get(f"/admin/evaluations/markinground/{pk}/change/") for pk in keys()),
    ]
    assert {page.status_code for page in read} == {200}
    assert not [one for one in hidden for page in read if str(one) in page.text]


def test_a_lead_plans_starts_and_closes_a_round(
    lead: User, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    client = logged_in(lead)
    asked = plan_for([teacher, other_teacher], idempotency_key="once")
    planned = post(client, ROUNDS, asked)
    assert planned.status_code == 201
    body = planned.json()
    assert (body["status"], body["responses"], body["scheme"]) == ("planned", 3, "2+1")
    assert post(client, ROUNDS, asked).json()["id"] == body["id"]
    other = post(client, ROUNDS, asked | {"random_seed": 8})
    assert (other.status_code, other.json()["code"]) == (422, "other_request")
    made = MarkingRound.objects.get()
    assert (made.random_seed, made.hidden_seed is None) == (7, False)
    assert str(made.answers.first().tolerance) == "2.00"  # type: ignore[union-attr]
    one = f"{ROUNDS}{body['id']}/"
    assert post(client, f"{one}start/").json()["status"] == "open"
    assert Slot.objects.count() == 6
    assert post(client, f"{one}pause/").json()["status"] == "paused"
    assert post(client, f"{one}pause/").status_code == 409
    assert post(client, f"{one}resume/").json()["status"] == "open"
    assert post(client, f"{one}deadline/", {"deadline": "9999-12-31T09:00Z"}).status_code == 400
    until = "2099-01-01T12:00:00Z"
    assert (
        post(client, f"{one}deadline/", {"deadline": until})
        .json()["deadline"]
        .startswith("2099-01-01")
    )
    grown = post(client, f"{one}teachers/", {"teachers": [third_teacher.username]}).json()
    assert {row["name"]: row["planned"] for row in grown["teachers"]} == {
        "tao": 2,
        "wei": 2,
        "yan": 2,
    }
    ruled = post(client, f"{one}rulings/", {"text": "Half.", "to_judge": True, "seen": 0}).json()
    assert [(row["number"], row["text"], row["author"]) for row in ruled] == [(1, "Half.", "lin")]
    assert client.get(f"{one}rulings/").json() == ruled
    assert client.get(ROUNDS).json()["results"][0]["house_rulings"] == "Half."
    closed = post(client, f"{one}close/").json()
    assert (closed["status"], client.get(one).json()["closed_at"]) == (
        "closed",
        closed["closed_at"],
    )


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"runs": []}, "runs"),
        ({"teachers": ["nobody"]}, "teachers"),
        ({"teachers": ["lin"]}, "teachers"),  # a lead does not mark
        ({"subjects": ["Alchemy"]}, "subjects"),
        ({"repeat_share": "2"}, "repeat_share"),
        ({"task_tolerances": {"no-such-task": "1"}}, "task_tolerances"),
        ({"tasks": ["no-such-task"]}, "tasks"),
        ({"published": True}, "published"),  # no field of a plan
        ({"years": [2**63]}, "years"),
        ({"deadline": "0001-01-01"}, "deadline"),
        ({"deadline": "0001-01-01T00:00:00+14:00"}, "deadline"),
        ({"deadline": "9999-12-31T23:59:59-14:00"}, "deadline"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_its_field(
    fields: dict[str, Any], named: str, lead: User, teacher: User, other_teacher: User
) -> None:
    answer = post(logged_in(lead), ROUNDS, plan_for([teacher, other_teacher], **fields))
    assert answer.status_code == 400
    assert set(answer.json()) == {named, "code", "detail", "field"}
    assert answer.json()["field"] == named
    assert not MarkingRound.objects.exists()


def test_a_task_is_that_of_the_dataset_of_the_runs(
    lead: User, teacher: User, other_teacher: User
) -> None:
    """The same benchmark under two slugs: the tolerance went to the task of the other dataset."""
    body = plan_for([teacher, other_teacher])
    (slug,) = body["task_tolerances"]
    make_task(make_dataset("later-copy"), slug=slug)
    answer = post(logged_in(lead), ROUNDS, body | {"tasks": [slug]})
    assert answer.status_code == 201, answer.json()
    tolerances = MarkingRound.objects.get().answers.values_list("tolerance", flat=True)
    assert {str(one) for one in tolerances} == {"2.00"}


def test_a_service_says_why_in_a_sentence(lead: User, teacher: User, other_teacher: User) -> None:
    answer = post(logged_in(lead), ROUNDS, plan_for([teacher, other_teacher], scheme="2+1+1"))
    assert (answer.status_code, answer.json()["code"]) == (400, "too_few_teachers")
    unknown = logged_in(lead).get(ROUNDS, {"ordering": "-final"})
    assert unknown.status_code == 400


@pytest.mark.parametrize(
    ("step", "status"),
    [("0.50", 201), (1, 201), ("0.25", 201), ("0.3", 400), (7, 400), ("99.99", 400), (100, 400)],
)
def test_the_mark_step_is_one_that_the_page_offers(
    step: str | float, status: int, lead: User, teacher: User, other_teacher: User
) -> None:
    body = plan_for([teacher, other_teacher], mark_step=step)
    assert post(logged_in(lead), ROUNDS, body).status_code == status
    assert MarkingRound.objects.count() == (status == 201)


def test_a_lead_who_marks_in_the_round_does_not_see_it(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher])
    ensure_user(teacher.username, roles=[Role.TEACHER, Role.LEAD])
    client = logged_in(User.objects.get(pk=teacher.pk))
    one = f"{ROUNDS}{made.public_id}/"
    for path in ("pause/", "close/", "rulings/"):
        assert post(client, one + path).status_code == 403, path
    assert client.get(one).status_code == 403
    made.refresh_from_db()
    assert made.status == RoundStatus.OPEN
    assert client.get(f"{ROUNDS}{uuid4()}/").status_code == 403, "nothing is looked up"
