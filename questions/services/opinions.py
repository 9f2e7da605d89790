"""Opinions of curators: given, undone, and resolved where two differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import (
    Knowledge,
    LabelOpinion,
    LabelResolution,
    LabelRevision,
    Question,
)
from questions.rules.four_tuple import FourTuple, Label
from questions.selectors.labels import four_tuple, with_present_levels
from questions.selectors.opinions import (
    as_labels,
    counting_opinions,
    has_differed,
    last_opinion,
)
from questions.services.label_rows import check_change, check_reason
from questions.services.labels import move_labels, set_labels


@dataclass(frozen=True, slots=True)
class GivenOpinion:
    """The stored opinion; ``overtaken`` says that another's labels came first and count."""

    opinion: LabelOpinion
    overtaken: Conflict | None = None


@transaction.atomic
def give_opinion(
    question: Question,
    change: Mapping[str, object],
    *,
    acting_user: User,
    sets_labels: bool,
    seen: int | None = None,
    suggestion: LabelOpinion | None = None,
    reason: str = "",
) -> GivenOpinion:
    """Keep what *acting_user* thinks the labels are; with *sets_labels* they become the labels.

    Without it (the second, blind labelling) the labels stay as they are. Empty values of *change*
    say nothing. *seen* is the key of the row of labels before the curator's eyes, as in
    ``set_labels``, and *suggestion* what a model suggested there; where somebody else labelled the
    item since, theirs count, and the opinion is kept for comparing. Raises BadInput without any
    label, or for a value that does not exist.
    """
    given = {name: value for name, value in change.items() if value not in (None, "")}
    if not given:
        raise BadInput(_("Give at least one label."), code="no_labels")
    # Two windows of one person wait for each other: each opinion follows the one before.
    Question.objects.select_for_update(of=("self",)).get(pk=question.pk)
    row, overtaken = None, None
    if sets_labels:
        try:
            row = set_labels(question, given, acting_user=acting_user, reason=reason, seen=seen)
        except Conflict as conflict:
            overtaken = conflict
    shown = question.label_id if seen is None else seen
    influenced = sets_labels and _saw_others(question, shown, acting_user)
    return GivenOpinion(_keep(question, given, acting_user, row, suggestion, influenced), overtaken)


def _keep(
    question: Question,
    given: Mapping[str, object],
    author: User,
    row: LabelRevision | None,
    suggestion: LabelOpinion | None,
    influenced: bool,
) -> LabelOpinion:
    """The new opinion, or the one before when it says the same and no labels were written."""
    labels = FourTuple(**{label.value: value for label, value in check_change(given).items()})  # type: ignore[arg-type]
    before = _newest(question, author)
    if before is not None and as_labels(before) == labels and row is None:
        return before
    # What was seen once cannot be unseen.
    seen = before is not None and (
        before.seen_suggestion or before.shown_since or has_differed(question, author)
    )
    suggestion = suggestion or (before and before.suggestion)
    return LabelOpinion.objects.create(
        question=question,
        author=author,
        ability_branch=labels.ability_branch,
        knowledge_id=labels.knowledge,
        difficulty=labels.difficulty,
        modal=labels.modal,
        seen_suggestion=bool(influenced or seen or suggestion),
        suggestion=suggestion,
        wrote=row,
        follows=before,
    )


@transaction.atomic
def note_labels_shown(
    question: Question, *, acting_user: User, suggestion: LabelOpinion | None
) -> None:
    """Keep that the labels of *question*, where they rest on another person's, were shown.

    So is that a model's *suggestion* was. Both are shown in the first labelling. What *acting_user*
    says of the item from now on is not independent, also in the second labelling after a skip: an
    empty opinion keeps that, or the one that was given before and counts, which stays independent.
    """
    if not (suggestion or _saw_others(question, question.label_id, acting_user)):
        return
    # As in ``give_opinion``: each opinion follows the one before.
    Question.objects.select_for_update(of=("self",)).get(pk=question.pk)
    before = _newest(question, acting_user)
    if before is None or (before.is_empty and not before.seen_suggestion):
        LabelOpinion.objects.create(
            question=question,
            author=acting_user,
            seen_suggestion=True,
            suggestion=suggestion,
            follows=before,
        )
    elif not before.shown_since:
        LabelOpinion.objects.filter(pk=before.pk).update(shown_since=True)


def _newest(question: Question, author: User) -> LabelOpinion | None:
    own = LabelOpinion.objects.filter(question=question, author=author)
    return own.filter(followed_by__isnull=True).first()


def _saw_others(question: Question, seen: int | None, user: User) -> bool:
    """Whether the row of labels that was shown rests on another person's."""
    rows = LabelRevision.objects.filter(question=question, pk__lte=seen or 0, overtaken=False)
    return rows.exclude(author=user).exclude(author=None).exists()


@transaction.atomic
def undo_opinion(*, acting_user: User, last: int = 0) -> LabelOpinion:
    """Take the newest opinion of *acting_user* back, and the labels that it set.

    The item has the labels and origins from before again, unless they changed since, and what the
    person said of it before counts again. Nothing is deleted: an opinion, empty where there was
    none before, and a row of labels are added. *last* is the key of the opinion that
    was the newest when the page was sent; 0 for whichever is. Returns the opinion that was undone;
    raises Conflict when there is none, or another one is the newest now.
    """
    opinion = last_opinion(acting_user)
    if opinion is None:
        raise Conflict(_("You have nothing to undo."), code="no_opinion")
    if last not in (0, opinion.pk):
        raise Conflict(
            _("Since this page was opened you have labelled or undone something. Load it again."),
            code="other_opinion",
        )
    question = Question.objects.select_for_update(of=("self",)).get(pk=opinion.question_id)
    if last_opinion(acting_user) != opinion:  # another click was quicker
        raise Conflict(_("You have nothing to undo."), code="no_opinion")
    said = opinion.restores or opinion  # where an undo gave it back, what was said at first
    before = said.follows and (said.follows.restores or said.follows)
    labels = as_labels(before) if before else FourTuple()
    row = _restore(question, opinion)
    LabelOpinion.objects.create(
        question=question,
        author=acting_user,
        ability_branch=labels.ability_branch,
        knowledge_id=labels.knowledge,
        difficulty=labels.difficulty,
        modal=labels.modal,
        seen_suggestion=opinion.seen_suggestion,
        # What counts again was given with its own suggestion; without labels, it names the last.
        suggestion=opinion.suggestion if labels == FourTuple() else before and before.suggestion,
        shown_since=opinion.shown_since,
        wrote=row,
        follows=opinion,
        restores=before,
    )
    facts = {"opinion": opinion.pk, "row": row.pk if row else None}
    record(Tag.LABELS_UNDONE, question, actor=acting_user, **facts)
    return opinion


def _restore(question: Question, undone: LabelOpinion) -> LabelRevision | None:
    """Set the labels from before *undone* again, unless they changed or were resolved since."""
    wrote = (undone.restores or undone).wrote
    resolved = LabelResolution.objects.filter(question=question, last_opinion__gte=undone)
    if not undone.wrote or not wrote or question.label_id != undone.wrote_id or resolved.exists():
        return None
    if undone.restores is not None and not _set_what_it_shows(question, undone):
        return None
    before = with_present_levels({question.pk: four_tuple(_row_before(question, wrote))})
    return move_labels(question, undone.wrote, before[question.pk], author=undone.author, reason="")


def _row_before(question: Question, row: LabelRevision) -> LabelRevision | None:
    rows = LabelRevision.objects.filter(question=question, overtaken=False, pk__lt=row.pk)
    return rows.order_by("-pk").first()


def _set_what_it_shows(question: Question, again: LabelOpinion) -> bool:
    """Whether the labels that came back with *again*, by an undo, were set by this opinion."""
    assert again.follows is not None  # the opinion that was undone
    wrote = (again.follows.restores or again.follows).wrote
    row = _row_before(question, wrote) if wrote else None
    set_by = LabelOpinion.objects.filter(wrote=row, wrote__isnull=False).first()
    return set_by is not None and again.restores in (set_by, set_by.restores)


@transaction.atomic
def resolve_difference(
    question: Question,
    *,
    acting_user: User,
    reason: str,
    last: int,
    chosen: LabelOpinion | None = None,
    change: Mapping[str, object] | None = None,
) -> LabelResolution:
    """Set the labels of an item on which curators differ, by one's opinion or by *change*.

    *last* is the key of the newest opinion that the person saw. What *chosen*
    leaves empty stays. Raises BadInput without a reason or without labels, and
    for an opinion on another item; Conflict when a curator has changed their
    opinion since, when nobody differs any more, or when the difference was resolved
    meanwhile; but the same resolution, sent again, is the one that was made.
    """
    reason = check_reason(reason)
    if not reason:
        raise BadInput(_("Enter a reason for your decision."), code="no_reason")
    question = Question.objects.select_for_update(of=("self",)).get(pk=question.pk)
    opinions = {one.pk: one for one in counting_opinions().filter(question=question)}
    if not opinions or max(opinions) != last:
        raise Conflict(
            _("A curator has changed labels in the meantime. Review them before you decide."),
            code="opinions_changed",
        )
    if made := LabelResolution.objects.filter(question=question, last_opinion__gte=last).first():
        same = (made.author, made.chosen, made.reason) == (acting_user, chosen, reason)
        if same and (chosen or _stands(question, change or {})):
            return made
        raise Conflict(
            _("This difference was resolved in the meantime. Look at the labels of the question."),
            code="resolved_meanwhile",
        )
    if chosen is not None and chosen.pk not in opinions:
        raise BadInput(_("This opinion does not belong to this question."), code="not_here")
    given = _as_change(chosen) if chosen else change or {}
    given = {name: value for name, value in given.items() if value not in (None, "")}
    if not given:
        raise BadInput(_("Give at least one label."), code="no_labels")
    row = set_labels(
        question, given, acting_user=acting_user, reason=reason, tag=Tag.LABELS_RESOLVED
    )
    if row is None:  # the labels that stand are right: a decision all the same
        record(Tag.LABELS_RESOLVED, question, actor=acting_user, row=None, change=given)
    return LabelResolution.objects.create(
        question=question,
        chosen=chosen,
        last_opinion=opinions[last],
        author=acting_user,
        reason=reason,
    )


def _stands(question: Question, change: Mapping[str, object]) -> bool:
    """Whether the question has the labels that *change* gives."""
    given = {name: value for name, value in change.items() if value not in (None, "")}
    return not four_tuple(question.label).differences(check_change(given))


def _as_change(opinion: LabelOpinion) -> dict[str, object]:
    labels = as_labels(opinion)
    change: dict[str, object] = {label.value: labels.value(label) for label in Label}
    if opinion.knowledge_id:
        change[Label.KNOWLEDGE] = Knowledge.objects.get(pk=opinion.knowledge_id).slug
    return change
