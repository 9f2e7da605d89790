"""Keeps the labels and human rates that come with questions, beside what people decided.

A label that a person set stays. What its source publishes is compared with what
it published before, so that an unchanged label never comes back over a person's,
and a changed one is one more row.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from questions.importers.records import FewShotRecord, HumanRateRecord, QuestionRecord, TaskRecord
from questions.models import (
    FewShotExample,
    HumanRate,
    LabelRevision,
    Question,
    QuestionRevision,
    Task,
)
from questions.rules.four_tuple import (
    FourTuple,
    Label,
    Rate,
    Value,
    difficulty_level,
    joined,
    modal_of,
)
from questions.rules.vocabulary import LabelOrigin, RateKind
from questions.selectors.labels import four_tuple
from questions.services.label_rows import ensure_taxonomy, label_row


@dataclass(slots=True)
class _Before:
    """What the bank holds of one item: its labels, those of its last import, its rates."""

    labels: FourTuple = field(default_factory=FourTuple)
    imported: FourTuple = field(default_factory=FourTuple)
    rates: list[HumanRate] = field(default_factory=list)


def store_labels_and_rates(
    new: Mapping[int, QuestionRecord],
    known: Mapping[int, QuestionRecord],
    *,
    revised: Mapping[int, QuestionRevision],
) -> dict[int, tuple[str, ...]]:
    """Add the labels and rates of records (by question) that are not there yet.

    The modal is found in the content, of new and *revised* items (with their present
    revision, in which a repair may stand) and of those that have none; it is no published
    label and counts as no change. Returns for each known item that its source changed what
    it did: ``labels``, ``human_rates``.
    Call it in a transaction.
    """
    keys = ensure_taxonomy()
    before = _before(known)
    rows: list[LabelRevision] = []
    rates: list[HumanRate] = []
    changed: dict[int, tuple[str, ...]] = {}
    for question, record in (*new.items(), *known.items()):
        was = before.get(question) or _Before()
        added = new_rates(record.human_rates, was.rates, question=question)
        published = _published(record, keys, was, added)
        modal = question in new or question in revised or not was.labels.modal
        content = revised.get(question, record)
        after = with_found_modal(published, content) if modal else published
        rates += added
        if after != was.labels:
            rows.append(label_row(question, after, author=None, reason=""))
        if question in known and (added or published != was.labels):
            names = {"labels": published != was.labels, "human_rates": bool(added)}
            changed[question] = tuple(name for name, differs in names.items() if differs)
    HumanRate.objects.bulk_create(rates)
    _store(rows)
    return changed


def _before(known: Mapping[int, QuestionRecord]) -> dict[int, _Before]:
    """By question; the items are locked, so that no curator's label slips in between."""
    found = {pk: _Before() for pk in known}
    if not known:
        return found
    locked = Question.objects.select_for_update(of=("self",)).filter(pk__in=list(known))
    pointers = dict(locked.order_by("pk").values_list("label", "pk"))
    for row in LabelRevision.objects.filter(pk__in=[pk for pk in pointers if pk]):
        found[row.question_id].labels = four_tuple(row)
    imported = LabelRevision.objects.filter(question__in=list(known), author=None, overtaken=False)
    for row in imported.order_by("pk"):
        found[row.question_id].imported = four_tuple(row)
    for rate in HumanRate.objects.filter(question__in=list(known)).order_by("pk"):
        assert rate.question_id is not None  # the filter
        found[rate.question_id].rates.append(rate)
    return found


def _store(rows: Sequence[LabelRevision]) -> None:
    LabelRevision.objects.bulk_create(rows)
    moved = [Question(pk=row.question_id, label=row) for row in rows]
    Question.objects.bulk_update(moved, ["label"], batch_size=100)


# ---- labels ----


def _published(
    record: QuestionRecord, keys: Mapping[str, int], was: _Before, added: Sequence[HumanRate]
) -> FourTuple:
    """The labels of an item once its source is heard; *added* are the rates that are new."""
    labels = was.labels
    for label, value in _values(record, keys).items():
        set_by_person = labels.origins.get(label) == LabelOrigin.PERSON
        carried = was.imported.origins.get(label) == LabelOrigin.PERSON
        last = None if carried else was.imported.value(label)
        if value != last and not set_by_person:
            labels = labels.changed({label: value}, LabelOrigin.PUBLISHED)
    origin = labels.origins.get(Label.DIFFICULTY)
    corrected = origin == LabelOrigin.PUBLISHED and _level_follows(record)
    if corrected or (added and origin in (None, LabelOrigin.DERIVED)):
        level = {Label.DIFFICULTY: _level(was.rates, added)}
        labels = labels.changed(level, LabelOrigin.DERIVED)
    return labels


def _values(record: QuestionRecord, keys: Mapping[str, int]) -> dict[Label, Value]:
    """What the source publishes; a level that follows from its own rates is derived, not here."""
    given = record.labels
    if given is None:
        return {}
    values: dict[Label, Value] = {
        Label.ABILITY_BRANCH: given.ability_branch,
        Label.KNOWLEDGE: keys[given.knowledge] if given.knowledge else None,
        Label.DIFFICULTY: None if _level_follows(record) else given.difficulty,
        Label.MODAL: given.modal if given.modal != _modal(record) else None,
    }
    return {label: value for label, value in values.items() if value}


def _level_follows(record: QuestionRecord) -> bool:
    """Whether the published level is that of the published rates."""
    own = joined([Rate(r.value, r.weight, r.sample_size) for r in record.human_rates])
    given = record.labels.difficulty if record.labels else None
    return own is not None and difficulty_level(own.value) == given


def with_found_modal(labels: FourTuple, content: QuestionRecord | QuestionRevision) -> FourTuple:
    """*labels* with the modal found in the content, where nobody said another."""
    if labels.origins.get(Label.MODAL) not in (None, LabelOrigin.CONTENT):
        return labels
    return labels.changed({Label.MODAL: _modal(content)}, LabelOrigin.CONTENT)


def _modal(content: QuestionRecord | QuestionRevision) -> Value:
    texts = "".join((content.analysis, content.reference_answer))
    asked = [name for name in content.images if f"(image:{name})" not in texts]
    return modal_of(content.stem, content.options, content.passage, asked)


def _level(stored: Sequence[HumanRate], added: Sequence[HumanRate]) -> int | None:
    """The level of the rates that count from now on."""
    rows = [row for row in (*stored, *added) if row.kind == RateKind.AVERAGE]
    corrected = {row.corrects_id for row in rows if row.corrects_id}
    counting = [row for row in rows if row.pk is None or row.pk not in corrected]
    reference = joined([Rate(row.value, row.weight, row.sample_size) for row in counting])
    return difficulty_level(reference.value) if reference else None


def new_rates(
    given: Sequence[HumanRateRecord],
    stored: Sequence[HumanRate],
    *,
    question: int | None = None,
    task: int | None = None,
) -> list[HumanRate]:
    """The rows, not yet stored, that *given* adds to *stored*: rates of one item or one task.

    A rate that counts is found again whoever gave it, as it comes back by an export; so is what
    a person corrected, as it was at any time. Of the others the n-th of a source is the n-th of
    that source which was not found. One that the source changed corrects the earlier row; one
    that a person corrected stays.
    """
    chains = _chains(stored)
    taken: set[int] = set()
    counting = [[chain[-1]] for chain in chains]
    corrected = [chain if chain[-1].author_id is not None else [] for chain in chains]
    others = _not_found(_not_found(given, counting, taken), corrected, taken)
    published: dict[tuple[str, str], deque[HumanRate]] = defaultdict(deque)
    for place, chain in enumerate(chains):
        if place not in taken and chain[0].author_id is None:
            published[chain[0].kind, chain[0].source].append(chain[-1])
    rows: list[HumanRate] = []
    for rate in others:
        of_source = published[rate.kind, rate.source]
        last = of_source.popleft() if of_source else None
        if last is not None and last.author_id is not None:
            continue
        rows.append(
            HumanRate(
                question_id=question,
                task_id=task,
                kind=rate.kind,
                value=rate.value,
                sample_size=rate.sample_size,
                weight=rate.weight,
                source=rate.source,
                corrects=last,
            )
        )
    return rows


def _chains(stored: Sequence[HumanRate]) -> list[list[HumanRate]]:
    """Each rate with its corrections, oldest first."""
    chains: list[list[HumanRate]] = []
    holding: dict[int, list[HumanRate]] = {}
    for row in stored:
        chain = holding.get(row.corrects_id or 0)
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(row)
        holding[row.pk] = chain
    return chains


def _not_found(
    given: Sequence[HumanRateRecord], chains: Sequence[Sequence[HumanRate]], taken: set[int]
) -> list[HumanRateRecord]:
    """The rates of *given* that no chain holds; adds the places of those that do to *taken*."""
    places: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for place, chain in enumerate(chains):
        for known in dict.fromkeys(map(_said, chain)) if place not in taken else ():
            places[known].append(place)
    rest = []
    for rate in given:
        holding = places[_said(rate)]
        while holding and holding[0] in taken:
            holding.popleft()
        if holding:
            taken.add(holding.popleft())
        else:
            rest.append(rate)
    return rest


def _said(rate: HumanRate | HumanRateRecord) -> tuple[object, ...]:
    return rate.kind, rate.source, rate.value, rate.sample_size, rate.weight


def store_task_facts(record: TaskRecord) -> bool:
    """Add what *record* says that is not there yet; whether anything was written.

    A changed rate corrects the earlier row. A changed example is replaced, for it
    is no evidence: a run keeps the words that it asked with. A task without
    questions is left alone. Call it in a transaction.
    """
    task = Task.objects.filter(dataset__slug=record.dataset, slug=record.task).first()
    if task is None:
        return False
    stored = list(HumanRate.objects.filter(task=task).order_by("pk"))
    rates = new_rates(record.human_rates, stored, task=task.pk)
    HumanRate.objects.bulk_create(rates)
    return _store_examples(task, record.examples) or bool(rates)


def _store_examples(task: Task, examples: Sequence[FewShotRecord]) -> bool:
    known = {example.number: example for example in FewShotExample.objects.filter(task=task)}
    changed = []
    for record in examples:
        values = asdict(record) | {
            "options": list(record.options),
            "answer_key": list(record.answer_key),
        }
        before = known.get(record.number)
        if before is None or any(getattr(before, name) != new for name, new in values.items()):
            changed.append(FewShotExample(task=task, **values))
    FewShotExample.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["task", "number"],
        update_fields=["passage", "stem", "options", "letters", "answer_key", "explanation"],
    )
    return bool(changed)
