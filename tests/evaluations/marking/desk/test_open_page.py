"""A page that is open while its response goes back into the queue of the same teacher."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.monitoring import pause_teacher, resume_teacher
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import close_round, pause_round, resume_round
from evaluations.models import Draft, Mark, MarkingRound, Slot
from gradeapp.accounts.models import User
from questions.models import Question
from tests.conftest import logged_in
from tests.evaluations.marking.desk.test_marking_pages import filled
from tests.evaluations.marking.monitoring.test_new_rubric import OTHER, replaced
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def question() -> Question:
    return subjective_question()


@pytest.fixture
def made(question: Question, teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], question=question, window_minutes=15)


def test_under_a_new_rubric_what_is_typed_is_kept_and_leads_on(
    question: Question, made: MarkingRound, teacher: User, lead: User
) -> None:
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    early = filled(shown, "3", comment="typed before") | {"sequence": "1"}
    assert client.post(f"{where}draft/", early).status_code == 200
    replaced(made, question, lead)
    assert Slot.objects.filter(holder=teacher).count() == 0
    late = early | {"sequence": "2", "comment": "typed before and after"}
    refused = client.post(f"{where}draft/", late)
    assert refused.status_code == 409
    assert "The rubric has changed since these points were given." in refused.text
    assert "no longer assigned" not in refused.text
    again = client.get(where).text
    assert "data-rubric-changed" in again
    assert "typed before and after</textarea>" in again
    points = [points for _text, points in OTHER]
    sent = filled(again, *points, comment="typed before and after")
    assert client.post(f"{where}save/", sent).status_code == 302
    assert Mark.objects.get().comment == "typed before and after"


def test_a_save_under_a_new_rubric_comes_back_with_all_that_was_sent(
    question: Question, made: MarkingRound, teacher: User, lead: User
) -> None:
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    replaced(made, question, lead)
    refused = client.post(f"{where}save/", filled(shown, "3", "1", "2", comment="why"))
    assert refused.status_code == 409
    assert "3 · 1 · 2<br>“why”" in refused.text
    assert "why</textarea>" in refused.text
    assert not Mark.objects.exists()


def test_what_is_typed_while_the_own_mark_is_returned_is_kept(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    client.post(f"{where}save/", filled(shown, "3", "1", "2"))
    revising = client.get(f"{where}?change").text
    _return_all(made, teacher, lead)
    sent = filled(revising, "3", "3", "2", comment="thought again") | {"sequence": "9"}
    refused = client.post(f"{where}draft/", sent)
    assert refused.status_code == 409
    assert "Your input is kept as a draft." in refused.text
    assert Draft.objects.get().content["comment"] == "thought again"
    again = client.get(where).text
    assert "data-came-back" in again
    assert "thought again</textarea>" in again


@pytest.mark.parametrize("paused", ["round", "teacher"])
def test_in_a_pause_too_what_is_typed_under_a_new_rubric_is_kept(
    paused: str, question: Question, made: MarkingRound, teacher: User, lead: User
) -> None:
    """A rubric is repaired while nobody marks under it. Draft and save keep what they are sent."""
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    _pause(paused, made, teacher, lead)
    replaced(made, question, lead)
    typed = filled(shown, "3", "1", "2", comment="typed in the pause") | {"sequence": "1"}
    refused = client.post(f"{where}draft/", typed)
    assert refused.status_code == 409
    assert "The rubric has changed since these points were given." in refused.text
    refused = client.post(f"{where}save/", typed | {"comment": "sent in the pause"})
    assert refused.status_code == 409
    assert "3 · 1 · 2<br>“sent in the pause”" in refused.text
    _resume(paused, made, teacher, lead)
    again = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    assert "data-rubric-changed" in again
    assert "sent in the pause</textarea>" in again


@pytest.mark.parametrize("paused", ["round", "teacher"])
def test_in_a_pause_too_what_is_typed_while_the_own_mark_is_returned_is_kept(
    paused: str, made: MarkingRound, teacher: User, lead: User
) -> None:
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    client.post(f"{where}save/", filled(shown, "3", "1", "2"))
    revising = client.get(f"{where}?change").text
    _pause(paused, made, teacher, lead)
    _return_all(made, teacher, lead)
    sent = filled(revising, "3", "3", "2", comment="thought again") | {"sequence": "9"}
    refused = client.post(f"{where}draft/", sent)
    assert refused.status_code == 409
    assert "Your input is kept as a draft." in refused.text
    _resume(paused, made, teacher, lead)
    again = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    assert "data-came-back" in again
    assert "thought again</textarea>" in again


@pytest.mark.parametrize("what", ["draft", "save"])
@pytest.mark.parametrize("before", ["nothing", "new rubric", "returned"])
def test_after_the_close_what_is_typed_is_kept_for_the_lead(
    before: str, what: str, question: Question, made: MarkingRound, teacher: User, lead: User
) -> None:
    """Whatever happened to the response just before, while its page was open."""
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    if before == "returned":
        client.post(f"{where}save/", filled(shown, "3", "1", "2"))
        shown = client.get(f"{where}?change").text
        _return_all(made, teacher, lead)
    elif before == "new rubric":
        replaced(made, question, lead)
    close_round(made, acting_user=lead, now=later(9))
    sent = filled(shown, "3", "3", "2", comment="typed to the end") | {"sequence": "9"}
    refused = client.post(f"{where}{what}/", sent)
    assert refused.status_code == 409
    assert "The round was closed." in refused.text
    assert "kept as a draft. Ask the lead." in refused.text
    assert "typed to the end" in logged_in(lead).get(f"/rounds/{made.public_id}/").text


def test_in_a_pause_too_what_somebody_else_has_stays_theirs(
    question: Question, made: MarkingRound, teacher: User, other_teacher: User, lead: User
) -> None:
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    replaced(made, question, lead)
    Slot.objects.filter(planned=teacher).update(holder=other_teacher, lease_until=later(10_000))
    pause_round(made, acting_user=lead)
    refused = client.post(f"{where}draft/", filled(shown, "3") | {"sequence": "1"})
    assert refused.status_code == 404
    assert not Draft.objects.exists()


def test_what_was_not_shown_cannot_be_taken_in_a_pause(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    (answer,) = answers_of(made)
    pause_round(made, acting_user=lead)
    sent = {"sequence": "1", "comment": "from nowhere"}
    where = f"/marking/responses/{answer.public_id}/"
    assert logged_in(teacher).post(f"{where}draft/", sent).status_code == 404
    assert not Slot.objects.filter(holder=teacher).exists()


def _pause(paused: str, made: MarkingRound, teacher: User, lead: User) -> None:
    if paused == "round":
        pause_round(made, acting_user=lead)
    else:
        pause_teacher(made, teacher, reason="Wait for me", acting_user=lead, now=timezone.now())


def _resume(paused: str, made: MarkingRound, teacher: User, lead: User) -> None:
    if paused == "round":
        resume_round(made, acting_user=lead)
    else:
        resume_teacher(made, teacher, acting_user=lead)


def _return_all(made: MarkingRound, teacher: User, lead: User) -> None:
    choice = ReturnChoice(timezone.now() - timedelta(hours=1))
    return_marks(made, teacher, choice, to_others=False, acting_user=lead, now=later(5))


def test_what_is_saved_after_a_lead_entered_the_mark_is_shown_beside_it(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    give(answer, teacher, ["1", "0", "0"], from_sheet=True, entered_by=lead)
    refused = client.post(f"{where}save/", filled(shown, "3", "3", "3", comment="my own"))
    assert refused.status_code == 409
    assert f"{lead} has entered a mark for you" in refused.text
    assert "does not count (total: 9).<br>“my own”" in refused.text
    assert '<span class="figure" id="sum">1</span>' in refused.text
    assert "was not saved" not in refused.text
    assert Mark.objects.get(stale=True).comment == "my own"


def test_what_somebody_else_has_by_then_stays_theirs(
    question: Question, made: MarkingRound, teacher: User, other_teacher: User, lead: User
) -> None:
    client, (answer,) = logged_in(teacher), answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    replaced(made, question, lead)
    Slot.objects.filter(planned=teacher).update(holder=other_teacher, lease_until=later(10_000))
    sent = filled(shown, "3") | {"sequence": "1"}
    refused = client.post(f"{where}draft/", sent)
    assert refused.status_code == 404
    assert "no longer assigned to you" in refused.text
    assert not Draft.objects.exists()
