"""Celery tasks: each takes ids and calls one service. A message is a hint, never the record."""

from __future__ import annotations

from celery import shared_task

from evaluations.services import answer_uploads, generation, pattern_searches, rescoring_jobs
from questions.tasks import STALE_AFTER, send


@shared_task(name="evaluations.work_on_run", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_run(run_id: int) -> None:
    """Work on a run for some minutes, then hand over to the next message."""
    for next_id in generation.work_on_run(run_id):
        ask_for_work(next_id)


@shared_task(name="evaluations.look_for_work", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_work() -> None:
    """Find the work that no message points to any more, and point to it."""
    for run_id in generation.look_for_work():
        ask_for_work(run_id)


def ask_for_work(run_id: int) -> None:
    """Tell the workers of a run, after the commit."""
    send(work_on_run, "run", run_id)


@shared_task(name="evaluations.search_patterns", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def search_patterns(search_id: int) -> None:
    """Make a search for patterns to its end."""
    pattern_searches.work_on_search(search_id)


@shared_task(name="evaluations.look_for_searches", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_searches() -> None:
    """Find the searches that no message points to any more, and point to them."""
    for search_id in pattern_searches.look_for_searches():
        ask_for_search(search_id)


def ask_for_search(search_id: int) -> None:
    """Tell the workers of a search, after the commit."""
    send(search_patterns, "search", search_id)


@shared_task(name="evaluations.rescore", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def rescore(rescoring_id: int) -> None:
    """Score responses again to the end of what was asked for."""
    rescoring_jobs.work_on_rescoring(rescoring_id)


@shared_task(name="evaluations.look_for_rescorings", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_rescorings() -> None:
    """Find the rescorings that no message points to any more, and point to them."""
    for rescoring_id in rescoring_jobs.look_for_rescorings():
        ask_for_rescoring(rescoring_id)


def ask_for_rescoring(rescoring_id: int) -> None:
    """Tell the workers of a rescoring, after the commit."""
    send(rescore, "rescoring", rescoring_id)


@shared_task(name="evaluations.work_on_answers", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def work_on_answers(batch_id: int) -> None:
    """Check or import an upload of answers to its end."""
    answer_uploads.work_on_answers(batch_id)


@shared_task(name="evaluations.look_for_answers", expires=STALE_AFTER)  # type: ignore[untyped-decorator]
def look_for_answers() -> None:
    """Find the uploads of answers that no message points to any more, and point to them."""
    for batch_id in answer_uploads.look_for_answers():
        ask_for_answers(batch_id)


def ask_for_answers(batch_id: int) -> None:
    """Tell the workers of an upload of answers, after the commit."""
    send(work_on_answers, "upload of answers", batch_id)
