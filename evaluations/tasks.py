"""Celery tasks: each takes ids and calls one service. A message is a hint, never the record."""

from __future__ import annotations

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

from evaluations.services import generation, pattern_searches, rescoring_jobs

logger = logging.getLogger(__name__)

# The clock asks again every ten seconds: behind busy workers, old messages must not pile up.
STALE_AFTER = 30.0


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
    """Tell the workers of a run, after the commit. Without a broker the clock finds it later."""
    try:
        work_on_run.apply_async((run_id,), retry=False)
    except OperationalError as error:
        logger.warning("the broker does not take run %s: %s", run_id, type(error).__name__)


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
    """Tell the workers of a search, after the commit; without a broker the clock finds it."""
    try:
        search_patterns.apply_async((search_id,), retry=False)
    except OperationalError as error:
        logger.warning("the broker does not take search %s: %s", search_id, type(error).__name__)


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
    """Tell the workers of a rescoring, after the commit; without a broker the clock finds it."""
    try:
        rescore.apply_async((rescoring_id,), retry=False)
    except OperationalError as error:
        logger.warning(
            "the broker does not take rescoring %s: %s", rescoring_id, type(error).__name__
        )
