"""Parameters of an address: one that nobody declared is refused, never ignored."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from gradeapp.common.refusals import BadInput

if TYPE_CHECKING:
    import django_filters
    from django.db.models import QuerySet
    from rest_framework.request import Request


def refuse_unknown(
    given: Iterable[str], known: Iterable[str] | type[django_filters.FilterSet] = ()
) -> None:
    """Raise BadInput if a name of *given* is not *known*; ``page`` always is.

    *known* are names, or a set of filters.
    """
    names = known.base_filters if isinstance(known, type) else known
    if unknown := sorted(set(given) - set(names) - {"page"}):
        raise BadInput(_("There is no parameter called %(names)s.") % {"names": ", ".join(unknown)})


def check_values(filters: django_filters.FilterSet) -> None:
    """Raise BadInput if *filters* were given a value that none of them has."""
    if not filters.form.is_valid():
        names = ", ".join(sorted(filters.form.errors))
        raise BadInput(_("The filter %(names)s has no such value.") % {"names": names})


class DeclaredFilters:
    """Mixin of API lists: a parameter that is in neither of these is refused."""

    filterset_class: type[django_filters.FilterSet] | None = None
    # What the view reads itself
    own_parameters: Collection[str] = ()
    request: Request

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        names = self.filterset_class.base_filters if self.filterset_class else ()
        refuse_unknown(self.request.query_params, {*names, *self.own_parameters})
        return super().filter_queryset(queryset)  # type: ignore[misc,no-any-return]
