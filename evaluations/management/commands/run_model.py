"""Start a run; with --wait, work on it in this process, without a worker."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.management.run_arguments import (
    asking_arguments,
    asking_of,
    choice_arguments,
    choice_of,
    sampling_arguments,
)
from evaluations.models import Endpoint, Run
from evaluations.models.vocabulary import PauseReason, RunStatus
from evaluations.runs.kinds import Cost
from evaluations.runs.selectors.run_notices import run_notice
from evaluations.runs.selectors.runs import Progress, get_run, progress, waits_for_endpoint
from evaluations.runs.services.batch_work import work_on_batches
from evaluations.runs.services.dry_runs import ASSUMED, dry_calls
from evaluations.runs.services.endpoints import MOST_TOKENS
from evaluations.runs.services.generation import look_for_work, work_on_run
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.runs import resume_run, start_run
from evaluations.runs.services.sampling import sampling_for
from evaluations.runs.services.stop_signals import StopSignals
from evaluations.runs.tasks import ask_for_work
from evaluations.templatetags.run_words import counted, money
from gradeapp.cli import GradeappCommand, get_by_name, whole_number
from gradeapp.common.plain_number import decimal_of
from gradeapp.common.refusals import BadInput, Refusal
from questions.models import Dataset

# What a dry run without an endpoint says of the limit of a reply.
USUAL = "a usual endpoint"
# As the page and the API take it.
BUDGET_DECIMALS, MOST_BUDGET = 4, 99_999_999
OVER = (RunStatus.FINISHED, RunStatus.STOPPED, RunStatus.PAUSED)


def goes_on(run: Run, *, resumed: bool = False) -> bool:
    """Return whether to wait for *run*: it works, or its pause ends by itself.

    A new run whose endpoint is down needs a person; one that was *resumed* is waited for.
    """
    if waits_for_endpoint(run) and run.pause_reason != PauseReason.ENDPOINT_DOWN:
        return True
    if run.status == RunStatus.PAUSED and run.resume_at is not None:
        return resumed or run.pause_reason == PauseReason.STUDY_BUDGET
    return run.status not in OVER


def left_waiting(run: Run, far: Progress) -> str:
    """Return the message for a run whose endpoint is down when this command ends."""
    return _(
        "Run %(run)s: the endpoint does not respond. Waiting calls: %(n)s. No data "
        "is lost. This command ends here. A worker with its scheduler (celery -A "
        "gradeapp worker --beat) retries automatically; without a worker nothing is "
        "retried."
    ) % {"run": run.pk, "n": far.waiting + far.in_flight}


def cost_words(cost: Cost) -> str:
    """Return what the calls of a run are expected to cost, in one sentence."""
    amounts = {
        "calls": counted(cost.calls),
        "expected": money(cost.expected, cost.currency),
        "most": money(cost.at_most, cost.currency),
        "tokens": counted(cost.tokens),
    }
    return (
        _("%(calls)s calls, about %(tokens)s tokens: expected cost %(expected)s, at most %(most)s.")
        % amounts
    )


class Command(GradeappCommand):
    help = "Let a model sit an exam: plan a run and start it."
    failed_words = ""

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--endpoint", help="the name of the endpoint")
        parser.add_argument("--dataset", help="the slug of the dataset")
        parser.add_argument(
            "--resume", type=whole_number, metavar="RUN", help="go on with this run"
        )
        asking_arguments(parser)
        sampling_arguments(parser)
        choice_arguments(parser)
        parser.add_argument("--repeats", type=whole_number, default=1)
        parser.add_argument("--budget", help="stop before this amount is passed")
        parser.add_argument(
            "--anyway", action="store_true", help="also while the same run is not over"
        )
        parser.add_argument(
            "--by-batch",
            action="store_true",
            help="by write_batch and read_batch, at half price",
        )
        parser.add_argument(
            "--batch-api",
            action="store_true",
            help="by the batch API of the endpoint, at half price",
        )
        parser.add_argument("--wait", action="store_true", help="work here until the run is over")
        parser.add_argument("--dry-run", action="store_true", help="print the calls, plan nothing")
        parser.add_argument(
            "--assume-reply", default=ASSUMED, metavar="TEXT", help="for the steps of a dry run"
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any] | list[dict[str, Any]]:
        started = time.monotonic()
        if options["dry_run"]:
            return self.dry_run(options)
        self.failed_words = ""
        run = self.resumed(options) if options["resume"] is not None else self.started(options)
        if self.failed_words or (run.by_batch and not run.batch_api):
            pass  # it cannot be resumed, or it waits for write_batch and read_batch
        elif options["wait"]:
            self.wait(run, resumed=options["resume"] is not None)
        else:
            transaction.on_commit(partial(ask_for_work, run.pk))
        run.refresh_from_db()
        now = progress(run, timezone.now())
        result = {
            "run": run.pk,
            "condition": run.condition.name if run.condition else None,
            "planned": now.planned,
            "done": now.done,
            "failed": now.failed,
            "spent": float(now.money.spent),
            "seconds": round(time.monotonic() - started, 3),
        }
        if options["resume"] is not None or self.failed_words:
            result |= {"state": run.status, "reason": run.pause_reason or None}
        return result

    def dry_run(self, options: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the calls of the first repeat; say on standard error what all would cost.

        Without an endpoint, the limit of a reply is that of a usual one, and the parameters say so.
        """
        name = options["endpoint"]
        endpoint = Endpoint.objects.filter(name=name).first() if name else None
        # Without an endpoint any number that is asked for is taken, and the usual one if none is.
        usual = endpoint is None and options["max_tokens"] is None
        limits = endpoint or (Endpoint() if usual else Endpoint(max_tokens=MOST_TOKENS))
        sampling = sampling_for(limits, options)
        dataset = get_by_name(Dataset, "slug", needed(options, "dataset"))
        asking, choice = replace(asking_of(options), sampling=sampling), choice_of(options)
        calls = dry_calls(dataset, asking, choice, endpoint, options["assume_reply"])
        if endpoint is not None:
            cost = estimate(
                endpoint=endpoint,
                dataset=dataset,
                repeats=options["repeats"],
                choice=choice,
                asking=asking,
                by_batch=options["by_batch"] or options["batch_api"],
            ).answering
            self.stderr.write(cost_words(cost))
        said = {"max_tokens_of": USUAL} if usual else {}
        shown = [call.as_dict() for call in calls]
        return [{**call, "params": {**call["params"], **said}} for call in shown]

    def started(self, options: dict[str, Any]) -> Run:
        """Plan and start the run."""
        endpoint = get_by_name(Endpoint, "name", needed(options, "endpoint"))
        return start_run(
            endpoint=endpoint,
            dataset=get_by_name(Dataset, "slug", needed(options, "dataset")),
            asking=replace(asking_of(options), sampling=sampling_for(endpoint, options)),
            repeats=options["repeats"],
            choice=choice_of(options),
            budget=amount(options["budget"]),
            acting_user=None,
            unless_running=not options["anyway"],
            by_batch=options["by_batch"],
            batch_api=options["batch_api"],
        )

    def resumed(self, options: dict[str, Any]) -> Run:
        """Resume the run that was named, unless it goes on already.

        ``failed_words`` say why it cannot be resumed: the run is there, so its state is printed.
        """
        run = get_run(options["resume"])
        if run.status in (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.FINISHED):
            return run
        budget = amount(options["budget"])
        try:
            once = not options["anyway"]
            return resume_run(run, acting_user=None, budget=budget, unless_running=once)
        except Refusal as refusal:
            self.failed_words = str(refusal)
            return run

    def show(self, result: dict[str, Any]) -> None:
        super().show(result)
        for message in result.get("messages", ()):
            self.stdout.write(f"{message['role']}: {message['content']}")

    def wait(self, run: Run, *, resumed: bool) -> None:
        """Work on *run* until it ends or a person must act; then ``failed_words`` say why."""
        line = ProgressLine(self, run)
        with StopSignals() as signals:
            while goes_on(run, resumed=resumed) and not signals.asked:
                if run.batch_api:
                    work_on_batches(run.pk)
                else:
                    work_on_run(run.pk, on_progress=line.show, stop=signals)
                look_for_work()
                run.refresh_from_db()
                if goes_on(run, resumed=resumed) and not signals.asked:
                    line.show()
                    time.sleep(0.5)
        line.end()
        now = timezone.now()
        far = progress(run, now)
        if far.waits and not signals.asked:
            self.failed_words = left_waiting(run, far)
        elif (notice := run_notice(run, far, now)) is not None:
            budget = run.pause_reason == PauseReason.BUDGET and not resumed
            if notice.failed or (run.status == RunStatus.PAUSED and not budget):
                words = {"run": run.pk, "why": notice.sentence}
                self.failed_words = _("Run %(run)s: %(why)s") % words

    def trouble(self, result: dict[str, Any]) -> str:
        """Return the message about failed calls; one is enough for a failed command."""
        return self.failed_words


class ProgressLine:
    """The progress of a run in one line on standard error, about once a second.

    Notices are printed once, in lines of their own.
    """

    def __init__(self, command: Command, run: Run) -> None:
        self.command, self.a_run = command, run
        self.shown_at = 0.0
        self.counts = self.notice = ""

    def show(self) -> None:
        """Write the line, at most once a second."""
        if time.monotonic() - self.shown_at >= 1:
            self.shown_at = time.monotonic()
            self.a_run.refresh_from_db()
            now = timezone.now()
            far = progress(self.a_run, now)
            self.count(far, "\r" if self.command.stderr.isatty() else "\n")
            self.tell(far, now)

    def count(self, far: Progress, ending: str) -> None:
        """Write the counts if they have changed."""
        counts = f"{far.done} of {far.planned} done, {far.failed} failed, {far.in_flight} in flight"
        if counts != self.counts or ending == "\r":
            self.command.stderr.write(counts, ending=ending)
        self.counts = counts

    def tell(self, far: Progress, now: datetime) -> None:
        """Write the notice if it has changed."""
        if far.waits and (self.a_run.resume_at is None or not goes_on(self.a_run)):
            return  # a single call is tried, or the command ends: the next notice has the result
        notice = run_notice(self.a_run, far, now)
        sentence = notice.sentence if notice and far.live else ""
        if sentence and sentence != self.notice:
            self.command.stderr.write(sentence)
        self.notice = sentence

    def end(self) -> None:
        """Write the last line."""
        if self.command.stderr.isatty():
            self.counts = ""
        self.count(progress(self.a_run, timezone.now()), "\n")


def needed(options: dict[str, Any], name: str) -> str:
    """Return an option that this call cannot do without. Raises BadInput if it is missing."""
    if not options[name]:
        raise BadInput(_("The option --%(name)s is missing.") % {"name": name})
    return str(options[name])


def amount(text: str | None) -> Decimal | None:
    """Return an amount of money from the command line. Raises BadInput for another text."""
    if text is None:
        return None
    read = decimal_of(text)
    if read is None or abs(read) > MOST_BUDGET or read != round(read, BUDGET_DECIMALS):
        words = {"text": text, "decimals": BUDGET_DECIMALS, "most": MOST_BUDGET}
        raise BadInput(
            _(
                "The budget must be an amount such as 12.50, of at most %(most)s and with at most"
                " %(decimals)s decimals, not %(text)s."
            )
            % words
        )
    return read
