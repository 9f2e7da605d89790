"""Calls by batch: requests of a run in files, and their replies stored as live replies are.

A batch is rows, not a file: its jobs are leased by its name, their attempts stored as sent with the
most that each may cost. So the file can be made again at any time, and a reply can be read twice
without being stored twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from evaluations.llm.batch_files import (
    BadLine,
    lost,
    not_begun,
    read_lines,
)
from evaluations.llm.breaker import STANDARD, Breaker
from evaluations.llm.classify import NO_SECRET
from evaluations.llm.client import CallResult, ChatFailure, most_bytes
from evaluations.models import Attempt, Batch, Job, Run
from evaluations.models.vocabulary import (
    AttemptStatus,
    BatchState,
    JobStatus,
)
from evaluations.runs.rules.call_keys import attempt_of, custom_id, fits, key_in
from evaluations.runs.selectors.run_words import error_words
from evaluations.runs.services.batch_making import (
    BEING_MADE,
    TOGETHER,
    check_by_batch,
    check_made,
    line_of,
    open_attempts,
)
from evaluations.runs.services.batch_reports import MOST_PROBLEMS, BatchReport, record_read
from evaluations.runs.services.call_results import OPEN, store_each
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.job_queue import SHOWN
from evaluations.runs.services.processing import process
from evaluations.runs.services.run_states import finalize
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.database_clock import database_now
from gradeapp.common.locking import locked
from gradeapp.common.masking import SecretMask
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.storable import storable

# A file with more lines that are no replies is another file: reading it would take minutes.
MOST_UNREADABLE = 1000
# A batch that fails line by line is not an outage.
NO_OUTAGE = replace(STANDARD, few=10**9, few_billed=10**9)


def take_file(batch: Batch, *, acting_user: User | None) -> Iterator[bytes]:
    """Return the lines of *batch* for a person who carries them to the endpoint.

    It may be billed from now on. Raises BadInput if it waits for none, Conflict until it is made.
    """
    check_made(batch)
    if batch.taken_at is None:
        release_answered(batch)
    waiting = Batch.objects.filter(pk=batch.pk, state=BatchState.WAITING)
    if not waiting.update(taken_at=Coalesce(F("taken_at"), database_now())):
        raise BadInput(_("This batch does not wait for replies any more."))
    requests = open_attempts(batch).count()
    record(Tag.BATCH_TAKEN, batch.run, actor=acting_user, batch=batch.pk, requests=requests)
    return request_lines(batch)


def request_lines(batch: Batch) -> Iterator[bytes]:
    """Yield the lines of *batch* that wait for a reply, made again from what is stored.

    Raises Conflict if a request cannot be made again as it was planned.
    """
    run = Run.objects.select_related("endpoint", "judge", "dataset").get(pk=batch.run_id)
    open_ones = open_attempts(batch).select_related(*(f"job__{name}" for name in SHOWN))
    for attempt in open_ones.order_by("pk").iterator(chunk_size=TOGETHER):
        attempt.job.run = run
        call = call_for(run, attempt.job)
        if call.request_hash != attempt.request_hash:
            words = _(
                "The request %(n)d cannot be made again as it was planned. Discard the batch."
            )
            raise Conflict(words % {"n": attempt.pk})
        yield line_of(run, attempt.pk, call)


def read_replies(run: Run, lines: Iterable[bytes], *, acting_user: User | None) -> BatchReport:
    """Store the replies in *lines*, the file of replies to batches of *run*.

    Raises BadInput for a run that is not by batch, and if no line is a reply of the run.
    """
    check_by_batch(run)
    report = BatchReport()
    store_lines(run, lines, report)
    if not (report.answered or report.failed or report.same or report.ended):
        first = report.problems[0] if report.problems else _("The file holds no reply.")
        raise BadInput(first, code="nothing_read")
    record_read(run, report, acting_user)
    _close_answered(run)
    finalize(run.pk, database_now())
    return report


def store_lines(
    run: Run, lines: Iterable[bytes], report: BatchReport, mask: SecretMask = NO_SECRET
) -> None:
    """Store the replies in *lines* as live replies are stored, scored and paid.

    What was stored before stays, but an answer takes the place of an error. Lines that cannot be
    used are named in *report*. *mask* masks the key of the endpoint that sent them.
    """
    now, unreadable = database_now(), 0
    assert run.endpoint is not None  # a run by batch has one
    most = most_bytes(run.endpoint.max_tokens)
    waiting: list[CallResult] = []
    seen: dict[str, bool] = {}  # whether the line was an answer
    for line in read_lines(lines, now, mask, most):
        if isinstance(line, BadLine):
            unreadable += 1
            if unreadable > MOST_UNREADABLE:
                words = _("More than %(n)d lines are no replies: the rest was not read.")
                report.problems.insert(0, words % {"n": MOST_UNREADABLE})
                break
            words = _("Line %(n)d: it is not a reply of a batch file.")
            report.problem(words % {"n": line.number})
            continue
        key = key_in(line.custom_id, run.public_id)
        if key is None:
            report.name_unknown([line.custom_id[:80]])
        elif key in seen and seen[key] >= line.is_answer:
            report.same += 1
            words = _("“%(id)s” stands twice; the first reply counts.")
            report.problem(words % {"id": line.custom_id[:80]})
        else:
            seen[key] = line.is_answer
            report.completed += line.is_answer
            waiting.append(CallResult(key, line.result, 0.0))
            if len(waiting) >= TOGETHER:
                _store(run, waiting, report)
                waiting = []
    _store(run, waiting, report)


def _store(run: Run, given: Sequence[CallResult], report: BatchReport) -> None:
    """Store the results *given*, add them to *report* and to the counts of their batches."""
    keys = [attempt_of(one.key) for one in given]
    found = Attempt.objects.filter(pk__in=keys, job__run=run)
    hashes = dict(found.values_list("pk", "request_hash"))
    results: dict[int, CallResult] = {}
    for key, one in zip(keys, given, strict=True):
        if key in hashes and fits(one.key, hashes[key]):
            results[key] = one  # an answer that follows an error counts
        else:
            report.name_unknown([custom_id(run.public_id, one.key)])
    if not results:
        return
    found, random = found.filter(pk__in=results), Random(run.pk)
    breaker = Breaker(random=random, limits=NO_OUTAGE)
    with transaction.atomic():
        # The same file may come several times at once: the first one alone stores and counts it.
        list(locked(Job.objects.filter(attempts__in=list(results), run=run)).values_list("pk"))
        owners = dict(found.values_list("pk", "job__lease_owner"))
        open_keys = set(found.filter(status__in=OPEN).values_list("pk", flat=True))
        replies = [key for key, one in results.items() if one.reply is not None]
        refused = found.filter(pk__in=replies, status=AttemptStatus.ERROR)
        open_keys |= set(refused.values_list("pk", flat=True))
        answered = found.filter(status=AttemptStatus.ANSWERED).values_list("pk", flat=True)
        same = set(answered)
        # A job that was sent again is in another batch by now.
        current = set(found.filter(fence=F("job__fence")).values_list("pk", flat=True))
        fresh = [results[key] for key in sorted(open_keys)]
        stored = store_each(fresh, now=database_now(), random=random, breaker=breaker)
        replied = set(answered.all()) - same
        counts = Counter((owners[key], key in replied) for key in open_keys & current)
        for (owner, is_answer), n in counts.items():
            if owner.startswith("batch-") and owner[6:].isdigit():
                name = "answered" if is_answer else "failed"
                Batch.objects.filter(pk=int(owner[6:]), run=run).update(**{name: F(name) + n})
    report.calls.update(owners)
    report.same += len(same)
    report.answered += stored.answered
    report.failed += len(stored.failed)
    for key in sorted(set(owners) - open_keys - same):
        report.name_ended([custom_id(run.public_id, results[key].key)])
    process(run, stored.kept)
    for failure, _sent in stored.failed[:MOST_PROBLEMS]:
        words = _("Failed: %(why)s (%(text)s)")
        report.problem(words % {"why": error_words(failure.kind), "text": failure.text[:200]})


def _close_answered(run: Run) -> None:
    """Mark the batches of *run* as read that wait for no reply any more."""
    for batch in Batch.objects.filter(run=run, state=BatchState.WAITING).exclude(BEING_MADE):
        if not batch.by_api and batch.taken_at is None:
            release_answered(batch)  # by the replies to an earlier batch
        if not open_attempts(batch).exists():
            Batch.objects.filter(pk=batch.pk, state=BatchState.WAITING).update(
                state=BatchState.READ, ended_at=database_now(), next_at=None
            )


def give_up(
    batch: Batch,
    why: str,
    state: BatchState,
    *,
    acting_user: User | None,
    http_status: int | None = None,
) -> int:
    """End *batch* by *why*, said with *http_status*: requests without a reply can be made again.

    They cost nothing, or as much as was reserved if the endpoint may have them, or somebody took
    their file. Return their number. Raises Conflict if it does not wait any more.
    """
    ended = Batch.objects.filter(pk=batch.pk, state=BatchState.WAITING).update(
        state=state,
        error=storable(why, 400),
        error_status=http_status,
        ended_at=database_now(),
        next_at=None,
    )
    if not ended:
        raise Conflict(_("This batch does not wait for replies any more."))
    batch.refresh_from_db(fields=["remote_id", "taken_at"])
    n = release_rest(batch, lost(why) if batch.remote_id or batch.taken_at else not_begun(why))
    Job.objects.filter(run=batch.run_id, status=JobStatus.PENDING).update(next_at=None)
    record(Tag.BATCH_DISCARDED, batch.run, actor=acting_user, batch=batch.pk, requests=n)
    finalize(batch.run_id, database_now())
    return n


def release_answered(batch: Batch) -> None:
    """End the calls of *batch*, which nobody has sent yet, whose jobs late replies have done."""
    release_rest(batch, not_begun("answered before"), job__status=JobStatus.DONE)


def release_rest(batch: Batch, failure: ChatFailure, **which: str) -> int:
    """End the calls of *batch* that have no reply, or *which* of them; return their number."""
    keys: Sequence[int] = list(open_attempts(batch).filter(**which).values_list("pk", flat=True))
    random, ended = Random(batch.pk), 0
    breaker = Breaker(random=random, limits=NO_OUTAGE)
    for start in range(0, len(keys), TOGETHER):
        results = [CallResult(key, failure, 0.0) for key in keys[start : start + TOGETHER]]
        stored = store_each(results, now=database_now(), random=random, breaker=breaker)
        ended += len(stored.failed)  # not those whose replies came meanwhile
    Batch.objects.filter(pk=batch.pk).update(unanswered=F("unanswered") + ended)
    return ended


def look_soon(run: Run) -> None:
    """Let a worker look at the batches of *run* at once that are known to be at the endpoint."""
    waiting = Batch.objects.filter(run=run, state=BatchState.WAITING, by_api=True)
    waiting = waiting.exclude(BEING_MADE)
    waiting.exclude(remote_id="", taken_at__isnull=False).update(next_at=database_now())
