"""Keys repaired by a curator; answers to an earlier revision of the same text use them too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from questions.models import QuestionRevision
from questions.selectors.repairs import Repairs, is_overtaken, repairs_of

# Where these are equal, an answer to one revision is an answer to the other.
ASKED = ("question_type", "passage", "stem", "options", "letters", "sub_marks")


@dataclass(frozen=True, slots=True)
class RepairedKey:
    """The key that counts since a repair, and the id of the revision that has it.

    ``same`` are the ids of all revisions with the same text and this key: a score that was
    made by the key of one of them is right.
    """

    key: tuple[str, ...]
    revision: int
    same: frozenset[int]


def repaired_keys(revisions: Iterable[int] | None, dataset: str = "") -> dict[int, RepairedKey]:
    """Return the key that counts by revision, for items whose key was ever repaired.

    Answers to one text have one key: that of its newest import, with the repairs of keys that were
    made while the item had this text and are in force (``questions.selectors.repairs``). An import
    overtakes those before it where it brings the text back, or brings it with another key. Of
    *revisions*, or of all of *dataset*.
    """
    asked = QuestionRevision.objects.all()
    if revisions is not None:
        asked = asked.filter(pk__in=list(revisions))
    if dataset:
        asked = asked.filter(question__task__dataset__slug=dataset)
    by_people = QuestionRevision.objects.filter(author__isnull=False)
    wanted = set(
        asked.filter(question__in=by_people.values("question")).values_list("pk", flat=True)
    )
    same = QuestionRevision.objects.filter(question__revisions__in=wanted).distinct()
    items: dict[int, list[QuestionRevision]] = defaultdict(list)
    for revision in same.order_by("number"):
        items[revision.question_id].append(revision)
    repairs = repairs_of(items)
    found: dict[int, RepairedKey] = {}
    for question, item in items.items():
        found |= _keys_of(item, repairs.get(question, Repairs()))
    return {revision: key for revision, key in found.items() if revision in wanted}


def _keys_of(item: Sequence[QuestionRevision], repairs: Repairs) -> dict[int, RepairedKey]:
    """The key that counts by revision of *item*, whose revisions are in order."""
    before = {one.pk: previous.answer_key for previous, one in pairwise(item)}
    every = [*repairs.standing(), *repairs.undone]
    of_the_key = {one.pk for one in every if one.answer_key != before[one.pk]}
    texts: dict[str, list[QuestionRevision]] = defaultdict(list)
    for revision in item:
        texts[repr([getattr(revision, name) for name in ASKED])].append(revision)
    found: dict[int, RepairedKey] = {}
    for text in texts.values():
        if not any(one.pk in of_the_key and one.number <= text[-1].number for one in every):
            continue
        imported = [one for one in item if one.author_id is None and one.number <= text[-1].number]
        source = next((one for one in reversed(text) if one.author_id is None), imported[-1])
        key = list(source.answer_key)
        for repaired in repairs.standing():
            if repaired.number > text[-1].number or repaired.pk not in of_the_key:
                continue
            if not is_overtaken(repaired, imported, until=source.number):
                pairs = zip_longest(key, before[repaired.pk], repaired.answer_key)
                key = [new if new != old else part for part, old, new in pairs]
        has = [one for one in text if one.answer_key == key]
        has = has or [one for one in item if one.answer_key == key]
        if has:
            now = RepairedKey(tuple(key), has[-1].pk, frozenset(one.pk for one in has))
            found |= dict.fromkeys((one.pk for one in text), now)
    return found
