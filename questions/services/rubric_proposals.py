"""Drafts made from marks in questions and keys; a person reads and accepts each of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput
from questions.models import Dataset, Question, Rubric
from questions.rules.rubric import UNFINISHED
from questions.rules.rubric_draft import Proposal, propose
from questions.rules.vocabulary import RubricSource
from questions.selectors.rubric_parts import parts_of
from questions.selectors.rubrics import what_is_wrong, without_rubric
from questions.services.rubric_rows import Origin, add_versions
from questions.services.rubrics import draft_rubric


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
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    items = list(without_rubric(dataset.slug))
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
