"""Writes rubrics: a new version is a draft, and counts once a person has accepted it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.reads import record_export
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.locking import locked
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.strict_json import JsonRefusal
from questions.models import Dataset, Question, Rubric
from questions.rules.rubric import UNFINISHED, RubricLines, in_order
from questions.rules.rubric_draft import Proposal, propose
from questions.rules.rubric_files import FileRefusal, RubricFor, read_csv, read_json
from questions.rules.vocabulary import Part, RubricSource
from questions.selectors.rubric_parts import parts_of
from questions.selectors.rubrics import (
    counting_versions,
    lines_of,
    newest_versions,
    source_name,
    what_is_wrong,
    without_rubric,
)
from questions.services.rubric_rows import Origin, add_versions
from questions.services.rubric_words import at_row, in_words, refused_file

QUESTION_CHANGED = "question_changed"


@dataclass(frozen=True, slots=True)
class ImportedRubrics:
    """What a file brought: new versions, and rubrics that were the newest already."""

    new: int
    same: int


@transaction.atomic
def draft_rubric(
    question: Question,
    rubric: RubricLines,
    *,
    acting_user: User,
    source: RubricSource = RubricSource.PERSON,
    model_name: str = "",
    seen: int | None = None,
    seen_revision: int | None = None,
) -> Rubric:
    """Store *rubric* as the next version, a draft; the newest one where it says the same.

    *model_name* names the model where *source* is one. *seen* is the newest version that its
    writer knew, 0 for none, *seen_revision* the key of the text that it was written for; None not
    to compare. A draft may be unfinished (sums, caps), but what cannot be stored or read is
    refused: BadInput with one sentence. Raises Conflict if the question has another text than
    *seen_revision*, or a version that says something else came after *seen*.
    """
    held = _locked([question.pk])[question.pk]
    _check_revision(held, seen_revision)
    _check_seen(held, rubric, seen)
    if sentence := _why_not(held, rubric, finished=False):
        raise BadInput(sentence, code="bad_rubric")
    wanted = {held.pk: in_order(rubric)}
    made = add_versions(wanted, Origin(source, acting_user.pk, model_name=model_name))
    if held.pk not in made:
        return newest_versions([held.pk])[held.pk]
    version = made[held.pk]
    detail = {"question": str(question.public_id), "version": version.version}
    record(Tag.RUBRIC_DRAFTED, version, actor=acting_user, source=source_name(version), **detail)
    return version


def _check_revision(question: Question, seen: int | None) -> None:
    if seen is not None and question.current_id != seen:
        raise Conflict(
            _("The question has changed in the meantime. Review it again."), code=QUESTION_CHANGED
        )


def _check_seen(question: Question, rubric: RubricLines, seen: int | None) -> None:
    newest = newest_versions([question.pk]).get(question.pk)
    if seen is None or newest is None or newest.version <= seen:
        return
    if lines_of(newest) != in_order(rubric):
        raise Conflict(
            _(
                "Version %(version)s was saved since you opened this page. Compare it with yours. "
                "If you save again, yours is the next version."
            )
            % {"version": newest.version},
            code="changed_meanwhile",
        )


@transaction.atomic
def accept_rubric(
    rubric: Rubric, *, acting_user: User, now: datetime, seen_revision: int | None = None
) -> Rubric:
    """Let a draft count from now on; marks given by an earlier version keep it.

    *seen_revision* is the key of the text that it is accepted for, None not to compare. Raises
    BadInput while something is wrong with it, Conflict when it is accepted already, an accepted
    version came after it or the question has another text.
    """
    question = _locked([rubric.question_id])[rubric.question_id]
    _check_revision(question, seen_revision)
    rubric = Rubric.objects.prefetch_related("groups", "points").get(pk=rubric.pk)
    if rubric.accepted:
        raise Conflict(_("This version has already been accepted."), code="accepted")
    if (counting := question.rubric) is not None and counting.version > rubric.version:
        raise Conflict(
            _("Version %(version)s was accepted after this one. Save this one as a new version.")
            % {"version": counting.version},
            code="overtaken",
        )
    if sentence := _why_not(question, lines_of(rubric), finished=True):
        raise BadInput(sentence, code="bad_rubric")
    rubric.accepted, rubric.accepted_by, rubric.accepted_at = True, acting_user, now
    rubric.save(update_fields=["accepted", "accepted_by", "accepted_at"])
    Question.objects.filter(pk=question.pk).update(rubric=rubric)
    detail = {"question": str(question.public_id), "version": rubric.version}
    record(Tag.RUBRIC_ACCEPTED, rubric, actor=acting_user, **detail)
    return rubric


@transaction.atomic
def import_rubrics(
    content: bytes, file: str, *, acting_user: User, accept: bool, now: datetime
) -> ImportedRubrics:
    """Take the rubrics of a CSV or JSON file, all or none.

    They are drafts, or count at once where the person who imports them accepts
    them (*accept*). What is the newest version already, or the one that counts, is
    left alone. Raises BadInput with the file, the row and the reason.
    """
    rubrics = _read(content, file)
    found = _items(rubrics)
    wanted: dict[int, RubricLines] = {}
    for one in rubrics:
        question = found.get(one.item)
        sentence = (
            _("There is no question %(id)s in the task %(task)s of %(dataset)s.")
            % {"id": one.external_id, "task": one.task, "dataset": one.dataset}
            if question is None
            else _why_not(question, one.rubric, finished=accept)
        )
        if question is None or sentence:
            raise BadInput(at_row(file, one.row, sentence), code="bad_row", row=one.row)
        wanted[question.pk] = in_order(one.rubric)
    accepted_by = acting_user.pk if accept else None
    accepted_at = now if accept else None
    origin = Origin(RubricSource.FILE, acting_user.pk, accepted_by, accepted_at, accept)
    counting = counting_versions(wanted)
    other = {
        question: lines
        for question, lines in wanted.items()
        if question not in counting or lines_of(counting[question]) != lines
    }
    made = add_versions(other, origin)
    result = ImportedRubrics(new=len(made), same=len(wanted) - len(made))
    detail = {"file": file, "new": result.new, "same": result.same, "accepted": accept}
    record(Tag.RUBRICS_IMPORTED, acting_user, actor=acting_user, **detail)
    return result


def note_one_export(rubric: Rubric, *, acting_user: User) -> None:
    """Write down that somebody took one version of a rubric away as a file."""
    record(Tag.RUBRICS_EXPORTED, rubric.question, actor=acting_user, version=rubric.version)


def note_export(*, acting_user: User, dataset: str, rubrics: int) -> None:
    """Write down that somebody took the rubrics of a dataset ("": of all) away as a file."""
    detail = {"dataset": dataset, "rows": rubrics}
    record_export(Tag.RUBRICS_EXPORTED, acting_user, actor=acting_user, **detail)


def _read(content: bytes, file: str) -> list[RubricFor]:
    """By what stands in it, not by its name: JSON begins with a brace."""
    is_json = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
    try:
        return read_json(content) if is_json else read_csv(content)
    except (FileRefusal, JsonRefusal) as refusal:
        sentence = refused_file(file, refusal)
        raise BadInput(sentence, code=str(refusal.code), row=refusal.row) from refusal


def _items(rubrics: Sequence[RubricFor]) -> Mapping[tuple[str, str, str], Question]:
    """The named questions, locked, by their names."""
    named = Question.objects.filter(
        task__dataset__slug__in={one.dataset for one in rubrics},
        task__slug__in={one.task for one in rubrics},
        external_id__in={one.external_id for one in rubrics},
    ).values_list("task__dataset__slug", "task__slug", "external_id", "pk")
    keys = {(dataset, task, external_id): pk for dataset, task, external_id, pk in named}
    held = _locked([keys[one.item] for one in rubrics if one.item in keys])
    return {item: held[pk] for item, pk in keys.items() if pk in held}


def _locked(questions: Sequence[int]) -> dict[int, Question]:
    """The questions with what they ask, locked, so that two versions get two numbers."""
    held = Question.objects.select_for_update(of=("self",)).order_by("pk").in_bulk(questions)
    # Another statement: see ``locked``. A file may name more questions than one of its statements.
    return Question.objects.select_related("current", "rubric").in_bulk(list(held))


def _why_not(question: Question, rubric: RubricLines, *, finished: bool) -> str:
    """The first thing that keeps *rubric* from being stored (or, *finished*, accepted)."""
    if question.part != Part.SUBJECTIVE or question.current is None:
        return _("Only subjective questions have a rubric.")
    for finding in what_is_wrong(question.current, rubric):
        if finished or finding.code not in UNFINISHED:
            return in_words(finding)
    return ""


@dataclass(frozen=True, slots=True)
class ProposedDrafts:
    """Items without any rubric, those of them whose key carries marks, and the drafts made."""

    items: int
    with_marks: int
    drafted: int


def propose_draft(question: Question, *, acting_user: User) -> Rubric:
    """One more draft, from the marks in the item's own key; it may not add up yet.

    Raises BadInput where the key carries no marks.
    """
    proposal = proposal_for(question)
    if proposal is None:
        raise BadInput(
            _("Neither the answer key nor the question states how points are given."),
            code="no_marks",
        )
    return draft_rubric(
        question, proposal.rubric, acting_user=acting_user, source=RubricSource.PROPOSAL
    )


def proposal_for(question: Question) -> Proposal | None:
    """What the marks in the key or at the sub-questions propose, if it can be stored."""
    revision = question.current
    if revision is None:
        return None
    proposal = propose(
        key=revision.reference_answer,
        analysis=revision.analysis,
        question=revision.asked,
        sub_marks=revision.decimal_sub_marks,
    )
    if proposal is None or not proposal.adds_up:
        parts = parts_of(revision)
        if parts.adds_up:
            proposal = Proposal(parts.rubric, "parts", adds_up=True)
    if proposal is None:
        return None
    wrong = (finding.code for finding in what_is_wrong(revision, proposal.rubric))
    return proposal if all(code in UNFINISHED for code in wrong) else None


@transaction.atomic
def propose_drafts(dataset: Dataset, *, acting_user: User) -> ProposedDrafts:
    """A draft for each item of *dataset* that has no rubric and whose marks add up."""
    # Like imports: the dataset, then its questions. A draft of one question locks that alone.
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    items = list(locked(without_rubric(dataset.slug)))
    proposals = {question.pk: proposal_for(question) for question in items}
    wanted = {
        question: proposal.rubric
        for question, proposal in proposals.items()
        if proposal and proposal.adds_up
    }
    made = add_versions(wanted, Origin(RubricSource.PROPOSAL, created_by=acting_user.pk))
    with_marks = sum(proposal is not None for proposal in proposals.values())
    result = ProposedDrafts(len(items), with_marks, len(made))
    detail = {"items": result.items, "drafted": result.drafted}
    record(Tag.RUBRICS_PROPOSED, dataset, actor=acting_user, **detail)
    return result
