"""Searches for patterns from start to end: what is kept, and what a lost worker leaves."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluations.models import Extraction, MinedPattern, PatternSearch
from evaluations.reading.selectors.pattern_searches import as_dict, figures_of, left_of, progress
from evaluations.reading.services import pattern_searches as services
from evaluations.reading.services.pattern_mining import search_run
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.background_work.services import Stopped
from gradeapp.common.named import WorkStatus
from gradeapp.common.refusals import BadInput, Conflict
from questions.rules.vocabulary import QuestionType
from tests.evaluations.pattern_world import (
    IN_WORDS,
    TAGGED,
    UNREAD,
    newest_patterns,
    run_with,
    searched,
    several_task,
)
from tests.factories import make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db


def test_a_search_keeps_patterns_counts_cover_and_what_is_left(lead: User) -> None:
    run = run_with((TAGGED, 12), (IN_WORDS, 6), (UNREAD, 2))
    task = make_task(run.dataset, question_type=QuestionType.OPEN_ENDED)
    make_response(make_question(task), run, "【答案】A")  # open answers are not searched
    search = searched(run, lead)
    (found, _other) = as_dict(search)["types"][0]["patterns"]
    assert (found["compared_with_strict"], found["agreement_with_strict"]) == (0, None)
    assert (search.status, search.responses, search.covered) == (WorkStatus.DONE, 20, 18)
    counts = {row.expression: row.matched for row in newest_patterns(search)}
    assert sorted(counts.values()) == [6, 12]
    assert counts["【答案】 {0,3}<letters>"] == 12
    assert [response.text for response, _ in left_of(search)] == [UNREAD, UNREAD]
    assert search.figures["single_choice"]["iterations"][0]["open"] == 20
    assert AuditEntry.objects.filter(tag="patterns.searched", actor=lead).count() == 1


def test_examples_say_where_in_the_response_the_answer_was_read() -> None:
    run = run_with(("**想一想**。【答案】{x}", 8))
    search = searched(run)
    (row,) = newest_patterns(search)
    assert len(row.examples) == 5
    for example in row.examples:
        text = run.responses.get(pk=example["response"]).text
        assert text[slice(*example["span"])] == text[-5:]
        assert example["letters"] == [text[-1]]
    (figures,) = figures_of(search)
    assert [piece.text for piece in figures.patterns[0].examples[0].pieces if piece.number] == [
        run.responses.get(pk=row.examples[0]["response"]).text[-5:]
    ]


def test_the_agreement_is_with_the_stored_strict_reading_alone() -> None:
    run = run_with((TAGGED, 8))
    score_responses(run.responses.all())
    other = run.responses.order_by("pk").first()
    assert other is not None
    Extraction.objects.filter(response=other, policy="strict").update(answers=["D"])
    Extraction.objects.filter(response=run.responses.order_by("pk")[1], policy="strict").update(
        method="person"
    )
    before = list(Extraction.objects.order_by("pk").values_list("pk", "answers"))
    (row,) = newest_patterns(searched(run))
    assert (row.matched, row.compared, row.agreed) == (8, 7, 6)
    assert list(Extraction.objects.order_by("pk").values_list("pk", "answers")) == before


def test_a_patch_is_a_new_row_that_replaces_one() -> None:
    search = searched(run_with((TAGGED, 12), ("想。【答案】：{x}", 6)))
    (row,) = newest_patterns(search)
    assert (row.version, row.matched) == (2, 18)
    assert row.replaces is not None
    assert (row.replaces.number, row.replaces.version, row.replaces.matched) == (row.number, 1, 12)


def test_question_types_are_searched_apart_and_parts_counted() -> None:
    task = several_task()
    run = run_with(("【答案】{x}\n【答案】C", 6), task=task, keys=("A", "C"))
    run_with((TAGGED, 4), task=make_task(task.dataset), run=run)
    search = searched(run)
    assert {name: one["covered"] for name, one in search.figures.items()} == {
        "multi_question_choice": 6,
        "single_choice": 4,
    }
    several = search.patterns.get(question_type="multi_question_choice")
    assert several.examples[0]["letters"] == ["A", "C"]


def test_equal_settings_give_equal_rows_again() -> None:
    run = run_with((TAGGED, 30), (IN_WORDS, 20), ("综上，故选{x}。", 20))
    first, again = (searched(run, sample_size=10, random_seed=5) for _ in range(2))
    rows = [
        list(search.patterns.values_list("question_type", "number", "version", "expression"))
        for search in (first, again)
    ]
    assert rows[0] == rows[1]
    assert first.left == again.left


def test_numbers_out_of_limits_and_a_run_without_choice_answers_are_refused() -> None:
    run = run_with((TAGGED, 2))
    for name, value in (
        *(("iterations", 0), ("iterations", 101), ("sample_size", 0), ("least_occurrences", 1)),
    ):
        with pytest.raises(BadInput):
            services.start_search(run, acting_user=None, **{name: value})
    with pytest.raises(BadInput):
        services.start_search(make_run(), acting_user=None)
    assert not PatternSearch.objects.exists()


def test_one_search_of_a_run_at_a_time_and_one_worker_of_a_search() -> None:
    run = run_with((TAGGED, 4))
    first = services.start_search(run, acting_user=None)
    with pytest.raises(Conflict):
        services.start_search(run, acting_user=None)
    assert services.work_on_search(first.pk)
    second = services.start_search(run, acting_user=None)
    claimed = services.claim(second.pk, timezone.now())
    assert claimed is not None
    assert services.claim(second.pk, timezone.now()) is None
    assert not services.work_on_search(second.pk)
    steps: list[int] = []
    search_run(claimed, steps.append)
    claimed.refresh_from_db()
    assert sum(steps) == claimed.steps_total


def test_a_waiting_search_stops_at_once_and_goes_on(lead: User) -> None:
    search = services.start_search(run_with((TAGGED, 4)), acting_user=lead)
    services.stop_search(search, acting_user=lead)
    search.refresh_from_db()
    assert search.status == WorkStatus.STOPPED
    with pytest.raises(Conflict):
        services.stop_search(search, acting_user=lead)
    services.resume_search(search, acting_user=lead)
    assert services.look_for_searches() == [search.pk]
    assert services.work_on_search(search.pk)
    search.refresh_from_db()
    assert (search.status, search.covered) == (WorkStatus.DONE, 4)
    with pytest.raises(Conflict):
        services.resume_search(search, acting_user=lead)


def test_a_running_search_stops_at_its_next_step_and_keeps_nothing(lead: User) -> None:
    search = services.start_search(run_with((TAGGED, 4)), acting_user=lead)
    moments = iter(range(10_000))

    def clock() -> object:
        if next(moments) == 3:
            services.stop_search(search, acting_user=lead)
        return timezone.now()

    assert services.work_on_search(search.pk, clock=clock)
    search.refresh_from_db()
    assert search.status == WorkStatus.STOPPED
    assert not MinedPattern.objects.exists()


def test_a_silent_worker_is_found_and_a_late_one_changes_nothing(lead: User) -> None:
    search = services.start_search(run_with((TAGGED, 4)), acting_user=lead)
    late = services.claim(search.pk, timezone.now())
    assert late is not None
    assert services.look_for_searches() == []
    later = timezone.now() + PatternSearch.lease() + timedelta(seconds=1)
    services.look_for_searches(lambda: later)
    search.refresh_from_db()
    assert (search.status, search.error) == (WorkStatus.INTERRUPTED, "worker_lost")
    services.resume_search(search, acting_user=lead)
    assert services.work_on_search(search.pk)
    assert not services.keep(late, [])
    with pytest.raises(Stopped):
        services._step(late, 1, timezone.now())
    search.refresh_from_db()
    assert (search.status, search.covered) == (WorkStatus.DONE, 4)
    assert search.patterns.count() == 1


def test_the_bar_is_full_at_the_end_and_says_what_is_left_before() -> None:
    search = services.start_search(run_with((TAGGED, 4)), acting_user=None)
    claimed = services.claim(search.pk, timezone.now())
    assert claimed is not None
    PatternSearch.objects.filter(pk=search.pk).update(steps_done=3, steps_total=12)
    claimed.refresh_from_db()
    assert claimed.started_at is not None
    halfway = progress(claimed, claimed.started_at + timedelta(seconds=6))
    assert (halfway.done, halfway.total, halfway.seconds_left) == (3, 12, 18.0)
    done = searched(run_with((TAGGED, 4)))
    # One batch of responses; ten iterations of one type, and its cover.
    assert done.steps_done == done.steps_total == 1 + 10 + 1
    assert progress(done, timezone.now()).seconds_left is None
