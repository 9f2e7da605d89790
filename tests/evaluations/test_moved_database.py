"""docs/operations.md: dumpdata, then loaddata into a database that was only migrated."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from evaluations.facts.invariants import check_invariants
from evaluations.models import FinalMark, Job, MarkChange, RunCount
from evaluations.models.vocabulary import JobStatus
from evaluations.runs.services.call_results import store_results
from evaluations.runs.services.run_counts import rebuild_counts
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.append_only import lifted
from gradeapp.audit.record import record
from gradeapp.audit.sealing import seal_all
from gradeapp.audit.tags import Tag
from gradeapp.audit.verifying import verify_all
from questions.models import BankVersion
from tests.evaluations.marking_world import answers_of, give, small_round
from tests.evaluations.runs.test_job_queue import NOW, answered, claim, planned
from tests.factories import make_user

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def documented(command: str) -> list[str]:
    """The options of *command* as operations.md has them."""
    text = DOCUMENT.read_text().replace("\\\n", " ")
    (line,) = re.findall(rf"manage\.py {command} (.*everything\.json)$", text, re.MULTILINE)
    return [word for word in line.split() if not word.endswith(".json") and word != "--output"]


def everything() -> dict[str, list[Any]]:
    """All rows of all tables but those that the documented dump leaves out."""
    made_by_migrate = {"contenttypes.ContentType", "auth.Permission", "sessions.Session"}
    return {
        model._meta.label: sorted(model._default_manager.order_by().values_list())
        for model in apps.get_models()
        if model._meta.label not in made_by_migrate
    }


def world() -> None:
    """A bank, a run half called, marks with their final mark, and a trail that is sealed."""
    make_user(Role.LEAD, "gone").delete()  # keys of people have gaps
    lead, first, second = (make_user(role) for role in (Role.LEAD, Role.TEACHER, Role.TEACHER))
    (answer,) = answers_of(small_round([first, second]))
    for teacher in (first, second):
        give(answer, teacher, ("3", "3", "4"))
    run = planned(4)
    results = [answered(one) for one in claim(run, "w", 2)]
    store_results(results, now=NOW, random=Random(0))
    record(Tag.RUN_STARTED, run, actor=lead)
    seal_all()


@pytest.mark.django_db(transaction=True)
def test_a_whole_database_is_moved_by_dumpdata_and_loaddata(tmp_path: Path) -> None:
    world()
    before = everything()
    file = str(tmp_path / "everything.json")
    call_command("dumpdata", *documented("dumpdata"), "--output", file, verbosity=0)
    call_command("flush", interactive=False, verbosity=0)
    with lifted(connection):  # what triggers wrote while the tables were emptied
        MarkChange.objects.all().delete()
    BankVersion.objects.all().delete()
    assert not User.objects.exists()
    call_command("loaddata", file, *documented("loaddata"), verbosity=0)
    after = everything()
    assert {label for label in before if before[label] != after[label]} == set()
    assert all(before[one] for one in ("evaluations.RunCount", "questions.BankVersion"))
    assert FinalMark.objects.exists()
    assert [checked.named for checked in verify_all(timezone.now())] == [[], []]
    assert not [one for one in check_invariants(NOW) if one.violations]
    assert rebuild_counts() == RunCount.objects.count() > 0
    Job.objects.filter(status=JobStatus.PENDING).update(status=JobStatus.FAILED)
    assert sum(RunCount.objects.values_list("failed", flat=True)) == 2, "the triggers count again"
