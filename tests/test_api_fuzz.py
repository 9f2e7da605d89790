"""The API is asked what its own description allows, and what it does not, as each role.

No server error, and every answer as described. ``make fuzz`` asks much more than the usual suite.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import requests
import schemathesis
from django.db import transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from evaluations.models import CapabilityReview, MarkingRound, MarkingSheet, Run
from gradeapp.accounts.roles import Role
from questions.models import HumanRate, ImportBatch, ItemProblem, Question, Rubric
from tests.conftest import logged_in
from tests.factories import make_user
from tests.translation_world import build

pytestmark = pytest.mark.django_db
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
ROLES = [Role.TEACHER, Role.LEAD, Role.CURATOR, Role.ADMIN, None]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Which objects the ids of a path name.
NAMED: dict[str, tuple[Any, str]] = {
    "/runs/": (Run, "id"),
    "/imports/": (ImportBatch, "id"),
    "/problems/": (ItemProblem, "id"),
    "/rubrics/": (Rubric, "id"),
    "/human-rates/": (HumanRate, "id"),
    "/questions/": (Question, "public_id"),
    "/rounds/": (MarkingRound, "public_id"),
    "/capability-reviews/": (CapabilityReview, "public_id"),
    "/sheets/": (MarkingSheet, "public_id"),
}


class Caller:
    """Calls the API in this process as one person; nothing that a call writes stays.

    The description is the same for all, and slow to make: all have that of the first caller.
    """

    described: ClassVar[dict[str, Any]] = {}

    def __init__(self, role: Role | None) -> None:
        self.client = logged_in(make_user(role))
        self.client.raise_request_exception = False
        if not self.described:
            self.described.update(self.client.get("/api/v1/schema/", {"format": "json"}).json())
        self.schema = schemathesis.openapi.from_dict(self.described)
        self.existing = {
            part: [str(one) for one in model.objects.values_list(field, flat=True)[:3]]
            for part, (model, field) in NAMED.items()
        }
        self.turn = itertools.count()

    def ask(self, case: schemathesis.Case) -> None:
        """Make one call and check the answer; every second one names something that exists."""
        turn = next(self.turn)
        for part, ids in self.existing.items():
            if turn % 2 and ids and f"/api/v1{part}{{" in case.path:
                for name in ("id", "public_id", "round_id", "sheet_id"):
                    if name in case.path_parameters:
                        case.path_parameters[name] = ids[turn % len(ids)]
        with transaction.atomic():
            response = self.answer(case)
            transaction.set_rollback(True)
        case.validate_response(response, checks=CHECKS)

    def answer(self, case: schemathesis.Case) -> schemathesis.Response:
        """Make the call in this process."""
        wanted = requests.Request(**case.as_transport_kwargs(base_url="http://localhost"))
        prepared = wanted.prepare()
        body = prepared.body or b""
        page = self.client.generic(
            str(prepared.method),
            prepared.path_url,
            body.encode() if isinstance(body, str) else body,
            content_type=prepared.headers.get("Content-Type", "application/octet-stream"),
        )
        return schemathesis.Response(
            status_code=page.status_code,
            headers={name: [value] for name, value in page.headers.items()},
            content=page.content,
            request=prepared,
            elapsed=0.0,
            verify=True,
        )

    def asked(self, operation: schemathesis.APIOperation, number: int) -> Callable[[], None]:
        """A test of one operation with *number* examples."""
        bounded = examples(
            max_examples=number,
            deadline=None,
            database=None,
            derandomize=not EXAMPLES,
            suppress_health_check=list(HealthCheck),
        )
        return bounded(given(case=operation.as_strategy())(self.ask))


def test_the_api_answers_as_described() -> None:
    build([make_user(Role.TEACHER, f"marker{n}") for n in range(2)])
    failures = []
    for role in ROLES:
        caller = Caller(role)
        failures += [f"{role}: {one}" for one in every_operation(caller)]
        every_unknown_parameter(caller)
    assert not failures, "\n\n".join(failures)


def every_operation(caller: Caller) -> list[str]:
    """Ask for each operation what its description allows, and return what was wrong."""
    failures = []
    operations = [result.ok() for result in caller.schema.get_all_operations()]
    assert len(operations) > 60
    for operation in operations:
        try:
            caller.asked(operation, EXAMPLES or 2)()
        except (Exception, BaseExceptionGroup) as failure:
            failures.append(f"{operation.label}: {told(failure)}"[:1500])
    return failures


def every_unknown_parameter(caller: Caller) -> None:
    """T013, T023: a parameter that is not declared is refused and filters nothing."""
    ignored = []
    for result in caller.schema.get_all_operations():
        operation = result.ok()
        if operation.method != "get" or "{" in operation.path:
            continue
        known = caller.client.get(operation.path)
        unknown = caller.client.get(operation.path, {"created_by__password__startswith": "a"})
        if known.status_code == 200 and unknown.status_code != 400:
            ignored.append(operation.path)
    assert not ignored, ignored


def told(failure: BaseException) -> str:
    """The sentences of *failure* and of those inside it."""
    inside = failure.exceptions if isinstance(failure, BaseExceptionGroup) else ()
    return "\n".join([str(failure), *map(told, inside)])
