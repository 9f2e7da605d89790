"""The operators' site: each table keeps looks at what its rows tell, or shows nothing hidden."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.db.models import Model
from django.utils import timezone

from evaluations.models import (
    Attempt,
    BlindAnswer,
    Draft,
    FinalMark,
    Job,
    Judgement,
    Look,
    Mark,
    MarkChange,
    MarkingRound,
    PointMark,
    Response,
    Run,
    Slot,
)
from evaluations.models.vocabulary import AttemptStatus, JobStatus, RunPurpose, RunStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from tests.conftest import logged_in
from tests.evaluations.marking_world import responses_to, subjective_question
from tests.factories import make_endpoint
from tests.test_blindness_looks import judged, marked
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db
TELLING = [
    *(Response, Judgement, BlindAnswer, Slot, Mark, PointMark, Draft, FinalMark, MarkChange),
    *(Job, Attempt, MarkingRound),
]
KEYS = {"pk", "-pk", "id", "-id"}
# Settings and people, what was read in objective answers, and what models suggested.
NOTHING_HIDDEN = {
    *("endpoint", "languagemodel", "judge", "roundteacher", "extraction", "objectivescore"),
    *("patternsearch", "minedpattern", "patterndecision", "modelreading", "checksample"),
    *("answercheck", "suggestionreading"),
}


def call_of(about: Response, run: Run, **fields: Response) -> Attempt:
    """An answered call of *run* with the question and repeat of *about*."""
    same = {"question": about.question, "revision": about.revision, "repeat": about.repeat}
    job = Job.objects.create(run=run, status=JobStatus.DONE, **same, **fields)
    return Attempt.objects.create(
        job=job, number=1, fence=1, status=AttemptStatus.ANSWERED, sent_at=timezone.now(), body="{}"
    )


def rows_about(response: Response) -> None:
    """Store what is missing of rows in each table about *response*, which a judge has marked."""
    run, endpoint = response.run, make_endpoint()
    judges = Run.objects.create(
        purpose=RunPurpose.JUDGE,
        language_model=run.language_model,
        endpoint=endpoint,
        dataset=run.dataset,
        judged_run=run,
        judge=judged([response]),
        status=RunStatus.FINISHED,
    )
    call_of(response, run)
    call_of(response, judges, response=response)
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.FINISHED, endpoint=endpoint, committed=410000
    )
    slot = Slot.objects.latest("pk")
    Draft.objects.create(slot=slot, teacher_id=slot.holder_id, sequence=1)
    Mark.objects.update(comment="changed by nobody")


def known_to(person: User) -> set[int]:
    """The responses that *person* has a look at, by themselves, their run or their round."""
    looks = Look.objects.filter(person=person)
    return {
        *looks.filter(response__isnull=False).values_list("response", flat=True),
        *looks.filter(run__isnull=False).values_list("run__responses", flat=True),
        *looks.filter(round__isnull=False).values_list("round__answers__response", flat=True),
    }


def pages_of(table: type[Model]) -> Iterator[str]:
    """Yield pages of *table*: its list, also ordered by all columns, two rows, and a history."""
    yield ""
    if (columns := admin.site._registry[table].list_display) != ("__str__",):
        yield "?o=" + ".".join(f"-{n}" for n in range(1, len(columns) + 1))
    keys = table._default_manager.order_by("pk").values_list("pk", flat=True)[:2]
    yield from (f"{key}/change/" for key in keys)
    yield f"{keys[0]}/history/"


def test_who_reads_rows_of_the_operators_site_marks_none_of_them(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A list is a look at the rows shown, one in another order at all: by it the rest is known.

    The list of runs tells what that of their own pages does, which is no look.
    """
    _made, response = marked([teacher, other_teacher])
    rows_about(response)
    addresses = [
        (table, page, f"/admin/evaluations/{table._meta.model_name}/{page}")
        for table in (*TELLING, Run)
        for page in pages_of(table)
        if table is not Run or page.endswith("/")
    ]
    (elsewhere,) = responses_to(subjective_question(), 1)
    person, wrong = also(third_teacher, [Role.ADMIN]), []
    client = logged_in(person)
    for table, page, address in addresses:
        Look.objects.all().delete()
        shown = client.get(address)
        told = {response.pk, elsewhere.pk} if "?" in page else {response.pk}
        in_order = page or shown.context_data["cl"].queryset.query.order_by[0] in KEYS
        wrong += [] if told <= known_to(person) and in_order else [f"{table.__name__} {page}"]
    assert not wrong


def test_each_table_of_the_operators_site_is_known() -> None:
    """A new one keeps looks and is tested above, or shows nothing hidden."""
    tables = {
        one._meta.model_name for one in admin.site._registry if "evaluations" in one.__module__
    }
    assert tables == {one._meta.model_name for one in (*TELLING, Run)} | NOTHING_HIDDEN
