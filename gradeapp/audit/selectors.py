"""Read the audit trail page by page, and the state of its chains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from gradeapp.audit.models import AuditEntry, Chain, Segment
from gradeapp.audit.objects import addresses_of, held_back
from gradeapp.audit.sealing import unsealed
from gradeapp.audit.sources import sources
from gradeapp.audit.words import DETAILS, TAGS, object_words, value_words, word

Rows = QuerySet[AuditEntry]
CHUNK = 1000
# So many entries that wait for their seal are counted; past it the page says "more than".
WAITING = 1000


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """One entry in words: who did what to which object, and what changed."""

    entry: AuditEntry
    action: str
    name: str
    address: str
    details: list[tuple[str, str]]


def entries() -> Rows:
    """Every entry with its person, newest first."""
    return AuditEntry.objects.select_related("actor").order_by("-at", "-id")


def entries_of(found: list[AuditEntry]) -> Rows:
    """Return the entries in *found* as rows of the database."""
    return entries().filter(pk__in=[entry.pk for entry in found])


def older(rows: Rows, before: int, number: int) -> list[AuditEntry]:
    """Return *number* of *rows* older than the entry with the key *before* (0: the newest)."""
    if before:
        place = AuditEntry.objects.filter(pk=before).values_list("at", flat=True).first()
        if place is None:
            return []
        rows = rows.filter(at__lte=place).filter(Q(at__lt=place) | Q(pk__lt=before))
    return list(rows[:number])


def shown(found: list[AuditEntry]) -> list[ShownEntry]:
    """Return *found* in words of the present language; a few queries for each kind of object.

    Details that nobody may read yet are left out.
    """
    addresses = addresses_of(entry.target for entry in found)
    held = held_back(entry.target for entry in found)
    return [
        ShownEntry(
            entry,
            word(TAGS, entry.tag),
            object_words(entry.target),
            addresses.get(entry.target, ""),
            _details(entry, hidden=entry.target in held),
        )
        for entry in found
    ]


def _details(entry: AuditEntry, *, hidden: bool) -> list[tuple[str, str]]:
    if hidden:
        return [(_("Hidden"), _("Leads mark this response before they see other marks."))]
    return [
        (word(DETAILS, name), value_words(value, name, entry.tag))
        for name, value in entry.detail.items()
    ]


def all_shown(rows: Rows) -> Iterator[ShownEntry]:
    """Return *rows* in words, read in pieces."""
    before = 0
    while found := older(rows, before, CHUNK):
        yield from shown(found)
        before = found[-1].pk


@dataclass(frozen=True, slots=True)
class ChainState:
    """How far a chain is sealed, what waits, and what the last check said."""

    name: str
    chain: Chain
    sealed_at: datetime | None
    waiting: int

    @property
    def many(self) -> bool:
        """Whether more wait than were counted."""
        return self.waiting > WAITING


def chain_states() -> list[ChainState]:
    """Return the state of each chain; rows of long transactions may wait uncounted for a day."""
    states = []
    for source in sources():
        chain = Chain.objects.filter(name=source.name).first() or Chain(name=source.name)
        last = Segment.objects.filter(chain=chain.pk or 0).order_by("-last")
        waiting = unsealed(source, chain if chain.pk else None, chain.seen)[: WAITING + 1]
        states.append(
            ChainState(
                source.name,
                chain,
                last.values_list("sealed_at", flat=True).first(),
                waiting.count(),
            )
        )
    return states
