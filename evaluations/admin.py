"""The admin site: evidence is read-only."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse

from evaluations.facts.looks import (
    record_calls,
    record_figures,
    record_rounds,
    record_scope,
    record_views,
)
from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.models import (
    AnswerCheck,
    Attempt,
    BlindAnswer,
    CheckSample,
    Draft,
    Endpoint,
    Extraction,
    FinalMark,
    Job,
    Judge,
    Judgement,
    LanguageModel,
    Mark,
    MarkChange,
    MarkingRound,
    MinedPattern,
    ModelReading,
    ObjectiveScore,
    PatternDecision,
    PatternSearch,
    PointMark,
    Response,
    RoundTeacher,
    Run,
    Slot,
    SuggestionReading,
)
from gradeapp.accounts.models import User
from gradeapp.operators import OwnFilters

# Parameters of a list that choose one of its pages.
OF_A_PAGE = {"p", "all", "e"}


class ReadOnly(OwnFilters):
    """A read-only table, without the count of all rows, which is slow for large tables."""

    list_select_related = True
    show_full_result_count = False
    list_per_page = 50
    # From the table to the response whose model or mark a row tells; "" if it tells none.
    response = ""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a page of rows; that somebody saw models or marks is kept.

        A filter tells of rows that it does not find, and an order of those on other pages, so
        either is a look at all runs.
        """
        if self.tells_responses() and set(request.GET) - OF_A_PAGE:
            user = cast(User, request.user)
            record_scope(Response.objects.all(), acting_user=user, page="admin")
        page = super().changelist_view(request, extra_context)
        if shown := getattr(page, "context_data", {}).get("cl"):
            self._note(request, [row.pk for row in shown.result_list])
        return page

    def tells_responses(self) -> bool:
        """Whether rows tell the models or marks of responses."""
        return bool(self.response)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show one row, as ``changelist_view``."""
        page = super().changeform_view(request, object_id, form_url, extra_context)
        if shown := getattr(page, "context_data", {}).get("original"):
            self._note_opened(request, shown)
        return page

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show who changed one row, whose title tells as much as its page."""
        page = super().history_view(request, object_id, extra_context)
        if shown := getattr(page, "context_data", {}).get("object"):
            self._note_opened(request, shown)
        return page

    def _note(self, request: HttpRequest, rows: list[int]) -> None:
        if self.response:
            found = self.model._default_manager.filter(pk__in=rows).order_by()
            seen = found.values_list(self.response, flat=True)
            record_views(
                {one for one in seen if one}, acting_user=cast(User, request.user), page="admin"
            )

    def _note_opened(self, request: HttpRequest, row: models.Model) -> None:
        self._note(request, [row.pk])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class Calls(ReadOnly):
    """Calls, which tell of the response that they asked about or brought; listed as ``Late``."""

    ordering = ("pk",)
    # From the table to the job
    job = "pk"

    def tells_responses(self) -> bool:
        return True

    def _note(self, request: HttpRequest, rows: list[int]) -> None:
        shown = self.model._default_manager.filter(pk__in=rows).order_by()
        jobs = Job.objects.filter(pk__in=shown.values(self.job))
        record_calls(jobs, acting_user=cast(User, request.user), page="admin")


class Late(ReadOnly):
    """Marks, or what belongs to one: those that leads may not see yet are left out.

    Listed by key: by version, as in the tables, a list tells of the rows on its other pages.
    """

    ordering = ("pk",)
    # From the table to the blind answer
    answer = "slot__answer__"
    response = "slot__answer__response"

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[models.Model]:
        """Every row but those of responses that wait for the lead's own mark."""
        return super().get_queryset(request).exclude(marks_wait_for_the_lead(self.answer))


@admin.register(Endpoint)
class EndpointAdmin(ReadOnly):
    """Endpoints. They are edited on their own page, which sees what others changed meanwhile."""

    list_display = ("name", "base_url", "model", "key_variable", "key_hint", "max_in_flight")


@admin.register(Run)
class RunAdmin(ReadOnly):
    """Runs. A row tells costs and times of its responses, as the page of the run does."""

    list_display = ("pk", "purpose", "language_model", "dataset", "status", "created_at")
    list_filter = ("purpose", "status", "dataset")

    def _note_opened(self, request: HttpRequest, row: models.Model) -> None:
        record_figures(cast(Run, row), acting_user=cast(User, request.user), page="admin")


@admin.register(Job)
class JobAdmin(Calls):
    list_display = ("pk", "run", "question", "repeat", "status", "attempts_made", "error")
    list_filter = ("status",)


@admin.register(Attempt)
class AttemptAdmin(Calls):
    job = "job"
    list_display = ("pk", "job", "number", "status", "error", "http_status", "cost", "sent_at")
    list_filter = ("status", "error")


@admin.register(Response)
class ResponseAdmin(ReadOnly):
    response = "pk"
    list_display = ("pk", "run", "question", "repeat", "finish_reason", "created_at")


@admin.register(Extraction)
class ExtractionAdmin(ReadOnly):
    list_display = ("pk", "response", "policy", "reader_version", "outcome", "method")
    list_filter = ("policy", "outcome")


@admin.register(SuggestionReading)
class SuggestionReadingAdmin(ReadOnly):
    list_display = ("pk", "response", "asks", "reader_version", "fault")
    list_filter = ("asks", "fault")


@admin.register(ObjectiveScore)
class ObjectiveScoreAdmin(ReadOnly):
    list_display = ("pk", "response", "policy", "reader_version", "points", "full", "outcome")
    list_filter = ("policy", "outcome")


@admin.register(Judgement)
class JudgementAdmin(ReadOnly):
    response = "response"
    list_display = ("pk", "response", "judge", "number", "status", "total", "full")
    list_filter = ("judge", "status")


@admin.register(Mark)
class MarkAdmin(Late):
    list_display = ("pk", "slot", "version", "teacher", "total", "full", "stale", "created_at")


@admin.register(MarkChange)
class MarkChangeAdmin(ReadOnly):
    list_display = ("pk", "table", "row", "action", "actor", "changed_at")
    list_filter = ("table", "action")

    def tells_responses(self) -> bool:
        return True

    def _note(self, request: HttpRequest, rows: list[int]) -> None:
        changed = MarkChange.objects.filter(pk__in=rows).order_by()
        answers = BlindAnswer.objects.filter(pk__in=changed.values("answer")).order_by()
        seen = set(answers.values_list("response", flat=True))
        record_views(seen, acting_user=cast(User, request.user), page="admin")

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[MarkChange]:
        """Every change but those of marks that leads may not see yet."""
        waiting = BlindAnswer.objects.filter(marks_wait_for_the_lead())
        return super().get_queryset(request).exclude(answer__in=waiting.values("pk"))


@admin.register(FinalMark)
class FinalMarkAdmin(Late):
    answer = "answer__"
    response = "answer__response"
    list_display = ("pk", "answer", "number", "value", "full", "rule", "created_at")


@admin.register(PatternSearch)
class PatternSearchAdmin(ReadOnly):
    list_display = ("pk", "run", "status", "responses", "covered", "random_seed", "created_at")
    list_filter = ("status",)


@admin.register(MinedPattern)
class MinedPatternAdmin(ReadOnly):
    list_display = ("name", "search", "question_type", "expression", "matched")
    list_filter = ("question_type",)


@admin.register(PatternDecision)
class PatternDecisionAdmin(ReadOnly):
    list_display = ("pk", "pattern", "verdict", "author", "created_at")
    list_filter = ("verdict",)


@admin.register(ModelReading)
class ModelReadingAdmin(ReadOnly):
    list_display = ("pk", "response", "run", "status", "outcome", "answers", "created_at")
    list_filter = ("status", "outcome")


@admin.register(CheckSample)
class CheckSampleAdmin(ReadOnly):
    list_display = ("pk", "run", "random_seed", "size", "among", "created_by", "created_at")


@admin.register(AnswerCheck)
class AnswerCheckAdmin(ReadOnly):
    list_display = ("pk", "response", "checker", "number", "answers", "outcome", "confirmed")
    list_filter = ("source", "confirmed")


@admin.register(PointMark)
class PointMarkAdmin(Late):
    answer = "mark__slot__answer__"
    response = "mark__slot__answer__response"


@admin.register(Draft)
class DraftAdmin(Late):
    pass


@admin.register(BlindAnswer)
class BlindAnswerAdmin(ReadOnly):
    response = "response"


@admin.register(Slot)
class SlotAdmin(ReadOnly):
    response = "answer__response"


@admin.register(MarkingRound)
class MarkingRoundAdmin(ReadOnly):
    """Rounds, without the seed that aliases and checks follow from."""

    exclude = ("hidden_seed",)

    def _note(self, request: HttpRequest, rows: list[int]) -> None:
        found = MarkingRound.objects.filter(pk__in=rows)
        record_rounds(list(found), acting_user=cast(User, request.user), page="admin")


for _model in (LanguageModel, Judge, RoundTeacher):
    admin.site.register(_model, ReadOnly)
