"""Problems that people see in an item where the checks of the gate find none."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import ItemProblem, Question
from questions.rules.vocabulary import Decision, ProblemCode
from questions.services.item_status import update_status
from questions.services.label_rows import check_reason


@transaction.atomic
def report_problem(
    question: Question,
    words: str,
    *,
    quarantines: bool,
    acting_user: User,
    seen: int | None = None,
) -> ItemProblem:
    """Keep what *acting_user* says is wrong with the current revision of *question*.

    It waits for a decision as a finding of the checks does, and *quarantines* keeps the item out
    of scoring until then. One problem holds all that is said of a revision: new words are added
    to what somebody else has reported already, and it waits again where a person had kept the
    item as it is. An item that is excluded stays so. *seen* is the key of the revision the person
    looked at, None does not compare. Raises BadInput without words of at most 200 characters,
    Conflict when the item has another revision now.
    """
    held = Question.objects.select_for_update(of=("self",), no_key=True).get(pk=question.pk)
    words = check_reason(words)
    if not words:
        raise BadInput(_("Say what is wrong with the question."), code="no_words")
    if seen is not None and seen != held.current_id:
        changed = _("The question has changed in the meantime. Review it again.")
        raise Conflict(changed, code="changed_meanwhile")
    problem, _made = ItemProblem.objects.get_or_create(
        question=held,
        revision_id=held.current_id,
        code=ProblemCode.REPORTED,
        other=None,
        defaults={"detail": {"words": []}},
    )
    if words not in problem.detail["words"]:
        problem.detail["words"].append(words)
        problem.quarantines |= quarantines
        if problem.decision is not None and problem.decision.decision == Decision.KEEP:
            problem.decision = None
        problem.save(update_fields=["detail", "quarantines", "decision"])
        record(Tag.ITEM_REPORTED, problem, actor=acting_user, words=words, quarantines=quarantines)
    update_status([held.pk])
    return problem
