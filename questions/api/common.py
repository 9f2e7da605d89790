"""What the routes of the bank have in common."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, NotFound
from questions.models import Question

READ, WRITE = Capability.SEE_QUESTIONS, Capability.EDIT_QUESTIONS
# Whoever sees questions reads; whoever edits them changes.
MAY = {"GET": READ, "HEAD": READ, "POST": WRITE, "DELETE": WRITE}


def get_question(public_id: UUID) -> Question:
    """Return the question with its labels and text. Raises NotFound if there is none."""
    questions = Question.objects.select_related("task__dataset", "current", "label__knowledge")
    question = questions.filter(public_id=public_id).first()
    if question is None:
        raise NotFound(_("There is no such question."))
    return question


def validated_body(serializer: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the checked body of *request*. Raises BadInput for a key that is not declared."""
    if not isinstance(request.data, dict):
        raise BadInput(_("Send one JSON object."))
    unknown = set(request.data) - set(serializer().fields)
    if unknown:
        names = ", ".join(sorted(map(str, unknown)))
        raise BadInput(_("There is no field called %(names)s.") % {"names": names})
    form = serializer(data=request.data)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)
