"""One table of who may go where: a route that is not in it fails, and each row is tried.

Every route is asked by everybody, by GET and by POST, with ids that do not
exist: who has no business there is refused before anything is looked up. The other methods are
tried too, and nothing is written where the answer is a refusal. Own and others' objects, and
people with two roles who mark, are tried in ``test_blindness.py`` and ``test_blindness_roles.py``.

A new route needs one row in ``TABLE``; one that takes PUT, PATCH or DELETE also one in ``OTHER``.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from http.cookies import SimpleCookie

import pytest
from django.contrib import admin as django_admin
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability as C
from tests.conftest import logged_in
from tests.test_blindness import written

EVERYBODY = "everybody"  # also without a login
KNOWN = "known"  # any login
NOBODY = "nobody"  # the method does not exist
Needed = C | str
# Route name (with its namespace) -> who may use it; a pair is for GET and for POST.
TABLE: dict[str, Needed | tuple[Needed, Needed]] = {
    "home": KNOWN,
    "icon": EVERYBODY,
    "login": EVERYBODY,
    "logout": KNOWN,
    "session": (EVERYBODY, NOBODY),
    "password_change": KNOWN,
    "password_change_done": KNOWN,
    "account_login": EVERYBODY,
    "account_reauthenticate": KNOWN,
    "mfa_index": KNOWN,
    "mfa_authenticate": KNOWN,
    "mfa_reauthenticate": KNOWN,
    "mfa_activate_totp": KNOWN,
    "mfa_deactivate_totp": KNOWN,
    "mfa_view_recovery_codes": KNOWN,
    "mfa_generate_recovery_codes": KNOWN,
    "mfa_download_recovery_codes": KNOWN,
    "mfa_list_webauthn": KNOWN,
    "mfa_add_webauthn": KNOWN,
    "mfa_reauthenticate_webauthn": KNOWN,
    "mfa_remove_webauthn": KNOWN,
    "mfa_edit_webauthn": KNOWN,
    "usersessions_list": KNOWN,
    "openid_connect_login": EVERYBODY,
    "openid_connect_callback": EVERYBODY,
    "password_forgot": EVERYBODY,
    "invitation": EVERYBODY,
    "reset": EVERYBODY,
    "people": (C.OPERATE, NOBODY),
    "people-invite": C.OPERATE,
    "people-withdraw": (NOBODY, C.OPERATE),
    "person": C.OPERATE,
    "person-change": (NOBODY, C.OPERATE),
    "tokens": KNOWN,
    "token_revoke": (NOBODY, KNOWN),
    "set_language": EVERYBODY,
    "schema": KNOWN,
    "audit:trail": (C.OPERATE, NOBODY),
    "audit:export": (C.OPERATE, NOBODY),
    "audit:alert-acknowledge": (NOBODY, C.OPERATE),
    "questions:list": C.SEE_QUESTIONS,
    "questions:question": C.SEE_QUESTIONS,
    "questions:labelling": (C.SEE_QUESTIONS, NOBODY),
    "questions:labelling-next": (C.EDIT_QUESTIONS, NOBODY),
    "questions:labelling-item": C.EDIT_QUESTIONS,
    "questions:labelling-undo": (NOBODY, C.EDIT_QUESTIONS),
    "questions:labelling-history": (C.SEE_QUESTIONS, NOBODY),
    "questions:labelling-agreement": (C.SEE_QUESTIONS, NOBODY),
    "questions:labelling-differences": (C.SEE_QUESTIONS, NOBODY),
    "questions:labelling-resolve": (NOBODY, C.EDIT_QUESTIONS),
    "questions:labelling-suggestions": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "questions:rates": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "questions:report": (NOBODY, C.EDIT_QUESTIONS),
    "questions:labels": C.EDIT_QUESTIONS,
    "questions:view-save": C.SEE_QUESTIONS,
    "questions:view-rename": C.SEE_QUESTIONS,
    "questions:view-delete": C.SEE_QUESTIONS,
    "questions:bulk": C.EDIT_QUESTIONS,
    "questions:bulk-preview": C.EDIT_QUESTIONS,
    "questions:bulk-apply": C.EDIT_QUESTIONS,
    "questions:bulk-change": C.EDIT_QUESTIONS,
    "questions:bulk-undo": C.EDIT_QUESTIONS,
    "questions:export": C.SEE_QUESTIONS,
    "questions:problems": C.SEE_QUESTIONS,
    "questions:problems-export": C.SEE_QUESTIONS,
    "questions:problem": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "questions:imports": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "questions:exam-format": C.SEE_QUESTIONS,
    "questions:import": C.SEE_QUESTIONS,
    "questions:import-progress": C.SEE_QUESTIONS,
    "questions:import-confirm": C.EDIT_QUESTIONS,
    "questions:import-stop": C.EDIT_QUESTIONS,
    "questions:import-resume": C.EDIT_QUESTIONS,
    "questions:import-discard": C.EDIT_QUESTIONS,
    "answer-imports:imports": (C.SEE_RUNS, C.LEAD_ROUNDS),
    "answer-imports:import": C.SEE_RUNS,
    "answer-imports:import-progress": C.SEE_RUNS,
    "answer-imports:import-confirm": C.LEAD_ROUNDS,
    "answer-imports:import-stop": C.LEAD_ROUNDS,
    "answer-imports:import-resume": C.LEAD_ROUNDS,
    "answer-imports:import-discard": C.LEAD_ROUNDS,
    "answer-imports:paste-lists": C.LEAD_ROUNDS,
    "answer-imports:paste": C.LEAD_ROUNDS,
    "questions:rubrics": C.SEE_QUESTIONS,
    "questions:rubric-new": C.EDIT_QUESTIONS,
    "questions:rubric-propose": C.EDIT_QUESTIONS,
    "questions:rubric-accept": C.EDIT_QUESTIONS,
    "questions:rubric-export": C.SEE_QUESTIONS,
    "questions:rubric-bank": C.SEE_QUESTIONS,
    "questions:rubric-import": C.EDIT_QUESTIONS,
    "questions:rubric-bank-export": C.SEE_QUESTIONS,
    "questions:rubric-propose-all": C.EDIT_QUESTIONS,
    "questions:rubric-parts": (C.SEE_QUESTIONS, C.ACCEPT_RUBRICS),
    "api-questions": C.SEE_QUESTIONS,
    "api-question": C.SEE_QUESTIONS,
    "api-labels": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "api-opinions": (C.SEE_QUESTIONS, NOBODY),
    "api-human-rates": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "api-human-rate-correct": (NOBODY, C.EDIT_QUESTIONS),
    "api-rubrics": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "api-rubric-accept": (NOBODY, C.EDIT_QUESTIONS),
    "api-knowledge": C.SEE_QUESTIONS,
    "api-label-agreement": (C.SEE_QUESTIONS, NOBODY),
    "api-bulk-labels": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "api-bulk-preview": (NOBODY, C.EDIT_QUESTIONS),
    "api-bulk-undo": (NOBODY, C.EDIT_QUESTIONS),
    "api-problems": (C.SEE_QUESTIONS, NOBODY),
    "api-problem-report": (NOBODY, C.EDIT_QUESTIONS),
    "api-problem-decide": (NOBODY, C.EDIT_QUESTIONS),
    "api-imports": (C.SEE_QUESTIONS, C.EDIT_QUESTIONS),
    "api-import": (C.SEE_QUESTIONS, NOBODY),
    "api-import-problems": (C.SEE_QUESTIONS, NOBODY),
    "api-import-confirm": (NOBODY, C.EDIT_QUESTIONS),
    "api-import-stop": (NOBODY, C.EDIT_QUESTIONS),
    "api-import-resume": (NOBODY, C.EDIT_QUESTIONS),
    "api-import-discard": (NOBODY, C.EDIT_QUESTIONS),
    "api-saved-views": C.SEE_QUESTIONS,
    "api-saved-view": (NOBODY, NOBODY),
    "runs:list": C.SEE_RUNS,
    "runs:run": C.SEE_RUNS,
    "runs:progress": C.SEE_RUNS,
    "runs:judges": C.SEE_RUNS,
    "runs:responses": C.SEE_RUNS,
    "runs:response": C.SEE_RUNS,
    "runs:search": (C.SEE_RUNS, NOBODY),
    "runs:search-export": (C.EXPORT, NOBODY),
    "runs:compare": (C.SEE_RUNS, NOBODY),
    "runs:batches-make": (NOBODY, C.START_RUNS),
    "runs:batch-file": (C.START_RUNS, NOBODY),
    "runs:batch-read": (NOBODY, C.START_RUNS),
    "runs:batch-discard": (NOBODY, C.START_RUNS),
    "runs:new": C.START_RUNS,
    "runs:preview": C.START_RUNS,
    "runs:extend": C.START_RUNS,
    "runs:studies": C.SEE_RUNS,
    "runs:study": C.SEE_RUNS,
    "runs:study-rows": C.SEE_RUNS,
    "runs:study-new": C.START_RUNS,
    "runs:study-stop": C.START_RUNS,
    "runs:study-resume": C.START_RUNS,
    "runs:suggest": C.START_RUNS,
    "runs:stop": C.START_RUNS,
    "runs:pause": C.START_RUNS,
    "runs:spending": C.OPERATE,
    "runs:account-new": C.OPERATE,
    "runs:account": C.OPERATE,
    "runs:account-end-wait": (NOBODY, C.OPERATE),
    "runs:resume": C.START_RUNS,
    "runs:retry": C.START_RUNS,
    "runs:judge": C.START_RUNS,
    "runs:repeated-reviewed": C.LEAD_ROUNDS,
    "runs:patterns": (C.SEE_RUNS, C.LEAD_ROUNDS),
    "runs:pattern-search": C.SEE_RUNS,
    "runs:pattern-progress": C.SEE_RUNS,
    "runs:pattern-stop": C.LEAD_ROUNDS,
    "runs:pattern-resume": C.LEAD_ROUNDS,
    "runs:pattern-accept": C.LEAD_ROUNDS,
    "runs:pattern-retire": C.LEAD_ROUNDS,
    "runs:conditions": (C.SEE_RUNS, NOBODY),
    "runs:condition": (C.SEE_RUNS, NOBODY),
    "runs:condition-rename": (NOBODY, C.START_RUNS),
    "api-conditions": (C.SEE_RUNS, NOBODY),
    "runs:prompt-sets": (C.SEE_QUESTIONS, NOBODY),
    "runs:prompt-set": (C.SEE_QUESTIONS, NOBODY),
    "runs:prompt-set-file": (C.SEE_QUESTIONS, NOBODY),
    "runs:prompt-set-new": C.EDIT_QUESTIONS,
    "runs:prompt-set-edit": C.EDIT_QUESTIONS,
    "runs:endpoints": C.OPERATE,
    "runs:endpoint": C.OPERATE,
    "runs:endpoint-new": C.OPERATE,
    "runs:endpoint-check": C.OPERATE,
    "scoring:rescorings": (C.SEE_RUNS, C.LEAD_ROUNDS),
    "scoring:rescoring": C.SEE_RUNS,
    "scoring:progress": C.SEE_RUNS,
    "scoring:stop": C.LEAD_ROUNDS,
    "scoring:resume": C.LEAD_ROUNDS,
    "scoring:golds": (NOBODY, C.EDIT_QUESTIONS),
    "scoring:policies": C.SEE_RUNS,
    "scoring:policies-export": C.EXPORT,
    "api-runs": (C.SEE_RUNS, C.START_RUNS),
    "api-suggest": (NOBODY, C.START_RUNS),
    "api-run": (C.SEE_RUNS, NOBODY),
    "api-endpoints": C.OPERATE,
    "api-endpoint": C.OPERATE,
    "api-endpoint-check": C.OPERATE,
    "api-run-stop": C.START_RUNS,
    "api-run-pause": C.START_RUNS,
    "api-run-resume": C.START_RUNS,
    "api-run-retry": C.START_RUNS,
    "api-run-responses": C.SEE_RUNS,
    "api-run-batches": C.SEE_RUNS,
    "api-responses": (C.SEE_RUNS, NOBODY),
    "api-response": C.SEE_RUNS,
    "api-studies": (C.SEE_RUNS, C.START_RUNS),
    "api-study": (C.SEE_RUNS, NOBODY),
    "api-study-stop": C.START_RUNS,
    "api-study-resume": C.START_RUNS,
    "checks:overview": (C.CHECK_ANSWERS, NOBODY),
    "checks:next": (C.CHECK_ANSWERS, NOBODY),
    "checks:item": C.CHECK_ANSWERS,
    "checks:undo": (NOBODY, C.CHECK_ANSWERS),
    "checks:sample": (NOBODY, C.CHECK_ANSWERS),
    "checks:cases": (NOBODY, C.CHECK_ANSWERS),
    "checks:differences": (C.CHECK_ANSWERS, NOBODY),
    "checks:read": C.START_RUNS,
    "api-run-read": (NOBODY, C.START_RUNS),
    "api-reading-labour": (C.CHECK_ANSWERS, NOBODY),
    "api-answer-checks": C.CHECK_ANSWERS,
    "api-answer-checks-waiting": (C.CHECK_ANSWERS, NOBODY),
    "api-check-samples": C.CHECK_ANSWERS,
    "api-corrections": (C.CHECK_ANSWERS, NOBODY),
    "marking:home": C.MARK,
    "marking:marks": C.MARK,
    "marking:round": C.MARK,
    "marking:next": C.MARK,
    "marking:undo": C.MARK,
    "marking:done": C.MARK,
    "marking:leave": C.MARK,
    "marking:desk": C.MARK,
    "marking:revise": C.MARK,
    "marking:save": C.MARK,
    "marking:skip": C.MARK,
    "marking:draft": C.MARK,
    "marking:ahead": C.MARK,
    "marking:settings": C.MARK,
    "marking:sheets": C.MARK,
    "marking:sheet": C.MARK,
    "marking:sheet-save": (NOBODY, C.MARK),
    "marking:sheet-return": (NOBODY, C.MARK),
    "marking:sheet-csv": (C.MARK, NOBODY),
    "marking:sheet-xlsx": (C.MARK, NOBODY),
    "marking:sheet-print": (C.MARK, NOBODY),
    "marking:print": (C.MARK, NOBODY),
    "api-marks": C.MARK,
    "api-sheets": C.MARK,
    "api-sheet": C.MARK,
    "rounds:list": C.LEAD_ROUNDS,
    "rounds:new": C.LEAD_ROUNDS,
    "rounds:round": C.LEAD_ROUNDS,
    "rounds:marks": C.EXPORT,
    "rounds:start": (NOBODY, C.LEAD_ROUNDS),
    "rounds:pause": (NOBODY, C.LEAD_ROUNDS),
    "rounds:resume": (NOBODY, C.LEAD_ROUNDS),
    "rounds:close": C.LEAD_ROUNDS,
    "rounds:deadline": (NOBODY, C.LEAD_ROUNDS),
    "rounds:teachers": (NOBODY, C.LEAD_ROUNDS),
    "rounds:marking-notes": C.LEAD_ROUNDS,
    "rounds:seeds": (C.LEAD_ROUNDS, NOBODY),
    "rounds:seed": C.LEAD_ROUNDS,
    "rounds:arbitration": C.LEAD_ROUNDS,
    "rounds:response": C.LEAD_ROUNDS,
    "rounds:claim": (NOBODY, C.LEAD_ROUNDS),
    "rounds:sheets": C.LEAD_ROUNDS,
    "rounds:sheet": C.LEAD_ROUNDS,
    "rounds:sheet-save": (NOBODY, C.LEAD_ROUNDS),
    "rounds:sheet-return": (NOBODY, C.LEAD_ROUNDS),
    "rounds:sheet-csv": (C.LEAD_ROUNDS, NOBODY),
    "rounds:sheet-xlsx": (C.LEAD_ROUNDS, NOBODY),
    "rounds:sheet-print": (C.LEAD_ROUNDS, NOBODY),
    "reviewing:home": C.MARK,
    "reviewing:review": C.MARK,
    "reviewing:next": C.MARK,
    "reviewing:undo": C.MARK,
    "reviewing:leave": C.MARK,
    "reviewing:desk": C.MARK,
    "reviewing:save": C.MARK,
    "reviewing:skip": C.MARK,
    "reviews:list": C.LEAD_ROUNDS,
    "reviews:new": C.LEAD_ROUNDS,
    "reviews:review": C.LEAD_ROUNDS,
    "reviews:answers": C.LEAD_ROUNDS,
    "reviews:close": C.LEAD_ROUNDS,
    "reviews:export": C.EXPORT,
    "api-capability-judgements": C.MARK,
    "api-capability-reviews": (C.LEAD_ROUNDS, NOBODY),
    "api-capability-review": (C.LEAD_ROUNDS, NOBODY),
    "monitoring:key-flags": (C.CHECK_ANSWERS, NOBODY),
    "monitoring:round": C.LEAD_ROUNDS,
    "monitoring:export": C.LEAD_ROUNDS,
    "monitoring:limits": C.LEAD_ROUNDS,
    "monitoring:teacher": C.LEAD_ROUNDS,
    "monitoring:pause": C.LEAD_ROUNDS,
    "monitoring:resume": C.LEAD_ROUNDS,
    "monitoring:remove": (NOBODY, C.LEAD_ROUNDS),
    "monitoring:send-back": C.LEAD_ROUNDS,
    "monitoring:rubrics": C.LEAD_ROUNDS,
    "monitoring:tolerance": C.LEAD_ROUNDS,
    "api-rounds": C.LEAD_ROUNDS,
    "api-round": (C.LEAD_ROUNDS, NOBODY),
    "api-round-start": (NOBODY, C.LEAD_ROUNDS),
    "api-round-pause": (NOBODY, C.LEAD_ROUNDS),
    "api-round-resume": (NOBODY, C.LEAD_ROUNDS),
    "api-round-close": (NOBODY, C.LEAD_ROUNDS),
    "api-round-deadline": (NOBODY, C.LEAD_ROUNDS),
    "api-round-teachers": (NOBODY, C.LEAD_ROUNDS),
    "api-round-marking-notes": C.LEAD_ROUNDS,
    "judging:list": C.SEE_JUDGEMENTS,
    "judging:judge": C.SEE_JUDGEMENTS,
    "judging:judgement": C.SEE_JUDGEMENTS,
    "judging:calibration": C.SEE_JUDGEMENTS,
    "judging:samples": C.SEE_JUDGEMENTS,
    "judging:sample": C.SEE_JUDGEMENTS,
    "judging:sample-new": C.LEAD_ROUNDS,
    "judging:sample-next": (NOBODY, C.LEAD_ROUNDS),
    "judging:start": C.START_RUNS,
    "api-judgements": C.SEE_JUDGEMENTS,
    "api-samples": (C.SEE_JUDGEMENTS, C.LEAD_ROUNDS),
    "api-sample": (C.SEE_JUDGEMENTS, NOBODY),
    "api-sample-plan": (NOBODY, C.LEAD_ROUNDS),
    "api-sample-next": (NOBODY, C.LEAD_ROUNDS),
    "reports:overview": C.SEE_REPORTS,
    "reports:cuts": C.SEE_REPORTS,
    "reports:years": C.SEE_REPORTS,
    "reports:settings": C.SEE_REPORTS,
    "reports:rescore": C.EDIT_QUESTIONS,
    "reports:rows": C.SEE_REPORTS,
    "reports:pairs": C.SEE_REPORTS,
    "reports:papers": C.SEE_REPORTS,
    "reports:paper-cell": C.SEE_REPORTS,
    "reports:export": C.EXPORT,
    "reports:exports": C.EXPORT,
    "reports:export-work": C.EXPORT,
    "reports:export-progress": C.EXPORT,
    "reports:export-stop": C.EXPORT,
    "reports:export-resume": C.EXPORT,
    "reports:export-file": C.EXPORT,
    "reports:export-manifest": C.EXPORT,
    "api-report": C.SEE_REPORTS,
    "api-exports": C.EXPORT,
    "api-export": (C.EXPORT, NOBODY),
}
# Open to two capabilities; tried where the feature is tested.
ELSEWHERE = {"questions:image"}
# Routes that take more than GET and POST, which are in TABLE; every other method is none (405).
OTHER: dict[str, dict[str, Needed]] = {
    "api-saved-view": {"DELETE": C.SEE_QUESTIONS},
}
CAST = ["admin", "curator", "lead", "teacher", "outsider"]


def routes(
    patterns: list[URLPattern | URLResolver], space: str = "", outer: dict | None = None
) -> Iterator[tuple[str, dict]]:
    """Name and sample arguments of every route but the operators' site's."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if pattern.namespace != "admin":
                inner = f"{space}{pattern.namespace}:" if pattern.namespace else space
                converters = {**(outer or {}), **pattern.pattern.converters}
                yield from routes(pattern.url_patterns, inner, converters)
        else:
            converters = {**(outer or {}), **pattern.pattern.converters}
            yield (
                f"{space}{pattern.name}",
                {name: sample(kind) for name, kind in converters.items()},
            )


def sample(converter: object) -> object:
    """An argument that fits the route and names nothing."""
    kind = type(converter).__name__
    return {"UUIDConverter": uuid.uuid4(), "IntConverter": 999_999}.get(kind, "nothing")


ROUTES = dict(routes(get_resolver().url_patterns))


def test_every_route_has_its_row() -> None:
    assert set(ROUTES) - ELSEWHERE == set(TABLE), "a route without a decision, or a row too many"


@pytest.mark.django_db
@pytest.mark.parametrize("who", CAST)
def test_who_is_let_in(who: str, request: pytest.FixtureRequest) -> None:
    """Each request is undone, and the next begins with the same cookies."""
    user, wrong = request.getfixturevalue(who), []
    client = logged_in(user)
    cookies = {name: cookie.value for name, cookie in client.cookies.items()}
    for name in sorted(set(ROUTES) - ELSEWHERE):
        row, address = TABLE[name], reverse(name, kwargs=ROUTES[name])
        for method, needed in zip(
            ("GET", "POST"), row if isinstance(row, tuple) else (row, row), strict=True
        ):
            allowed = user.may(needed) if isinstance(needed, C) else needed != NOBODY
            client.cookies = SimpleCookie(cookies)
            with transaction.atomic():
                status = client.generic(method, address).status_code
                transaction.set_rollback(True)
            if status == 403 if allowed else status not in (403, 405):
                wrong.append(f"{method} {address}: {status}")
    assert not wrong


@pytest.mark.django_db
def test_nothing_without_a_login() -> None:
    client, wrong = Client(), []
    for name in sorted(set(ROUTES)):
        address = reverse(name, kwargs=ROUTES[name])
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            client.cookies.clear()
            response = client.generic(method, address)
            to_login = response.status_code == 302 and "/login/" in response["Location"]
            refused = to_login or response.status_code in (401, 403, 405)
            if TABLE.get(name) not in (EVERYBODY, (EVERYBODY, NOBODY)) and not refused:
                wrong.append(f"{method} {address}: {response.status_code}")
    assert not wrong


def test_no_method_goes_around_the_table(admin: User) -> None:
    """T022: HEAD as GET; PUT, PATCH, DELETE and an override only where the table says so."""
    wrong: list[str] = []
    for name in sorted(set(ROUTES) - ELSEWHERE - {"logout", "login", "set_language"}):
        address, other = reverse(name, kwargs=ROUTES[name]), OTHER.get(name, {})
        client, codes = logged_in(admin), {}
        for method in ("GET", "HEAD", "POST", "OVERRIDE", "PUT", "PATCH", "DELETE"):
            headers = {"X-HTTP-Method-Override": "DELETE"} if method == "OVERRIDE" else {}
            with CaptureQueriesContext(connection) as queries:
                sent = "POST" if method == "OVERRIDE" else method
                codes[method] = client.generic(sent, address, headers=headers).status_code
            if codes[method] >= 400 or method in ("GET", "HEAD"):
                assert not written(queries), f"{method} {address} writes {written(queries)}"
        assert codes["HEAD"] == codes["GET"], address
        assert codes["OVERRIDE"] == codes["POST"], address
        for method in ("PUT", "PATCH", "DELETE"):
            if method not in other:
                wrong += [] if codes[method] in (403, 405) else [f"{method} {name}"]
    assert not wrong


def test_the_operators_site_is_for_operators_alone(
    admin: User, lead: User, curator: User, teacher: User, outsider: User
) -> None:
    """T027: every list and form of it, and its own login, which is none."""
    User.objects.update(is_staff=True)
    names = [f"{m._meta.app_label}_{m._meta.model_name}" for m in django_admin.site._registry]
    pages = [reverse(f"admin:{name}_{page}") for name in names for page in ("changelist", "add")]
    pages += ["/admin/", "/admin/jsi18n/", "/admin/evaluations/"]
    for user in (lead, curator, teacher, outsider):
        client = logged_in(User.objects.get(pk=user.pk))
        for page in pages:
            assert client.get(page).status_code == 404, f"{user} {page}"
        assert client.get("/admin/login/").status_code == 404
    client = logged_in(User.objects.get(pk=admin.pk))
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/evaluations/mark/").status_code == 200
    assert Client().get("/admin/login/")["Location"].startswith("/login/")
