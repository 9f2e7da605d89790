"""The run kind of judges, and the follower that gives them new responses."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext, gettext_lazy

from evaluations.facts.looks import record_views
from evaluations.judging.forms import JudgeForm
from evaluations.judging.selectors import (
    check_of_run,
    imported_judges,
    judges_of_run,
    repeated_texts_of,
)
from evaluations.judging.services.checks import check_judge
from evaluations.judging.services.judge_costs import estimate_judging
from evaluations.judging.services.judge_runs import (
    add_judge_jobs,
    ask_canaries_again,
    judge_prompt,
    judge_runs_of,
    start_judge_run,
)
from evaluations.judging.services.judges import ensure_judge
from evaluations.judging.services.repeated_texts import look_for_repeated_texts
from evaluations.judging.services.replies import keep_judgements
from evaluations.models import Endpoint, Job, Judgement, Response, Run
from evaluations.models.vocabulary import RunPurpose, RunStatus
from evaluations.runs.kinds import (
    Cost,
    Follower,
    Kept,
    Panel,
    PanelPosition,
    Prompt,
    ReadCounts,
    Replies,
    RunKind,
)
from evaluations.runs.selectors.runs import read_counts
from evaluations.runs.services.run_states import OVER
from evaluations.statistics.outcomes import JudgeStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from questions.models import Question


class JudgeKind(RunKind):
    """A model marks the subjective responses of another run as they arrive."""

    purpose = RunPurpose.JUDGE
    keeps_every_reply = True
    read_heading = gettext_lazy("Total extracted")

    def prompt(self, run: Run, job: Job) -> Prompt:
        """Return the response with the current rubric and marking notes."""
        return judge_prompt(run, job)

    def setting(self, run: Run) -> str:
        """Return which run is judged."""
        return gettext("marks run %(number)s") % {"number": run.judged_run_id}

    def store_replies(self, replies: Replies) -> Kept:
        """Store a judgement for each reply; a job without a readable total is asked again."""
        return Kept(done=keep_judgements(replies))

    def after_store(self, run: Run, kept: Kept) -> None:
        """Check the judge by what is judged of its canaries, and the responses that it marks."""
        check_judge(run)
        if run.judged_run is not None:
            look_for_repeated_texts(run.judged_run)

    def may_finish(self, run: Run) -> bool:
        """Return whether the judged run has ended and every response and canary has a job."""
        judged = run.judged_run
        assert judged is not None  # a judge run has one
        if add_judge_jobs(run) or ask_canaries_again(run):
            return False
        return judged.status in (*OVER, RunStatus.STOPPED)

    def catch_up(self, run: Run) -> None:
        """Check the judge, and the responses that it marked, at the end of the run."""
        check_judge(run, final=True)
        if run.judged_run is not None:
            look_for_repeated_texts(run.judged_run, final=True)

    def read_counts(self, run: Run) -> ReadCounts:
        """Return how many judged responses have a total, of how many."""
        return read_counts(Judgement.objects.filter(run=run), Q(status=JudgeStatus.SCORED))

    def responses(self, run: Run, among: QuerySet[Response]) -> QuerySet[Response]:
        """Return the responses of the judged run."""
        return among.filter(run=run.judged_run)

    def panels(self, run: Run, user: User) -> list[Panel]:
        """Return the note that answers are judged as they come, and the check of the judge."""
        return [
            Panel("evaluations/judging/_judged_run.html", position=PanelPosition.TOP),
            Panel(
                "evaluations/judging/_check.html",
                check_of_run(run) | _repeated_texts(run.judged_run, user),
            ),
        ]


def _repeated_texts(run: Run | None, user: User) -> dict[str, Any]:
    """Return the notice of one text to many questions: a look at each of them under its model."""
    context = repeated_texts_of(run, user)
    if context["repeated"] is not None:
        seen = context["repeated"].responses.values_list("pk", flat=True)
        record_views(list(seen), acting_user=user, page="repeated")
    return context


class JudgeFollower(Follower):
    """Gives judges a job for each subjective response of the run that they mark."""

    def after_start(
        self, run: Run, judge: Endpoint, *, acting_user: User | None, budget: Decimal | None
    ) -> None:
        """Start the run of the judge behind the endpoint *judge*."""
        start_judge_run(run, ensure_judge(judge), acting_user=acting_user, budget=budget)

    def cost(self, items: Sequence[Question], repeats: int, judge: Endpoint) -> Cost:
        """Estimate what the judge costs."""
        return estimate_judging(judge, items, repeats)

    def runs_beside(self, run: Run) -> list[Run]:
        """Return the judge runs of *run*."""
        return judge_runs_of(run)

    def after_responses(self, run: Run, responses: Sequence[Response]) -> None:
        """Plan a job in each judge run for the subjective ones of *responses*."""
        for judge_run in judge_runs_of(run):
            add_judge_jobs(judge_run, responses)

    def catch_up(self, run: Run) -> None:
        """Plan the jobs that a killed worker left out."""
        for judge_run in judge_runs_of(run):
            add_judge_jobs(judge_run)

    def reopen_beside(self, run: Run) -> None:
        """Queue the finished judge runs again."""
        finished = run.judge_runs.filter(purpose=RunPurpose.JUDGE, status=RunStatus.FINISHED)
        finished.update(status=RunStatus.QUEUED, finished_at=None)

    def panels(self, run: Run, user: User) -> list[Panel]:
        """Return the judges of a run of answers, and the form that starts another judge."""
        if run.purpose != RunPurpose.ANSWER:
            return []
        context = {
            **judges_of_run(run),
            **_repeated_texts(run, user),
            "judge_form": JudgeForm(run=run),
            "imported_judges": imported_judges(run),
            "sees_judgements": user.may(Capability.SEE_JUDGEMENTS),
        }
        return [Panel("evaluations/judging/_judges.html", context)]
