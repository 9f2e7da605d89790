"""Questions whose answer tells what a marker may not know: keys, choices, lists without a row.

Nothing hidden stands on these pages; that a request is refused, that a list is empty or what was
asked for tells it.
"""

from __future__ import annotations

import re
import uuid

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client, override_settings

from evaluations.models import BlindAnswer
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    small_round,
    subjective_question,
)
from tests.evaluations.review_world import items_of, review_of, taken, wrong_answers

pytestmark = pytest.mark.django_db


def key_on(client: Client, address: str) -> str:
    """The submission key of the form at *address*."""
    page = client.get(address)
    assert page.status_code == 200, address
    found = re.search(r'name="key" value="([^"]+)"', page.text)
    assert found
    return found.group(1)


def desk_of(answer: BlindAnswer) -> str:
    return f"/marking/responses/{answer.public_id}/"


def save_at_the_desk(client: Client, answer: BlindAnswer, key: str) -> int:
    sent = {"answer": str(answer.public_id), "key": key, "version": "0", "total": "3"}
    status: int = client.post(f"{desk_of(answer)}save/", sent).status_code
    return status


def test_a_key_made_of_what_is_known_of_the_partner_is_free(
    teacher: User, other_teacher: User
) -> None:
    """A key that is in use is refused: who can compute the partner's learns whether they marked."""
    made = small_round([teacher, other_teacher], 1, question=subjective_question(()))
    (answer,) = answers_of(made)
    for person in (teacher, other_teacher):
        held_slot(answer, person)
    known = str(uuid.uuid5(answer.public_id, f"{other_teacher.public_id}:0"))
    statuses = []
    for has_marked in (False, True):
        before = transaction.savepoint()
        if has_marked:
            partner = logged_in(other_teacher)
            own = key_on(partner, desk_of(answer))
            assert save_at_the_desk(partner, answer, own) == 302
        statuses.append(save_at_the_desk(logged_in(teacher), answer, known))
        transaction.savepoint_rollback(before)
    assert statuses == [302, 302]


def test_the_keys_of_all_desks_follow_from_the_secret_key(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """The same each time the page is loaded, so that a save sent twice is one; others under
    another secret key, so that nobody computes them from what they can read."""
    made = small_round([teacher, other_teacher], 2, question=subjective_question(()))
    answer, disputed = answers_of(made)
    held_slot(answer, teacher)
    for person, mark in ((teacher, "0"), (other_teacher, "12")):
        give(disputed, person, mark)
    item = items_of(review_of(wrong_answers(1), [third_teacher]))[0]
    taken(item, third_teacher)
    other = {"SECRET_KEY": "k" * 60, "SECRET_KEY_FALLBACKS": [settings.SECRET_KEY]}
    decision = f"/rounds/{made.public_id}/responses/{disputed.public_id}/"
    review = f"/reviewing/answers/{item.public_id}/"
    for person, address in ((teacher, desk_of(answer)), (lead, decision), (third_teacher, review)):
        client = logged_in(person)
        before = [key_on(client, address) for _n in range(2)]
        assert before[0] == before[1], address
        with override_settings(**other):
            assert key_on(client, address) != before[0], address
