"""API tokens: what one opens, what it never opens, and when it ends. T030 among them."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from gradeapp.accounts.links import change_password
from gradeapp.accounts.models import ApiToken, User
from gradeapp.accounts.people import set_active, set_roles
from gradeapp.accounts.roles import Capability, Role
from gradeapp.accounts.scopes import CHANGES, Scope, scope_for
from gradeapp.accounts.tokens import MOST_TOKENS, make_token, revoke_token
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from tests.conftest import logged_in
from tests.factories import PASSWORD, make_dataset, make_user
from tests.waiting import after

pytestmark = pytest.mark.django_db
READ = "/api/v1/questions/"


def token_of(user: User, *scopes: Scope, days: int = 30) -> str:
    user = User.objects.get(pk=user.pk)
    return make_token(user, name="script", scopes=scopes, days=days, acting_user=user)[1]


def call(token: str, path: str = READ, method: str = "get", **given: Any) -> Any:
    """One request of a script: no cookies, CSRF checked."""
    client = Client(enforce_csrf_checks=True)
    headers = {"Authorization": f"Bearer {token}"}
    return getattr(client, method)(path, headers=headers, **given)


def test_every_capability_has_a_scope() -> None:
    assert set(CHANGES) == set(Capability)
    assert scope_for(Capability.EXPORT, "GET") is Scope.EXPORT
    assert scope_for(Capability.START_RUNS, "GET") is Scope.READ


def test_a_token_opens_what_it_was_made_for(lead: User, curator: User) -> None:
    token = token_of(lead, Scope.READ)
    assert call(token).status_code == 200
    assert call(token)["Cache-Control"] == "private, no-store"
    body = {"content_type": "application/json", "data": "{}"}
    refused = call(token, "/api/v1/rounds/", "post", **body)
    assert (refused.status_code, refused.json()["code"]) == (403, "token_scope")
    # With the scope it is the route itself that refuses the empty body, and no CSRF check.
    assert call(token_of(lead, Scope.LEAD), "/api/v1/rounds/", "post", **body).status_code == 400
    assert call(token_of(lead, Scope.LEAD)).status_code == 403, "reading is a scope of its own"
    # A scope gives no right that the person has not.
    every = token_of(curator, *Scope)
    assert call(every, "/api/v1/rounds/", "post", **body).status_code == 403
    assert call(every, "/api/v1/runs/").status_code == 403


def test_only_the_header_counts(lead: User) -> None:
    token = token_of(lead, Scope.READ)
    client = Client()
    for name in ("token", "access_token", "api_key", "Authorization"):
        assert client.get(READ, {name: token}).status_code == 403
    assert client.get(READ, headers={"X-Api-Key": token}).status_code == 403
    client.cookies["token"] = token
    assert client.get(READ).status_code == 403
    for header in (
        "Bearer",
        f"Token {token}",
        f"Basic {token}",
        "Bearer \x00",
        "Bearer " + "x" * 9,
    ):
        assert client.get(READ, headers={"Authorization": header}).status_code == 401
    # A bad token is not helped by the session beside it.
    bad = logged_in(lead).get(READ, headers={"Authorization": "Bearer wrong"})
    assert (bad.status_code, bad.json()["code"]) == (401, "bad_token")


def test_a_token_opens_no_page(lead: User, admin: User) -> None:
    for path in ("/", "/questions/", "/tokens/", "/password/"):
        assert call(token_of(lead, *Scope), path).status_code == 302
    assert call(token_of(admin, *Scope), "/admin/").status_code in (302, 404)


def test_files_by_token(curator: User) -> None:
    make_dataset()
    path = "/questions/export/?as=csv"
    assert call(token_of(curator, Scope.EXPORT), path).status_code == 200
    refused = call(token_of(curator, Scope.READ), path)
    assert (refused.status_code, refused.json()["code"]) == (403, "token_scope")
    assert call("gradeapp_wrong", path).status_code == 401


@pytest.mark.parametrize(
    "change", ["password", "inactive", "expired", "revoked", "new role", "superuser", "demo"]
)
def test_a_token_ends(lead: User, settings: Any, change: str) -> None:
    token = token_of(lead, Scope.READ)
    assert call(token).status_code == 200
    row = ApiToken.objects.get()
    if change == "password":
        lead.set_password("quite-another-password")
    elif change == "inactive":
        lead.is_active = False
    elif change == "superuser":
        lead.is_superuser = True
    elif change == "demo":
        lead.is_demo = True
    elif change == "new role":
        lead.groups.add(Group.objects.get(name=Role.CURATOR.value))
    elif change == "expired":
        ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        revoke_token(lead, row.pk, acting_user=lead)
    lead.save()
    assert call(token).status_code == 401


def test_a_role_that_is_given_again_is_a_further_role(lead: User, admin: User) -> None:
    token = token_of(lead, Scope.READ)
    set_roles(lead, [Role.CURATOR], acting_user=admin)
    set_roles(User.objects.get(pk=lead.pk), [Role.LEAD], acting_user=admin)
    assert call(token).status_code == 401
    other = token_of(User.objects.get(pk=lead.pk), Scope.READ)
    set_roles(User.objects.get(pk=lead.pk), [Role.LEAD, Role.CURATOR], acting_user=admin)
    assert call(other).status_code == 401


def test_a_person_who_is_activated_again_has_no_tokens(lead: User, admin: User) -> None:
    token = token_of(lead, Scope.READ)
    for active in (False, True):
        set_active(lead, active=active, acting_user=admin)
    assert call(token).status_code == 401
    root, other = (User.objects.create_superuser(name, password="x") for name in ("root", "other"))
    token = token_of(other, Scope.READ)
    for active in (False, True):
        set_active(other, active=active, acting_user=root)
    assert call(token).status_code == 401


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["role", "inactive", "password"])
def test_a_token_that_is_made_while_its_person_is_changed_is_of_what_they_are_then(
    change: str,
) -> None:
    admin, lead = make_user(Role.ADMIN, "ada"), make_user(Role.LEAD, "lin")
    asked = User.objects.get(pk=lead.pk)
    assert asked.roles == (Role.LEAD,), "as the request has read them"

    def change_it() -> None:
        if change == "role":
            set_roles(lead, [Role.CURATOR], acting_user=admin)
        elif change == "inactive":
            set_active(lead, active=False, acting_user=admin)
        else:
            change_password(lead, "another-long-password")

    def make() -> str:
        return make_token(asked, name="s", scopes=[Scope.READ], days=1, acting_user=asked)[1]

    made = after(change_it, make)
    if change == "inactive":
        assert isinstance(made, BadInput)
        return
    if change == "role":
        set_roles(User.objects.get(pk=lead.pk), [Role.LEAD], acting_user=admin)
    assert call(made).status_code == 401


def test_a_role_that_is_taken_away_closes_its_routes(lead: User) -> None:
    token = token_of(lead, Scope.READ)
    assert call(token, "/api/v1/rounds/").status_code == 200
    lead.groups.clear()
    assert call(token, "/api/v1/rounds/").status_code == 403


def test_a_second_factor_that_is_taken_away_ends_the_use_of_a_token(
    lead: User, teacher: User, settings: Any
) -> None:
    """Where the role needs one; a new factor lets the token go on."""
    settings.SECOND_FACTOR_ROLES = ["admin", "lead"]
    with pytest.raises(BadInput, match="second factor"):
        token_of(lead, Scope.READ)
    kind = Authenticator.Type
    app = Authenticator.objects.create(user=lead, type=kind.TOTP, data={"secret": "x"})
    Authenticator.objects.create(user=lead, type=kind.RECOVERY_CODES, data={})
    token = token_of(lead, Scope.READ, Scope.EXPORT)
    assert call(token).status_code == 200
    app.delete()
    assert call(token).status_code == 401, "recovery codes alone are no factor"
    assert call(token, "/reports/exports/").status_code == 401
    Authenticator.objects.create(user=lead, type=kind.WEBAUTHN, data={})
    assert call(token).status_code == 200
    assert call(token_of(teacher, Scope.MARK), "/api/v1/marks/").status_code == 403, (
        "only its scope"
    )
    assert call(token_of(teacher, Scope.READ), "/api/v1/marks/").status_code == 200, "needs none"


def test_a_new_secret_key_ends_no_token(lead: User, settings: Any) -> None:
    token = token_of(lead, Scope.READ)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" * 8
    assert call(token).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert call(token).status_code == 401


def test_requests_are_counted_by_token_and_person(lead: User, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = 3
    first, second, third = (token_of(lead, Scope.READ) for _ in range(3))
    assert [call(first).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert [call(second).status_code for _ in range(3)] == [200, 200, 200]
    limited = call(third)
    assert limited.status_code == 429
    assert 1 <= limited.json()["seconds"] <= 60
    ApiToken.objects.update(window_at=timezone.now() - timedelta(seconds=61))
    assert call(first).status_code == 200


def test_only_the_hash_is_stored(lead: User) -> None:
    token = token_of(lead, Scope.READ)
    stored = json.dumps(list(ApiToken.objects.values()), default=str)
    trail = json.dumps(list(AuditEntry.objects.values("tag", "detail")))
    assert token not in stored + trail
    assert token[9:20] not in stored + trail
    assert "token.made" in trail


def test_the_page_makes_shows_once_and_revokes(lead: User, teacher: User) -> None:
    client = logged_in(lead)
    form = {"name": "cron-7", "scopes": ["read", "export"], "days": "7", "password": "wrong"}
    refused = client.post("/tokens/", form)
    assert "This is not your password." in refused.text
    assert not ApiToken.objects.exists()
    for bad in ({"days": "366"}, {"scopes": ["all"]}, {"scopes": []}, {"name": ""}):
        client.post("/tokens/", form | {"password": PASSWORD} | bad)
    assert not ApiToken.objects.exists()
    form["key"] = str(client.get("/tokens/").context["form"]["key"].value())
    before = client.post("/tokens/", form | {"password": PASSWORD})
    made = client.post("/tokens/", form | {"password": PASSWORD})  # the same form again
    ended = re.search(r"gradeapp_[\w-]{43}", before.text)
    assert ended
    assert call(ended[0]).status_code == 401
    token = re.search(r"gradeapp_[\w-]{43}", made.text)
    assert token
    assert PASSWORD not in made.text
    assert call(token[0]).status_code == 200
    later = client.get("/tokens/").text
    assert token[0] not in later
    assert "cron-7" in later
    assert "<td>never</td>" not in later, "the last use is shown"
    row = ApiToken.objects.get(revoked_at=None)
    assert "cron-7" not in logged_in(teacher).get("/tokens/").text
    assert logged_in(teacher).post(f"/tokens/{row.pk}/revoke/").status_code == 404
    assert call(token[0]).status_code == 200
    client.post(f"/tokens/{row.pk}/revoke/")
    assert call(token[0]).status_code == 401
    tags = AuditEntry.objects.filter(tag__startswith="token.").order_by("id")
    assert [entry.tag for entry in tags] == ["token.made", "token.revoked"] * 2


def test_nobody_has_more_than_a_few(lead: User) -> None:
    client = logged_in(lead)
    for _ in range(MOST_TOKENS):
        token_of(lead, Scope.READ)
    form = {"name": "one more", "scopes": ["read"], "days": "7", "password": PASSWORD}
    assert "Revoke one first" in client.post("/tokens/", form).text


@pytest.mark.parametrize("change", ["password", "further role"])
def test_a_token_that_has_ended_is_not_shown_as_valid(lead: User, admin: User, change: str) -> None:
    """Nor is one counted that ends for good; that of a further role comes back without it."""
    for _ in range(MOST_TOKENS):
        token = token_of(lead, Scope.READ)
    assert "no longer valid" not in logged_in(lead).get("/tokens/").text
    if change == "password":
        new = "another-long-password"
        form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
        assert logged_in(lead).post("/password/", form).status_code == 302
    else:
        set_roles(lead, [Role.LEAD, Role.CURATOR], acting_user=admin)
    lead = User.objects.get(pk=lead.pk)
    assert call(token).status_code == 401
    page = logged_in(lead).get("/tokens/").text
    assert page.count("<td>no longer valid</td>") == MOST_TOKENS
    assert "Make a new one" in page
    out = StringIO()
    call_command("api_token", "--user", "lin", stdout=out)
    assert out.getvalue().count("  no longer valid\n") == MOST_TOKENS
    if change == "password":
        assert call(token_of(lead, Scope.READ)).status_code == 200
        assert logged_in(lead).get("/tokens/").text.count("<td>no longer valid</td>") == 20
        return
    with pytest.raises(Conflict):
        token_of(lead, Scope.READ)
    set_roles(lead, [Role.LEAD], acting_user=admin)
    assert call(token).status_code == 200
    assert "no longer valid" not in logged_in(lead).get("/tokens/").text


def test_the_command(lead: User) -> None:
    def run(*words: str) -> dict[str, Any]:
        out = StringIO()
        call_command("api_token", "--user", "lin", "--format", "json", *words, stdout=out)
        return dict(json.loads(out.getvalue()))

    made = run("--make", "cron", "--scope", "read", "--days", "3")
    assert call(made["token"]).status_code == 200
    listed = run()["tokens"]
    assert [row["name"] for row in listed] == ["cron"]
    assert "token" not in listed[0]
    assert run("--revoke", str(made["id"])) == {"revoked": made["id"]}
    assert call(made["token"]).status_code == 401
