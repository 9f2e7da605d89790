"""Datasets, tasks, questions with their revisions and search texts, and saved views."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from decimal import Decimal

from django.conf import settings
from django.db import models

from gradeapp.common.checks import known
from questions.rules.vocabulary import ItemStatus, Language, Part, QuestionType, Subject


class Dataset(models.Model):
    """A benchmark or an exam, known by its slug (``gaokao-bench``, ``sample-exam``)."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    licence = models.CharField(max_length=60, blank=True)
    source_url = models.URLField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    # An import has written items that ``check_duplicates`` has not compared yet.
    uncompared = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """One file of a benchmark: one subject and one type, as a rule."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="tasks")
    slug = models.CharField(max_length=120)
    subject = models.CharField(max_length=40, choices=Subject.choices(), blank=True)
    part = models.CharField(max_length=12, choices=Part.choices())
    question_type = models.CharField(max_length=24, choices=QuestionType.choices())
    language = models.CharField(max_length=2, choices=Language.choices())

    class Meta:
        ordering = ["slug", "id"]
        constraints = [
            known(
                "task_lists_known",
                subject=("", *Subject),
                part=Part,
                question_type=QuestionType,
                language=Language,
            ),
            models.UniqueConstraint(fields=["dataset", "slug"], name="one_task_per_slug"),
        ]

    def __str__(self) -> str:
        return self.slug


class Question(models.Model):
    """The identity of an item: it stays while its text is revised.

    ``current`` is the revision shown and asked now, ``label`` the row of labels that
    counts, ``rubric`` the accepted version of the rubric that counts: pointers that
    services move, so that a list needs no subquery. Responses keep the revision that
    they answered. ``imported_hash`` is the content hash of what an import last brought:
    a repaired item is the same to a second import of its file.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="questions")
    external_id = models.CharField(max_length=80)
    position = models.PositiveIntegerField()
    subject = models.CharField(max_length=40, choices=Subject.choices(), blank=True)
    part = models.CharField(max_length=12, choices=Part.choices())
    year = models.PositiveSmallIntegerField(null=True, blank=True)
    paper = models.CharField(max_length=80, blank=True)
    status = models.CharField(
        max_length=12, choices=ItemStatus.choices(), default=ItemStatus.ACTIVE.value
    )
    current = models.ForeignKey(
        "QuestionRevision", null=True, on_delete=models.PROTECT, related_name="current_of"
    )
    label = models.ForeignKey(
        "LabelRevision", null=True, on_delete=models.PROTECT, related_name="current_of"
    )
    rubric = models.ForeignKey(
        "Rubric", null=True, on_delete=models.PROTECT, related_name="counts_for"
    )
    imported_hash = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            known("question_lists_known", subject=("", *Subject), part=Part, status=ItemStatus),
            models.UniqueConstraint(
                fields=["task", "external_id"], name="one_question_per_external_id"
            ),
        ]
        indexes = [models.Index(fields=["subject", "part", "year"], name="question_by_subject")]

    def __str__(self) -> str:
        return f"{self.task} {self.external_id}"


class QuestionRevision(models.Model):
    """One version of an item's text, key and full marks; never changed, only followed.

    ``options`` holds the texts of the options in the order of ``letters`` where
    the source gives them apart; otherwise they stand in the stem. ``answer_key``
    is a list of strings, one per sub-answer of an objective item (sorted letters,
    or the text of an exact answer). A repair has an ``author``, a ``reason`` and
    in ``published_key`` the key that the source gives. ``sub_marks`` is the list of
    full marks per sub-answer, as decimal strings; ``full_marks`` is their sum, in
    points. ``extra`` holds what else the source says, and under ``raw:`` the
    original of a replaced text.
    """

    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64)
    question_type = models.CharField(max_length=24, choices=QuestionType.choices())
    language = models.CharField(max_length=2, choices=Language.choices())
    passage = models.TextField(blank=True)
    stem = models.TextField()
    options = models.JSONField(default=list)
    letters = models.CharField(max_length=26, blank=True)
    answer_key = models.JSONField(default=list)
    reference_answer = models.TextField(blank=True)
    analysis = models.TextField(blank=True)
    sub_marks = models.JSONField(default=list)
    full_marks = models.DecimalField(max_digits=6, decimal_places=2)
    paper_published = models.CharField(max_length=80, blank=True)
    images = models.JSONField(default=list)
    extra = models.JSONField(default=dict)
    published_key = models.JSONField(null=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="repairs"
    )
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number", "id"]
        constraints = [
            known("revision_lists_known", question_type=QuestionType, language=Language),
            models.UniqueConstraint(fields=["question", "number"], name="one_revision_per_number"),
            models.CheckConstraint(
                condition=models.Q(full_marks__gt=0), name="full_marks_above_zero"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question} r{self.number}"

    @property
    def asked(self) -> str:
        """The whole text that is asked: passage, stem, and the options as lines ``A. ...``."""
        return self.asked_with(self.options)

    def asked_with(self, options: Sequence[str]) -> str:
        """Return the whole text that is asked, with *options* at the letters in their order."""
        pairs = zip(self.letters, options, strict=False)  # no options: they stand in the stem
        lines = [f"{letter}. {text}" for letter, text in pairs]
        return "\n\n".join(part for part in (self.passage, self.stem, "\n".join(lines)) if part)

    @property
    def sub_answers(self) -> int:
        """How many sub-answers the item has; a subjective item counts as one."""
        return max(len(self.answer_key), 1)

    @property
    def original_key(self) -> list[str]:
        """The key that the source gives, which a repair does not change."""
        key: list[str] = self.answer_key if self.published_key is None else self.published_key
        return key

    @property
    def decimal_sub_marks(self) -> tuple[Decimal, ...]:
        """Full marks per sub-answer in points."""
        return tuple(Decimal(mark) for mark in self.sub_marks)


class Asset(models.Model):
    """An image that items of a dataset refer to by name (``image:circuit.png``).

    ``content`` is the picture as we wrote it anew (``questions.importers.image_files``) and
    ``sha256`` its digest; ``source_sha256`` is the digest of the file that came, by which a
    second import knows it. ``reencoded`` is False only for images from before that was done.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="assets")
    name = models.CharField(max_length=120)
    media_type = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64)
    source_sha256 = models.CharField(max_length=64, blank=True)
    content = models.BinaryField()
    reencoded = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="one_asset_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class FewShotExample(models.Model):
    """A worked example that a benchmark publishes for its few-shot prompts (AGIEval section 4.1).

    The same words as a revision; ``explanation`` is the published reasoning.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="few_shot_examples")
    number = models.PositiveSmallIntegerField()
    passage = models.TextField(blank=True)
    stem = models.TextField()
    options = models.JSONField(default=list)
    letters = models.CharField(max_length=26, blank=True)
    answer_key = models.JSONField(default=list)
    explanation = models.TextField(blank=True)

    class Meta:
        ordering = ["number", "id"]
        constraints = [
            models.UniqueConstraint(fields=["task", "number"], name="one_example_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.task} example {self.number}"


class SearchText(models.Model):
    """Passage, stem, options, answer and analysis of a revision, folded for search.

    Made once with the revision (``questions.rules.search_words.search_text``);
    ``rebuild_search`` makes them anew where a version of gradeapp reads texts another
    way. A table of its own, so that a search reads these texts and nothing else.
    """

    revision = models.OneToOneField(
        QuestionRevision, primary_key=True, on_delete=models.PROTECT, related_name="search"
    )
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:40]


class SavedView(models.Model):
    """One person's name for the query of the question list (the address after ``?``)."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="one_view_per_name"),
        ]

    def __str__(self) -> str:
        return self.name
