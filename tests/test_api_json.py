"""What the API reads: JSON bounded before it is parsed, and numbers in the digits 0 to 9."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.test import Client

from evaluations.marking.desk.api import NewMarkSerializer
from evaluations.marking.desk.forms.marks import TypedMark
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.scopes import Scope
from gradeapp.accounts.tokens import make_token
from gradeapp.api_json import AnyTextJSONRenderer
from gradeapp.common import number_fields
from gradeapp.common.strict_json import JsonRefusal, read_array
from gradeapp.http import with_code
from tests.conftest import logged_in
from tests.factories import make_user

RUNS = "/api/v1/runs/"
OTHERS = (Role.LEAD, Role.CURATOR, Role.TEACHER)
BAD = ("a\x00", "\ud800")
NOBODY = "00000000-0000-4000-8000-000000000000"
SAMPLES = dict.fromkeys(["{public_id}", "{round_id}", "{sheet_id}"], NOBODY)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"[" * 100_000, "too_deep"),
        (b'{"a": ' * 60 + b"1" + b"}" * 60, "too_deep"),
        (b'{"repeats": 1, "repeats": 2}', "duplicate_key"),
        (b'{"repeats": NaN}', "not_a_number"),
        (b'{"repeats": 1e999}', "number_out_of_range"),
        (b'{"repeats": ' + b"9" * 5000 + b"}", "number_out_of_range"),
        (b'{"a\\u0000": 1}', "bad_key"),
        (b"\xff", "not_utf8"),
        (b'{"repeats": 1', "broken_json"),
    ],
)
def test_json_that_is_not_taken_is_a_400_with_a_sentence(
    admin: User, body: bytes, code: str
) -> None:
    answer = logged_in(admin).post(RUNS, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert answer.json()["detail"].endswith(".")


@pytest.mark.django_db
def test_every_refusal_has_a_code(admin: User, client: Client) -> None:
    assert client.get(RUNS).json()["code"] == "not_authenticated"
    ours = logged_in(admin)
    assert ours.get(RUNS, {"page": 999}).json()["code"] == "not_found"
    assert ours.get(RUNS, headers={"accept": "text/csv"}).json()["code"] == "not_acceptable"
    text = ours.post(RUNS, "x", content_type="text/plain").json()
    assert text["code"] == "unsupported_media_type"


def test_the_place_of_what_is_wrong_counts_from_one() -> None:
    body = with_code({"points": [{}, {"points": ["This field is required."]}]})
    assert (body["detail"], body["field"]) == ("points.2.points: This field is required.", "points")
    assert with_code({"budget": ["No."]})["detail"] == "budget: No."
    assert with_code({"points": {1: ["No."]}})["detail"] == "points.2: No.", "as a list of numbers"
    assert with_code({})["code"] == "bad_input"
    assert with_code(["No."])["detail"] == "No."
    assert with_code({"non_field_errors": ["No."]})["detail"] == "No."
    assert with_code({"choice": {"limit": ["No."]}})["detail"] == "choice.limit: No."


def test_half_of_a_surrogate_pair_is_sent_as_an_escape() -> None:
    assert AnyTextJSONRenderer().render({"detail": "\ud800"}) == b'{"detail":"\\ud800"}'


@pytest.mark.django_db
def test_what_no_database_stores_is_refused_in_every_request(admin: User) -> None:
    """R46: NUL or half of a surrogate pair in every request that has a body, as each role."""
    clients = [logged_in(admin), *(logged_in(make_user(role)) for role in OTHERS)]
    described = clients[0].get("/api/v1/schema/", {"format": "json"}).json()
    refused = set()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            sent = operation.get("requestBody", {}).get("content", {}).get("application/json")
            name = (sent or {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
            fields = described["components"]["schemas"].get(name, {}).get("properties", {})
            address = re.sub(r"{[^}]+}", lambda one: SAMPLES.get(one[0], "1"), path)
            if not fields:
                continue
            # One after the other would take a minute: the last field is the bad one.
            *others, last = fields
            bad = {**{key: ["a"] for key in others}, last: [["a", BAD[len(others) % 2]]]}
            body = json.dumps(bad)
            answers = [one.generic(method, address, body, "application/json") for one in clients]
            assert {one.status_code for one in answers} <= {400, 403, 404}, path
            codes = {one.json()["code"] for one in answers if one.status_code == 400}
            assert codes <= {"bad_character"}, path
            refused |= {path} if codes else set()
    assert len(refused) > 10


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/api/v1/nothing/", "/api/v1/runs/-1/"])
def test_an_address_of_the_api_that_leads_nowhere_is_answered_in_json(
    admin: User, address: str
) -> None:
    answer = logged_in(admin).get(address)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.django_db
def test_a_request_of_three_megabytes_is_refused_with_a_sentence(admin: User) -> None:
    body = b'{"name": "' + b"a" * 3 * 2**20 + b'"}'
    answer = logged_in(admin).post(RUNS, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.django_db
def test_who_is_not_logged_in_sends_little(admin: User) -> None:
    """A form of megabytes takes seconds to parse, so that it is refused before."""
    form = {"data": "a=" + "%" * 70_000, "content_type": "application/x-www-form-urlencoded"}
    _row, token = make_token(admin, name="mine", scopes=[Scope.RUN], days=1, acting_user=admin)
    for client, path, headers, status in (
        (Client(), "/login/", {}, 413),
        (Client(), "/login/", {"HX-Request": "true"}, 401),
        (Client(), "/login/", {"Authorization": f"Bearer {token}"}, 413),
        (Client(), RUNS, {"Authorization": "Bearer gradeapp_none"}, 413),
        (Client(), RUNS, {"Authorization": "Basic"}, 413),
        (Client(), RUNS, {"Authorization": f"Bearer {token}"}, 415),
        (logged_in(admin), RUNS, {}, 415),
    ):
        assert client.post(path, **form, headers=headers).status_code == status, (path, headers)
    short = form | {"data": form["data"][:60_000]}
    assert Client().post("/login/", **short).status_code == 200


LONG = [
    ("marks", "points", [{}] * 20_000),
    ("marks", "flags", ["x"] * 20_000),
    ("marks", "points", [{}] * 400_000),
    ("capability-judgements", "weaknesses", [{}] * 20_000),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("route", "name", "values"), LONG)
def test_a_long_list_is_refused_before_its_elements_are_looked_at(
    teacher: User, route: str, name: str, values: list[object]
) -> None:
    """A sentence for each of 400,000 took 16 seconds, 26 MB and a gigabyte of memory."""
    client, body = logged_in(teacher), json.dumps({name: values})
    answer = client.post(f"/api/v1/{route}/", body, content_type="application/json")
    assert answer.status_code == 400
    assert len(answer.content) < 2000


@pytest.mark.django_db
def test_few_of_many_unknown_fields_are_named(teacher: User) -> None:
    body = json.dumps({f"key{number}": 1 for number in range(20_000)})
    answer = logged_in(teacher).post("/api/v1/marks/", body, content_type="application/json")
    assert answer.status_code == 400
    assert len(answer.content) < 2000


@pytest.mark.django_db
def test_rows_named_by_many_keys_are_not_looked_up_one_by_one(
    lead: User, django_assert_max_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    client, body = logged_in(lead), {"teachers": ["x"] * 2000, "runs": [1] * 2000}
    with django_assert_max_num_queries(20):
        answer = client.post("/api/v1/rounds/", json.dumps(body), content_type="application/json")
    assert answer.status_code == 400
    assert {"teachers", "runs"} <= set(answer.json())


def test_a_file_of_three_million_values_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(JsonRefusal) as refused:
        read_array(io.BytesIO(b"[" + b"0," * 3_000_000 + b"0]"))
    assert refused.value.code == "too_many_values"
    assert read_array(io.BytesIO(b'["' + b",[" * 1_500_000 + b'"]')) == [",[" * 1_500_000]


NO_NUMBERS = ("１", "٠", "0_0", "1e3", "1e9999999", "NaN", "Infinity", "½")


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_only_the_digits_0_to_9_are_a_mark(text: str) -> None:
    for field in (number_fields.DecimalField(), number_fields.IntegerField(), TypedMark()):
        with pytest.raises(Exception, match="number"):
            field.clean(text)
    form = NewMarkSerializer(data={"total": text, "points": [text], "based_on_version": text})
    assert not form.is_valid()
    assert {"total", "points", "based_on_version"} <= set(form.errors)


@pytest.mark.parametrize("value", [True, [1], {"a": 1}])
def test_no_other_value_of_json_is_a_mark(value: object) -> None:
    form = NewMarkSerializer(data={"total": value, "based_on_version": value})
    assert not form.is_valid()
    assert {"total", "based_on_version"} <= set(form.errors)
