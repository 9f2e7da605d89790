"""Celery tasks of reading: searches for patterns, and rescoring."""

from __future__ import annotations

from celery import shared_task

from evaluations.reading.services import pattern_searches, rescoring_jobs
from gradeapp.common.tasks import STALE_AFTER, send


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
