"""The pages of background work: the list with the form of a new one, and one piece of work."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.functional import Promise
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.background_work.models import BackgroundWork
from gradeapp.common.background_work.selectors import Progress
from gradeapp.common.background_work.services import note_if_lost
from gradeapp.common.refusals import NotFound, Refusal

PAGE = 25


class WorkPages:
    """The pages of one kind of background work; a subclass per kind.

    ``at`` has the names of the addresses (one, progress, stop, resume). ``folder`` has the
    templates list.html, work.html and _progress.html, which extend those in background_work/.
    ``list_id`` is the id of the list in its page.
    """

    at: ClassVar[dict[str, str]]
    folder: str
    list_id: str
    sees: Capability
    edits: Capability
    form: type[forms.Form]
    error_field: str | None = None
    missing: str | Promise
    stopping: str | Promise
    # Functions of the kind, each a staticmethod: services, a selector, and the message to workers.
    stop_work: Callable[..., None]
    resume_work: Callable[..., None]
    progress_of: Callable[[Any, datetime], Progress]
    ask: Callable[[int], None]

    def rows(self, owner: int | None = None) -> QuerySet[Any]:
        """Return the work of this kind (in the list of *owner*), newest first."""
        raise NotImplementedError

    def rows_for(self, request: MemberRequest, owner: int | None = None) -> QuerySet[Any]:
        """Return those of ``rows`` that the person may see: all of them."""
        return self.rows(owner)

    def new_form(self, request: MemberRequest) -> forms.Form:
        """Return the form of a new one, empty."""
        return self.form()

    def start(
        self, form: Any, request: MemberRequest, owner: int | None
    ) -> BackgroundWork | HttpResponse:
        """Start what the valid *form* asks for, or answer it at once."""
        raise NotImplementedError

    def more_of_list(self, request: MemberRequest, owner: int | None) -> dict[str, Any]:
        """Return what else the list shows."""
        return {}

    def more(self, work: Any, progress: Progress) -> dict[str, Any]:
        """Return what else the page of one and its moving part show."""
        return {}

    def more_of_page(self, request: MemberRequest, work: Any) -> dict[str, Any]:
        """Return what else the page of one shows."""
        return {}

    # ---- addresses ----

    def list_view(self) -> Callable[..., HttpResponse]:
        """Return the view of the list, which also takes the form."""
        return require_http_methods(["GET", "HEAD", "POST"])(requires(self.sees)(self.list_page))

    def shows(self, view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        """Return *view* for those who may look."""
        return require_safe(requires(self.sees)(view))

    def acts(self, view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        """Return *view*, which takes a POST, for those who may edit."""
        return require_POST(requires(self.edits)(view))

    def urls_of_one(self, prefix: str = "") -> list[URLPattern]:
        """Return the addresses of one piece of work, below *prefix*."""
        views = {
            "one": ("", self.shows(self.page)),
            "progress": ("progress/", self.shows(self.progress)),
            "stop": ("stop/", self.acts(self.stop)),
            "resume": ("resume/", self.acts(self.resume)),
        }
        return [
            path(f"{prefix}<int:pk>/{end}", view, name=self.at[key].partition(":")[2])
            for key, (end, view) in views.items()
        ]

    # ---- pages ----

    def list_page(self, request: MemberRequest, pk: int | None = None) -> HttpResponse:
        """Show past work and the form of a new one, or start it."""
        rows = self.rows_for(request, pk)
        form = self.new_form(request)
        if request.method == "POST":
            check(request.user, self.edits)
            form = self.form(request.POST, request.FILES)
            if form.is_valid():
                try:
                    with transaction.atomic():
                        work = self.start(form, request, pk)
                        if isinstance(work, HttpResponse):
                            return work
                        transaction.on_commit(partial(self.ask, work.pk))
                except Refusal as refusal:
                    form.add_error(self.error_field, str(refusal))
                else:
                    return redirect(self.at["one"], work.pk)
        context = {
            "at": self.at,
            "form": form,
            "page": Paginator(rows, PAGE).get_page(request.GET.get("page")),
            "list_id": self.list_id,
            "may_edit": request.user.may(self.edits),
            **self.more_of_list(request, pk),
        }
        status = 400 if form.errors else 200
        return render(request, f"{self.folder}/list.html", context, status=status)

    def page(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Show one piece of work: how far it is, its results, and what can be done with it."""
        work = self.get_work(request, pk)
        context = self.context(request, work) | self.more_of_page(request, work)
        return render(request, f"{self.folder}/work.html", context)

    def progress(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Show the moving part of the page; the whole page again once the state has changed."""
        context = self.context(request, self.get_work(request, pk))
        if request.GET.get("state") != context["state"]:
            return HttpResponseClientRefresh()
        return render(request, f"{self.folder}/_progress.html", context)

    def get_work(self, request: MemberRequest, pk: int) -> Any:
        """Return the work *pk*; raises NotFound where there is none of this kind to be seen."""
        work = self.rows_for(request).filter(pk=pk).first()
        if work is None:
            raise NotFound(self.missing)
        return work

    def context(self, request: MemberRequest, work: Any) -> dict[str, Any]:
        """Return what the page and its moving part both show."""
        now = timezone.now()
        note_if_lost(work, now)
        progress = self.progress_of(work, now)
        return {
            "at": self.at,
            "work": work,
            "state": work.status,
            "progress": progress,
            "goes_on": work.goes_on,
            "may_edit": request.user.may(self.edits),
            **self.more(work, progress),
        }

    # ---- actions ----

    def stop(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Stop at the next step."""
        self.stop_work(self.get_work(request, pk), acting_user=request.user)
        messages.success(request, str(self.stopping))
        return redirect(self.at["one"], pk)

    def resume(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Go on with work that ended early."""
        self.resume_work(self.get_work(request, pk), acting_user=request.user)
        transaction.on_commit(partial(self.ask, pk))
        return redirect(self.at["one"], pk)
