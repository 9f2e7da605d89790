"""T097: the own password again before what costs much, and before marks leave as a file."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.conditions import Asking
from evaluations.judging.services.judge_runs import start_judge_run
from evaluations.judging.services.judges import ensure_judge
from evaluations.models import Endpoint, Job, Run, Study
from evaluations.models.vocabulary import PauseReason
from evaluations.runs.rules.question_choice import QuestionChoice
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.run_states import pause
from evaluations.runs.services.runs import pause_run, start_run, stop_run
from evaluations.runs.services.studies import start_study
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability, Role
from gradeapp.accounts.scopes import Scope
from gradeapp.accounts.tokens import make_token
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from questions.models import Dataset
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.evaluations.conftest import endpoint, server  # noqa: F401 (fixtures)
from tests.factories import (
    PASSWORD,
    make_dataset,
    make_endpoint,
    make_question,
    make_task,
    make_user,
)
from tests.scripted_server import ScriptedServer, named_fault
from tests.test_authorization import ROUTES, TABLE

pytestmark = pytest.mark.django_db
CONFIRM = "/account/confirm/"


@pytest.fixture
def exam(db: None) -> Dataset:
    dataset = make_dataset()
    for kind in (QuestionType.SINGLE_CHOICE, QuestionType.OPEN_ENDED):
        task = make_task(dataset, question_type=kind)
        for _ in range(2):
            make_question(task)
    return dataset


@pytest.fixture
def dear(endpoint: Endpoint) -> Endpoint:  # noqa: F811
    """One reply may cost 30: 3,000 tokens at 10,000 a million."""
    prices = {"max_tokens": 3000, "price_output": Decimal(10_000), "price_input": Decimal(0)}
    Endpoint.objects.filter(pk=endpoint.pk).update(**prices)
    endpoint.refresh_from_db()
    return endpoint


@pytest.fixture
def confirming(settings: Any) -> None:
    settings.CONFIRM_CHANGES, settings.CONFIRM_COST, settings.CONFIRM_MINUTES = True, 50, 15


def minutes_ago(client: Client, minutes: int) -> Client:
    """The same session, its login and last confirmation so long ago."""
    session = client.session
    then = timezone.now().timestamp() - minutes * 60
    session["began"] = then
    session.pop("account_authentication_methods", None)
    session.save()
    return client


def pass_minutes(client: Client, minutes: int) -> None:
    """Let so many minutes pass in the session since its last confirmation."""
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= minutes * 60
    session.save()


def asks(answer: Any) -> bool:
    return bool(answer.status_code == 302 and answer["Location"].startswith(CONFIRM))


@pytest.mark.usefixtures("confirming")
def test_a_costly_run_asks_for_the_password_and_then_starts(
    admin: User, exam: Dataset, dear: Endpoint
) -> None:
    client = logged_in(admin)
    wanted = {"endpoint": dear.pk, "dataset": exam.slug, "repeats": 1, "setting": "zero-shot"}
    wanted["anyway"] = "1"  # the same run twice
    start = reverse("runs:new")
    assert client.post(start, wanted)["Location"].startswith("/runs/"), "who has just logged in"
    minutes_ago(client, 16)
    answer = client.post(f"{start}?again=1", wanted)
    assert asks(answer), "4 replies may cost 120"
    assert "The password is wrong" in client.post(answer["Location"], {"password": "no"}).text
    assert Run.objects.count() == 1
    done = client.post(answer["Location"], {"password": PASSWORD})
    assert done["Location"].startswith("/runs/"), "what was asked for is done then"
    assert Run.objects.count() == 2
    assert not asks(client.post(start, wanted)), "once in 15 minutes"
    # A budget bounds what a run may cost. A trial is the door to the whole run.
    minutes_ago(client, 16)
    assert not asks(client.post(start, {**wanted, "budget": "49.99"}))
    assert asks(client.post(start, {**wanted, "budget": "50.01"}))
    assert asks(client.post(start, {**wanted, "trial": "1"}))


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("minutes", [1, 3, 15])
def test_a_confirmation_is_enough_for_the_minutes_of_the_setting(
    minutes: int, admin: User, exam: Dataset, dear: Endpoint, settings: Any
) -> None:
    settings.CONFIRM_MINUTES = minutes
    client = minutes_ago(logged_in(admin), 16)
    wanted = {"endpoint": dear.pk, "dataset": exam.slug, "repeats": 1, "setting": "zero-shot"}
    start = reverse("runs:new")
    client.post(CONFIRM, {"password": PASSWORD})
    pass_minutes(client, minutes - 1)
    assert not asks(client.post(start, wanted))
    pass_minutes(client, 2)
    assert asks(client.post(start, {**wanted, "anyway": "1"})), "a start is no confirmation"


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("held", ["first_password", "second_factor"])
def test_what_waited_for_the_password_is_not_done_for_who_is_held_back(
    held: str, admin: User, exam: Dataset, dear: Endpoint, settings: Any
) -> None:
    """The request that goes on after the confirmation does not pass the middleware again."""
    client = minutes_ago(logged_in(admin), 16)
    wanted = {"endpoint": dear.pk, "dataset": exam.slug, "repeats": 1, "setting": "zero-shot"}
    page = client.post(reverse("runs:new"), wanted)["Location"]
    assert page.startswith(CONFIRM)
    if held == "first_password":
        User.objects.filter(pk=admin.pk).update(must_change_password=True)
    else:
        settings.SECOND_FACTOR_ROLES = ["admin"]
    answer = client.post(page, {"password": PASSWORD})
    assert answer.get("Location", "") == ("/password/" if held == "first_password" else "")
    assert not Run.objects.exists()


@pytest.mark.usefixtures("confirming")
def test_strangers_at_the_same_address_do_not_close_the_confirmation(admin: User) -> None:
    """Who guesses at the login has no account; five guesses on this page close it."""
    client = minutes_ago(logged_in(admin), 16)
    for _ in range(6):
        Client().post("/login/", {"username": admin.username, "password": "a guess"})
    page = f"{CONFIRM}?next=/people/invite/"
    assert client.post(page, {"password": PASSWORD})["Location"].startswith("/people/invite/")
    said = [client.post(page, {"password": "no"}).text for _ in range(6)]
    assert ["Too many" in one for one in said] == [False] * 5 + [True]
    noted = AuditEntry.objects.filter(target=f"user:{admin.pk}").order_by("pk")
    last = list(noted.values_list("tag", flat=True))[-6:]
    assert last == [Tag.LOGIN_FAILED] * 5 + [Tag.LOCKED_OUT]
    assert "Too many" in client.post(page, {"password": PASSWORD}).text


@pytest.mark.usefixtures("confirming")
def test_what_is_refused_after_the_confirmation_can_be_corrected(
    admin: User, teacher: User
) -> None:
    """It is shown at the address of the confirmation, and is sent to its own."""
    User.objects.filter(pk=teacher.pk).update(email="tao@school.example")
    client = minutes_ago(logged_in(admin), 16)
    sent = {"name": "Li Hua", "email": "tao@school.example", "roles": ["teacher"]}
    waits = client.post("/people/invite/", sent)["Location"]
    refused = client.post(waits, {"password": PASSWORD})
    assert "already has an account" in refused.text
    assert 'action="/people/invite/"' in refused.text


@pytest.mark.usefixtures("confirming")
def test_cheap_starts_after_one_another_are_added_up(
    admin: User, exam: Dataset, dear: Endpoint
) -> None:
    client = minutes_ago(logged_in(admin), 16)
    wanted = {"endpoint": dear.pk, "dataset": exam.slug, "repeats": 1, "setting": "zero-shot"}
    wanted |= {"anyway": "1", "budget": "20"}
    start = reverse("runs:new")
    assert [asks(client.post(start, wanted)) for _ in range(3)] == [False, False, True]
    answer = client.post(client.post(start, wanted)["Location"], {"password": PASSWORD})
    assert answer["Location"].startswith("/runs/")
    assert Run.objects.count() == 3
    minutes_ago(client, 16)
    session = client.session
    session["unconfirmed"] = [(timezone.now().timestamp() - 25 * 3600, "49")]
    session.save()
    assert not asks(client.post(start, wanted)), "a day later it is forgotten"


@pytest.mark.usefixtures("confirming")
def test_each_way_to_spend_more_asks(admin: User, exam: Dataset, dear: Endpoint) -> None:
    client = minutes_ago(logged_in(admin), 16)
    run = start_run(endpoint=dear, dataset=exam, acting_user=admin, budget=Decimal(1))
    stop_run(run, acting_user=admin)
    resume = reverse("runs:resume", args=[run.pk])
    assert asks(client.post(resume, {"budget": "51"}))
    assert not asks(client.post(resume, {"budget": "50"}))
    cap = {"prefix": "CNY", "CNY-currency": "CNY", "CNY-per_month": "999"}
    assert asks(client.post(reverse("runs:spending"), cap)), "the highest budget of all"
    judge = reverse("runs:judge", args=[run.pk])
    assert asks(client.post(judge, {"judge": dear.pk, "budget": "1"})), "50 were started already"
    client = minutes_ago(logged_in(admin), 16)
    assert asks(client.post(judge, {"judge": dear.pk})), "2 replies of the judge may cost 60"
    assert not asks(client.post(judge, {"judge": dear.pk, "budget": "50"}))
    trial = start_run(endpoint=dear, dataset=exam, acting_user=admin, trial=True)
    assert asks(client.post(reverse("runs:extend", args=[trial.pk]))), "the rest has no budget"
    body = {"endpoint": dear.name, "dataset": exam.slug, "start_anyway": True}
    api = client.post("/api/v1/runs/", body, "application/json")
    assert (api.status_code, api.json()["code"]) == (403, "confirm_password")
    assert CONFIRM in api.json()["detail"]
    study = {**body, "name": "S", "endpoints": [dear.name], "conditions": [{}]}
    del study["endpoint"], study["start_anyway"]
    refused = client.post("/api/v1/studies/", study, "application/json")
    assert refused.json()["code"] == "confirm_password", refused.json()
    page = {"name": "S", "dataset": exam.slug, "endpoints": [dear.pk], "repeats": 1}
    page |= {"c1-setting": "zero-shot"}
    assert asks(client.post(reverse("runs:study-new"), page))
    assert not Study.objects.exists()
    _row, token = make_token(admin, name="s", scopes=[Scope.RUN], days=1, acting_user=admin)
    headers = {"Authorization": f"Bearer {token}"}
    made = Client().post("/api/v1/runs/", body, "application/json", headers=headers)
    assert made.status_code == 201, "the scope of a token covers it"


@pytest.mark.usefixtures("confirming")
def test_calls_that_failed_ask_before_they_are_made_again(
    admin: User,
    exam: Dataset,
    dear: Endpoint,
    server: ScriptedServer,  # noqa: F811
) -> None:
    server.endpoint.faults = lambda _prompt: named_fault("context_length")
    run = start_run(endpoint=dear, dataset=exam, acting_user=admin)
    work_on_run(run.pk)
    assert run.jobs.filter(status="failed").count() == 4
    client = minutes_ago(logged_in(admin), 16)
    retry = reverse("runs:retry", args=[run.pk])
    assert asks(client.post(retry)), "4 replies may cost 120"
    api = client.post(f"/api/v1/runs/{run.pk}/retry/")
    assert (api.status_code, api.json()["code"]) == (403, "confirm_password")
    assert run.jobs.filter(status="failed").count() == 4
    Run.objects.filter(pk=run.pk).update(budget=Decimal(40))
    assert not asks(client.post(retry)), "the budget leaves 40"
    assert not run.jobs.filter(status="failed").exists()


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("ended", [stop_run, pause_run])
def test_what_somebody_stopped_asks_before_it_is_resumed(
    ended: Any, admin: User, exam: Dataset, dear: Endpoint
) -> None:
    """Whoever stops a run wants to spend no more; what waits for its endpoint goes on anyway."""
    given = {"dataset": exam, "choice": QuestionChoice(), "pairs": [(dear, Asking())]}
    study = start_study(name="S", acting_user=admin, **given)
    run = ended(study.runs.get(), acting_user=admin)
    client = minutes_ago(logged_in(admin), 16)
    for name, key in (("run", run.pk), ("study", study.pk)):
        page = reverse(f"runs:{'resume' if name == 'run' else 'study-resume'}", args=[key])
        assert asks(client.post(page)), "4 replies may cost 120"
        api = reverse(f"api-{name}-resume", args=[key])
        assert client.post(api).json()["code"] == "confirm_password"
    Study.objects.update(budget=Decimal(49))
    assert not asks(client.post(reverse("runs:study-resume", args=[study.pk])))
    run = pause_run(run, acting_user=admin)
    waits = {"pause_reason": PauseReason.ENDPOINT_DOWN, "resume_at": timezone.now()}
    Run.objects.filter(pk=run.pk).update(**waits)
    assert not asks(client.post(reverse("runs:resume", args=[run.pk])))


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("how", ["extend", "resume", "retry"])
def test_a_judge_beside_a_run_that_costs_nothing_counts(
    how: str, admin: User, exam: Dataset, dear: Endpoint
) -> None:
    """Its calls follow the answers by themselves."""
    free = make_endpoint("free")
    Endpoint.objects.filter(pk=free.pk).update(base_url=dear.base_url)
    free.refresh_from_db()
    run = start_run(
        endpoint=free, dataset=exam, acting_user=admin, judge=dear, trial=how == "extend"
    )
    stop_run(run, acting_user=admin)
    Run.objects.filter(judge__isnull=False).update(status="queued")
    if how == "retry":
        Job.objects.filter(run=run).update(status="failed")
    client = minutes_ago(logged_in(admin), 16)
    assert asks(client.post(reverse(f"runs:{how}", args=[run.pk]))), "2 replies may cost 60"
    Run.objects.filter(judge__isnull=False).update(budget=Decimal(49))
    if how != "extend":
        assert not asks(client.post(reverse(f"runs:{how}", args=[run.pk])))


@pytest.mark.usefixtures("confirming")
def test_a_stopped_judge_counts_the_answers_that_are_to_come(
    admin: User, exam: Dataset, dear: Endpoint
) -> None:
    free = make_endpoint("free")
    Endpoint.objects.filter(pk=free.pk).update(base_url=dear.base_url)
    free.refresh_from_db()
    run = start_run(endpoint=free, dataset=exam, acting_user=admin, judge=dear)
    judging = run.judge_runs.get()
    stop_run(run, acting_user=admin)
    stop_run(judging, acting_user=admin)
    client = minutes_ago(logged_in(admin), 16)
    assert not asks(client.post(reverse("runs:resume", args=[run.pk]))), "the judge stays stopped"
    resume = reverse("runs:resume", args=[judging.pk])
    assert asks(client.post(resume)), "2 replies of the judge may cost 60"
    assert asks(client.post(resume, {"budget": "60"}))
    Run.objects.filter(pk=judging.pk).update(budget=Decimal(40))
    assert not asks(client.post(resume))


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("given", [{}, {"budget": "2"}])
def test_a_judge_beside_a_run_of_a_study_counts(
    given: dict[str, str], admin: User, exam: Dataset, dear: Endpoint
) -> None:
    """The budget of the study does not hold it."""
    free = make_endpoint("free")
    Endpoint.objects.filter(pk=free.pk).update(base_url=dear.base_url)
    free.refresh_from_db()
    wanted = {"dataset": exam, "choice": QuestionChoice(), "pairs": [(free, Asking())]}
    study = start_study(name="S", acting_user=admin, budget=Decimal(1), **wanted)
    run = study.runs.get()
    start_judge_run(run, ensure_judge(dear), acting_user=admin)
    stop_run(run, acting_user=admin)
    client = minutes_ago(logged_in(admin), 16)
    resume = reverse("runs:study-resume", args=[study.pk])
    assert asks(client.post(resume, given)), "2 replies of the judge may cost 60"
    Run.objects.filter(judge__isnull=False).update(budget=Decimal(40))
    assert not asks(client.post(resume, given))


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("by_api", ["yes", ""])
def test_a_run_whose_batch_was_refused_asks_before_it_goes_on(
    by_api: str, admin: User, exam: Dataset, dear: Endpoint
) -> None:
    run = start_run(endpoint=dear, dataset=exam, acting_user=admin, batch_api=True)
    pause(run, PauseReason.BATCH_REJECTED)
    client = minutes_ago(logged_in(admin), 16)
    make = reverse("runs:batches-make", args=[run.pk])
    assert asks(client.post(make, {"by_api": by_api})), "4 replies may cost 60"
    assert not run.batches.exists()
    Run.objects.filter(pk=run.pk).update(budget=Decimal(40))
    assert not asks(client.post(make, {"by_api": by_api}))
    assert run.batches.exists() is not bool(by_api), "by the API a person resumes it first"


@pytest.mark.usefixtures("confirming")
def test_each_file_of_marks_asks(lead: User) -> None:
    client = minutes_ago(logged_in(lead), 16)
    pages = {"exports", "export-work", "export-progress", "export-stop", "export-resume"}
    about = {f"reports:{name}" for name in (*pages, "export-manifest")}
    about |= {"api-exports", "api-export"}
    files = {name for name, needed in TABLE.items() if needed == Capability.EXPORT} - about
    assert {"reports:export", "reports:export-file", "rounds:marks"} <= files
    _row, token = make_token(lead, name="s", scopes=[Scope.EXPORT], days=1, acting_user=lead)
    others = {"monitoring:export": client, "runs:search-export": client}
    others["audit:export"] = minutes_ago(logged_in(make_user(Role.ADMIN, "ida")), 16)
    for name, person in others.items():
        assert asks(person.get(reverse(name, kwargs=ROUTES.get(name)))), name
    for name in files:
        address = reverse(name, kwargs=ROUTES[name])
        assert asks(client.get(address)), name
        headers = {"Authorization": f"Bearer {token}"}
        assert not asks(Client().get(address, headers=headers)), name
    assert not asks(client.get(reverse("reports:exports")))


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("meanwhile", ["another_page", "an_hour"])
def test_what_waited_for_the_password_and_was_left_is_forgotten(
    meanwhile: str, admin: User, teacher: User
) -> None:
    """A page that asks for the password is opened later, and the password typed to read it."""
    client, page = minutes_ago(logged_in(admin), 16), f"/people/{teacher.pk}/"
    left = client.post(page, {"roles": ["teacher", "curator"]})
    assert asks(left)
    if meanwhile == "another_page":
        client.get("/runs/")
    else:
        session = client.session
        session["suspended"] -= 3600
        session.save()
    asked = client.get(page)["Location"] if meanwhile == "another_page" else left["Location"]
    shown = client.post(asked, {"password": PASSWORD}, follow=True)
    assert shown.status_code == 200
    assert [role.value for role in User.objects.get(pk=teacher.pk).roles] == ["teacher"]
    done = client.post(page, {"roles": ["teacher", "curator"]})
    assert done.status_code == 302
    assert len(User.objects.get(pk=teacher.pk).roles) == 2


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("first", [0, 1])
def test_of_two_changes_that_wait_the_later_is_done_and_the_other_said_not_to_be(
    first: int, admin: User, teacher: User, lead: User
) -> None:
    """In two tabs, whichever is confirmed first; so of one that has waited too long."""
    client, people = minutes_ago(logged_in(admin), 16), (teacher, lead)
    tabs = []
    for person in people:
        address = client.post(f"/people/{person.pk}/deactivate/")["Location"]
        waits = re.search(r'name="waits" value="([\d.]+)"', client.get(address).text)
        assert waits
        tabs.append((address, {"waits": waits[1], "password": PASSWORD}))
    order = (first, 1 - first)
    answers = {tab: client.post(tabs[tab][0], tabs[tab][1], follow=True) for tab in order}
    active = [User.objects.get(pk=person.pk).is_active for person in people]
    assert active == [True, False]
    assert (answers[0].status_code, "was not done" in answers[0].text) == (409, True)
    assert (answers[1].status_code, "was not done" in answers[1].text) == (200, False)
    minutes_ago(client, 16)
    address = client.post(f"/people/{teacher.pk}/deactivate/")["Location"]
    session = client.session
    session["suspended"] -= 3600
    session.save()
    sent = {"waits": repr(session["suspended"]), "password": PASSWORD}
    assert "it has waited too long" in client.post(address, sent).text
    assert User.objects.get(pk=teacher.pk).is_active


@pytest.mark.usefixtures("confirming")
@pytest.mark.parametrize("factor", [False, True])
def test_who_has_no_password_is_asked_for_none(lead: User, factor: bool) -> None:
    """Single sign-on alone: a token asks for the second factor, if there is one."""
    lead.set_unusable_password()
    lead.save()
    client = Client()
    client.force_login(lead)
    minutes_ago(client, 16)
    if factor:
        kind, secret = Authenticator.Type.TOTP, {"secret": "A" * 32}
        Authenticator.objects.create(user=lead, type=kind, data=secret)
        code = next(iter(RecoveryCodes.activate(lead).get_unused_codes()))
    assert "Your password" not in client.get("/tokens/").text
    made = client.post("/tokens/", {"name": "nightly", "scopes": ["read"], "days": "30"})
    if factor:
        assert made["Location"].startswith("/account/second-factor/reauthenticate/")
        assert not lead.api_tokens.exists()
        made = client.post(made["Location"], {"code": code})
    assert "Your new token" in made.text
    assert lead.api_tokens.get().name == "nightly"
    page = client.get("/password/").text
    assert "ask an admin for a reset link" in page
    assert "old_password" not in page
