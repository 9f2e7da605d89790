"""Looks at what files tell: their sums without the file, batches of calls, imports.

A person of two roles looks first, and is then given to a round over what they saw.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from evaluations.conditions import Asking, PromptSetting
from evaluations.facts.params import ReportParams
from evaluations.imports.services.answer_imports import import_answers
from evaluations.imports.services.answer_uploads import take_answers, work_on_answers
from evaluations.judging.services import ensure_judge, start_judge_run
from evaluations.models import Endpoint, Export, ImportedRun, Response, Run
from evaluations.reports.services import export_jobs
from evaluations.reports.services.exports import Asked
from evaluations.runs.services.batch_making import make_batches
from evaluations.runs.services.runs import start_run
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import ImportBatch, Question
from questions.services.import_jobs import confirm_import
from tests.conftest import logged_in
from tests.evaluations.marking_world import responses_to, subjective_question
from tests.evaluations.runs.test_batches import answered, endpoint, requests_of
from tests.test_blindness_looks import judged, planned
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db
__all__ = ["endpoint"]  # a fixture


@pytest.fixture(autouse=True)
def own_folder(settings: Any, tmp_path: Path) -> None:
    """Files in a folder of their own."""
    settings.VAR_DIR = tmp_path


def test_the_sums_of_a_file_that_nobody_fetches_are_a_look_at_its_marks(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The SHA-256 changes with a mark: whoever asked for the file reads it in its manifest."""
    chosen = responses_to(subjective_question(), 1)
    judged(chosen)
    others = responses_to(subjective_question(), 1, "another-model")
    person = also(teacher, [Role.LEAD])
    slug = chosen[0].question.task.dataset.slug
    params = ReportParams(slug, models=(chosen[0].run.language_model.name,))
    work = export_jobs.start_export(Asked("scores", params), acting_user=person)
    assert not planned(chosen, [person, other_teacher], lead), "which no worker has begun"
    assert export_jobs.work_on_export(work.pk)
    assert Export.objects.get().sha256 in logged_in(person).get(f"/api/v1/exports/{work.pk}/").text
    assert planned(chosen, [person, other_teacher], lead) == "looked"
    assert not planned(others, [person, other_teacher], lead)


def bring(person: User, run: Run, *replies: bytes) -> None:
    """Upload a file of replies on the page of *run*."""
    file = SimpleUploadedFile("replies.jsonl", b"".join(replies))
    logged_in(person).post(f"/runs/{run.pk}/batches/replies/", {"file": file})


def test_who_carries_requests_and_replies_of_a_judge_marks_none_of_them(
    teacher: User, other_teacher: User, lead: User, endpoint: Endpoint
) -> None:
    """The requests hold responses, the replies what the judge gave."""
    first, second = (responses_to(subjective_question(), 1)[0] for _n in range(2))
    person = also(teacher, [Role.ADMIN])
    judging = [
        start_judge_run(one.run, ensure_judge(endpoint), acting_user=None, canaries=0)
        for one in (first, second)
    ]
    Run.objects.filter(pk__in=[one.pk for one in judging]).update(by_batch=True)
    batches = [make_batches(Run.objects.get(pk=one.pk), acting_user=None)[0] for one in judging]
    requests = [requests_of(batch)[0] for batch in batches]
    before = transaction.savepoint()
    page = f"/runs/{judging[0].pk}/batches/{batches[0].pk}/"
    assert first.text in b"".join(logged_in(person).get(page).streaming_content).decode()
    assert planned([first], [person, other_teacher], lead) == "looked"
    assert not planned([second], [person, other_teacher], lead)
    transaction.savepoint_rollback(before)
    bring(person, judging[1], b"no reply\n", answered(requests[1], "【总分】7分"))
    assert second.judgements.exists()
    assert planned([second], [person, other_teacher], lead) == "looked"
    assert not planned([first], [person, other_teacher], lead)


def test_who_brings_replies_of_a_model_marks_none_of_them(
    teacher: User, other_teacher: User, lead: User, endpoint: Endpoint
) -> None:
    """Also of the first of two steps, whose text leads to the response."""
    dataset = subjective_question().task.dataset
    asking = Asking(setting=PromptSetting.ZERO_SHOT_COT)
    run = start_run(endpoint=endpoint, dataset=dataset, acting_user=None, by_batch=True)
    steps = start_run(
        endpoint=endpoint, dataset=dataset, acting_user=None, by_batch=True, asking=asking
    )
    person = also(teacher, [Role.ADMIN])
    for one in (run, steps):
        (request,) = requests_of(make_batches(one, acting_user=None)[0])
        bring(person, one, answered(request, "$t = 1$"))
    (made,) = Response.objects.all()
    assert planned([made], [person, other_teacher], lead) == "looked"
    (request,) = requests_of(make_batches(steps, acting_user=None)[0])
    bring(lead, steps, answered(request, "refused"))
    assert Response.objects.count() == 1, "who only leads starts no runs"
    bring(also(lead, [Role.ADMIN]), steps, answered(request, "$t = 1$"))
    made = Response.objects.latest("pk")
    assert planned([made], [person, other_teacher], None) == "looked"


def answer_to(question: Question, model: str) -> bytes:
    """A file of one answer to *question*, and a row that no question is found for."""
    row = {"dataset": question.task.dataset.slug, "task": question.task.slug, "repeat": 1}
    row |= {"id": question.external_id, "model": model, "text": f"$t = 1$, by {model}"}
    return "\n".join(json.dumps(row | one) for one in ({}, {"id": "nowhere"})).encode()


def test_reports_of_imports_of_answers_are_for_who_may_see_runs_and_looks_at_these(
    teacher: User, other_teacher: User, lead: User, tmp_path: Path
) -> None:
    """Pages and the API of imports of questions, open to who marks, do not have them."""
    for model in ("one", "two"):
        file = tmp_path / f"{model}.jsonl"
        file.write_bytes(answer_to(subjective_question(), model))
        import_answers("jsonl", file)
    first, second = Response.objects.order_by("pk")
    batch = ImportBatch.objects.get(source__contains="one.jsonl")
    curator = logged_in(also(teacher, [Role.CURATOR]))
    for address in ("/questions/imports/", "/api/v1/imports/"):
        assert curator.get(f"{address}{batch.pk}/").status_code == 404
    assert f"/imports/{batch.pk}/" not in curator.get("/questions/imports/").text
    assert curator.get("/api/v1/imports/").json()["results"] == []
    assert curator.get(f"/api/v1/imports/{batch.pk}/problems/").status_code == 404
    person = also(teacher, [Role.LEAD])
    assert f"/imports/{batch.pk}/" in logged_in(person).get("/runs/imports/").text
    assert not planned([first], [person, other_teacher], lead)
    assert "nowhere" in logged_in(person).get(f"/runs/imports/{batch.pk}/").text
    assert planned([first], [person, other_teacher], lead) == "looked"
    assert not planned([second], [person, other_teacher], lead)
    ImportedRun.objects.all().delete()  # as imports from before they were kept
    assert logged_in(person).get(f"/runs/imports/{batch.pk}/").status_code == 200
    assert planned([second], [person, other_teacher], lead) == "looked"


@pytest.mark.django_db(transaction=True)
def test_who_reads_the_check_of_an_upload_has_a_look_once_it_is_imported(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """And so has who reads in the audit trail which files were imported."""
    file = SimpleUploadedFile("one.jsonl", answer_to(subjective_question(), "one"))
    batch = take_answers([file], "", model="", repeat=1, acting_user=lead)
    assert work_on_answers(batch.pk)
    person, reader = also(teacher, [Role.LEAD]), also(third_teacher, [Role.ADMIN])
    assert "nowhere" in logged_in(person).get(f"/runs/imports/{batch.pk}/").text
    confirm_import(batch, acting_user=lead)
    assert work_on_answers(batch.pk)
    made = Response.objects.get()
    assert planned([made], [person, other_teacher], None) == "looked"
    assert not planned([made], [reader, other_teacher], None)
    assert "one.jsonl" in logged_in(reader).get(f"/audit/?object=importbatch:{batch.pk}").text
    assert planned([made], [reader, other_teacher], None) == "looked"


@pytest.mark.django_db(transaction=True)
def test_who_checks_a_file_learns_which_of_its_texts_are_stored(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """The same text is stored already, and another is refused: both without importing anything."""
    stored, people = answer_to(subjective_question(), "one"), (teacher, third_teacher)
    first = [SimpleUploadedFile("one.jsonl", stored)]
    batch = take_answers(first, "", model="", repeat=1, acting_user=lead)
    assert work_on_answers(batch.pk)
    confirm_import(batch, acting_user=lead)
    assert work_on_answers(batch.pk)
    made = Response.objects.get()
    for one, text in zip(people, (b"by one", b"by another"), strict=True):
        person = also(one, [Role.LEAD])
        assert not planned([made], [person, other_teacher], None)
        file = [SimpleUploadedFile("check.jsonl", stored.replace(b"by one", text))]
        batch = take_answers(file, "", model="", repeat=1, acting_user=person)
        assert work_on_answers(batch.pk)
        assert planned([made], [person, other_teacher], None) == "pasted"
