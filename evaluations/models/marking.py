"""Blind answers, the slots on them that teachers hold, marks and final marks."""

from __future__ import annotations

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models

from evaluations.models.responses import Response
from evaluations.models.rounds import MarkingRound
from evaluations.models.vocabulary import CHECK_KINDS, AnswerRole, ArbitrationReason, SlotKind
from evaluations.schemes import FinalRule
from questions.models import Question, QuestionRevision, Rubric, ScoringPoint


class BlindAnswer(models.Model):
    """A response as a round shows it: under an alias, with the key and rubric of that day.

    ``final`` is the final mark that counts now: a pointer that services move, so
    that nothing has to look for the newest one. A response that comes back for a
    intra-rater check is a second blind answer with an alias of its own, whose
    ``repeat_of`` names the first; it never gets a final mark. ``one_more_for`` is the judgement
    that was so far from the marks that one more teacher was asked (``judge_check_share``).
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    round = models.ForeignKey(MarkingRound, on_delete=models.PROTECT, related_name="answers")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="blind_answers")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="blind_answers")
    revision = models.ForeignKey(
        QuestionRevision, on_delete=models.PROTECT, related_name="blind_answers"
    )
    rubric = models.ForeignKey(
        Rubric, null=True, on_delete=models.PROTECT, related_name="blind_answers"
    )
    role = models.CharField(
        max_length=8, choices=AnswerRole.choices(), default=AnswerRole.ANSWER.value
    )
    repeat_of = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="repeats"
    )
    final = models.ForeignKey(
        "FinalMark", null=True, on_delete=models.PROTECT, related_name="final_of"
    )
    one_more_for = models.ForeignKey(
        "Judgement", null=True, on_delete=models.PROTECT, related_name="+"
    )
    alias = models.CharField(max_length=12)
    full_marks = models.DecimalField(max_digits=6, decimal_places=2)
    tolerance = models.DecimalField(max_digits=6, decimal_places=2)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["round", "response"],
                condition=models.Q(repeat_of=None),
                name="once_in_a_round",
            ),
            models.UniqueConstraint(fields=["round", "alias"], name="one_alias_in_a_round"),
            models.CheckConstraint(
                condition=models.Q(role=AnswerRole.REPEAT.value, repeat_of__isnull=False)
                | (~models.Q(role=AnswerRole.REPEAT.value) & models.Q(repeat_of=None)),
                name="a_repeat_names_its_first",
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=list(AnswerRole)), name="answer_role_known"
            ),
        ]
        # All that is counted of a round's responses stands in it: no row is read for that.
        indexes = [models.Index(fields=["round", "role", "final"], name="answer_by_round")]

    def __str__(self) -> str:
        return f"{self.alias} of {self.round}"


class Slot(models.Model):
    """One of the marks that a response needs: planned for a teacher, then held by one.

    ``holder`` is set by the claim and stays once there is a mark. That nobody
    has two roles on one response is a constraint over ``holder``: first,
    second, third mark and arbitration are all slots, and so is each teacher's
    mark of a seed answer. Versions up to ``void_version`` were returned for re-marking: they
    stay and no longer count. Its teacher can revise a mark until ``revisable_until``; None where
    the mark never could be revised. ``entered_by`` is who entered the newest mark for its
    teacher; None where that was the teacher. A check, or one mark more than planned, has
    ``passed_at`` when another teacher, who helped out, came to it and could not take it because of
    what it is: from then on, a little after they took ``passed_with``, it is lost to its teacher
    unless they claim it before. Where many were taken at once, on a sheet, ``passed_by`` is who
    took them, and it is lost as long as ``passed_with`` is theirs, at hand or marked.
    """

    answer = models.ForeignKey(BlindAnswer, on_delete=models.PROTECT, related_name="slots")
    kind = models.CharField(max_length=12, choices=SlotKind.choices())
    planned = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="planned_slots"
    )
    order = models.PositiveIntegerField(default=0, help_text="place in the planned teacher's queue")
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="slots"
    )
    lease_until = models.DateTimeField(null=True)
    skipped_at = models.DateTimeField(null=True)
    passed_at = models.DateTimeField(null=True)
    passed_with = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="passed"
    )
    passed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    marked = models.BooleanField(default=False)
    revisable_until = models.DateTimeField(null=True)
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    void_version = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "kind"],
                condition=~models.Q(kind__in=CHECK_KINDS),
                name="one_slot_per_kind",
            ),
            models.UniqueConstraint(
                fields=["answer", "planned"],
                condition=models.Q(kind__in=CHECK_KINDS),
                name="one_check_per_person_and_response",
            ),
            models.UniqueConstraint(
                fields=["answer", "holder"],
                condition=models.Q(holder__isnull=False),
                name="one_role_per_person_and_response",
            ),
            models.UniqueConstraint(
                fields=["answer", "entered_by"],
                condition=models.Q(entered_by__isnull=False),
                name="one_entry_per_person_and_response",
            ),
            models.CheckConstraint(
                condition=models.Q(marked=False) | models.Q(holder__isnull=False),
                name="a_mark_has_a_marker",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=list(SlotKind)), name="slot_kind_known"
            ),
        ]
        indexes = [
            models.Index(fields=["planned", "marked", "order"], name="slot_by_queue"),
            models.Index(fields=["holder", "marked"], name="slot_by_holder"),
            models.Index(fields=["holder", "revisable_until"], name="slot_by_window"),
            # SQLite looks nothing up by a boolean; what is to be marked has indexes of its own.
            models.Index(
                fields=["planned", "order"], condition=models.Q(marked=False), name="slot_to_mark"
            ),
            models.Index(fields=["holder"], condition=models.Q(marked=False), name="slot_at_hand"),
            models.Index(
                fields=["kind", "answer"], condition=models.Q(marked=False), name="slot_waiting"
            ),
            models.Index(
                fields=["passed_at"],
                condition=models.Q(marked=False, passed_at__isnull=False),
                name="slot_passed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.answer} {self.kind}"


class MarkQuerySet(models.QuerySet["Mark"]):
    """Marks, and those of them that count."""

    def counting(self) -> MarkQuerySet:
        """Neither from a stale page nor returned; the newest version of a slot counts."""
        return self.filter(stale=False, version__gt=models.F("slot__void_version"))


class Mark(models.Model):
    """One version of one marker's mark; a revision is a new row.

    ``entered_by`` is who entered it for its teacher; None where that was the teacher.
    ``stale`` marks came from a page that was older than the stored version:
    kept, reported, never counted. ``key`` is the idempotency key of the save.
    """

    slot = models.ForeignKey(Slot, on_delete=models.PROTECT, related_name="marks")
    version = models.PositiveIntegerField()
    stale = models.BooleanField(default=False)
    key = models.UUIDField(unique=True)
    teacher = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="marks"
    )
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="marks_entered"
    )
    rubric = models.ForeignKey(Rubric, null=True, on_delete=models.PROTECT, related_name="marks")
    total = models.DecimalField(max_digits=6, decimal_places=2)
    full = models.DecimalField(max_digits=6, decimal_places=2)
    comment = models.TextField(blank=True)
    flags = models.JSONField(default=list)
    reason = models.CharField(max_length=20, blank=True, help_text="of an arbitration")
    seconds = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = MarkQuerySet.as_manager()

    class Meta:
        ordering = ["version", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["slot", "version"],
                condition=models.Q(stale=False),
                name="one_mark_per_version",
            ),
            models.CheckConstraint(
                condition=models.Q(total__gte=Decimal(0)) & models.Q(total__lte=models.F("full")),
                name="mark_within_full_marks",
            ),
            models.CheckConstraint(
                condition=models.Q(reason__in=["", *ArbitrationReason]), name="mark_reason_known"
            ),
        ]
        indexes = [models.Index(fields=["teacher", "-id"], name="mark_by_teacher")]

    def __str__(self) -> str:
        return f"{self.slot} v{self.version}: {self.total}"

    @property
    def own_version(self) -> int:
        """The version as its marker knows it: from 1 since the slot was last returned, then 0.

        The stored number would tell that somebody else marked the response before.
        """
        return max(0, self.version - self.slot.void_version)


class PointMark(models.Model):
    """Points for one scoring point, with its wording of that day."""

    mark = models.ForeignKey(Mark, on_delete=models.PROTECT, related_name="points")
    scoring_point = models.ForeignKey(ScoringPoint, on_delete=models.PROTECT, related_name="marks")
    wording = models.TextField()
    points = models.DecimalField(max_digits=5, decimal_places=2)
    full = models.DecimalField(max_digits=5, decimal_places=2)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["mark", "scoring_point"], name="one_mark_per_point"),
            models.CheckConstraint(
                condition=models.Q(points__gte=Decimal(0)) & models.Q(points__lte=models.F("full")),
                name="point_mark_within_points",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.points}/{self.full}"


class Draft(models.Model):
    """What a teacher has typed and not saved: the newest ``sequence`` wins."""

    slot = models.ForeignKey(Slot, on_delete=models.CASCADE, related_name="drafts")
    teacher = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="drafts"
    )
    sequence = models.PositiveBigIntegerField()
    content = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slot", "teacher"], name="one_draft_per_slot"),
        ]

    def __str__(self) -> str:
        return f"draft of {self.teacher} for {self.slot}"


class FinalMarkQuerySet(models.QuerySet["FinalMark"]):
    """Final marks, and those of them that count."""

    def counting(self) -> FinalMarkQuerySet:
        """Those that their response points to: neither followed nor withdrawn."""
        return self.filter(final_of__isnull=False)

    def official(self) -> FinalMarkQuerySet:
        """Those that count outside their round: the counting ones that are not of practice."""
        return self.counting().filter(answer__round__practice=False)


class ArbiterMark(models.Model):
    """What a lead would give before seeing the other marks, where the round asks for that.

    Kept as it was given and never counted: the decision is the mark of the arbitration. Where the
    response had a final mark before, the lead may have seen marks all the same. ``points``
    are texts in the order of ``rubric``, empty without one; under another rubric the lead marks
    anew. A lead has one for each: they are stored while the response is locked. ``key`` makes the
    save idempotent.
    """

    answer = models.ForeignKey(BlindAnswer, on_delete=models.PROTECT, related_name="arbiter_marks")
    lead = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="arbiter_marks"
    )
    rubric = models.ForeignKey(
        Rubric, null=True, on_delete=models.PROTECT, related_name="arbiter_marks"
    )
    key = models.UUIDField(unique=True)
    points = models.JSONField(default=list)
    total = models.DecimalField(max_digits=6, decimal_places=2)
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(total__gte=Decimal(0)), name="arbiter_mark_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.lead} on {self.answer} before seeing"


class FinalMark(models.Model):
    """What counts for a response in a round, the rule that made it and the marks it was made from.

    Exact: a mean of half points may end in .25 or .75; rounded only when shown.
    A correction is a new row with a higher ``number``.
    """

    answer = models.ForeignKey(BlindAnswer, on_delete=models.PROTECT, related_name="finals")
    number = models.PositiveIntegerField(default=1)
    value = models.DecimalField(max_digits=8, decimal_places=4)
    full = models.DecimalField(max_digits=6, decimal_places=2)
    rule = models.CharField(max_length=40, choices=FinalRule.choices())
    marks = models.ManyToManyField(Mark, through="FinalMarkSource", related_name="finals")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FinalMarkQuerySet.as_manager()

    class Meta:
        ordering = ["number", "id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "number"], name="one_final_per_number"),
            models.CheckConstraint(
                condition=models.Q(value__gte=Decimal(0)) & models.Q(value__lte=models.F("full")),
                name="final_within_full_marks",
            ),
            models.CheckConstraint(
                condition=models.Q(rule__in=list(FinalRule)), name="final_rule_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.answer}: {self.value} ({self.rule})"


class FinalMarkSource(models.Model):
    """One of the one to three marks that a final mark was made from; ``place`` is their order."""

    final = models.ForeignKey(FinalMark, on_delete=models.PROTECT, related_name="sources")
    mark = models.ForeignKey(Mark, on_delete=models.PROTECT, related_name="+")
    place = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["final", "mark"], name="final_names_a_mark_once"),
            models.UniqueConstraint(fields=["final", "place"], name="one_source_per_place"),
            models.CheckConstraint(
                condition=models.Q(place__gte=1, place__lte=3), name="at_most_three_sources"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.final} from {self.mark}"
