"""Check the chains: every link, what was sealed, and what is not sealed yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Count, Max, Min

from gradeapp.audit.hashing import GENESIS, link
from gradeapp.audit.models import AuditEntry, Chain, Seal, Segment
from gradeapp.audit.retention import LEAST_DAYS
from gradeapp.audit.sealing import LATEST, before_signatures, note_on, unsealed, wrong_time
from gradeapp.audit.signing import SIGNED, is_signed
from gradeapp.audit.sources import Source, sources
from gradeapp.audit.tags import Tag
from gradeapp.audit.triggers import wrong_triggers
from gradeapp.common.refusals import BadInput
from gradeapp.common.snapshot import one_snapshot

CHUNK = 2000
# Broken links that are named; their number is exact.
NAMED = 100


@dataclass
class Checked:
    """What a check of one chain found: broken links as sentences, the first ones first.

    ``signed_from`` is the first link with a signature of a key that is known now. Those before it
    may have been signed with a key that was replaced and not named since.
    """

    chain: str
    links: int = 0
    position: int = 0
    head: str = GENESIS
    unsealed: int = 0
    oldest: datetime | None = None
    broken: int = 0
    named: list[str] = field(default_factory=list)
    signed_from: int | None = None

    def note(self, sentence: str) -> None:
        """Count a broken link, and keep its sentence while there is room."""
        self.broken += 1
        if self.broken <= NAMED:
            self.named.append(f"{self.chain}: {sentence}")


class Bounds(NamedTuple):
    """What a segment says of its links: where they end, and between which times they were made."""

    last: int
    head: str
    since: datetime | None
    until: datetime


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
        with one_snapshot():  # retention and the sealer go on meanwhile
            checked = verify(source, kept.get(source.name, {}), now)
        Chain.objects.filter(name=source.name).update(
            verified_at=now,
            verified_position=checked.position,
            verified_broken=checked.broken,
            verified_first=checked.named[0] if checked.named else "",
        )
        results.append(checked)
    return results


def verify(source: Source, kept: Mapping[int, str], now: datetime) -> Checked:
    """Check the chain of *source* from its first link that is still there."""
    checked = Checked(source.name)
    for sentence in wrong_triggers(source.name):
        checked.note(sentence)
    # What is sealed during the check has positions above this one.
    chain = Chain.objects.filter(name=source.name).first()
    if chain is None:
        chain = Chain(name=source.name)
    heads = dict(kept)
    there, removed = _segments(chain, checked)
    segments = iter(there)
    segment = next(segments, None)
    for position, row, seal in _links(source, chain, checked.position):
        if position > chain.position:
            break
        while segment is not None and segment.last < position:
            segment = next(segments, None)
        _check_link(checked, source, chain, position, row, seal, segment)
        if segment is not None and position == segment.last and checked.head != segment.head:
            checked.note(f"link {position} differs from the segment that ends with it")
        if position in heads and checked.head != heads.pop(position):
            checked.note(f"link {position} differs from the hash that was kept")
    if checked.position < chain.position:
        checked.note(f"links {checked.position + 1} to {chain.position} are missing at the end")
    elif chain.pk and checked.head != chain.head:
        checked.note(f"link {chain.position} differs from the head of the chain")
    _check_removed(source, checked, removed)
    _check_above(chain, checked)
    _check_kept(chain, checked, heads)
    _check_set_back(checked)
    _check_unsealed(source, chain, checked, now)
    if source.signed:
        _check_copies(source, checked)
    return checked


def _segments(chain: Chain, checked: Checked) -> tuple[list[Bounds], list[Segment]]:
    """Start behind what retention removed.

    Return what each segment says that is there, in their order, and those that were removed.
    """
    there: list[Bounds] = []
    removed, removing, expected = [], True, 1
    since: datetime | None = None
    rows = Segment.objects.filter(chain=chain.pk or 0, last__lte=chain.position).order_by("first")
    for segment in rows.iterator():
        if segment.first != expected:
            checked.note(f"the segment that begins with link {expected} is missing")
        expected = segment.last + 1
        if _goes_back(segment, since):
            checked.note(f"links {segment.first} to {segment.last} say too little of their time")
        since = segment.since or since
        if segment.removed_at is not None:
            removed.append(segment)
        if segment.removed_at is None:
            removing = False
            there.append(Bounds(segment.last, segment.head, segment.since, segment.sealed_at))
        elif not removing:
            checked.note(f"links {segment.first} to {segment.last} were removed before older ones")
        else:
            if segment.removed_at - segment.sealed_at < timedelta(days=LEAST_DAYS):
                checked.note(
                    f"links {segment.first} to {segment.last} were removed less than"
                    f" {LEAST_DAYS} days after they were sealed"
                )
            checked.position, checked.head = segment.last, segment.head
    if expected <= chain.position:
        checked.note(f"the segment that begins with link {expected} is missing")
    return there, removed


def _goes_back(segment: Segment, since: datetime | None) -> bool:
    """Return whether *segment* says less of what was sealed before it than an earlier one.

    Where the database's clock was wrong, *since* may be a time that had not come yet.
    """
    if since is None:
        return False
    return segment.since is None or segment.since < min(since, segment.sealed_at) - LATEST


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
    checked: Checked,
    source: Source,
    chain: Chain,
    position: int,
    row: dict[str, Any] | None,
    seal: Seal,
    segment: Bounds | None,
) -> None:
    what = f"{source.model._meta.verbose_name} {seal.row}"
    same = False
    if position != checked.position + 1:
        checked.note(f"links {checked.position + 1} to {position - 1} are missing")
    elif row is None:
        checked.note(f"link {position}: {what} was deleted")
    elif link(checked.head, position, seal.note, row) != seal.hash:
        checked.note(f"link {position}: {what} is not as it was sealed, or its link was changed")
    else:
        same = True
    wrong = wrong_time(source, row, segment.since, segment.until) if row and segment else ""
    if seal.note == Seal.Note.UNSIGNED:
        checked.note(f"link {position}: {what} was not written by gradeapp with this site's key")
    elif seal.note == Seal.Note.LATE or (wrong and same):
        wrong = wrong or "appeared long after the time that it names"
        checked.note(f"link {position}: {what} {wrong}")
    elif same and row is not None and source.signed and not before_signatures(chain, row):
        _check_signature(checked, position, what, row)
    checked.links += 1
    # From here on what was stored counts, so that each broken link is named for itself.
    checked.position, checked.head = position, seal.hash


def _check_signature(checked: Checked, position: int, what: str, row: dict[str, Any]) -> None:
    """Note a row that was sealed as one of gradeapp and is none.

    A key that is no longer known explains it only before the first link of one that is.
    """
    if is_signed(row):
        if checked.signed_from is None:
            checked.signed_from = position
    elif checked.signed_from is not None or not row["signature"]:
        checked.note(
            f"link {position}: {what} was sealed as written by gradeapp, without a signature of"
            " this site's key"
        )


def _check_removed(source: Source, checked: Checked, removed: list[Segment]) -> None:
    """Note each of *removed* of which no entry says so, unless retention removed the entry since.

    The entry was sealed after its segment was removed, or a little before by the sealer's time.
    """
    if not removed:
        return
    newest = max(one.sealed_at for one in removed)
    for start in range(0, len(removed), CHUNK):
        some = removed[start : start + CHUNK]
        known = _removals(checked, some) if source.removable else set()
        for one in some:
            gone = one.removed_at is not None and one.removed_at - LATEST <= newest
            if one.pk not in known and not (source.removable and gone):
                checked.note(f"links {one.first} to {one.last} were removed without an audit entry")


def _removals(checked: Checked, segments: Iterable[Segment]) -> set[int]:
    """The keys of *segments* of which an entry that gradeapp wrote says that they were removed."""
    by_target = {f"segment:{one.pk}": one for one in segments}
    rows = AuditEntry.objects.filter(tag=Tag.SEGMENTS_REMOVED, target__in=by_target).order_by()
    found = list(rows.values("id", *SIGNED, "signature"))
    seals = Seal.objects.filter(
        chain__name=checked.chain, note="", row__in=[row["id"] for row in found]
    )
    if checked.signed_from is not None:
        seals = seals.filter(position__lt=checked.signed_from)
    earlier_keys = set(seals.values_list("row", flat=True))
    known = set()
    for row in found:
        one = by_target[row["target"]]
        if is_signed(row) or (row["signature"] and row["id"] in earlier_keys):
            said = [row["detail"].get(name) for name in ("first", "last", "head")]
            if said == [one.first, one.last, one.head]:
                known.add(one.pk)
    return known


def _check_above(chain: Chain, checked: Checked) -> None:
    """Note seals and segments above the position of the chain, which nobody sealed."""
    for model, place in ((Seal, "position"), (Segment, "last")):
        rows = model._default_manager.filter(chain=chain.pk or 0)
        top = rows.aggregate(top=Max(place))["top"]
        # Read after them: sealers may have gone on since the check began.
        ends = Chain.objects.filter(pk=chain.pk).values_list("position", flat=True).first() or 0
        if top is not None and top > ends:
            what = model._meta.verbose_name
            checked.note(f"a {what} at {top} is above the end of the chain, {ends}")


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


def _check_set_back(checked: Checked) -> None:
    """Note each time that the end of the chain was moved by hand, as the sealer recorded it."""
    rows = AuditEntry.objects.filter(tag=Tag.CHAIN_SET_BACK, detail__chain=checked.chain)
    for detail in rows.order_by("pk").values_list("detail", flat=True):
        checked.note(
            f"its end was moved to link {detail['position']} by hand, and set back to link"
            f" {detail['last']}, the last one that was there"
        )


def _check_unsealed(source: Source, chain: Chain, checked: Checked, now: datetime) -> None:
    """Count the rows without a link, and name those that gradeapp did not write or seal."""
    rows = unsealed(source, chain if chain.pk else None, to=chain.position)
    checked.unsealed = rows.count()
    checked.oldest = rows.order_by().aggregate(oldest=Min(source.at))["oldest"]
    for row in rows.values(*source.fields).iterator():
        what = f"{source.model._meta.verbose_name} {row['id']}"
        match note_on(source, chain, row, chain.looked_at, now):
            case Seal.Note.UNSIGNED:
                checked.note(f"{what} was not written by gradeapp with this site's key")
            case Seal.Note.LATE:
                wrong = wrong_time(source, row, chain.looked_at, now)
                left = ", or was not sealed in its turn" if source.signed else ""
                checked.note(f"{what} {wrong}{left}")


def _check_copies(source: Source, checked: Checked) -> None:
    """Name rows that have the signature of another one: the signature covers no key."""
    signed = source.rows.exclude(signature="")
    twice = signed.values("signature").annotate(n=Count("pk")).filter(n__gt=1).values("signature")
    rows = signed.filter(signature__in=twice).order_by("signature", "pk")
    pairs = rows.values_list("signature", "pk").iterator()
    what = source.model._meta.verbose_name
    for _signature, same in groupby(pairs, key=lambda pair: pair[0]):
        first, *others = [key for _one, key in same]
        for other in others:
            checked.note(f"{what} {other} has the signature of {what} {first}: one is a copy")
