"""What curators decide about problems: keep, repair or exclude; each is one more row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import ItemDecision, ItemProblem, Question, QuestionRevision
from questions.rules.figures import referenced_images
from questions.rules.vocabulary import CHOICE_TYPES, Decision, ItemStatus, Part, QuestionType
from questions.selectors.gate import DUPLICATES, mirrored
from questions.selectors.repairs import repairs_of
from questions.services.duplicates import changed_by_recheck, recheck_pairs
from questions.services.gate import check_items
from questions.services.item_status import update_status
from questions.services.label_rows import check_reason
from questions.services.revisions import TEXTS, content_of, revise, without_repairs

LONGEST_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class Repair:
    """The item as it should be; None leaves a field as it is.

    ``answer_key`` holds one entry for each sub-question, ``options`` one text for
    each letter.
    """

    answer_key: tuple[str, ...] | None = None
    options: tuple[str, ...] | None = None
    passage: str | None = None
    stem: str | None = None
    reference_answer: str | None = None
    analysis: str | None = None


@transaction.atomic
def decide(
    problem: ItemProblem,
    decision: Decision,
    reason: str,
    *,
    acting_user: User,
    repair: Repair | None = None,
    seen: int | None = None,
    seen_decision: int | None = None,
) -> ItemDecision:
    """Write what *acting_user* decides about *problem*; from now on it counts.

    A repair makes one more revision, which remembers the published key; keeping an
    item after a repair takes back what the repair changed.
    The item's status follows at once, and so does that of items that it was
    compared with. *seen* is the revision the person looked at, *seen_decision* the
    decision that counted then, 0 for none; None does not compare. Conflict is raised
    when the item has another revision now, another decision counts, or the problem is
    gone; but the same decision, sent again, is the one that was made. Raises BadInput
    without a reason, for a repair that changes nothing or cannot be scored, and for a
    repair's contents beside another decision.
    """
    question = _locked(problem)
    assert question.current_id is not None  # a problem is one of a revision
    reason = check_reason(reason)
    counting = ItemDecision.objects.filter(counts_for=problem).first()
    moved = seen_decision is not None and seen_decision != (counting.pk if counting else 0)
    asked = (acting_user, decision, reason)
    if moved and counting is not None and _repeats(counting, question, asked, repair):
        return counting
    if seen is not None and seen != question.current_id:
        raise Conflict(
            _("The question has changed in the meantime. Review it again."),
            code="changed_meanwhile",
        )
    if moved:
        raise Conflict(
            _("This problem was decided in the meantime. Review it again."),
            code="changed_meanwhile",
        )
    if not reason:
        raise BadInput(_("Enter a reason. It is stored with the decision."), code="no_reason")
    repaired = _revision_for(problem, question, decision, repair, reason, acting_user)
    made = _add(problem, decision, reason, acting_user, repaired)
    if decision is Decision.KEEP and problem.code in DUPLICATES:
        _keep_both(problem, made)
    check_items([question.pk])
    recheck_pairs(question, whole=question.status == ItemStatus.EXCLUDED)
    if repaired is not None and decision is Decision.KEEP:
        _keep_again(problem, made)
        update_status([question.pk])
    record(Tag.ITEM_DECIDED, made, actor=acting_user, problem=problem.pk, decision=decision.value)
    return made


def _locked(problem: ItemProblem) -> Question:
    """The question of *problem*, locked with all whose status a decision about it may change.

    All at once and in the order of their keys, as a check of keys locks them. Raises Conflict if
    the problem is gone by then.
    """
    changed = changed_by_recheck(problem.question_id)
    rows = Question.objects.select_for_update(of=("self",)).filter(pk__in=changed)
    locked = {row.pk: row for row in rows.order_by("pk")}
    if not ItemProblem.objects.filter(pk=problem.pk).exists():
        ended = _("Another decision has ended this problem in the meantime. Nothing is left to do.")
        raise Conflict(ended, code="problem_gone")
    return locked[problem.question_id]


def _repeats(
    made: ItemDecision,
    question: Question,
    asked: tuple[User, Decision, str],
    repair: Repair | None,
) -> bool:
    """Whether *made* is by the same author and says what is asked for, its reason too."""
    if (made.author, made.decision, made.reason) != asked:
        return False
    if made.decision != Decision.REPAIR or repair is None:
        return repair is None
    current = QuestionRevision.objects.get(current_of=question)
    return made.repaired == current and _with(current, repair) == content_of(current)


def _add(
    problem: ItemProblem,
    decision: Decision,
    reason: str,
    author: User,
    repaired: QuestionRevision | None = None,
) -> ItemDecision:
    """Store a decision, and point its problem to it."""
    made = ItemDecision.objects.create(
        problem=problem, decision=decision, reason=reason, author=author, repaired=repaired
    )
    ItemProblem.objects.filter(pk=problem.pk).update(decision=made)
    return made


def _revision_for(
    problem: ItemProblem,
    question: Question,
    decision: Decision,
    repair: Repair | None,
    reason: str,
    author: User,
) -> QuestionRevision | None:
    """The revision that the decision makes, where it makes one."""
    current = QuestionRevision.objects.get(current_of=question)
    if decision is Decision.REPAIR:
        if repair is None:
            raise BadInput(_("Enter the corrected question."), code="no_repair")
        return revise(current, _repaired(current, repair), reason, author)
    if repair is not None:
        raise BadInput(_("Only “Repair” changes the question."), code="not_a_repair")
    counting = ItemDecision.objects.filter(counts_for=problem).first()
    if decision is Decision.KEEP and counting is not None and counting.decision == Decision.REPAIR:
        repairs = repairs_of([question.pk])[question.pk]
        undone = repairs.open[problem.pk]
        before = without_repairs(current, undone, repairs.standing(but=problem.pk))
        if before != content_of(current):
            return revise(current, before, reason, author)
    return None


def _repaired(current: QuestionRevision, repair: Repair) -> dict[str, object]:
    """The whole content after *repair*; refuses what could not be asked or scored."""
    content = _with(current, repair)
    if content == content_of(current):
        raise BadInput(
            _("The repair changes nothing. Choose “Keep as it is” instead."), code="no_change"
        )
    _check_content(current, content)
    return content


def _with(current: QuestionRevision, repair: Repair) -> dict[str, object]:
    """The whole content after *repair*."""
    given: dict[str, object] = {
        name: getattr(repair, name) for name in TEXTS if getattr(repair, name) is not None
    }
    if repair.options is not None:
        given["options"] = _changed(current.options, repair.options, str.strip)
    if repair.answer_key is not None:
        key = partial(_key, current)
        given["answer_key"] = _changed(current.answer_key, repair.answer_key, key)
    return content_of(current) | given


def _changed(old: list[str], new: Sequence[str], tidy: Callable[[str], str]) -> list[str]:
    """*new*, tidied where it is not as in *old*."""
    pairs = zip_longest(new, old[: len(new)])
    return [one if one == before else tidy(one) for one, before in pairs]


def _key(current: QuestionRevision, key: str) -> str:
    """Letters in one order and each once; the text of an exact answer as it is."""
    if current.question_type in CHOICE_TYPES:
        return "".join(sorted(set("".join(key.upper().split()))))
    return key.strip()


def _check_content(current: QuestionRevision, content: dict[str, object]) -> None:
    if not str(content["stem"]).strip():
        raise BadInput(_("The question has no text."), code="no_stem")
    if any(len(str(content[name])) > LONGEST_TEXT for name in TEXTS):
        raise BadInput(_("A text is too long."), code="too_long")
    # What its source shows without having it is no fault of the repair.
    known = {*current.images, *_pictures(content_of(current))}
    if unknown := [name for name in _pictures(content) if name not in known]:
        raise BadInput(
            _("The question has no picture called “%(name)s”.") % {"name": unknown[0][:80]},
            code="unknown_picture",
        )
    options, keys = content["options"], content["answer_key"]
    assert isinstance(options, list)
    assert isinstance(keys, list)
    if options and len(options) != len(current.letters):
        raise BadInput(
            _("The number of options must equal the number of letters: %(letters)s.")
            % {"letters": len(current.letters)},
            code="option_count",
        )
    if QuestionType(current.question_type).part is Part.OBJECTIVE:
        _check_keys(current, keys)


def _pictures(content: dict[str, object]) -> list[str]:
    """The names of the pictures that the texts show."""
    options = content["options"]
    assert isinstance(options, list)
    return referenced_images(*(str(content[name]) for name in TEXTS), *options)


def _check_keys(current: QuestionRevision, keys: list[str]) -> None:
    if len(keys) != len(current.sub_marks):
        raise BadInput(
            _("The number of answer keys must equal the number of sub-questions: %(subs)s.")
            % {"subs": len(current.sub_marks)},
            code="key_count",
        )
    for key in keys:
        if not key:
            raise BadInput(_("An answer key is empty."), code="empty_key")
        if current.question_type not in CHOICE_TYPES:
            continue
        if not set(key) <= set(current.letters):
            raise BadInput(
                _("The answer key %(key)s is not among the letters %(letters)s.")
                % {"key": key, "letters": current.letters},
                code="key_outside_options",
            )
        if len(key) > 1 and current.question_type != QuestionType.MULTIPLE_CHOICE:
            raise BadInput(
                _("Only one letter is allowed, but the answer key is %(key)s.") % {"key": key},
                code="several_letters",
            )


def _keep_both(problem: ItemProblem, made: ItemDecision) -> None:
    """That two equal items may stand beside each other is said of both at once."""
    other = mirrored(problem)
    if other is not None:
        _add(other, Decision.KEEP, made.reason, made.author)


def _keep_again(problem: ItemProblem, made: ItemDecision) -> None:
    """The problem is found again in the revision that was brought back: it stays decided."""
    again = ItemProblem.objects.filter(revision=made.repaired, code=problem.code)
    if problem.other is not None:
        again = again.filter(other__question=problem.other.question_id)
    for found in again:
        _add(found, Decision.KEEP, made.reason, made.author)
