"""Marking rounds: what is marked, by whom, under which rules, and what the lead rules meanwhile."""

from __future__ import annotations

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models

from evaluations.models.vocabulary import RoundStatus
from evaluations.schemes import (
    DEFAULT_SHEET_DAYS,
    DEFAULT_SHEET_RESPONSES,
    DEFAULT_WINDOW_MINUTES,
    Scheme,
)
from questions.models import Dataset


class MarkingRound(models.Model):
    """A set of responses, a pool of teachers, a scheme and its settings (docs/marking-protocol.md).

    ``task_tolerances`` overrides the tolerance of single tasks: the key of the
    task's row as text to points as text. With ``point_tolerance`` the marks must
    agree on every scoring point too. One response in ``seed_first_every`` of the
    first ``seed_first`` of a teacher's queue is a seed answer, then one in
    ``seed_later_every``; ``repeat_share`` (0 to 1) of them come back. The marks of a
    ``practice`` round are used nowhere outside the round itself; whether a round is
    one is fixed when it is planned. A teacher can revise a saved mark for ``window_minutes``
    (0: not at all), with ``window_ends_with_block`` at most until they mark another question.
    One person holds at most ``sheet_responses`` on marking sheets at once, for ``sheet_days``.
    With ``arbiter_marks_first`` the lead who arbitrates gives a mark before seeing the others.
    ``judge_check_share`` (0 to 1 of full marks; None: never) is how far all judges may be from a
    single mark or the mean of two before one more teacher is asked.

    A sample of questions follows from ``random_seed``, which leads choose. Aliases, queues, seed
    answers and checks follow from ``hidden_seed``, which is drawn and shown to nobody; None: from
    ``random_seed`` too.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=100)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="rounds")
    scheme = models.CharField(max_length=6, choices=Scheme.choices())
    tolerance_points = models.DecimalField(max_digits=5, decimal_places=2, default=Decimal(1))
    tolerance_share = models.DecimalField(max_digits=4, decimal_places=3, default=Decimal("0.1"))
    task_tolerances = models.JSONField(default=dict)
    point_tolerance = models.DecimalField(max_digits=5, decimal_places=2, null=True)
    mark_step = models.DecimalField(max_digits=4, decimal_places=2, default=Decimal("0.5"))
    lease_minutes = models.PositiveSmallIntegerField(default=30)
    window_minutes = models.PositiveSmallIntegerField(
        default=DEFAULT_WINDOW_MINUTES, db_default=DEFAULT_WINDOW_MINUTES
    )
    window_ends_with_block = models.BooleanField(default=True, db_default=True)
    sheet_responses = models.PositiveSmallIntegerField(
        default=DEFAULT_SHEET_RESPONSES, db_default=DEFAULT_SHEET_RESPONSES
    )
    sheet_days = models.PositiveSmallIntegerField(
        default=DEFAULT_SHEET_DAYS, db_default=DEFAULT_SHEET_DAYS
    )
    arbiter_marks_first = models.BooleanField(default=False, db_default=False)
    judge_check_share = models.DecimalField(max_digits=4, decimal_places=3, null=True)
    random_seed = models.BigIntegerField()
    hidden_seed = models.BigIntegerField(null=True)
    seed_first = models.PositiveSmallIntegerField(default=60)
    seed_first_every = models.PositiveSmallIntegerField(default=10)
    seed_later_every = models.PositiveSmallIntegerField(default=20)
    repeat_share = models.DecimalField(max_digits=4, decimal_places=3, default=Decimal("0.01"))
    limits = models.JSONField(default=dict, help_text="what a teacher is warned beyond")
    deadline = models.DateTimeField(null=True)
    marking_notes = models.TextField(blank=True, help_text="the newest version")
    notes_to_judge = models.BooleanField(default=False)
    published = models.BooleanField(default=False, help_text="marks that a benchmark released")
    practice = models.BooleanField(
        default=False, db_default=False, help_text="its marks reach no report"
    )
    status = models.CharField(
        max_length=8, choices=RoundStatus.choices(), default=RoundStatus.OPEN.value
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="rounds_made"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)
    form_key = models.UUIDField(
        null=True, unique=True, editable=False, help_text="of the form that made it"
    )
    # Of all that the request asked for which made it with an idempotency key
    request_hash = models.CharField(
        max_length=64, blank=True, default="", db_default="", editable=False
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=list(RoundStatus)), name="round_status_known"
            ),
            models.CheckConstraint(
                condition=models.Q(scheme__in=list(Scheme)), name="round_scheme_known"
            ),
            models.CheckConstraint(
                condition=models.Q(judge_check_share=None)
                | models.Q(judge_check_share__gte=0, judge_check_share__lte=1),
                name="judge_check_share_is_a_share",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def lots_seed(self) -> int:
        """The seed that aliases, queues and checks follow from."""
        return self.random_seed if self.hidden_seed is None else self.hidden_seed


class RoundTeacher(models.Model):
    """A teacher in the pool of a round.

    Whoever left it (``left_at``) is paused too and never comes back: they may look at the round.
    """

    round = models.ForeignKey(MarkingRound, on_delete=models.PROTECT, related_name="pool")
    teacher = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="pools"
    )
    paused = models.BooleanField(default=False)
    paused_reason = models.CharField(max_length=200, blank=True)
    left_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "teacher"], name="once_in_a_pool"),
        ]

    def __str__(self) -> str:
        return f"{self.teacher} in {self.round}"


class MarkingNotes(models.Model):
    """One version of a round's marking notes; the newest stands in the round itself."""

    round = models.ForeignKey(MarkingRound, on_delete=models.PROTECT, related_name="notes_versions")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="marking_notes"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["round", "number"], name="one_notes_version_per_number"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.round} marking notes {self.number}"


class MarkingSheet(models.Model):
    """Responses that a teacher took away to mark on paper or in a spreadsheet.

    The slots are held for the teacher until ``held_until``; a sheet that comes
    back names itself, so that a row is saved once only.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    round = models.ForeignKey(MarkingRound, on_delete=models.PROTECT, related_name="sheets")
    teacher = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="sheets"
    )
    responses = models.PositiveIntegerField()
    held_until = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"sheet of {self.teacher} in {self.round}"


class DeskSettings(models.Model):
    """How one person likes the desk: own keys (WCAG 2.1.4), none at all, and the size of type.

    ``keys`` maps an action to a key where it is not the default; ``type_size`` is in per cent.
    With ``advance`` a digit also moves on to the next scoring point.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="desk_settings"
    )
    shortcuts = models.BooleanField(default=True)
    keys = models.JSONField(default=dict)
    type_size = models.PositiveSmallIntegerField(default=100)
    advance = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"desk of {self.user}"
