"""The pages of a round before and after its start: seeds, marking notes, pauses, drafts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.marking.rounds.selectors.round_choice import ResponseChoice, SeedWish
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.models import BlindAnswer, MarkingNotes, MarkingRound, SeedAnswer
from evaluations.models.vocabulary import AnswerRole, RoundStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    responses_to,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def planned(teacher: User, other_teacher: User, lead: User) -> MarkingRound:
    """A planned round with two seed answers that waiting for the lead."""
    responses = responses_to(subjective_question(), 12)
    return plan_round(
        RoundSettings("Plan", 7, scheme=Scheme.TWO_AND_LEAD, seeds=SeedWish(premarked=2)),
        responses=ResponseChoice(tuple(response.run_id for response in responses)),
        teachers=[teacher, other_teacher],
        acting_user=lead,
    )


def seed_page(seed: BlindAnswer) -> str:
    return reverse("rounds:seed", args=[seed.round.public_id, seed.public_id])


def page_of(client: Client, made: MarkingRound) -> str:
    return client.get(reverse("rounds:round", args=[made.public_id])).text


def test_a_lead_marks_seed_answers_one_after_another_and_starts(
    planned: MarkingRound, lead: User
) -> None:
    client = logged_in(lead)
    assert "2 seed answers have no reference mark yet" in page_of(client, planned)
    listed = client.get(reverse("rounds:seeds", args=[planned.public_id])).text
    assert listed.count("needs your mark") == 2
    one, other = planned.answers.filter(role=AnswerRole.SEED).order_by("alias")
    wrong = client.post(seed_page(one), {"point-1": "4", "point-2": "1", "point-3": "1"})
    assert (wrong.status_code, "above its maximum of 3" in wrong.text) == (400, True)
    assert 'value="4"' in wrong.text, "what was typed stays"
    missing = client.post(seed_page(one), {"point-1": "3", "point-2": "", "point-3": "1"})
    assert (missing.status_code, "Enter a mark for every scoring point." in missing.text) == (
        400,
        True,
    )
    given = {"point-1": "3", "point-2": "1.5", "point-3": "6", "comment": "clear"}
    assert client.post(seed_page(one), given)["Location"] == seed_page(other)
    assert 'value="1.5"' in client.get(seed_page(one)).text, "it can be changed until the start"
    last = client.post(seed_page(other), given, follow=True).text
    assert "Every seed answer has its reference mark." in last
    assert "no reference mark yet" not in last
    assert list(SeedAnswer.objects.values_list("total", "author")) == [(10.5, lead.pk)] * 2
    client.post(reverse("rounds:start", args=[planned.public_id]))
    planned.refresh_from_db()
    assert planned.status == RoundStatus.OPEN
    assert "2 seed answers" in page_of(client, planned)
    assert client.post(seed_page(one), given).status_code == 409


def test_starting_with_unmarked_seed_answers_asks_first(planned: MarkingRound, lead: User) -> None:
    client, start = logged_in(lead), reverse("rounds:start", args=[planned.public_id])
    asked = client.post(start)
    assert asked["Location"] == reverse("rounds:round", args=[planned.public_id]) + "?start"
    assert "Start with 2 unmarked seed answers?" in client.get(asked["Location"]).text
    planned.refresh_from_db()
    assert planned.status == RoundStatus.PLANNED
    client.post(start, {"anyway": "yes"})
    planned.refresh_from_db()
    assert planned.status == RoundStatus.OPEN
    assert not planned.answers.filter(role=AnswerRole.SEED).exists()


def test_seeds_stay_hidden_from_a_lead_who_marks_in_the_round(
    planned: MarkingRound, teacher: User
) -> None:
    ensure_user(teacher.username, roles=[Role.TEACHER, Role.LEAD])
    client = logged_in(User.objects.get(pk=teacher.pk))
    seeds = reverse("rounds:seeds", args=[planned.public_id])
    seed = planned.answers.filter(role=AnswerRole.SEED)[0]
    for where in (seeds, seed_page(seed)):
        assert client.get(where).status_code == 403
    page = page_of(client, planned)
    assert seeds not in page
    assert "Start round" in page, "who plans a round may start it"
    told = client.post(reverse("rounds:start", args=[planned.public_id]), follow=True).text
    for said in (page, told):
        assert "have no reference mark" not in said
        assert "unmarked seed" not in said
    assert "if there are any" in told
    client.post(reverse("rounds:start", args=[planned.public_id]), {"anyway": "yes"})
    planned.refresh_from_db()
    assert planned.status == RoundStatus.OPEN


def test_a_round_starts_with_those_who_may_mark(
    planned: MarkingRound, lead: User, other_teacher: User
) -> None:
    """A role was lost since the plan: half of the marks would wait for nobody."""
    ensure_user(other_teacher.username, roles=[Role.LEAD])
    client, start = logged_in(lead), reverse("rounds:start", args=[planned.public_id])
    refused = client.post(start, {"anyway": "yes"})
    assert refused.status_code == 400
    assert "is not allowed to mark any more" in refused.text
    planned.refresh_from_db()
    assert planned.status == RoundStatus.PLANNED


def test_only_what_waits_for_a_lead_has_a_page_of_its_own(
    planned: MarkingRound, lead: User
) -> None:
    ordinary = planned.answers.filter(role=AnswerRole.ANSWER)[0]
    assert logged_in(lead).get(seed_page(ordinary)).status_code == 404


def test_a_round_is_paused_and_resumed_and_the_desk_says_so(
    lead: User, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 3)
    answer = answers_of(made)[0]
    held_slot(answer, teacher)
    client, desk = logged_in(lead), logged_in(teacher)
    paused = client.post(reverse("rounds:pause", args=[made.public_id]), follow=True).text
    assert "The round is paused." in paused
    assert "Resume" in paused
    said = "The lead has paused this round for everybody."
    own = reverse("marking:round", args=[made.public_id])
    home = desk.get(reverse("marking:home")).text
    assert ("paused" in home, reverse("marking:next", args=[made.public_id]) in home) == (
        True,
        False,
    )
    assert said in desk.get(own).text
    assert said in desk.post(reverse("marking:next", args=[made.public_id]), follow=True).text
    where = reverse("marking:desk", args=[answer.public_id])
    assert desk.get(where).status_code == 200, "what is at hand stays in sight"
    sent = {"answer": str(answer.public_id), "key": "0" * 32, "version": "0"}
    sent |= {"point-1": "1", "point-2": "1", "point-3": "1"}
    save = desk.post(reverse("marking:save", args=[answer.public_id]), sent, headers=HTMX)
    assert (save.status_code, "kept as a draft" in save.text) == (409, True)
    page = page_of(client, made)
    assert "Drafts" in page
    assert "1 · 1 · 1" in page
    client.post(reverse("rounds:resume", args=[made.public_id]))
    assert "Drafts" not in page_of(client, made)
    saved = desk.post(reverse("marking:save", args=[answer.public_id]), sent, headers=HTMX)
    assert saved.status_code == 200


def test_a_deadline_warns_and_closes_nothing(
    lead: User, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher])
    client, where = logged_in(lead), reverse("rounds:deadline", args=[made.public_id])
    page = client.post(where, {"deadline": "2099-05-01T18:30"}, follow=True).text
    assert "The deadline was set." in page
    assert "2099-05-01 18:30" in page
    assert "The deadline passed" not in page
    assert client.post(where, {"deadline": "2020-05-01T18:30"}).status_code == 400
    assert client.post(where, {"deadline": "soon"}).status_code == 400
    for odd in ("9999-12-31T20:00Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00+14:00"):
        assert client.post(where, {"deadline": odd}).status_code == 400, odd
    # One that was stored before there was a limit
    MarkingRound.objects.update(deadline=datetime(9999, 12, 31, 20, tzinfo=UTC))
    assert "9999-12-31 20:00:00 UTC+00:00 UTC" in page_of(client, made)
    assert client.get(reverse("monitoring:round", args=[made.public_id])).status_code == 200
    assert client.get("/api/v1/rounds/").json()["results"][0]["deadline"] == "9999-12-31T20:00:00Z"
    MarkingRound.objects.update(deadline=timezone.now() - timedelta(hours=1))
    assert "The deadline passed at" in page_of(client, made)
    made.refresh_from_db()
    assert made.status == RoundStatus.OPEN
    assert "The deadline was removed" in client.post(where, {"deadline": ""}, follow=True).text


def test_teachers_are_added_from_the_page(
    admin: User, lead: User, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 6)
    client, where = logged_in(lead), reverse("rounds:teachers", args=[made.public_id])
    page = client.post(where, {"teachers": [third_teacher.pk]}, follow=True).text
    assert "4 marks were reassigned" in page  # 12 shared by three
    older = client.post(where, {"teachers": [third_teacher.pk]})  # another lead was faster
    assert older.status_code == 400
    assert f"{third_teacher} is already in this round." in older.text
    assert client.post(where, {}).status_code == 400
    nobody = client.post(where, {"teachers": [admin.pk]})
    assert "Somebody you chose cannot mark." in nobody.text
    assert str(admin) not in nobody.text
    assert made.pool.count() == 3


def test_a_refused_form_stands_on_the_page_with_what_was_typed(
    lead: User, teacher: User, other_teacher: User, third_teacher: User, planned: MarkingRound
) -> None:
    made, client = small_round([teacher, other_teacher], 1), logged_in(lead)
    for one in (made, planned):
        where = reverse("rounds:deadline", args=[one.public_id])
        late = client.post(where, {"deadline": "2020-05-01T18:30"})
        assert late.status_code == 400
        assert 'value="2020-05-01T18:30"' in late.text
        assert re.search(r"<details class=\"menu menu-end\" open><summary[^>]*>Deadline", late.text)
        assert "This action is not possible" not in late.text
        where = reverse("rounds:teachers", args=[one.public_id])
        chosen = client.post(where, {"teachers": [teacher.pk, third_teacher.pk]}).text
        assert f"{teacher} is already in this round." in chosen
        assert re.search(rf'value="{third_teacher.pk}"[^>]* checked', chosen)
    client.post(reverse("rounds:close", args=[made.public_id]), {"begun": "yes"})
    where = reverse("rounds:deadline", args=[made.public_id])
    for at in ("2020-05-01T18:30", "2099-05-01T18:30", "soon"):
        closed = client.post(where, {"deadline": at})
        assert (closed.status_code, "This round is already closed." in closed.text) == (409, True)


def test_marking_notes_are_written_in_versions(
    lead: User, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], marking_notes="Half marks.")
    client, where = logged_in(lead), reverse("rounds:marking-notes", args=[made.public_id])
    assert "Version 1" in client.get(where).text
    new = {"text": "Full marks.", "seen": "1", "to_judge": "on"}
    page = client.post(where, new, follow=True).text
    assert "Version 2" in page
    assert "Judge models receive the newest version." in page
    own = reverse("marking:round", args=[made.public_id])
    assert "Full marks." in logged_in(teacher).get(own).text
    late = client.post(where, {"text": "Mine.", "seen": "1"})
    assert late.status_code == 409
    assert "Somebody else has changed the marking notes" in late.text
    assert "Mine.</textarea>" in late.text, "what was typed stays"
    assert 'name="seen" value="2"' in late.text
    assert MarkingNotes.objects.count() == 2
    longest = ("x" * 9 + "\r\n") * 1_999 + "x" * 10  # 20,000, as the browser counts
    assert client.post(where, {"text": longest, "seen": "2"}).status_code == 302
    MarkingRound.objects.update(status=RoundStatus.CLOSED)
    assert "<textarea" not in client.get(where).text


def test_a_plan_can_be_discarded(planned: MarkingRound, lead: User) -> None:
    client = logged_in(lead)
    assert "Discard round" in page_of(client, planned)
    client.post(reverse("rounds:close", args=[planned.public_id]))
    planned.refresh_from_db()
    assert planned.status == RoundStatus.CLOSED
    assert client.post(reverse("rounds:start", args=[planned.public_id])).status_code == 409


def test_closing_says_first_what_becomes_final_by_it(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Two of three responses wait only for the time to revise, and one of them needs the lead."""
    made = small_round([teacher, other_teacher], 3, window_minutes=15)
    agree, apart, _unmarked = answers_of(made)
    for answer, other in ((agree, "1"), (apart, "3")):
        for person, points in ((teacher, "1"), (other_teacher, other)):
            give(answer, person, [points] * 3, now=timezone.now())
    client = logged_in(lead)
    page = " ".join(page_of(client, made).split())
    assert "Of 3 responses without a final mark, 2 wait only for the time to revise" in page
    assert "finalizes those that need no third mark or decision" in page
    client.post(reverse("rounds:close", args=[made.public_id]), {"begun": "yes"})
    assert list(made.answers.exclude(final=None)) == [agree]


def test_closing_says_first_that_nothing_else_becomes_final(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 2, window_minutes=15)
    give(answers_of(made)[0], teacher, ["1", "1", "1"], now=timezone.now())
    assert "2 responses have no final mark and will not get one" in page_of(logged_in(lead), made)
