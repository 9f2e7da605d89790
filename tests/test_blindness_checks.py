"""A seed answer and a self-repeat look like any response, before and after they are marked."""

from __future__ import annotations

import pytest

from evaluations.models import BlindAnswer, SeedAnswer, Slot
from evaluations.models.vocabulary import AnswerRole, SlotKind
from evaluations.rules.marking.scheme import Scheme
from evaluations.selectors.desk import own_progress
from evaluations.services.sending_back import send_back
from evaluations.services.slots import claim_next
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import NOW, answers_of, claimed, give, later, small_round
from tests.test_blindness import HTMX, look, masked

pytestmark = pytest.mark.django_db


def disguise(answer: BlindAnswer, first: BlindAnswer, role: AnswerRole, lead: User) -> None:
    """Make *answer* and its teacher's slot what *role* says, and nothing else."""
    SeedAnswer.objects.filter(answer=answer).delete()
    repeat_of = first if role is AnswerRole.REPEAT else None
    BlindAnswer.objects.filter(pk=answer.pk).update(role=role, repeat_of=repeat_of)
    if role is AnswerRole.SEED:
        SeedAnswer.objects.create(answer=answer, total=7, author=lead, comment="canary-seed")
    kinds = {AnswerRole.SEED: SlotKind.SEED, AnswerRole.REPEAT: SlotKind.REPEAT}
    Slot.objects.filter(answer=answer).update(kind=kinds.get(role, SlotKind.FIRST))


@pytest.mark.parametrize("marked", [False, True], ids=["at hand", "marked"])
def test_no_page_tells_a_check_from_a_response(
    marked: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher], 3, scheme=Scheme.SINGLE, house_rulings="Half.")
    first = claimed(teacher, made).answer
    give(first, teacher, ["3", "3", "6"], seconds=30)
    answer = claimed(teacher, made).answer
    if marked:
        give(answer, teacher, ["1", "2", "3"], comment="mine", seconds=40)
        BlindAnswer.objects.filter(pk=answer.pk).update(final=None)
    (coming,) = [one for one in answers_of(made) if one not in (first, answer)]
    own = [f"/marking/rounds/{made.public_id}/", "/marking/", "/api/v1/marks/"]
    own += [f"/marking/responses/{one.public_id}/" for one in (answer, first, coming)]
    own += [f"/api/v1/marks/?response={answer.public_id}"]
    client = logged_in(teacher)
    worlds = []
    for role in AnswerRole:
        disguise(answer, first, role, lead)
        seen = [look(client, address, headers) for address in own for headers in ({}, HTMX)]
        again = client.post(f"/marking/responses/{answer.public_id}/revise/", headers=HTMX)
        worlds.append([*seen, again.status_code, masked(again.content)])
        assert b"canary" not in repr(seen).encode()
    assert worlds[0] == worlds[1] == worlds[2]


def test_a_check_is_skipped_and_drafted_like_any_response(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """What one does with it is answered the same: a draft, a skip, a save that does not fit."""
    made = small_round([teacher], 3, scheme=Scheme.SINGLE)
    first = claimed(teacher, made).answer
    give(first, teacher, ["3", "3", "6"])
    answer = claimed(teacher, made).answer
    client, said = logged_in(teacher), []
    where = f"/marking/responses/{answer.public_id}/"
    sent = {"answer": str(answer.public_id), "key": "0" * 32, "version": "0", "point-1": "99"}
    for role in AnswerRole:
        disguise(answer, first, role, lead)
        drafted = client.post(f"{where}draft/", {"sequence": "1", "comment": "x"}, headers=HTMX)
        refused = client.post(f"{where}save/", sent, headers=HTMX)
        said.append((drafted.status_code, refused.status_code, masked(refused.content)))
    assert said[0] == said[1] == said[2]
    assert said[0][:2] == (200, 400)


@pytest.mark.parametrize("to_others", [False, True], ids=["to the same", "to others"])
def test_marks_that_go_back_leave_no_check_behind(
    to_others: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    """What stayed marked, counted or versioned alone would be known as a check."""
    made = small_round([teacher, other_teacher], 6, scheme=Scheme.SINGLE)
    marked = []
    for _ in range(3):
        answer = claimed(teacher, made).answer
        give(answer, teacher, ["3", "3", "6"])
        marked.append(answer)
    for answer, role in zip(marked, AnswerRole, strict=True):
        disguise(answer, marked[0], role, lead)
    BlindAnswer.objects.filter(pk__in=[one.pk for one in marked[1:]]).update(final=None)
    past = NOW.replace(year=2000)
    send_back(made, teacher, since=past, to_others=to_others, acting_user=lead, now=later(5))
    told = logged_in(teacher).get("/api/v1/marks/").json()["results"]
    assert [mark["version"] for mark in told] == [0, 0, 0]
    assert own_progress(teacher, made).marked == 0
    given = []
    while slot := claim_next(teacher, round=made, now=later(6)):
        give(slot.answer, teacher, ["1", "1", "1"])
        given.append(slot.answer)
    assert to_others == (not set(marked[1:]) & set(given)), "nobody else is given a check"
