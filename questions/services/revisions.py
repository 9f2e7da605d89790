"""Revisions that people make, and what of them stays when the source of an item changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping

from django.db.models import Max

from gradeapp.accounts.models import User
from questions.models import Question, QuestionRevision, SearchText
from questions.rules.search_words import search_text
from questions.selectors.bank import searchable_parts
from questions.selectors.labels import four_tuple
from questions.selectors.repairs import ASKED, is_overtaken
from questions.services.labels import move_labels
from questions.services.published_labels import with_found_modal

# What a repair can change; the rest of a revision is its source's.
TEXTS = ("passage", "stem", "reference_answer", "analysis")
STEP = 500  # revisions whose search texts are made anew at once
CONTENT = (*TEXTS, "options", "letters", "answer_key")


def content_of(revision: QuestionRevision) -> dict[str, object]:
    """What a repair of *revision* could change, by field."""
    return {name: getattr(revision, name) for name in CONTENT}


def revise(
    current: QuestionRevision, content: dict[str, object], reason: str, author: User | None
) -> QuestionRevision:
    """One more revision with *content*, made the current one; what the source gave stays in it."""
    newest = QuestionRevision.objects.filter(question=current.question_id)
    made = QuestionRevision.objects.get(pk=current.pk)
    made.pk = None
    made.number = (newest.aggregate(last=Max("number"))["last"] or 0) + 1
    for name, value in content.items():
        setattr(made, name, value)
    made.content_hash = _hash(made)
    if current.published_key is None:
        made.published_key = current.answer_key
    made.author, made.reason = author, reason
    made.save()
    make_searchable([made])
    Question.objects.filter(pk=current.question_id).update(current=made)
    _find_modal(made)
    return made


def _find_modal(revision: QuestionRevision) -> None:
    """Find the modal of the item again in the content of *revision*, unless somebody set it."""
    question = Question.objects.select_related("label").get(pk=revision.question_id)
    labels = four_tuple(question.label)
    found = with_found_modal(labels, revision)
    if question.label is not None and found != labels:
        move_labels(question, question.label, found, author=None, reason="")


def _hash(revision: QuestionRevision) -> str:
    """Tells a repaired revision from every imported one, and equal repairs from different ones."""
    content = content_of(revision) | {"repair_of": revision.question_id}
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def without_repairs(
    current: QuestionRevision,
    undone: Collection[QuestionRevision],
    standing: Iterable[QuestionRevision],
) -> dict[str, object]:
    """The content of *current* without what the repairs *undone* changed.

    It is what the source gives now, with what the *standing* repairs, oldest first, changed: where
    that is in *current*, or under one of *undone*, and no import has overtaken it. Each option and
    each key counts for itself.
    """
    revisions = QuestionRevision.objects.filter(question=current.question_id).order_by("number")
    numbered = {one.number: one for one in revisions}
    imported = [one for one in revisions if one.author_id is None]
    source = imported[-1]
    standing = [one for one in standing if not is_overtaken(one, imported, until=source.number)]

    def before(repaired: QuestionRevision) -> QuestionRevision:
        return numbered[max(number for number in numbered if number < repaired.number)]

    content = {}
    for name in CONTENT:
        now, given = _parts(current, name), _parts(source, name)
        covered = [_parts(one, name) for one in undone]
        for repaired in standing:
            made = _parts(repaired, name)
            pairs = zip(_parts(before(repaired), name), made, strict=False)
            for place, (was, part) in enumerate(pairs):
                shown = now[place : place + 1]
                hidden = any(parts[place : place + 1] == shown for parts in covered)
                if was != part and place < len(given) and (shown == [part] or hidden):
                    given[place] = part
        content[name] = given if isinstance(getattr(source, name), list) else given[0]
    return content


def _parts(revision: QuestionRevision, name: str) -> list[object]:
    """The options or keys of *revision*, or the one text that it has under *name*."""
    value = getattr(revision, name)
    return [*value] if isinstance(value, list) else [value]


def present_repairs(questions: Collection[int]) -> list[tuple[QuestionRevision, QuestionRevision]]:
    """The current revision of each of *questions* that a person made, with what it repairs."""
    current = QuestionRevision.objects.filter(current_of__in=questions, author__isnull=False)
    repaired = {revision.question_id: revision for revision in current.select_related("author")}
    imported = QuestionRevision.objects.filter(question__in=list(repaired), author=None)
    before = {revision.question_id: revision for revision in imported.order_by("number")}
    return [(revision, before[question]) for question, revision in repaired.items()]


def keep_repairs(
    repairs: Iterable[tuple[QuestionRevision, QuestionRevision]],
    imported: Mapping[int, QuestionRevision],
) -> dict[int, QuestionRevision]:
    """Repair *imported* again in what its source left as it was; the revisions made, by question.

    Nothing of it where the source changed the question or its key: a person has to look again.
    *imported* are the revisions, by question, that followed those of ``present_repairs``.
    """
    made = {}
    for repaired, before in repairs:
        now = imported[repaired.question_id]
        if any(getattr(now, name) != getattr(before, name) for name in ASKED):
            continue
        kept = {
            name: value
            for name, value in content_of(repaired).items()
            if value != getattr(before, name) == getattr(now, name)
        }
        if kept:
            made[now.question_id] = revise(now, kept, repaired.reason, repaired.author)
    return made


def repairs_lost(
    repairs: Iterable[tuple[QuestionRevision, QuestionRevision]],
    now: Mapping[int, QuestionRevision],
) -> dict[int, tuple[str, ...]]:
    """By question: the fields that a person had repaired and whose value *now* is another."""
    return {
        repaired.question_id: tuple(
            name
            for name, value in content_of(repaired).items()
            if value not in (getattr(before, name), getattr(now[repaired.question_id], name))
        )
        for repaired, before in repairs
    }


def make_searchable(revisions: Iterable[QuestionRevision]) -> None:
    """Let search find *revisions*; call it in the transaction that makes them."""
    SearchText.objects.bulk_create(_search_text(revision) for revision in revisions)


def rebuild_search_texts() -> tuple[int, int]:
    """Make the text that search looks in anew for every revision; how many, and how many changed.

    In steps, each a transaction of its own: safe to stop, to repeat, and while people work.
    """
    read = changed = 0
    last = 0
    while rows := list(
        QuestionRevision.objects.filter(pk__gt=last).select_related("search").order_by("pk")[:STEP]
    ):
        stored = {row.pk: row.search.text for row in rows if hasattr(row, "search")}
        made = [_search_text(row) for row in rows]
        other = [one for one in made if stored.get(one.pk) != one.text]
        SearchText.objects.bulk_create(
            other, update_conflicts=True, unique_fields=["revision"], update_fields=["text"]
        )
        read, changed, last = read + len(rows), changed + len(other), rows[-1].pk
    return read, changed


def _search_text(revision: QuestionRevision) -> SearchText:
    return SearchText(revision=revision, text=search_text(searchable_parts(revision)))
