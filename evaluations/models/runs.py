"""Endpoints, runs, jobs and attempts: the queue of record for every paid call."""

from __future__ import annotations

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models

from evaluations.models.vocabulary import (
    AttemptStatus,
    JobStatus,
    PauseReason,
    RunPurpose,
    RunStatus,
    UsageState,
)
from evaluations.statistics.outcomes import ReplyEnding
from gradeapp.common.checks import known
from questions.models import Dataset, Question, QuestionRevision


class LanguageModel(models.Model):
    """A model by the name that reports show; published answers have one without an endpoint."""

    name = models.CharField(max_length=100, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Endpoint(models.Model):
    """An OpenAI-compatible address. Its key is in an environment variable, or stored encrypted.

    ``stored_key`` is the encrypted key, and ``key_hint`` its last four characters.

    Prices are in ``currency`` per million tokens. ``max_tokens`` bounds an
    answer: a reasoning model needs much, a small local one must not ramble. ``max_temperature``
    is the highest that the endpoint takes; only one that ``takes_images`` is sent any.
    ``max_completion_tokens``: it refuses the parameter ``max_tokens`` and wants this name.
    ``account`` is the account whose limits it shares with others; null only until it is first
    used. ``price_cached`` is the price of input tokens that the provider had cached, null for that
    of all input tokens. ``cost_in_replies``: the cost that replies report is in ``currency`` and
    counts where it is above the cost by prices. ``preset`` names the provider's preset that the
    form was filled in from.
    """

    name = models.CharField(max_length=60, unique=True)
    base_url = models.URLField(max_length=300)
    model = models.CharField(max_length=120, help_text="the name the endpoint knows")
    key_variable = models.CharField(max_length=80, blank=True)
    stored_key = models.TextField(blank=True, default="", editable=False)
    key_hint = models.CharField(max_length=4, blank=True, default="", editable=False)
    language_model = models.ForeignKey(
        LanguageModel, on_delete=models.PROTECT, related_name="endpoints"
    )
    account = models.ForeignKey(
        "ProviderAccount",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="endpoints",
    )
    preset = models.CharField(max_length=30, blank=True, db_default="", default="")
    max_in_flight = models.PositiveSmallIntegerField(default=8)
    timeout_seconds = models.PositiveIntegerField(default=120)
    max_tokens = models.PositiveIntegerField(default=2048)
    price_input = models.DecimalField(max_digits=12, decimal_places=6, default=Decimal(0))
    price_output = models.DecimalField(max_digits=12, decimal_places=6, default=Decimal(0))
    price_cached = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    currency = models.CharField(max_length=3, default="CNY")
    cost_in_replies = models.BooleanField(default=False, db_default=False)
    max_temperature = models.FloatField(default=2.0, db_default=2.0)
    takes_images = models.BooleanField(default=False, db_default=False)
    max_completion_tokens = models.BooleanField(default=False, db_default=False)
    note = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(key_variable="") | models.Q(stored_key=""),
                name="a_key_is_stored_or_in_a_variable",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_key(self) -> bool:
        """Whether calls send an API key."""
        return bool(self.key_variable or self.stored_key)

    @property
    def has_prices(self) -> bool:
        """Whether its calls may cost anything."""
        return bool(self.price_input or self.price_output or self.price_cached)


_WITH_ENDPOINT = models.Q(endpoint__isnull=False)
_OF_NO_RUN = models.Q(judge=None, judged_run=None)
# What a run of each kind names; an imported one answers without an endpoint.
_NEEDS = (
    models.Q(_OF_NO_RUN, _WITH_ENDPOINT | models.Q(status="imported"), purpose="answer")
    | models.Q(_OF_NO_RUN, _WITH_ENDPOINT, purpose="suggest")
    | models.Q(_WITH_ENDPOINT, purpose="judge", judge__isnull=False, judged_run__isnull=False)
    | models.Q(_WITH_ENDPOINT, purpose="read", judge=None, judged_run__isnull=False)
)


class Run(models.Model):
    """A model sits an exam once or several times, under settings that are frozen at the start.

    ``fingerprint`` is the SHA-256 of the settings. A run that answers, and no other, has a
    ``condition``, and may be part of a ``study``. A judge run names its judge
    and in ``judged_run`` the run whose responses it judges, a run that reads the
    one whose answers it reads; an imported run has neither endpoint nor jobs.
    Its workers are in ``RunWorker``.
    A run that is paused until ``resume_at`` goes on by itself then.
    The calls of a run ``by_batch`` are made by batches only, at half the price; with
    ``batch_api`` the worker sends them through the endpoint's batch API, else people carry files.
    ``committed`` is what its calls cost, or may cost while their answers are open, in
    ``Spending.UNIT``: all its workers reserve from it.
    ``plan_hash`` is the SHA-256 of what the run asks: two runs with the same one would make the
    same calls. ``request_hash`` is that of the whole request that came with ``idempotency_key``.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    purpose = models.CharField(max_length=8, choices=RunPurpose.choices())
    language_model = models.ForeignKey(LanguageModel, on_delete=models.PROTECT, related_name="runs")
    endpoint = models.ForeignKey(Endpoint, null=True, on_delete=models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="runs")
    judged_run = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="judge_runs"
    )
    judge = models.ForeignKey(
        "Judge", null=True, on_delete=models.PROTECT, related_name="judge_runs"
    )
    condition = models.ForeignKey(
        "Condition", null=True, on_delete=models.PROTECT, related_name="runs"
    )
    study = models.ForeignKey("Study", null=True, on_delete=models.PROTECT, related_name="runs")
    run_settings = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64, blank=True)
    repeats = models.PositiveSmallIntegerField(default=1)
    status = models.CharField(max_length=10, choices=RunStatus.choices())
    pause_reason = models.CharField(max_length=40, blank=True)
    resume_at = models.DateTimeField(null=True)
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    expected_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    committed = models.BigIntegerField(default=0, db_default=0)
    by_batch = models.BooleanField(default=False, db_default=False)
    batch_api = models.BooleanField(default=False, db_default=False)
    random_seed = models.BigIntegerField(default=0)
    idempotency_key = models.CharField(max_length=64, null=True, unique=True)
    plan_hash = models.CharField(max_length=64, blank=True, default="", db_default="")
    request_hash = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="runs"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=_NEEDS, name="a_run_names_what_its_kind_needs"),
            models.CheckConstraint(
                condition=models.Q(purpose="answer", condition__isnull=False)
                | (~models.Q(purpose="answer") & models.Q(condition=None, study=None)),
                name="a_run_that_answers_has_a_condition",
            ),
            known(
                "run_lists_known",
                purpose=RunPurpose,
                status=RunStatus,
                pause_reason=("", *PauseReason),
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"


class Job(models.Model):
    """One call to be made: this question, this repeat and this step, in this run.

    ``waits_for`` is the job of the step before: this one is asked after its reply is stored,
    and fails with it.

    Claimed by one conditional update that raises ``fence``; whoever writes a
    result must still hold the fence it was given. ``response`` is set in runs
    that judge or read: the response that they look at.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="jobs")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="jobs")
    revision = models.ForeignKey(QuestionRevision, on_delete=models.PROTECT, related_name="jobs")
    repeat = models.PositiveSmallIntegerField(default=1)
    step = models.PositiveSmallIntegerField(default=1, db_default=1)
    waits_for = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="next_step"
    )
    response = models.ForeignKey(
        "Response", null=True, on_delete=models.PROTECT, related_name="judge_jobs"
    )
    status = models.CharField(
        max_length=8, choices=JobStatus.choices(), default=JobStatus.PENDING.value
    )
    attempts_made = models.PositiveSmallIntegerField(default=0)
    lease_owner = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True)
    fence = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(null=True, help_text="not before this moment")
    error = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            known("job_status_known", status=JobStatus),
            models.UniqueConstraint(
                fields=["run", "question", "repeat", "step"],
                name="one_job_per_question_repeat_and_step",
            ),
            models.CheckConstraint(
                condition=models.Q(step=1, waits_for=None)
                | models.Q(step__gt=1, waits_for__isnull=False),
                name="a_later_step_waits_for_the_one_before",
            ),
        ]
        indexes = [models.Index(fields=["run", "status", "id"], name="job_by_run_and_status")]

    def __str__(self) -> str:
        return f"{self.run} {self.question} x{self.repeat}"


class Attempt(models.Model):
    """One call, written before it is sent: what may have been billed is never forgotten.

    ``reserved`` is the most that the call could cost; it stands in for ``cost``
    while the answer is awaited, and where it never came. ``body`` is the answer
    as the endpoint sent it; of a reply that could not be read its beginning
    (``evaluations.llm.client.KEPT_BODY``). ``seconds`` is how long it took. An attempt that failed
    ``during_outage`` does not count against its job. ``params`` are the parameters that were
    sent beside the messages, ``examples_used`` the worked examples in a few-shot prompt.
    ``rubric`` and ``marking_notes`` are what the request showed to a judge, null where it
    showed none.
    ``images`` are the SHA-256 of the images in it, ``images_omitted`` the number of those that it
    said are missing, and ``option_order`` is that of ``Response``.
    ``prompt_bytes`` is the most tokens that its prompt may have (``most_prompt_tokens``), null in
    attempts from before it was stored.
    ``usage`` says whether the token counts of an answer can be used, "" without an answer;
    ``cached_tokens`` and ``audio_tokens`` are part of ``prompt_tokens``, ``reasoning_tokens`` of
    ``completion_tokens``. ``reported_cost`` is what the provider says that the call cost.
    ``ending`` says what the reply is, "" without one; ``choices`` is the number of choices in it,
    of which the first is used. ``other_model``: it names another model than was asked.
    """

    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    fence = models.PositiveIntegerField()
    status = models.CharField(
        max_length=8, choices=AttemptStatus.choices(), default=AttemptStatus.SENT.value
    )
    request_hash = models.CharField(max_length=64)
    params = models.JSONField(default=dict, db_default={})
    examples_used = models.PositiveSmallIntegerField(null=True)
    rubric = models.ForeignKey(
        "questions.Rubric", null=True, on_delete=models.PROTECT, related_name="+"
    )
    marking_notes = models.ForeignKey(
        "evaluations.MarkingNotes", null=True, on_delete=models.PROTECT, related_name="+"
    )
    images = models.JSONField(default=list, db_default=[])
    images_omitted = models.PositiveSmallIntegerField(default=0, db_default=0)
    option_order = models.CharField(max_length=26, blank=True, default="", db_default="")
    prompt_bytes = models.PositiveIntegerField(null=True)
    sent_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=40, blank=True)
    error_text = models.TextField(blank=True)
    http_status = models.PositiveSmallIntegerField(null=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True)
    reasoning_tokens = models.PositiveIntegerField(null=True)
    audio_tokens = models.PositiveIntegerField(null=True)
    total_tokens = models.PositiveIntegerField(null=True)
    usage = models.CharField(
        max_length=8, choices=UsageState.choices(), blank=True, default="", db_default=""
    )
    reported_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=Decimal(0))
    reserved = models.DecimalField(max_digits=14, decimal_places=8, default=Decimal(0))
    seconds = models.FloatField(null=True)
    during_outage = models.BooleanField(default=False, db_default=False)
    body = models.TextField(blank=True)
    ending = models.CharField(
        max_length=10, choices=ReplyEnding.choices(), blank=True, default="", db_default=""
    )
    choices = models.PositiveSmallIntegerField(null=True)
    other_model = models.BooleanField(default=False, db_default=False)
    response_model = models.CharField(max_length=120, blank=True)
    request_id = models.CharField(max_length=120, blank=True)

    class Meta:
        ordering = ["number", "id"]
        constraints = [
            known(
                "attempt_status_known",
                status=AttemptStatus,
                usage=("", *UsageState),
                ending=("", *ReplyEnding),
            ),
            models.UniqueConstraint(fields=["job", "number"], name="one_attempt_per_number"),
        ]
        # What was answered in the last seconds is asked for all the time.
        indexes = [models.Index(fields=["finished_at"], name="attempt_by_finished_at")]

    def __str__(self) -> str:
        return f"{self.job} attempt {self.number}"


class StepReply(models.Model):
    """The reply to a step that is not the last: the next step is asked with it."""

    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="step_reply")
    attempt = models.OneToOneField(Attempt, on_delete=models.PROTECT, related_name="step_reply")
    text = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)

    def __str__(self) -> str:
        return f"{self.job} step {self.job.step}"
