"""Judges under their conditions, what they said, and how they were checked."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models

from evaluations.conditions import PromptSource
from evaluations.models.responses import Response
from evaluations.models.runs import Attempt, Endpoint, Job, Run
from evaluations.statistics.outcomes import CanaryKind, JudgeStatus, JudgeVerdict
from gradeapp.common.checks import known
from questions.models import Rubric


class JudgePrompts(models.Model):
    """One version of the prompts of judges; never changed, only followed.

    ``content`` is in the documented format (docs/judging.md), ``content_hash`` the SHA-256 of its
    canonical JSON. New judges use the highest ``number`` of a ``slug``.
    """

    slug = models.CharField(max_length=60)
    number = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    source = models.CharField(max_length=8, choices=PromptSource.choices())
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="judge_prompts"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "number"]
        constraints = [
            known("judge_prompts_source_known", source=PromptSource),
            models.UniqueConstraint(fields=["slug", "number"], name="one_judge_prompts_per_number"),
            models.UniqueConstraint(
                fields=["slug", "content_hash"], name="one_judge_prompts_per_content"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.number}"


class Judge(models.Model):
    """A model that marks under one condition; reports call it ``judge:NAME``.

    A published one has no endpoint. ``condition`` is a frozen ``JudgeCondition``, and
    ``fingerprint`` its SHA-256: another condition is another judge, so reports never pool two.
    Both are empty for judges from before conditions were stored, and for published ones.
    ``current_check`` is the last check of the judge; no report uses the marks of a judge with a
    time in ``suspended_at``.
    """

    name = models.CharField(max_length=100, unique=True)
    endpoint = models.ForeignKey(
        Endpoint, null=True, on_delete=models.PROTECT, related_name="judges"
    )
    prompts = models.ForeignKey(
        JudgePrompts, null=True, on_delete=models.PROTECT, related_name="judges"
    )
    condition = models.JSONField(default=dict, db_default={})
    fingerprint = models.CharField(max_length=64, blank=True, default="", db_default="")
    suspended_at = models.DateTimeField(null=True)
    current_check = models.ForeignKey(
        "JudgeCheck", null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class JudgementQuerySet(models.QuerySet["Judgement"]):
    """Querysets of judgements."""

    def counting(self) -> JudgementQuerySet:
        """Return the judgement of each judge and response that counts: of the first sample."""
        return self.filter(followed_by__isnull=True, sample=1)


class Judgement(models.Model):
    """One reply of a judge. ``total`` is null unless the reply states one that is possible.

    ``released`` keeps the totals that a benchmark released with the reply, as
    they were released, possible or not. ``status`` is ``scored`` or the reason
    why not; ``details`` names what the reason or a flag is about (docs/judging.md). A later
    judgement of the judge on the response names the one that it ``follows``; the one that none
    follows counts. ``sample`` is above 1 where the judge marked the run again: such marks show how
    steady it is and count in no report.
    """

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="judgements")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="judgements")
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT, related_name="judgements")
    attempt = models.OneToOneField(
        Attempt, null=True, on_delete=models.PROTECT, related_name="judgement"
    )
    number = models.PositiveSmallIntegerField(default=1, help_text="1 unless asked again")
    sample = models.PositiveSmallIntegerField(default=1, db_default=1)
    prompt_version = models.CharField(max_length=20, blank=True)
    rubric = models.ForeignKey(
        Rubric, null=True, on_delete=models.PROTECT, related_name="judgements"
    )
    reply = models.TextField(blank=True)
    total = models.DecimalField(max_digits=7, decimal_places=3, null=True)
    full = models.DecimalField(max_digits=6, decimal_places=2)
    status = models.CharField(max_length=20)
    flags = models.JSONField(default=list)
    details = models.JSONField(default=dict, db_default={})
    released = models.JSONField(default=list)
    follows = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="followed_by"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = JudgementQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            known("judgement_status_known", status=JudgeStatus),
            models.UniqueConstraint(
                fields=["response", "judge", "sample", "number"],
                name="one_judgement_per_sample_and_number",
            ),
            models.CheckConstraint(
                condition=models.Q(total__isnull=True)
                | (models.Q(total__gte=Decimal(0)) & models.Q(total__lte=models.F("full"))),
                name="judge_total_within_full_marks",
            ),
            models.CheckConstraint(
                condition=models.Q(status="scored", total__isnull=False)
                | (~models.Q(status="scored") & models.Q(total__isnull=True)),
                name="judge_total_only_when_scored",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge} on {self.response}: {self.total}"


class Canary(models.Model):
    """A made-up response of known worth that a judge run marks among the real ones.

    It is no ``Response``, and what the judge says of it no ``Judgement``, so no report, export or
    count of either contains it. ``text`` is what the judge is given as the response;
    ``copy_of`` is the response that a duplicate repeats.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="canaries")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="canary")
    kind = models.CharField(max_length=16, choices=CanaryKind.choices())
    text = models.TextField(blank=True)
    copy_of = models.ForeignKey(
        Response, null=True, on_delete=models.PROTECT, related_name="canaries"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [known("canary_kind_known", kind=CanaryKind)]

    def __str__(self) -> str:
        return f"{self.run} {self.kind}"


class CanaryReply(models.Model):
    """One reply of a judge to a canary; the fields are those of ``Judgement``."""

    canary = models.ForeignKey(Canary, on_delete=models.PROTECT, related_name="replies")
    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="canary_reply")
    number = models.PositiveSmallIntegerField(default=1)
    reply = models.TextField(blank=True)
    total = models.DecimalField(max_digits=7, decimal_places=3, null=True)
    full = models.DecimalField(max_digits=6, decimal_places=2)
    status = models.CharField(max_length=20)
    flags = models.JSONField(default=list)
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("canary_reply_status_known", status=JudgeStatus),
            models.UniqueConstraint(
                fields=["canary", "number"], name="one_canary_reply_per_number"
            ),
            models.CheckConstraint(
                condition=models.Q(status="scored", total__isnull=False)
                | (~models.Q(status="scored") & models.Q(total__isnull=True)),
                name="canary_total_only_when_scored",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.canary}: {self.total}"


class RepeatedTexts(models.Model):
    """The responses of a run that are one text to many questions, until somebody looked at them.

    ``compared`` responses, one of each question, were compared. While ``responses`` has any and
    nobody has ``reviewed_by``, the calibration of judges leaves out their marks of the run.
    """

    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="repeated_texts")
    compared = models.PositiveIntegerField()
    responses = models.ManyToManyField(Response, related_name="+")
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.run}: {self.compared}"


class JudgeCheck(models.Model):
    """What the canaries and the readability of its replies said of a judge at a time.

    ``run`` is the run after which it was made, ``response_model`` the name of the model in the
    replies that it is about. ``reasons`` are the reasons of a suspension, ``classes`` the figures
    of each class of canaries, ``unread`` the unreadable of all ``replies``.
    """

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="checks")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="judge_checks")
    response_model = models.CharField(max_length=120, blank=True)
    verdict = models.CharField(max_length=10, choices=JudgeVerdict.choices())
    reasons = models.JSONField(default=list)
    classes = models.JSONField(default=list)
    replies = models.PositiveIntegerField(default=0)
    unread = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [known("judge_check_verdict_known", verdict=JudgeVerdict)]

    def __str__(self) -> str:
        return f"{self.judge}: {self.verdict}"
