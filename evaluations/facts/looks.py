"""Who looked at what those who mark may not see: noted in the audit trail, asked when they join."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from evaluations.models import MarkingRound, Response
from evaluations.models.vocabulary import NOT_CLOSED
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput


def record_view(
    marking_round: MarkingRound, *, acting_user: User, page: str, outside: bool = False
) -> None:
    """Write down that somebody looked at what markers may not see.

    *outside*: on a page that is none of the round's own.
    """
    more = {"outside": True} if outside else {}
    record(Tag.ROUND_VIEWED, marking_round, actor=acting_user, page=page, **more)


def record_views(responses: Collection[int], *, acting_user: User, page: str) -> None:
    """Write down that somebody saw the models or the marks of *responses* outside of a round.

    There is an entry for each round that is not closed and has one of them.
    """
    looked = MarkingRound.objects.filter(status__in=NOT_CLOSED, answers__response__in=responses)
    for one in looked.distinct().order_by("pk"):
        record_view(one, acting_user=acting_user, page=page, outside=True)


def record_taken(rows: QuerySet[Response], *, acting_user: User) -> None:
    """Write down that somebody takes away the texts and models of *rows*, as ``record_views``."""
    for one in MarkingRound.objects.filter(status__in=NOT_CLOSED).order_by("pk"):
        if rows.filter(blind_answers__round=one).exists():
            record(Tag.EXPORTED, one, actor=acting_user, report="responses", outside=True)


def refuse_who_looked(marking_round: MarkingRound, teachers: Sequence[User]) -> None:
    """Raise BadInput for who looked at the marks or models of a round, or took them away."""
    if look := _looks(marking_round).filter(actor__in=teachers).first():
        raise BadInput(
            _("%(name)s has looked at the marks or models of this round and cannot mark in it.")
            % {"name": look.actor},
            code="looked",
        )


def refuse_who_looked_since(marking_round: MarkingRound, teachers: Collection[int]) -> None:
    """Raise BadInput for a teacher of a planned round who saw its responses outside of it.

    Its own pages show no models and no marks before it starts.
    """
    looks = _looks(marking_round).filter(detail__outside=True, actor__in=teachers)
    if look := looks.first():
        raise BadInput(
            _(
                "%(name)s has seen the models of responses of this round since it was planned and "
                "cannot mark in it. Plan a round without them."
            )
            % {"name": look.actor},
            code="looked",
        )


def refuse_who_pasted(marking_round: MarkingRound, teachers: Sequence[User]) -> None:
    """Raise BadInput for who pasted answers of a run of the round, so knows their model."""
    responses = Response.objects.filter(blind_answers__round=marking_round)
    runs = [f"run:{run}" for run in responses.order_by().values_list("run", flat=True).distinct()]
    pasted = AuditEntry.objects.filter(tag=Tag.ANSWER_PASTED, target__in=runs, actor__in=teachers)
    if entry := pasted.select_related("actor").first():
        raise BadInput(
            _("%(name)s has pasted answers of this round, knows their model and cannot mark in it.")
            % {"name": entry.actor},
            code="pasted",
        )


def _looks(marking_round: MarkingRound) -> QuerySet[AuditEntry]:
    target = f"{marking_round._meta.model_name}:{marking_round.pk}"
    looks = AuditEntry.objects.filter(tag__in=(Tag.ROUND_VIEWED, Tag.EXPORTED), target=target)
    return looks.select_related("actor")
