"""Check the chains: every link, what was sealed, and what is not sealed yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Min

from gradeapp.audit.hashing import GENESIS, link
from gradeapp.audit.models import Chain, Seal, Segment
from gradeapp.audit.retention import LEAST_DAYS
from gradeapp.audit.sealing import note_on, unsealed
from gradeapp.audit.sources import Source, sources
from gradeapp.common.refusals import BadInput

CHUNK = 2000
# Broken links that are named; their number is exact.
NAMED = 100


@dataclass
class Checked:
    """What a check of one chain found: broken links as sentences, the first ones first."""

    chain: str
    links: int = 0
    position: int = 0
    head: str = GENESIS
    unsealed: int = 0
    oldest: datetime | None = None
    broken: int = 0
    named: list[str] = field(default_factory=list)

    def note(self, sentence: str) -> None:
        """Count a broken link, and keep its sentence while there is room."""
        self.broken += 1
        if self.broken <= NAMED:
            self.named.append(f"{self.chain}: {sentence}")


def verify_all(now: datetime, kept: Mapping[str, Mapping[int, str]] | None = None) -> list[Checked]:
    """Check every chain against itself and against *kept* hashes; note the result on the chain.

    *kept* has hashes that were kept elsewhere, by name of chain and position.
    Raises BadInput for a chain that does not exist.
    """
    kept = kept or {}
    if unknown := set(kept) - {source.name for source in sources()}:
        raise BadInput(f"There is no chain {sorted(unknown)[0]}.")
    results = []
    for source in sources():
        checked = verify(source, kept.get(source.name, {}))
        Chain.objects.filter(name=source.name).update(
            verified_at=now,
            verified_position=checked.position,
            verified_broken=checked.broken,
            verified_first=checked.named[0] if checked.named else "",
        )
        results.append(checked)
    return results


def verify(source: Source, kept: Mapping[int, str]) -> Checked:
    """Check the chain of *source* from its first link that is still there."""
    checked = Checked(source.name)
    # What is sealed during the check has positions above this one.
    chain = Chain.objects.filter(name=source.name).first()
    if chain is None:
        chain = Chain(name=source.name)
    heads = dict(kept)
    ends = _segments(chain, checked)
    for position, row, seal in _links(source, chain, checked.position):
        if position > chain.position:
            break
        _check_link(checked, source, position, row, seal)
        if position in ends and checked.head != ends[position]:
            checked.note(f"link {position} differs from the segment that ends with it")
        if position in heads and checked.head != heads.pop(position):
            checked.note(f"link {position} differs from the hash that was kept")
    if checked.position < chain.position:
        checked.note(f"links {checked.position + 1} to {chain.position} are missing at the end")
    elif chain.pk and checked.head != chain.head:
        checked.note(f"link {chain.position} differs from the head of the chain")
    _check_kept(chain, checked, heads)
    _check_unsealed(source, chain, checked)
    return checked


def _segments(chain: Chain, checked: Checked) -> dict[int, str]:
    """Start behind what retention removed; return the hash of each segment by its end."""
    ends, removing, expected = {}, True, 1
    rows = Segment.objects.filter(chain=chain.pk or 0, last__lte=chain.position).order_by("first")
    for segment in rows.iterator():
        if segment.first != expected:
            checked.note(f"the segment that begins with link {expected} is missing")
        expected = segment.last + 1
        if segment.removed_at is None:
            removing = False
            ends[segment.last] = segment.head
        elif not removing:
            checked.note(f"links {segment.first} to {segment.last} were removed before older ones")
        else:
            if segment.removed_at - segment.sealed_at < timedelta(days=LEAST_DAYS):
                checked.note(
                    f"links {segment.first} to {segment.last} were removed less than"
                    f" {LEAST_DAYS} days after they were sealed"
                )
            checked.position, checked.head = segment.last, segment.head
    return ends


def _links(
    source: Source, chain: Chain, after: int
) -> Iterator[tuple[int, dict[str, Any] | None, Seal]]:
    """Every link above position *after*, with the row that it sealed, None where it is gone."""
    while True:
        above = Seal.objects.filter(chain=chain.pk or 0, position__gt=after)
        seals = list(above.order_by("position")[:CHUNK])
        if not seals:
            return
        rows = source.rows.filter(pk__in=[seal.row for seal in seals]).values(*source.fields)
        found = {row["id"]: row for row in rows}
        for seal in seals:
            yield seal.position, found.get(seal.row), seal
        after = seals[-1].position


def _check_link(
    checked: Checked, source: Source, position: int, row: dict[str, Any] | None, seal: Seal
) -> None:
    what = f"{source.model._meta.verbose_name} {seal.row}"
    if position != checked.position + 1:
        checked.note(f"links {checked.position + 1} to {position - 1} are missing")
    elif row is None:
        checked.note(f"link {position}: {what} was deleted")
    elif link(checked.head, position, seal.note, row) != seal.hash:
        checked.note(f"link {position}: {what} is not as it was sealed, or its link was changed")
    if seal.note == Seal.Note.UNSIGNED:
        checked.note(f"link {position}: {what} was not written by gradeapp with this site's key")
    elif seal.note == Seal.Note.LATE:
        checked.note(f"link {position}: {what} appeared long after the time that it names")
    checked.links += 1
    # From here on what was stored counts, so that each broken link is named for itself.
    checked.position, checked.head = position, seal.hash


def _check_kept(chain: Chain, checked: Checked, heads: dict[int, str]) -> None:
    """Compare kept hashes of links that retention has removed, or that never were."""
    for position, expected in sorted(heads.items()):
        segment = Segment.objects.filter(chain=chain.pk or 0, last=position).first()
        if segment is not None and segment.head == expected:
            continue
        inside = Segment.objects.filter(
            chain=chain.pk or 0, first__lte=position, last__gt=position, removed_at__isnull=False
        )
        if position == 0 and expected == GENESIS:
            continue
        if segment is not None:
            checked.note(f"link {position} differs from the hash that was kept")
        elif inside.exists():
            checked.note(f"link {position} was removed by retention and cannot be compared")
        else:
            checked.note(f"link {position}, whose hash was kept, is missing")


def _check_unsealed(source: Source, chain: Chain, checked: Checked) -> None:
    """Count the rows without a link, and name those that gradeapp did not write."""
    rows = unsealed(source, chain if chain.pk else None)
    checked.unsealed = rows.count()
    checked.oldest = rows.order_by().aggregate(oldest=Min(source.at))["oldest"]
    for row in rows.values(*source.fields).iterator():
        what = f"{source.model._meta.verbose_name} {row['id']}"
        match note_on(source, chain, row):
            case Seal.Note.UNSIGNED:
                checked.note(f"{what} was not written by gradeapp with this site's key")
            case Seal.Note.LATE:
                checked.note(f"{what} appeared long after the time that it names")
