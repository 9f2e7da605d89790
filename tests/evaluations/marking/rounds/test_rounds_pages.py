"""Rounds for leads: who gets in, planning one with its load, its page, closing it."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.models import MarkingRound, Response, Slot
from evaluations.models.vocabulary import AnswerRole, Flag, RoundStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from questions.rules.vocabulary import QuestionType, Subject
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    planned_pair,
    responses_to,
    small_round,
    subjective_question,
)
from tests.factories import make_response, make_run, make_task, make_user

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 3, marking_notes="Half marks.")


def addresses(made: MarkingRound) -> list[tuple[str, str]]:
    answer = answers_of(made)[0]
    key = made.public_id
    return [
        ("get", reverse("rounds:list")),
        ("get", reverse("rounds:new")),
        ("post", reverse("rounds:new")),
        ("get", reverse("rounds:round", args=[key])),
        ("post", reverse("rounds:close", args=[key])),
        ("post", reverse("rounds:pause", args=[key])),
        ("post", reverse("rounds:resume", args=[key])),
        ("post", reverse("rounds:deadline", args=[key])),
        ("post", reverse("rounds:teachers", args=[key])),
        ("get", reverse("rounds:marking-notes", args=[key])),
        ("post", reverse("rounds:marking-notes", args=[key])),
        ("get", reverse("rounds:seeds", args=[key])),
        ("get", reverse("rounds:arbitration", args=[key])),
        ("get", reverse("rounds:response", args=[key, answer.public_id])),
        ("post", reverse("rounds:response", args=[key, answer.public_id])),
    ]


@pytest.mark.parametrize("who", ["teacher", "third_teacher", "curator", "outsider"])
def test_only_leads_see_rounds(
    who: str, made: MarkingRound, request: pytest.FixtureRequest
) -> None:
    client = logged_in(request.getfixturevalue(who))
    for method, where in addresses(made):
        assert getattr(client, method)(where).status_code == 403, where
    made.refresh_from_db()
    assert made.status == RoundStatus.OPEN


def test_who_is_not_logged_in_is_sent_to_the_login(client: Client, made: MarkingRound) -> None:
    for method, where in addresses(made):
        response = getattr(client, method)(where)
        assert (response.status_code, response["Location"][:7]) == (302, "/login/")


@pytest.mark.parametrize("who", ["lead", "admin"])
def test_leads_and_admins_see_rounds(
    who: str, made: MarkingRound, request: pytest.FixtureRequest
) -> None:
    client = logged_in(request.getfixturevalue(who))
    for method, where in addresses(made):
        if method == "get":
            assert client.get(where).status_code == 200, where
    assert "Round 4" in client.get(reverse("rounds:list")).text


def test_a_lead_who_marks_in_an_open_round_does_not_see_its_marks(
    made: MarkingRound, teacher: User
) -> None:
    ensure_user(teacher.username, roles=[Role.TEACHER, Role.LEAD])
    client = logged_in(User.objects.get(pk=teacher.pk))
    for method, where in addresses(made)[3:]:
        assert getattr(client, method)(where).status_code == 403, where
    MarkingRound.objects.update(status=RoundStatus.CLOSED)
    assert client.get(addresses(made)[3][1]).status_code == 200


def test_what_does_not_exist_is_not_found(made: MarkingRound, lead: User) -> None:
    import uuid

    client = logged_in(lead)
    nothing = uuid.uuid4()
    assert client.get(reverse("rounds:round", args=[nothing])).status_code == 404
    response = reverse("rounds:response", args=[made.public_id, nothing])
    assert client.get(response).status_code == 404


def test_without_rounds_the_list_says_what_to_do(lead: User) -> None:
    page = logged_in(lead).get(reverse("rounds:list")).text
    assert "No rounds yet" in page
    assert reverse("rounds:new") in page


def form_for(people: list[User], /, **fields: Any) -> dict[str, Any]:
    runs = {response.run_id for response in responses_to(subjective_question(), 3)}
    return {
        "name": "Physics, first batch",
        "runs": sorted(runs),
        "teachers": [teacher.pk for teacher in people],
        "scheme": "2+1",
        "tolerance_points": "1",
        "tolerance_percent": "10",
        "mark_step": "0.5",
        "lease_minutes": "30",
        "repeat_percent": "1",
        "marking_notes": "Half marks.",
        "random_seed": "7",
    } | fields


def cells(page: str) -> list[list[str]]:
    """The rows of the load's table as text."""
    body = page.split("<tbody>", 1)[1].split("</tbody>", 1)[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", one).strip() for one in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in rows
    ]


def test_the_load_is_said_before_the_round_is_planned(
    lead: User, teacher: User, other_teacher: User
) -> None:
    client = logged_in(lead)
    sent = form_for([teacher, other_teacher]) | {"preview": "yes"}
    fragment = client.post(reverse("rounds:new"), sent, headers=HTMX).text
    assert (
        "Responses: <strong>3</strong>, questions: 1, marks needed: <strong>6</strong>" in fragment
    )
    # Each marks all three, one or two of them first; 2 minutes each are assumed.
    rows = cells(fragment)
    assert [row[0] for row in rows] == ["tao", "wei"]
    assert sorted(row[1:3] for row in rows) == [["1", "2"], ["2", "1"]]
    assert {tuple(row[3:]) for row in rows} == {("0", "0", "3", "≈ 6 min")}
    assert "Assumed: 2 minutes per response" in fragment
    assert "<form" not in fragment
    page = client.post(reverse("rounds:new"), sent)
    assert page.status_code == 200
    assert cells(page.text) == rows
    assert 'value="Physics, first batch"' in page.text
    assert MarkingRound.objects.count() == 0


def test_a_form_that_is_sent_again_leads_to_the_round_it_made(
    lead: User, teacher: User, other_teacher: User
) -> None:
    client = logged_in(lead)
    key = str(client.get(reverse("rounds:new")).context["form"]["key"].value())
    sent = form_for([teacher, other_teacher], key=key)
    places = {client.post(reverse("rounds:new"), sent)["Location"] for _ in range(3)}
    assert places == {reverse("rounds:round", args=[MarkingRound.objects.get().public_id])}
    del sent["key"]
    client.post(reverse("rounds:new"), sent)
    assert MarkingRound.objects.count() == 2, "another form makes another round"


def test_a_form_that_comes_again_with_other_content_is_not_called_created(
    lead: User, teacher: User, other_teacher: User
) -> None:
    client = logged_in(lead)
    key = str(client.get(reverse("rounds:new")).context["form"]["key"].value())
    sent = form_for([teacher, other_teacher], key=key)
    client.post(reverse("rounds:new"), sent)
    other = client.post(reverse("rounds:new"), sent | {"name": "Another"})
    assert other.status_code == 400
    assert "Another round was created from this form." in other.text
    assert 'value="Another"' in other.text, "what was typed stays"
    again = sent | {"name": "Another", "key": other.context["form"]["key"].value()}
    assert client.post(reverse("rounds:new"), again).status_code == 302
    assert MarkingRound.objects.filter(name="Another").exists()


@pytest.mark.parametrize(
    ("twice", "repeat_percent", "warned"),
    [
        (0, "1", True),
        (14, "1", True),  # 16 of 30 questions have one response
        (15, "1", False),
        (0, "0", False),  # nothing comes back
    ],
)
def test_checks_that_their_question_gives_away_are_warned_of(
    twice: int, repeat_percent: str, warned: bool, lead: User, teacher: User, other_teacher: User
) -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    questions = [subjective_question(task=task) for _ in range(30)]
    runs = [make_run(task.dataset, name) for name in ("canary-1", "canary-2")]
    for run, answered in zip(runs, (questions, questions[:twice]), strict=True):
        for question in answered:
            make_response(question, run)
    client = logged_in(lead)
    sent = form_for([teacher, other_teacher], repeat_percent=repeat_percent)
    sent["runs"] = [run.pk for run in runs if run.responses.exists()]
    said = "teachers can recognize a check by its question"
    load = client.post(reverse("rounds:new"), sent | {"preview": "yes"}, headers=HTMX).text
    assert (said in load) is warned
    page = client.post(reverse("rounds:new"), sent, follow=True).text
    assert "The round is ready to start" in page
    assert (said in page) is warned


@pytest.mark.parametrize(("teachers", "preset"), [(1, "1"), (2, "2+1"), (3, "2+1+1"), (5, "2+1+1")])
def test_the_scheme_is_preset_to_what_the_teachers_can_do(
    teachers: int, preset: str, lead: User
) -> None:
    for number in range(teachers):
        make_user(Role.TEACHER, f"teacher-{number}")
    page = logged_in(lead).get(reverse("rounds:new")).text
    assert re.findall(r'<option value="([^"]+)" selected>', page)[0] == preset


@pytest.mark.parametrize("runs", [{}, {"runs": []}], ids=["runs", "no runs yet"])
def test_too_few_teachers_are_told_before_the_round_is_planned(
    runs: dict[str, Any], lead: User, teacher: User, other_teacher: User
) -> None:
    client = logged_in(lead)
    sent = form_for([teacher, other_teacher], scheme="2+1+1", preview="yes", **runs)
    warned = client.post(reverse("rounds:new"), sent, headers=HTMX).text
    said = (
        "The scheme “Two teachers, a third, then the lead” needs at least 3 teachers, "
        "and 2 selected."
    )
    assert said in warned
    assert "or use the scheme “Two teachers, then the lead”." in warned
    sent["scheme"] = "2+1"
    assert "needs" not in client.post(reverse("rounds:new"), sent, headers=HTMX).text
    nobody = form_for([], scheme="2+1+1", preview="yes")
    assert "needs" not in client.post(reverse("rounds:new"), nobody, headers=HTMX).text


def test_a_response_that_names_its_model_is_flagged_to_the_lead_alone(
    made: MarkingRound, lead: User, teacher: User
) -> None:
    named, *others = answers_of(made)
    Response.objects.filter(pk=named.response_id).update(text="As ChatGPT, I say $t = 1$.")
    pages = reverse("rounds:round", args=[made.public_id])
    page = logged_in(lead).get(pages).text
    assert page.count("names its model") == 1
    assert "As ChatGPT" in page
    case = logged_in(lead).get(reverse("rounds:response", args=[made.public_id, named.public_id]))
    assert "The response names its model" in case.text
    assert "“As ChatGPT”" in case.text
    other = logged_in(lead).get(
        reverse("rounds:response", args=[made.public_id, others[0].public_id])
    )
    assert "names its model" not in other.text
    for answer in (named, others[0]):
        held_slot(answer, teacher)
        desk = logged_in(teacher).get(reverse("marking:desk", args=[answer.public_id])).text
        assert "names its model" not in desk


@pytest.mark.parametrize("missing", ["runs", "teachers", "random_seed", "per_task", "scheme"])
def test_the_load_of_a_half_filled_form_is_no_error(
    missing: str, lead: User, teacher: User, other_teacher: User
) -> None:
    sent = form_for([teacher, other_teacher]) | {"preview": "yes", missing: "x"}
    response = logged_in(lead).post(reverse("rounds:new"), sent, headers=HTMX)
    assert response.status_code == 200
    assert 'id="load"' in response.text


def test_a_round_is_planned_from_its_form_and_started(
    lead: User, teacher: User, other_teacher: User
) -> None:
    client = logged_in(lead)
    page = client.post(reverse("rounds:new"), form_for([teacher, other_teacher]), follow=True)
    made = MarkingRound.objects.get()
    assert (made.scheme, made.created_by, made.answers.count()) == ("2+1", lead, 3)
    assert (made.random_seed, made.hidden_seed is None) == (7, False)
    assert (str(made.tolerance_share), made.status) == ("0.100", RoundStatus.PLANNED)
    assert "Nobody can mark until you start it" in page.text
    assert "Start round" in page.text
    home = reverse("marking:home")
    assert "Physics, first batch" not in logged_in(teacher).get(home).text
    planned = [row[1:6] for row in cells(page.text)]
    page = client.post(reverse("rounds:start", args=[made.public_id]), follow=True)
    assert "The round has started. Teachers can begin marking." in page.text
    assert "Physics, first batch" in logged_in(teacher).get(home).text
    slots = Slot.objects.filter(answer__round=made)
    for name, row in zip(("tao", "wei"), planned, strict=True):
        own = slots.filter(planned__username=name)
        kinds = [own.filter(kind=kind).count() for kind in ("first", "second", "seed", "repeat")]
        assert [str(number) for number in [*kinds, sum(kinds)]] == row, "as it was said"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "This field is required."),
        ({"runs": []}, "Choose at least one run."),
        ({"teachers": []}, "Choose at least one teacher."),
        ({"scheme": "2+1+1"}, "needs at least 3 teachers, and 2 selected"),
        ({"subjects": ["History"]}, "No subjective response matches"),
        ({"tolerance_percent": "101"}, "less than or equal to 100"),
    ],
)
def test_a_round_that_could_not_work_keeps_the_form(
    fields: dict[str, Any], said: str, lead: User, teacher: User, other_teacher: User
) -> None:
    responses_to(subjective_question(subject=Subject.HISTORY), 1)
    sent = form_for([teacher, other_teacher], **fields)
    response = logged_in(lead).post(reverse("rounds:new"), sent)
    assert response.status_code == 400
    assert said in response.text
    assert "Half marks." in response.text
    assert MarkingRound.objects.count() == 0


def test_the_round_shows_every_response_with_its_marks(made: MarkingRound, lead: User) -> None:
    final, disputed, untouched = answers_of(made)
    for answer, points in ((final, ["3", "3", "5.5"]), (disputed, ["0", "0", "0"])):
        first, second = planned_pair(answer)
        give(answer, first, ["3", "3", "6"], flags=(Flag.CUT_OFF,), seconds=60)
        give(answer, second, points)
    page = logged_in(lead).get(reverse("rounds:round", args=[made.public_id])).text
    for text in (final.alias, disputed.alias, untouched.alias, "11.75", "Mean of two", "Cut off"):
        assert text in page
    assert "Waiting for the lead" in page
    assert "canary-gpt-7f3a" in page, "the lead sees the model"
    assert "tao" in page
    only = logged_in(lead).get(
        reverse("rounds:round", args=[made.public_id]), {"state": "arbitration"}
    )
    assert disputed.alias in only.text
    assert f">{final.alias}<" not in only.text


def test_looking_is_recorded(made: MarkingRound, lead: User) -> None:
    client = logged_in(lead)
    client.get(reverse("rounds:round", args=[made.public_id]))
    answer = answers_of(made)[0]
    client.get(reverse("rounds:response", args=[made.public_id, answer.public_id]))
    looked = AuditEntry.objects.filter(tag="round.looked_at", actor=lead)
    assert [entry.detail["page"] for entry in looked.order_by("id")] == ["round", answer.alias]


def test_the_page_of_a_round_takes_the_same_queries_for_more_responses(
    lead: User, teacher: User, other_teacher: User, django_assert_max_num_queries: Any
) -> None:
    made = small_round([teacher, other_teacher], 12, scheme=Scheme.MEAN)
    for answer in answers_of(made):
        give(answer, teacher, ["1", "1", "1"])
        give(answer, other_teacher, ["1", "1", "1"])
    client = logged_in(lead)
    with django_assert_max_num_queries(31):
        client.get(reverse("rounds:round", args=[made.public_id]))


def test_a_round_is_closed_as_its_page_said(made: MarkingRound, lead: User) -> None:
    """Another lead returned marks meanwhile: final marks would be lost that the page counted."""
    client, where = logged_in(lead), reverse("rounds:close", args=[made.public_id])
    open_ones = made.answers.filter(role=AnswerRole.ANSWER, final=None).count()
    page = client.get(reverse("rounds:round", args=[made.public_id])).text
    assert f'name="without_final" value="{open_ones}"' in page
    fields = {"begun": "yes", "without_final": open_ones - 1}
    refused = client.post(where, fields)
    assert (refused.status_code, f"{open_ones} responses have no" in refused.text) == (409, True)
    made.refresh_from_db()
    assert made.status == RoundStatus.OPEN
    assert client.post(where, fields | {"without_final": open_ones}).status_code == 302


def test_a_round_is_closed_by_a_post_once(made: MarkingRound, lead: User) -> None:
    client = logged_in(lead)
    where = reverse("rounds:close", args=[made.public_id])
    assert client.get(where).status_code == 405
    plan_alone = client.post(where)
    assert plan_alone.status_code == 409, "it was told that nobody marked anything"
    assert "The round has started in the meantime" in plan_alone.text
    begun = {"begun": "yes"}
    assert (
        'name="begun" value="yes"'
        in client.get(reverse("rounds:round", args=[made.public_id])).text
    )
    assert "The round is closed" in client.post(where, begun, follow=True).text
    assert client.post(where, begun).status_code == 409
    made.refresh_from_db()
    assert made.status == RoundStatus.CLOSED
    page = client.get(reverse("rounds:round", args=[made.public_id])).text
    assert "closed without a final mark" in page
    for waits in ("waiting for the lead", "Not marked yet", "Waiting for another mark"):
        assert waits not in page
    (one, *_) = answers_of(made)
    response = client.get(reverse("rounds:response", args=[made.public_id, one.public_id])).text
    assert "The round was closed before this response had a final mark." in response


def test_the_marks_of_a_round_are_a_file_and_taking_it_is_kept(
    teacher: User, other_teacher: User, lead: User
) -> None:
    marking_round = small_round([teacher, other_teacher], 1)
    (answer,) = answers_of(marking_round)
    pair = planned_pair(answer)
    for person, points in zip(pair, (("1", "1", "2"), ("1", "1", "3")), strict=True):
        give(answer, person, points)
    address = reverse("rounds:marks", args=[marking_round.public_id])
    taken = logged_in(lead).get(address)
    rows = list(csv.DictReader(io.StringIO(taken.content.decode("utf-8-sig"))))
    found = [
        (row["response"], row["kind"], row["total"], row["final"], row["rule"]) for row in rows
    ]
    assert found == [
        (answer.alias, "first", "4", "4.5", "mean of two"),
        (answer.alias, "second", "5", "4.5", "mean of two"),
    ]
    entry = AuditEntry.objects.get(tag=Tag.EXPORTED)
    assert (entry.actor, entry.detail["rows"], entry.detail["report"]) == (lead, 2, "marks")
