"""Check a judge by its canaries and its readable replies, and suspend one that fails.

A check is added when its verdict or reasons change. Its judge points to the newest one; the marks
of a suspended judge stay, and no report uses them.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction
from django.utils import timezone

from evaluations.facts.answer_facts import record_judgements
from evaluations.judging.rules.canaries import is_failure, is_off
from evaluations.judging.rules.verdicts import (
    FIRST_UNREADABLE,
    CanaryResult,
    Verdict,
    verdict_of,
)
from evaluations.judging.services.judges import hold_judges
from evaluations.models import (
    Attempt,
    Canary,
    CanaryReply,
    Judge,
    JudgeCheck,
    Judgement,
    Run,
)
from evaluations.models.vocabulary import AttemptStatus, PauseReason
from evaluations.runs.services.run_states import OPEN_JOBS, pause
from evaluations.statistics.outcomes import CanaryKind, JudgeStatus, JudgeVerdict
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag

# A run of which so many replies came first and none can be read is paused.
FIRST_REPLIES = 20
# So often canaries are planned in one run.
MOST_ROUNDS = 3
NOT_SENT = (JudgeStatus.NO_CONTENT, JudgeStatus.OVERSIZE)


@transaction.atomic
def check_judge(
    run: Run, *, first_unreadable: bool = False, final: bool = False
) -> JudgeCheck | None:
    """Check the judge of *run* by all its runs; return the new check, None if nothing changed.

    Only replies under the newest name of the model count: another name is another model until its
    own canaries are judged. A *final* check is also stored where only its figures changed.
    """
    assert run.judge is not None  # a judge run has one
    (judge,) = hold_judges([run.judge.pk])
    model = newest_model(judge)
    replies, unread = _readable(judge, model)
    made = verdict_of(
        list(_results(judge, model)),
        replies=replies,
        unread=unread,
        first_unreadable=first_unreadable or _stopped_early(judge, model, replies, unread),
    )
    figures = (made.classes, replies, unread)
    if _is_unchanged(judge.current_check, made, model, figures if final else None):
        return None
    check = JudgeCheck.objects.create(
        judge=judge,
        run=run,
        response_model=model,
        verdict=made.verdict,
        reasons=made.reasons,
        classes=made.classes,
        replies=replies,
        unread=unread,
    )
    suspended = made.verdict is JudgeVerdict.SUSPENDED
    was = judge.suspended_at is not None
    judge.current_check = check
    # One that is not decided yet stays what it was: nobody is freed by a few new canaries.
    if suspended:
        judge.suspended_at = judge.suspended_at or timezone.now()
    elif made.verdict is JudgeVerdict.PASSED:
        judge.suspended_at = None
    judge.save(update_fields=["current_check", "suspended_at"])
    if was != (judge.suspended_at is not None):
        # The rows that reports read say whether the marks may be used.
        record_judgements(judge.judgements.values_list("response_id", flat=True))
        record(Tag.JUDGE_CHECKED, run, actor=None, judge=judge.name, verdict=made.verdict.value)
    return check


def newest_model(judge: Judge) -> str:
    """Return the name of the model in the newest reply of *judge*; "" if no reply names one."""
    answered = Attempt.objects.filter(job__run__judge=judge, status=AttemptStatus.ANSWERED)
    newest = answered.exclude(response_model="").order_by("-finished_at", "-pk")
    return newest.values_list("response_model", flat=True).first() or ""


def needs_canaries(run: Run) -> bool:
    """Return whether the model of the newest replies has no canary yet, judged or planned."""
    assert run.judge is not None  # a judge run has one
    if not run.run_settings.get("canaries"):
        return False
    model = newest_model(run.judge)
    judged = CanaryReply.objects.filter(canary__run__judge=run.judge)
    if not model or judged.filter(attempt__response_model=model).exists():
        return False
    own = Canary.objects.filter(run=run)
    if own.count() >= MOST_ROUNDS * len(CanaryKind) * run.run_settings["canaries"]:
        return False  # those before got no reply
    return not own.filter(job__status__in=OPEN_JOBS).exists()


def stop_if_unreadable(run: Run) -> None:
    """Pause *run* and suspend its judge if none of the first replies has a readable total."""
    said = Judgement.objects.filter(run=run, attempt__isnull=False)
    of_canaries = CanaryReply.objects.filter(canary__run=run)
    scored = {"status": JudgeStatus.SCORED}
    if said.filter(**scored).exists() or of_canaries.filter(**scored).exists():
        return
    if said.count() + of_canaries.count() < FIRST_REPLIES:
        return
    checks = JudgeCheck.objects.filter(run=run).values_list("reasons", flat=True)
    if any(reason["code"] == FIRST_UNREADABLE for reasons in checks for reason in reasons):
        return  # a person resumed it
    pause(run, PauseReason.UNREADABLE)
    check_judge(run, first_unreadable=True)


def _stopped_early(judge: Judge, model: str, replies: int, unread: int) -> bool:
    """Return whether the judge was stopped early under this name and nothing was readable since."""
    current = judge.current_check
    if current is None or current.response_model != model or unread < replies:
        return False
    return any(reason["code"] == FIRST_UNREADABLE for reason in current.reasons)


def _results(judge: Judge, model: str) -> Iterator[CanaryResult]:
    """Yield the results of the canaries of *judge* whose last reply is of *model*."""
    canaries = Canary.objects.filter(run__judge=judge).select_related("run")
    for canary in canaries.prefetch_related("replies__attempt"):
        replies = list(canary.replies.all())
        if not replies or replies[-1].attempt.response_model != model:
            continue
        last = replies[-1]
        kind, failed, off = CanaryKind(canary.kind), None, None
        if last.total is not None:
            twin = _twin(canary) if kind is CanaryKind.DUPLICATE else None
            twin_total = None if twin is None else twin.total
            failed = is_failure(kind, last.total, last.full, twin_total)
            off = is_off(kind, last.total, last.full)
        elif kind is CanaryKind.DUPLICATE and _twin(canary) is None:
            continue
        yield CanaryResult(kind, failed, off)


def _twin(canary: Canary) -> Judgement | None:
    """Return what the judge said of the response that *canary* repeats, in the same run."""
    of_copy = Judgement.objects.filter(run=canary.run, response=canary.copy_of)
    return of_copy.filter(followed_by__isnull=True).first()


def _readable(judge: Judge, model: str) -> tuple[int, int]:
    """Return how many responses and canaries got a last reply of *model*, and how many no total."""
    last = Judgement.objects.filter(
        judge=judge, followed_by__isnull=True, attempt__response_model=model
    ).exclude(status__in=NOT_SENT)
    statuses = list(last.order_by().values_list("status", flat=True))
    newest: dict[int, str] = {}
    replies = CanaryReply.objects.filter(canary__run__judge=judge, attempt__response_model=model)
    for canary, status in replies.order_by("number").values_list("canary", "status"):
        newest[canary] = status
    statuses += newest.values()
    return len(statuses), sum(status != JudgeStatus.SCORED for status in statuses)


def _is_unchanged(
    check: JudgeCheck | None, made: Verdict, model: str, figures: tuple[object, int, int] | None
) -> bool:
    """Return whether *check* says what was *made*; its *figures* count only at the end of a run."""
    if check is None or (check.verdict, check.response_model) != (made.verdict, model):
        return False
    codes = [reason["code"] for reason in check.reasons]
    if codes != [reason["code"] for reason in made.reasons]:
        return False
    return figures is None or (check.classes, check.replies, check.unread) == figures
