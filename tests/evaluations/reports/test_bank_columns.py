"""Whoever writes the question bank raises its version, under which reports keep what they read."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluations.facts.pairs import TEACHER_PAIR
from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.reports.selectors import group_counts
from evaluations.reports.selectors.bank_columns import bank_of, forget
from evaluations.reports.selectors.frames import questions_frame
from evaluations.reports.selectors.report_pages import overview
from evaluations.reports.selectors.reports import build_report
from evaluations.statistics.policies import Policy
from questions.migrations._bank_version import TABLES
from questions.models import Dataset, HumanRate, Knowledge, LabelRevision, Question, Task
from questions.rules.vocabulary import ItemStatus, Part
from questions.selectors.version import bank_version
from tests.evaluations.report_world import JUDGE, chosen, judged, mark, run_of, written
from tests.factories import make_question
from tests.questions.label_world import imported_labels, make_knowledge


@pytest.mark.django_db
def test_every_statement_past_the_services_raises_the_version() -> None:
    """INSERT, UPDATE of each column and DELETE, of each table that reports keep something of."""
    make_knowledge()
    labelled = make_question()
    imported_labels(labelled)
    task = labelled.task
    revised = labelled.revisions.get()
    revised.pk, revised.number = None, 2
    unsaved = (
        Dataset(slug="unused"),
        Task(
            dataset=task.dataset,
            slug="unused",
            language=task.language,
            part=task.part,
            question_type=task.question_type,
        ),
        Question(task=task, external_id="unused", position=0, part=task.part),
        revised,
        Knowledge(slug="unused"),
        LabelRevision(question=labelled),
        HumanRate(task=task, value="0.5"),
    )
    assert {row._meta.db_table for row in unsaved} == set(TABLES)

    def raises(statement: str) -> bool:
        before = bank_version()
        with connection.cursor() as cursor:
            cursor.execute(statement)
        return bank_version() > before

    for row in unsaved:
        before = bank_version()
        row.save(force_insert=True)
        assert bank_version() > before
        table = row._meta.db_table
        for field in row._meta.concrete_fields:
            assert raises(f"UPDATE {table} SET {field.column} = {field.column}"), field
        assert raises(f"DELETE FROM {table} WHERE id = {row.pk}"), table


@pytest.mark.django_db(transaction=True)
def test_what_is_kept_of_the_bank_is_read_from_versioned_tables_and_once() -> None:
    forget()
    dataset = make_question().task.dataset.slug
    with CaptureQueriesContext(connection) as first:
        for policy in Policy:
            bank_of(dataset, policy)
        questions_frame(dataset)
    read = {
        table
        for one in first.captured_queries
        for table in re.findall(r'(?:FROM|JOIN) "(\w+)"', one["sql"])
    }
    assert read - {"questions_bankversion"} <= set(TABLES)
    assert len(read) > 5
    with CaptureQueriesContext(connection) as again:
        bank_of(dataset, Policy.STRICT)
        questions_frame(dataset)
    sql = " ".join(one["sql"] for one in again.captured_queries)
    assert "questions_bankversion" in sql
    assert "questions_question" not in sql
    Dataset.objects.filter(slug=dataset).update(slug="renamed")
    assert len(questions_frame("renamed")) == 1
    assert questions_frame(dataset).empty
    forget()


@pytest.mark.django_db
def test_reports_of_a_few_models_at_a_time_are_those_of_all_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for model in ("c", "a", "b"):
        run = run_of(model)
        chosen(run, "A", "B")
        for first, second in (("4", "7"), ("4", "7"), ("0", "2"), ("10", "1")):
            marked = written(run)
            mark(marked, first, second)
            judged(marked, "3")
        written(run)
    Question.objects.filter(responses__run=run, part=Part.OBJECTIVE).update(
        status=ItemStatus.EXCLUDED
    )
    params = ReportParams(run.dataset.slug, marker=TEACHERS, by="subject")
    names = ("rates", "converted", "cuts", "trend", "repeats", "ledger", "leakage", "agreement")
    whole = {name: build_report(name, params).as_dict() for name in names}
    page = overview(params)
    monkeypatch.setattr(group_counts, "MOST_ANSWERS", 1)
    assert [one.models for one in group_counts.parts_of(params)] == [("a",), ("b",), ("c",)]
    assert {name: build_report(name, params).as_dict() for name in names} == whole
    in_parts = overview(params)
    for name in ("rates", "converted", "repeats", "ledger", "agreement", "pairs"):
        assert getattr(in_parts, name) == getattr(page, name)
    assert whole["ledger"]["params"]["excluded"] == 2
    assert in_parts.pairs.numbers == {TEACHER_PAIR: 12, f"teachers-judge:{JUDGE}": 12}
    places = [[0.0, 20.0, 1], [40.0, 70.0, 2], [100.0, 10.0, 1]]
    assert list(in_parts.pairs.places.values()) == [places] * 3
