"""The site of operators, the Django admin: for staff who may operate, where a setting mounts it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.db import DataError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator

from gradeapp.accounts.permissions import check
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items

View = Callable[..., HttpResponse]
# Tables whose rows are no items: people and their groups.
NO_ITEMS = frozenset({"accounts", "auth"})
# How a filter beside a list looks up the field or the related row that it is for.
LOOKUPS = frozenset({"", "exact", "id__exact", "isnull"})
# SQLite fails at a search of a thousand words.
MOST_WORDS = 50


class OperatorsSite(admin.AdminSite):
    """The admin site without a login of its own, behind the gate of blindness.

    Who has no business here finds nothing. It is closed to whoever marks, superusers too.
    """

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff who may operate now."""
        user: Any = request.user
        return (
            settings.ADMIN_SITE and super().has_permission(request) and user.may(Capability.OPERATE)
        )

    def refuse(self, request: HttpRequest) -> None:
        """Raise Http404, or NotAllowed with its sentence for an operator who marks just now."""
        user: Any = request.user
        if not settings.ADMIN_SITE:
            raise Http404
        if user.is_authenticated and not self.has_permission(request):
            if user.is_staff and Capability.OPERATE in user.granted:
                check(user, Capability.OPERATE)
            raise Http404

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """A page of the site."""
        page = super().admin_view(view, cacheable)

        @wraps(page)
        def for_operators(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            self.refuse(request)
            try:
                response = page(request, *args, **kwargs)
            except (OverflowError, DataError) as error:
                # A number or a date in a filter that no column holds.
                raise BadRequest(str(error)) from error
            if request.method != "HEAD":
                count_items(request.user, "table", rows_shown(response))
            return response

        return for_operators

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        """Find nothing: no form of the site asks for it."""
        raise Http404

    @method_decorator(login_not_required)
    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Lead to the one login of gradeapp."""
        self.refuse(request)
        if request.user.is_authenticated:
            return redirect("admin:index")
        return redirect_to_login("/admin/", settings.LOGIN_URL)

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Lead to the one page for one's own password."""
        return redirect("password_change")


class OwnFilters(admin.ModelAdmin):
    """A table whose list takes the filters beside it, and no other lookup.

    Others would tell what its rows do not show, and SQLite leaves a regular expression to Python,
    which can take hours.
    """

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Whether a filter beside the list asks for *lookup*."""
        name, _, how = lookup.partition("__")
        return name in self.list_filter and how in LOOKUPS

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search for each word. Raises BadRequest for more than ``MOST_WORDS``."""
        if len(search_term.split()) > MOST_WORDS:
            raise BadRequest(f"more than {MOST_WORDS} words")
        found: tuple[QuerySet[Any], bool] = super().get_search_results(
            request, queryset, search_term
        )
        return found


def rows_shown(response: HttpResponse) -> list[str]:
    """Return the rows on a page of the site, by table and key: of its list, or the one opened."""
    context: dict[str, Any] = getattr(response, "context_data", None) or {}
    if "cl" in context:
        rows = list(context["cl"].result_list)
    else:
        rows = [row for name in ("original", "object") if (row := context.get(name)) is not None]
    names = {f"{row._meta.label_lower} {row.pk}": row._meta.app_label for row in rows}
    return [name for name, app in names.items() if app not in NO_ITEMS]
