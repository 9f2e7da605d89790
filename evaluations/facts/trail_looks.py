"""What entries of the audit trail tell about models and marks, kept as looks of who reads them.

An entry about a mark has its value, one about a file its SHA-256, which tells when a mark changes.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from django.db.models import Model, Q, QuerySet

from evaluations.facts.looks import PLAN, in_batches, record_rounds, record_runs, record_views
from evaluations.facts.params import ReportParams
from evaluations.models import (
    ArbiterMark,
    CapabilityJudgement,
    FinalMark,
    ImportedRun,
    Look,
    Mark,
    MarkingRound,
    MarkingSheet,
    Response,
    ReviewItem,
    Run,
    SeedAnswer,
)
from evaluations.models.vocabulary import RunPurpose
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.objects import held_back
from gradeapp.audit.tags import Tag

PAGE = "audit"
# The object of an entry about a file of what a search found, and which of its filters name runs.
SEARCHED = "responses"
OF_RUNS = {
    "dataset": "dataset__slug",
    "model": "language_model__name",
    "condition": "condition__name",
    "run": "pk",
}
RUN_NUMBER = re.compile(r"[0-9]{1,18}")
Entries = QuerySet[AuditEntry]
# From names of objects to a table, its field with their key, and the path to what they tell of.
Known = Mapping[str, tuple[type[Model], str, str]]

# Entries that tell about one response, or about the responses of a review.
OF_RESPONSES = (
    *(Tag.MARK_SAVED, Tag.MARK_REVISED, Tag.MARK_STALE, Tag.MARK_FINALIZED),
    *(Tag.ARBITER_MARKED, Tag.ARBITRATED, Tag.FINAL_CORRECTED, Tag.SEED_MARKED),
    *(Tag.ANSWER_REVIEWED, Tag.ANSWER_REVIEWED_AGAIN, Tag.EXPORTED),
)
# From the objects of these entries to the responses.
RESPONSES: Known = {
    "mark": (Mark, "pk", "slot__answer__response"),
    "finalmark": (FinalMark, "pk", "answer__response"),
    "arbitermark": (ArbiterMark, "pk", "answer__response"),
    "seedanswer": (SeedAnswer, "pk", "answer__response"),
    "capabilityjudgement": (CapabilityJudgement, "pk", "slot__item__response"),
    "capabilityreview": (ReviewItem, "review", "response"),
}
# Entries that tell which responses of a round were returned, or what a file of it was; those that
# tell its runs are ``ROUND_PLANNED``.
OF_ROUNDS = (Tag.MARKS_RETURNED, Tag.RUBRIC_REPLACED, Tag.EXPORTED, Tag.SHEET_DOWNLOADED)
ROUNDS: Known = {
    "markinground": (MarkingRound, "pk", "pk"),
    "markingsheet": (MarkingSheet, "pk", "round"),
}
# An entry of a look names the page, which of one response is its alias (R-0012): leads open those
# of seed answers, and of responses that wait for them.
ALIAS = "R-"
# Entries that name the files of an import of answers.
OF_IMPORTS = (Tag.ANSWERS_UPLOADED, Tag.ANSWERS_IMPORTED)
IMPORTS: Known = {"importbatch": (ImportedRun, "batch", "run")}


def keep_trail_looks(entries: Entries, reader: User) -> None:
    """Keep what *reader* learns of *entries* about models and marks, before they are shown.

    Their own entries tell them nothing; those whose details are held back tell nobody anything.
    A second look at the same is no further entry in the trail.
    """
    others = entries.exclude(actor=reader).order_by()
    for planned in _named(others.filter(tag=Tag.ROUND_PLANNED), ROUNDS):
        _see_rounds(planned, reader, PLAN)
    of_one = Q(tag=Tag.ROUND_VIEWED, detail__page__startswith=ALIAS)
    for shown in _named(others.filter(Q(tag__in=OF_ROUNDS) | of_one), ROUNDS):
        _see_rounds(shown, reader, PAGE)
    _see(_named(others.filter(tag__in=OF_RESPONSES), RESPONSES), reader)
    _see(_pasted(others.filter(tag=Tag.ANSWER_PASTED)), reader)
    for runs in _named(others.filter(tag__in=OF_IMPORTS), IMPORTS):
        record_runs(runs, acting_user=reader, page=PAGE)
    _keep_files(others.filter(tag=Tag.EXPORTED, target__startswith="dataset:"), reader)
    _keep_searches(others.filter(tag=Tag.EXPORTED, target=SEARCHED), reader)


def _named(entries: Entries, known: Known) -> Iterator[Collection[int]]:
    """Yield the keys that the objects of *entries* lead to by *known*, some at a time."""
    targets = sorted(set(entries.values_list("target", flat=True)))
    for some in in_batches(targets):
        keys: defaultdict[str, list[int]] = defaultdict(list)
        for target in set(some) - held_back(some):
            name, _, key = target.partition(":")
            if name in known and key.isascii() and key.isdigit():
                keys[name].append(int(key))
        for name, own in keys.items():
            model, field, path = known[name]
            rows = model._default_manager.filter(**{f"{field}__in": own}).order_by()
            yield set(rows.values_list(path, flat=True))


def _pasted(entries: Entries) -> Iterator[Collection[int]]:
    """Yield the responses that were pasted: the object of such an entry is their run."""
    found = entries.values_list("detail__response", flat=True)
    for some in in_batches(sorted({one for one in found if one})):
        rows = Response.objects.filter(public_id__in=some).order_by()
        yield set(rows.values_list("pk", flat=True))


def _see(found: Iterable[Collection[int]], reader: User) -> None:
    """Keep that *reader* saw marks or models of the responses that are *found*."""
    for some in found:
        known = Look.objects.filter(person=reader, response__in=some)
        new = set(some) - set(known.values_list("response", flat=True))
        record_views(new, acting_user=reader, page=PAGE)


def _see_rounds(rounds: Collection[int], reader: User, page: str) -> None:
    """Keep that *reader* saw the plan of *rounds* (``PLAN``), or what else they hold."""
    known = Look.objects.filter(person=reader, round__in=rounds)
    if page != PLAN:
        known = known.exclude(page=PLAN)
    new = MarkingRound.objects.filter(pk__in=rounds).exclude(pk__in=known.values("round"))
    record_rounds(list(new), acting_user=reader, page=page)


def _keep_files(entries: Entries, reader: User) -> None:
    """Keep that *reader* knows sums of files of reports: what whoever took them away learned.

    Of a file that the command line made nobody has a look: it is one at its runs.
    """
    seen: set[str] = set()
    for actor, detail in entries.values_list("actor", "detail"):
        if "sha256" not in detail or not (params := _params(detail.get("parameters"))):
            continue
        asked = json.dumps([actor, params.as_dict()], sort_keys=True)
        if asked in seen:
            continue
        seen.add(asked)
        runs = Run.objects.filter(params.of_runs(), purpose=RunPurpose.ANSWER).order_by()
        if actor is not None:
            looks = Look.objects.filter(person=actor)
            of_runs = looks.filter(response__run__in=runs).values_list("response", flat=True)
            _see(in_batches(sorted(set(of_runs))), reader)
            runs = runs.filter(pk__in=looks.filter(run__isnull=False).values("run"))
        record_runs(runs.values_list("pk", flat=True), acting_user=reader, page=PAGE)


def _keep_searches(entries: Entries, reader: User) -> None:
    """Keep that *reader* knows in which runs there are responses with the words of a search.

    Those are the runs that its filters leave, of those that whoever took the file has looks at.
    """
    asked: set[tuple[int | None, tuple[str, ...]]] = set()
    for actor, detail in entries.values_list("actor", "detail"):
        given = detail.get("parameters") or {}
        asked.add((actor, tuple(str(given.get(name, "")) for name in OF_RUNS)))
    for taker, values in asked:
        looks = Look.objects.filter(person=taker, run__isnull=False)
        runs = Run.objects.filter(pk__in=looks.values("run")).order_by()
        for path, value in zip(OF_RUNS.values(), values, strict=True):
            if value and (path != "pk" or RUN_NUMBER.fullmatch(value)):
                runs = runs.filter(**{path: value})
        record_runs(runs.values_list("pk", flat=True), acting_user=reader, page=PAGE)


def _params(stored: Any) -> ReportParams | None:
    """Return the parameters of a report in an entry; None if it has none."""
    if not isinstance(stored, dict) or "dataset" not in stored:
        return None
    names = {one.name for one in fields(ReportParams)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in stored.items()
        if name in names
    }
    return ReportParams(**values)
