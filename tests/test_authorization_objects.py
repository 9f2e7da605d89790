"""Own and others' objects, pairs of roles, OPTIONS: columns beside ``test_authorization.TABLE``.

A route whose address names an object of one person has a row in ``OWNED``; another person with the
same role, and one with every other role, gets 404 or 403 there and changes nothing.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluations.models import Slot
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import OPEN_WHILE_MARKING, Capability, Role
from gradeapp.accounts.scopes import Scope
from gradeapp.accounts.services import ensure_user
from gradeapp.accounts.tokens import make_token
from questions.models import SavedView
from tests.conftest import logged_in
from tests.evaluations.marking_world import answers_of, held_slot, small_round
from tests.evaluations.review_world import claimed, review_of, wrong_answers
from tests.evaluations.sheet_world import taken
from tests.factories import make_user
from tests.test_authorization import NOBODY, ROUTES, TABLE
from tests.test_blindness import written

C = Capability
# What each route asks for, by the object that it names: method, route.
OWNED: dict[str, list[tuple[str, str]]] = {
    "answer_id": [
        *(("GET", f"marking:{name}") for name in ("desk", "print")),
        *(("POST", f"marking:{name}") for name in ("save", "skip", "draft", "ahead", "revise")),
    ],
    "sheet_id": [
        *(("GET", f"marking:sheet{part}") for part in ("", "-csv", "-xlsx", "-print")),
        *(("POST", f"marking:sheet{part}") for part in ("", "-save", "-return")),
        *((method, "api-sheet") for method in ("GET", "POST", "DELETE")),
    ],
    "item_id": [
        ("GET", "reviewing:desk"),
        *(("POST", f"reviewing:{name}") for name in ("save", "skip")),
    ],
    "token": [("POST", "token_revoke")],
    "view": [
        *(("POST", f"questions:view-{name}") for name in ("rename", "delete")),
        ("DELETE", "api-saved-view"),
    ],
}
# What a person with these roles may still do while they mark.
PAIRS: dict[tuple[Role, ...], frozenset[Capability]] = {
    (Role.LEAD,): frozenset({C.MARK, C.SEE_QUESTIONS, C.ACCEPT_RUBRICS}),
    (Role.CURATOR,): OPEN_WHILE_MARKING,
    (Role.ADMIN,): OPEN_WHILE_MARKING,
    (Role.LEAD, Role.CURATOR): OPEN_WHILE_MARKING,
}


def test_objects_of_one_person_are_nobody_elses(
    teacher: User, other_teacher: User, curator: User, admin: User
) -> None:
    """T018: by every method; then their owner is let in, so that the row tests something."""
    made = small_round([teacher, other_teacher], 2)
    answer, _other = answers_of(made)
    held_slot(answer, teacher)
    Slot.objects.exclude(holder=teacher).update(planned=other_teacher)
    sheet = taken(small_round([teacher, other_teacher], 2, name="Away"), teacher, 1)
    sheet.held_until = timezone.now() + timedelta(days=1)
    review = review_of(wrong_answers(2), [teacher, other_teacher])
    item = claimed(teacher, review).item
    token, _text = make_token(teacher, name="x", scopes=[Scope.READ], days=1, acting_user=teacher)
    view = SavedView.objects.create(owner=curator, name="mine", query="")
    keys = {"answer_id": answer.public_id, "sheet_id": sheet.public_id, "item_id": item.public_id}
    other_curator = make_user(Role.CURATOR, "cho")
    for kind, routes in OWNED.items():
        owner, other = (curator, other_curator) if kind == "view" else (teacher, other_teacher)
        named = {"token": ("pk", token.pk), "view": ("pk", view.pk)}.get(kind)
        name, key = named or (kind, keys[kind])
        for method, route in routes:
            address = reverse(route, kwargs={name: key})
            for person in (other, admin):
                client = logged_in(person)
                with CaptureQueriesContext(connection) as queries:
                    status = client.generic(method, address).status_code
                assert status == 404 or (person == admin and status == 403), (route, method, status)
                assert not written(queries), (route, method, written(queries))
            with transaction.atomic():
                status = logged_in(owner).generic(method, address).status_code
                assert status not in (403, 404, 405), (route, method, status)
                transaction.set_rollback(True)


def test_every_route_that_names_an_own_object_has_its_row() -> None:
    """The desks and the sheets of a teacher, own tokens and own views: a new route needs a row."""
    spaces = ("marking:", "reviewing:", "api-sheet", "api-saved-view", "token_", "questions:view-")
    named = {
        name
        for name, kwargs in ROUTES.items()
        if name.startswith(spaces) and kwargs and not {"round_id", "review_id"} & set(kwargs)
    }
    assert named == {route for routes in OWNED.values() for _method, route in routes}


@pytest.mark.parametrize("roles", PAIRS, ids=lambda roles: "+".join(role.value for role in roles))
def test_pairs_of_roles_while_they_mark(
    roles: tuple[Role, ...], teacher: User, other_teacher: User
) -> None:
    """T133: every route that the roles open is closed while its person marks, but for a few."""
    small_round([teacher, other_teacher], 1)
    ensure_user(teacher.username, roles=[Role.TEACHER, *roles])
    person = User.objects.get(pk=teacher.pk)
    assert person.capabilities == PAIRS[roles]
    client = logged_in(person)
    for name, row in TABLE.items():
        get, post = row if isinstance(row, tuple) else (row, row)
        method, needed = ("GET", get) if get != NOBODY else ("POST", post)
        if isinstance(needed, Capability) and needed in person.granted - person.capabilities:
            address = reverse(name, kwargs=ROUTES[name])
            codes = [client.generic(one, address).status_code for one in (method, "POST")]
            assert codes in ([403, 403], [403, 405], [405, 403]), (address, codes)


def test_options_tell_nothing_and_write_nothing(admin: User) -> None:
    """T022: refused, or answered with no body."""
    client, wrong = logged_in(admin), []
    for name in TABLE:
        address = reverse(name, kwargs=ROUTES[name])
        with CaptureQueriesContext(connection) as queries:
            answer = client.options(address)
        assert not written(queries), address
        empty = answer.status_code == 200 and not answer.content
        wrong += [] if empty or answer.status_code in (403, 404, 405, 410) else [address]
    assert not wrong
