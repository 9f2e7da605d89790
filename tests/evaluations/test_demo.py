"""The sample exam of the demo: whole, safe to repeat, and never on a server."""

from __future__ import annotations

import re
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client

from evaluations.demo import DATASET, LOCAL_TOKENS, load_sample, save_demo_endpoints
from evaluations.models import BlindAnswer, Endpoint, Mark, MarkingRound
from evaluations.models.vocabulary import RunStatus
from evaluations.runs.services.frozen import is_still_the_same
from gradeapp.accounts.demo import DEMO_PEOPLE
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import NotAllowed
from questions.models import Question
from questions.rules.vocabulary import Part, Subject
from tests.evaluations.run_world import planned, worked
from tests.factories import PASSWORD, make_user
from tests.scripted_server import ScriptedServer


@pytest.mark.django_db
def test_the_sample_is_whole_and_safe_to_repeat() -> None:
    first = load_sample()
    before = (Question.objects.count(), BlindAnswer.objects.count(), User.objects.count())
    second = load_sample()
    assert (first["round_opened"], second["round_opened"]) == (True, False)
    assert before == (Question.objects.count(), BlindAnswer.objects.count(), User.objects.count())
    made = MarkingRound.objects.get()
    for text in (made.name, made.marking_notes, made.dataset.name):
        assert re.search("[\u4e00-\u9fff]", text), f"{text} has no Chinese"
        assert re.search("[a-z]{5}", text), f"{text} has no English"
    MarkingRound.objects.update(name="Sample round")
    assert load_sample()["round_opened"] is False, "a demo from before it had two names"
    assert not Mark.objects.exists()
    for person in DEMO_PEOPLE:
        assert User.objects.get(username=person.username).roles == (person.role,)


@pytest.mark.django_db
def test_a_report_of_the_sample_can_have_750_points_in_both_streams() -> None:
    load_sample()
    pairs = Question.objects.filter(task__dataset__slug=DATASET).values_list("subject", "part")
    assert set(pairs) == {(subject.value, part.value) for subject in Subject for part in Part}


@pytest.mark.django_db
def test_known_passwords_stay_on_ones_own_machine(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["exam.example.edu"]
    with pytest.raises(NotAllowed):
        load_sample()
    assert not User.objects.exists()


@pytest.mark.django_db
def test_people_of_the_demo_are_nobody_elsewhere(settings: Any, client: Client) -> None:
    """A production start over a database that once ran the demo: no login, no session goes on."""
    settings.DEMO = True
    load_sample()
    person = DEMO_PEOPLE[0]
    form = {"username": person.username, "password": person.password}
    assert client.post("/login/", form).status_code == 302
    assert client.get("/").status_code == 200
    settings.DEMO = False
    assert client.get("/").status_code == 302
    assert Client().post("/login/", form).status_code == 200


@pytest.mark.django_db
def test_a_real_person_of_the_same_name_stays_as_they_are() -> None:
    real = make_user(Role.CURATOR, "admin")
    load_sample()
    real = User.objects.get(pk=real.pk)
    assert (real.roles, real.is_demo, real.is_staff) == ((Role.CURATOR,), False, False)
    assert real.check_password(PASSWORD)


@pytest.mark.django_db
def test_the_upgrade_finds_the_people_of_an_older_demo() -> None:
    people = [make_user(Role.ADMIN, "admin"), make_user(Role.LEAD, "lead")]
    people[0].set_password("admin-demo")
    people[0].save()
    migration = import_module("gradeapp.accounts.migrations.0010_demo_people")
    migration.mark_demo_people(apps, SimpleNamespace(connection=connection))
    assert list(User.objects.filter(is_demo=True)) == people[:1]


@pytest.mark.django_db
def test_the_demos_endpoints_follow_their_ports() -> None:
    save_demo_endpoints(scripted_port=8091, local_port=8092)
    save_demo_endpoints(scripted_port=9001, local_port=9002)
    addresses = Endpoint.objects.order_by("base_url").values_list("base_url", "max_tokens")
    assert list(addresses) == [
        ("http://127.0.0.1:9001/v1", 1024),
        ("http://127.0.0.1:9002/v1", LOCAL_TOKENS),
    ]


@pytest.mark.django_db
def test_a_run_of_the_demo_goes_on_where_its_model_took_another_port() -> None:
    save_demo_endpoints(scripted_port=8009, local_port=None)
    run = planned(Endpoint.objects.get(), 3)
    with ScriptedServer() as server:
        port = urlsplit(server.base_url).port
        assert port
        save_demo_endpoints(scripted_port=port, local_port=None)
        assert worked(run).status == RunStatus.FINISHED
    for changed in ({"name": "own"}, {"base_url": "http://127.0.0.2:8009/v1"}, {"model": "n"}):
        endpoint = Endpoint.objects.get()
        for name, value in changed.items():
            setattr(endpoint, name, value)
        assert not is_still_the_same(run, endpoint), changed
