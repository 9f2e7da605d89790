"""The version of the question bank, by which what was computed from it is known to be old."""

from __future__ import annotations

from django.db import models


class BankVersion(models.Model):
    """How often the tables of the bank were written: the sum of ``number`` over the shards.

    Triggers raise it in the transaction that writes, whoever writes
    (``questions/migrations/_bank_version.py``). Each connection raises one shard, so that those
    that write at the same time rarely wait.
    """

    shard = models.PositiveSmallIntegerField(unique=True)
    number = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return f"{self.shard}: {self.number}"
