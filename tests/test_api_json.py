"""What the API reads: JSON bounded before it is parsed, and numbers in the digits 0 to 9."""

from __future__ import annotations

import io

import pytest

from evaluations.marking.desk.api import NewMarkSerializer
from evaluations.marking.desk.forms.marks import TypedMark
from gradeapp.accounts.models import User
from gradeapp.common import number_fields
from gradeapp.common.strict_json import JsonRefusal, read_array
from tests.conftest import logged_in

RUNS = "/api/v1/runs/"


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
def test_half_of_a_surrogate_pair_is_refused_and_repeated_as_an_escape(admin: User) -> None:
    body = b'{"endpoint": "x", "dataset": "x", "setting": "\\ud800"}'
    answer = logged_in(admin).post(RUNS, body, content_type="application/json")
    assert answer.status_code == 400
    assert "\ud800" in answer.json()["setting"][0]


@pytest.mark.django_db
def test_a_request_of_three_megabytes_is_refused_with_a_sentence(admin: User) -> None:
    body = b'{"name": "' + b"a" * 3 * 2**20 + b'"}'
    answer = logged_in(admin).post(RUNS, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


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
