"""The four-tuple of AGIBench as revisions: who set which label, when, why."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from gradeapp.common.checks import known
from questions.models.bank import Question
from questions.rules.vocabulary import AbilityBranch, Modal

_DIFFICULTY_RANGE = models.Q(difficulty__isnull=True) | models.Q(
    difficulty__gte=1, difficulty__lte=5
)


class Knowledge(models.Model):
    """A knowledge category, or a subclass of one: an open list, so these are rows.

    A category has no parent and names its ability branch; a subclass takes the
    branch of its category.
    """

    slug = models.SlugField(max_length=80, unique=True)
    english = models.CharField(max_length=120)
    chinese = models.CharField(max_length=120)
    ability_branch = models.CharField(max_length=20, choices=AbilityBranch.choices(), blank=True)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="subclasses"
    )

    class Meta:
        verbose_name_plural = "knowledge"
        constraints = [
            known("knowledge_branch_known", ability_branch=("", *AbilityBranch)),
        ]

    def __str__(self) -> str:
        return self.english

    def label(self, language: str) -> str:
        """The name in *language* (``zh...`` is Chinese, all else English)."""
        return self.chinese if language.startswith("zh") else self.english


class LabelBatch(models.Model):
    """One bulk change of labels, so that it can be undone as one.

    ``change`` holds the labels that were set, ``query`` the filters of the list.
    A batch that ``undoes`` another holds in ``change`` the keys of the questions
    that it left alone, under ``kept``, because their labels had changed since.
    """

    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="label_batches"
    )
    change = models.JSONField()
    query = models.CharField(max_length=500, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    undoes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="undone_by"
    )

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "label batches"

    def __str__(self) -> str:
        return f"bulk change {self.pk}"


class LabelRevision(models.Model):
    """The four labels of an item at one time; the newest counts, any may be empty.

    ``origins`` says of each label that is set where it comes from
    (``LabelOrigin``); what was before is the row before. A row is ``overtaken``
    when whoever wrote it had older labels before their eyes: it is kept, and
    never counted.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="labels")
    ability_branch = models.CharField(max_length=20, choices=AbilityBranch.choices(), blank=True)
    knowledge = models.ForeignKey(
        Knowledge, null=True, on_delete=models.PROTECT, related_name="labelled"
    )
    difficulty = models.PositiveSmallIntegerField(null=True)
    modal = models.CharField(max_length=20, choices=Modal.choices(), blank=True)
    origins = models.JSONField(default=dict)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="labels"
    )
    batch = models.ForeignKey(
        LabelBatch, null=True, on_delete=models.PROTECT, related_name="revisions"
    )
    reason = models.CharField(max_length=200, blank=True)
    overtaken = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            known("label_lists_known", ability_branch=("", *AbilityBranch), modal=("", *Modal)),
            models.CheckConstraint(condition=_DIFFICULTY_RANGE, name="difficulty_from_1_to_5"),
        ]

    def __str__(self) -> str:
        return f"{self.question} {self.ability_branch} {self.difficulty} {self.modal}"


class LabelOpinion(models.Model):
    """What one curator, or one model, thinks the labels are; evidence for agreement.

    A later opinion of the same curator or model on the item names the one that it
    ``follows``; the one that none follows counts. An opinion without any label takes the
    curator's opinion back, or keeps that another's labels were shown before there was
    one. A model's opinion is a suggestion: it becomes a
    label only when a person takes it, and is counted apart. ``seen_suggestion``
    says that the curator had one, or another curator's labels, before their eyes:
    then the two are not independent. ``suggestion`` is the one that they had; ``shown_since`` says
    that something was shown after the opinion: the next one is not independent. ``wrote`` is
    the row of labels that the opinion set, if it did; ``restores`` the earlier opinion that an
    undo gave back.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="opinions")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="opinions"
    )
    model_name = models.CharField(max_length=120, blank=True)
    ability_branch = models.CharField(max_length=20, choices=AbilityBranch.choices(), blank=True)
    knowledge = models.ForeignKey(
        Knowledge, null=True, on_delete=models.PROTECT, related_name="opinions"
    )
    difficulty = models.PositiveSmallIntegerField(null=True)
    modal = models.CharField(max_length=20, choices=Modal.choices(), blank=True)
    seen_suggestion = models.BooleanField(default=False)
    suggestion = models.ForeignKey(
        "self", null=True, db_index=False, on_delete=models.PROTECT, related_name="+"
    )
    shown_since = models.BooleanField(null=True)
    wrote = models.OneToOneField(
        LabelRevision, null=True, on_delete=models.PROTECT, related_name="opinion"
    )
    follows = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="followed_by"
    )
    restores = models.ForeignKey(
        "self", null=True, db_index=False, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            known("opinion_lists_known", ability_branch=("", *AbilityBranch), modal=("", *Modal)),
            models.CheckConstraint(
                condition=_DIFFICULTY_RANGE, name="opinion_difficulty_from_1_to_5"
            ),
            models.CheckConstraint(
                condition=models.Q(author__isnull=False, model_name="")
                | (models.Q(author__isnull=True) & ~models.Q(model_name="")),
                name="opinion_of_a_person_or_a_model",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.author or self.model_name} on {self.question}"

    @property
    def is_empty(self) -> bool:
        """Whether it names no label: then nothing that its author said before counts."""
        return not (self.ability_branch or self.knowledge_id or self.difficulty or self.modal)


class LabelResolution(models.Model):
    """A person's word on an item on which two curators differ.

    It holds until there is an opinion newer than ``last_opinion``. ``chosen`` is
    the opinion that was followed, None for labels of the person's own.
    """

    question = models.ForeignKey(
        Question, on_delete=models.PROTECT, related_name="label_resolutions"
    )
    chosen = models.ForeignKey(
        LabelOpinion, null=True, on_delete=models.PROTECT, related_name="chosen_by"
    )
    last_opinion = models.ForeignKey(
        LabelOpinion, on_delete=models.PROTECT, related_name="resolved_up_to"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="label_resolutions"
    )
    reason = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.question} resolved by {self.author}"
