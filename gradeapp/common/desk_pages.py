"""What the desks of marking, reviewing, checking and labelling share: pages, and the form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django_htmx.http import HttpResponseClientRedirect, push_url

from gradeapp.accounts.permissions import MemberRequest
from gradeapp.common import number_fields
from gradeapp.common.refusals import Refusal


def at_hand(request: MemberRequest, name: str = "answer") -> UUID | None:
    """Return the id of the item that the page showed, sent as *name*; None for no UUID."""
    try:
        return UUID(request.POST.get(name, ""))
    except ValueError:
        return None


def desk_page(
    request: MemberRequest,
    folder: str,
    context: dict[str, Any],
    refusal: Refusal | None = None,
) -> HttpResponse:
    """Render the desk of a template *folder*: the whole page, or the part that htmx replaces."""
    name = "_desk.html" if request.htmx else "desk.html"
    context |= {"fragment": bool(request.htmx), "refusal": refusal}
    status = refusal.status if refusal else 200
    return render(request, f"{folder}/{name}", context, status=status)


def shown_at(
    request: MemberRequest, address: str, shown: Callable[[], HttpResponse]
) -> HttpResponse:
    """Redirect to *address*; to htmx send what is *shown* there, and the address with it."""
    return push_url(shown(), address) if request.htmx else redirect(address)


def leave_desk(request: MemberRequest, address: str) -> HttpResponse:
    """Load the page at *address* in place of the desk."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def address_of(name: str, query: str, *args: object) -> str:
    """Return the address called *name* with the *query* of the queue, if any."""
    address = reverse(name, args=args)
    return f"{address}?{query}" if query else address


class DeskForm(forms.Form):
    """What a desk sends with each save; ``item_id`` is the id of the item at the address."""

    answer = forms.UUIDField()
    key = forms.UUIDField()
    version = number_fields.IntegerField(min_value=0)
    seconds = number_fields.IntegerField(required=False)

    item_id: str

    def clean_answer(self) -> UUID:
        """Refuse a page whose address and content belong to different items."""
        answer: UUID = self.cleaned_data["answer"]
        if str(answer) != self.item_id:
            raise forms.ValidationError(_("This page is out of date. Reload it."))
        return answer

    def first_error(self) -> str:
        """Return the first thing that is wrong, as one sentence."""
        return str(next(iter(self.errors.values()))[0])
