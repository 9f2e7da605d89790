"""The audit trail: who did what to what, only ever added to, and sealed into a hash chain.

``AuditEntry`` is written by whoever does something, unchained. The sealer (``sealing.py``) puts the
rows of each source, the audit trail and the history of marks, into an order of its own and stores
one ``Seal`` a row; what was sealed together is a ``Segment``. Triggers of the database refuse to
change or delete entries, seals and segments (``append_only.py``).
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from gradeapp.audit.hashing import GENESIS
from gradeapp.common.checks import known


class AuditEntry(models.Model):
    """One deed of one person (or of the system, without an actor).

    ``signature`` is a keyed hash of the entry under ``SECRET_KEY``: a row that was inserted past
    the application has none. The sealer checks it once.
    """

    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="audit_entries"
    )
    tag = models.CharField(max_length=40)
    target = models.CharField(max_length=80, help_text="model and key, as in run:18")
    detail = models.JSONField(default=dict)
    signature = models.CharField(max_length=64, default="", editable=False)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["tag", "at"], name="audit_by_tag"),
            models.Index(fields=["target"], name="audit_by_target"),
            models.Index(fields=["at", "id"], name="audit_by_time"),
            models.Index(fields=["actor", "at"], name="audit_by_person"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.actor} {self.tag} {self.target}"


class ItemRead(models.Model):
    """An item that somebody has read lately: what, when last, and how many items it counts as.

    Rows are kept for the time that is watched (``READ_ALERT_MINUTES``); see ``reads.py``.
    """

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="items_read"
    )
    item = models.CharField(max_length=80, help_text="kind and key, as in question:18")
    at = models.DateTimeField(db_index=True)
    number = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "item"], name="one_read_per_item"),
        ]

    def __str__(self) -> str:
        return f"{self.item} ({self.number})"


class ReadAlert(models.Model):
    """The last alert that somebody read many items; open until an admin acknowledges it."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="read_alert"
    )
    raised_at = models.DateTimeField()
    items = models.PositiveIntegerField()
    open = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.person}: {self.items} items"


class Chain(models.Model):
    """Where the chain of one source ends, who is sealing it, and what the last check said.

    Rows with a key up to ``seen`` are sealed, but for those of transactions that were open for
    more than an hour; a pass over the whole table at ``swept_at`` finds these. At ``looked_at``,
    which triggers keep from going back, all that was written an hour before was sealed. Entries up
    to ``unsigned_until`` were written before entries were signed: the migration that began to sign
    them says so, and triggers let nobody change it.
    """

    name = models.CharField(max_length=20, unique=True)
    position = models.PositiveBigIntegerField(default=0)
    head = models.CharField(max_length=64, default=GENESIS)
    looked_at = models.DateTimeField(null=True)
    seen = models.BigIntegerField(default=0)
    swept_at = models.DateTimeField(null=True)
    unsigned_until = models.BigIntegerField(default=0)
    holder = models.CharField(max_length=32, null=True)
    lease_until = models.DateTimeField(null=True)
    verified_at = models.DateTimeField(null=True)
    verified_position = models.PositiveBigIntegerField(null=True)
    verified_broken = models.PositiveIntegerField(default=0)
    verified_first = models.TextField(default="")

    def __str__(self) -> str:
        return f"chain {self.name} to {self.position}"


class Segment(models.Model):
    """Rows sealed together: positions *first* to *last*, and the hash of the last one.

    ``since`` is ``looked_at`` of the chain before they were sealed: none of them was written long
    before it. Segments from before there was this column, and the first ones, have none.
    Retention sets ``removed_at`` and deletes the rows and their seals; the segment stays.
    """

    chain = models.ForeignKey(Chain, on_delete=models.PROTECT, related_name="segments")
    first = models.PositiveBigIntegerField()
    last = models.PositiveBigIntegerField()
    head = models.CharField(max_length=64)
    sealed_at = models.DateTimeField()
    since = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "last"], name="one_segment_per_last"),
            models.UniqueConstraint(fields=["chain", "first"], name="one_segment_per_first"),
        ]

    def __str__(self) -> str:
        return f"segment {self.first} to {self.last}"


class Seal(models.Model):
    """One link: the row with the key ``row`` of the chain's source, and the hash up to it."""

    class Note(models.TextChoices):
        """What the sealer noticed; part of the hash, and reported by each check.

        LATE: the time that the row names is far from that of its sealing, before or after it.
        """

        UNSIGNED = "unsigned"
        LATE = "late"

    chain = models.ForeignKey(Chain, on_delete=models.PROTECT, related_name="seals")
    position = models.PositiveBigIntegerField()
    row = models.BigIntegerField()
    note = models.CharField(max_length=8, choices=Note, default="", blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "position"], name="one_seal_per_position"),
            models.UniqueConstraint(fields=["chain", "row"], name="one_seal_per_row"),
            known("seal_note_known", note=("", "unsigned", "late")),
        ]

    def __str__(self) -> str:
        return f"link {self.position}"
