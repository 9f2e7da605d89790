"""Points count for the rubric that they were given for, and for no other."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _

from evaluations.models import BlindAnswer, Mark
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import Conflict
from questions.rules.rubric import RubricLines
from questions.selectors.rubrics import frozen

RUBRIC_CHANGED = "rubric_changed"


def rubric_code(of: BlindAnswer | Mark) -> str:
    """The code of the rubric that a response has now, or that a mark was given under."""
    return (frozen(of.rubric).lines if of.rubric else RubricLines()).code


def check_rubric(answer: BlindAnswer, code: str, *, since: datetime | None = None) -> None:
    """Raise Conflict unless points were given for the rubric that *answer* has now.

    *code* is that of the rubric which the page, file or request was made for. Where it is empty,
    as in older files, the round must not have moved to a new rubric of the question, or not
    *since* the file was made. That is asked of the whole question, so that it tells no check.
    """
    if code == rubric_code(answer) or (not code and not _was_replaced(answer, since)):
        return
    sentence = _("The rubric has changed since these points were given. Mark the response again.")
    raise Conflict(sentence, code=RUBRIC_CHANGED)


def _was_replaced(answer: BlindAnswer, since: datetime | None) -> bool:
    """Whether the round moved to a new rubric of the question.

    An entry names the question by its ``external_id``, which questions of other tasks may have
    too; so it is compared by the first of the responses that moved.
    """
    moves = AuditEntry.objects.filter(
        tag=Tag.RUBRIC_REPLACED,
        target=f"markinground:{answer.round_id}",
        detail__question=answer.question.external_id,
    )
    moves = moves.filter(at__gte=since) if since else moves
    aliases = list(moves.values_list("detail__answers__0", flat=True))
    same = BlindAnswer.objects.filter(round=answer.round_id, question=answer.question_id)
    return same.filter(alias__in=aliases).exists()
